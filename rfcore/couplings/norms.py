"""Joint laws of the norms of frequencies, each chi_d: the law of the length of a N(0, I_d) vector.

Every law is a function ``(key, m, d) -> norms``, an array (m,) in the default float dtype. All but
:func:`independent` push a copula of uniforms (:mod:`rfcore.copulas`) through the chi_d quantile.
"""

import math
from functools import partial

import jax
import jax.numpy as jnp

from rfcore import checks, copulas
from rfcore.couplings import quantiles


def independent(key, m, d):
    """Independent chi_d lengths: ``w_i = |g_i|`` with g_i ~ N(0, I_d)."""
    # m d normals rather than m gammas: JAX's gamma sampler takes seconds to compile for every new shape.
    return jnp.linalg.norm(jax.random.normal(key, (m, d)), axis=1)


def coupled(law, over="block", nu=math.inf):
    """Norms whose levels have a given joint law.

    ::

        w_i = F^-1(u_i),  F the chi_d distribution function
        over = "block"     (u_1, ..., u_d) a draw of the law for each block
        over = "all"       (u_1, ..., u_m) one draw of the law
        over = "blocks"    one draw of the law for all blocks: a level each, shared by its d norms

    Blocks are independent for "block" only. One norm per block, stratified over many blocks ("shells"), saves
    more than the others do: see :func:`rfcore.theory.stratified_norms_ratio`.

    Args:
        law: copula or its name, as :func:`rfcore.copulas.named` takes it.
        over: "block", "all" or "blocks".
        nu: for the lengths of the frequencies of a Matérn kernel of that smoothness, those of Student's t law
            (:func:`rfcore.couplings.quantiles.student`), which are chi_d for infinity.

    Returns:
        A function ``(key, m, d) -> (m,)``.

    Source: Variance-Reducing Couplings, Section 3, for norms within blocks.

    Simplex directions with pairwise coupled norms, and orthogonal ones on shells:

    >>> from rfcore.couplings import compose, directions, norms
    >>> paired = compose(directions.simplex, norms.coupled("reversal"))
    >>> shells = compose(directions.orthogonal, norms.coupled("stratified", over="blocks"))
    """
    law, over = copulas.named(law, "law"), checks.choice(over, "over", ("block", "all", "blocks"))
    return partial(_coupled, law, over=over, nu=nu if nu == math.inf else quantiles.smoothness(nu))


def _coupled(law, key, m, d, over="block", nu=math.inf):
    n_blocks = -(-m // d)
    shape = {"block": (n_blocks, d, 1), "all": (1, m, 1), "blocks": (1, n_blocks, 1)}[over]
    lengths = quantiles.length(copulas.draw(law, copulas.uniforms(key), shape).reshape(-1), d, nu)
    return (jnp.repeat(lengths, d) if over == "blocks" else lengths)[:m]


def pnc(key, m, d):
    """Pairwise norm-coupling: norms 2i and 2i + 1 of a block are at levels u and 1 - u.

    ::

        F(w_1) + F(w_2) = 1,  F the chi_d distribution function

    An odd last one stands alone. Of all couplings of the norms of two orthogonal frequencies this has the
    least variance for positive features, and a smaller one than any given other for Fourier features of
    points that are close enough (Theorem 3.2).

    Source: Variance-Reducing Couplings, Eq. 7 and Definition 3.3.

    >>> import jax
    >>> from rfcore.couplings import norms
    >>> first, second = norms.pnc(jax.random.key(0), 2, 2)
    >>> bool((first < 1.1774) == (second > 1.1774))  # one on either side of the median, sqrt(2 log 2)
    True
    """
    return _coupled(copulas.reversal, key, m, d)


def positive_monotone(key, m, d):
    """One norm for all frequencies of a block.

    The opposite of :func:`pnc`: of all couplings of the norms of orthogonal frequencies it has the greatest
    variance for positive features.

    Source: Variance-Reducing Couplings, Appendix B.3.
    """
    return _coupled(copulas.comonotone, key, m, d)


def stratified(key, m, d):
    """One norm in each of d strata of equal probability, in a random order within the block.

    Source: the strata are those of McKay, Beckman and Conover, 1979.
    """
    return _coupled(copulas.stratified, key, m, d)


def gaussian(correlation):
    """Norms at the levels of d correlated normals: a Gaussian copula within each block.

    Args:
        correlation: (d, d) correlation matrix, as :func:`rfcore.copulas.gaussian` takes it.

    Returns:
        A function ``(key, m, d) -> (m,)``.

    Source: Variance-Reducing Couplings, Section 3.2.
    """
    return coupled(copulas.gaussian(correlation))
