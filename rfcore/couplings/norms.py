"""Joint laws of the lengths of frequencies, each chi_d (the length of a N(0, I_d) vector): ``(key, m, d) -> (m,)``.

A copula of uniforms (:mod:`rfcore.couplings.copulas`) makes one: ``coupled(law)``.
"""

from functools import partial

import jax
import jax.numpy as jnp

from rfcore import checks
from rfcore.couplings import copulas, directions


def independent(key, m, d):
    """Independent chi_d lengths.

    ::

        w_i = |g_i|,  g_i ~ N(0, I_d)

    Parameters
    ----------
    key : JAX PRNG key
    m, d : int

    Returns
    -------
    array, shape (m,), in the default float dtype

    Raises
    ------
    ValueError
        If m < 0 or d < 1, or the key is no JAX key.

    Notes
    -----
    The chi law of the length of a normal vector, as in Simplex Random Features.

    Examples
    --------
    >>> import jax
    >>> from rfcore import couplings
    >>> couplings.norms.independent(jax.random.key(0), 5, 3).shape
    (5,)
    """
    m, d = checks.count(m, "m", least=0), checks.count(d, "d")
    # m d normals rather than m gammas: JAX's gamma sampler takes seconds to compile for every new shape.
    return jnp.linalg.norm(jax.random.normal(checks.key(key), (m, d)), axis=1)


def coupled(law, over="block"):
    """Norms whose levels have the given joint law: within each block of d, over all of them, or over blocks of one norm each.

    ::

        w_i = F^-1(u_i),  F the chi_d distribution function
        over = "block"     (u_1, ..., u_d) a draw of the law for each block
        over = "all"       (u_1, ..., u_m) one draw of the law
        over = "blocks"    one draw of the law for the blocks, a level each, which the d norms of a block share

    Parameters
    ----------
    law : copula or its name
        As :func:`rfcore.couplings.copulas.named` takes it: draws of one coordinate, d, m or ceil(m / d) of them.
    over : "block", "all" or "blocks"

    Returns
    -------
    function (key, m, d) -> (m,)
        The last block is cut. Blocks are independent for "block" only.

    Raises
    ------
    ValueError
        If there is no such law or no such ``over``; and, when the norms are drawn, if it draws another shape or values outside [0, 1).

    Notes
    -----
    Ours; Variance-Reducing Couplings, Section 3, couples norms of orthogonal directions within blocks. What the others save is
    :func:`rfcore.theory.stratified_norms_ratio`: one norm per block in strata over many blocks ("shells") beats all of them.

    Examples
    --------
    Simplex directions with pairwise norm-coupling, and with one norm in each of d strata:

    >>> import jax
    >>> from rfcore.couplings import compose, directions, norms
    >>> coupling = compose(directions.simplex, norms.pnc)
    >>> other = compose(directions.simplex, norms.coupled("stratified"))
    >>> coupling(jax.random.key(0), 8, 4).shape, other(jax.random.key(0), 8, 4).shape
    ((8, 4), (8, 4))

    Shells: one norm for each block, in strata over the blocks:

    >>> shells = compose(directions.orthogonal, norms.coupled("stratified", over="blocks"))
    >>> shells(jax.random.key(0), 64, 4).shape
    (64, 4)
    """
    return partial(_coupled, copulas.named(law, "law"), over=checks.choice(over, "over", ("block", "all", "blocks")))


def _coupled(law, key, m, d, over="block"):
    # Not at the top: SciPy's special functions take a fifth of a second to load, and independent norms need none.
    from rfcore.couplings.chi import chi_quantile

    m, d = checks.count(m, "m", least=0), checks.count(d, "d")
    n_blocks = -(-m // d)
    shape = {"block": (n_blocks, d, 1), "all": (1, m, 1), "blocks": (1, n_blocks, 1)}[over]
    lengths = chi_quantile(copulas.draw(law, copulas.uniforms(key), shape).reshape(-1), d)
    return (jnp.repeat(lengths, d) if over == "blocks" else lengths)[:m]


def pnc(key, m, d):
    """Pairwise norm-coupling: norms 2i and 2i + 1 of a block are at levels u and 1 - u; an odd last one stands alone.

    ::

        F(w_1) + F(w_2) = 1,  F the chi_d distribution function

    Parameters
    ----------
    key : JAX PRNG key
    m, d : int

    Returns
    -------
    array, shape (m,), in the default float dtype

    Raises
    ------
    ValueError
        If m < 0 or d < 1, or the key is no JAX key.

    Notes
    -----
    Variance-Reducing Couplings, Eq. 7 and Definition 3.3. Of all couplings of the norms of two orthogonal frequencies this
    has the least variance for positive features, and a lesser one than any given other for Fourier features of points
    that are close enough (Theorem 3.2).

    Examples
    --------
    >>> import jax
    >>> from rfcore.couplings import norms
    >>> first, second = norms.pnc(jax.random.key(0), 2, 2)
    >>> bool((first < 1.1774) == (second > 1.1774))  # one on either side of the median, sqrt(2 log 2)
    True
    """
    return _coupled(copulas.reversal, key, m, d)


def positive_monotone(key, m, d):
    """One norm for all frequencies of a block.

    Parameters
    ----------
    key : JAX PRNG key
    m, d : int

    Returns
    -------
    array, shape (m,), in the default float dtype

    Raises
    ------
    ValueError
        If m < 0 or d < 1, or the key is no JAX key.

    Notes
    -----
    Variance-Reducing Couplings, Appendix B.3. The other extreme to :func:`pnc`: of all couplings of the norms of orthogonal
    frequencies it has the greatest variance for positive features.

    Examples
    --------
    >>> import jax
    >>> from rfcore.couplings import norms
    >>> w = norms.positive_monotone(jax.random.key(0), 4, 4)
    >>> bool((w == w[0]).all())
    True
    """
    return _coupled(copulas.comonotone, key, m, d)


def stratified(key, m, d):
    """One norm in each of d strata of equal probability, in a random order within the block.

    Parameters
    ----------
    key : JAX PRNG key
    m, d : int

    Returns
    -------
    array, shape (m,), in the default float dtype

    Raises
    ------
    ValueError
        If m < 0 or d < 1, or the key is no JAX key.

    Notes
    -----
    Ours; McKay, Beckman and Conover, 1979, for the strata.

    Examples
    --------
    >>> import jax
    >>> from rfcore.couplings import norms
    >>> norms.stratified(jax.random.key(0), 6, 4).shape
    (6,)
    """
    return _coupled(copulas.stratified, key, m, d)


def gaussian(correlation):
    """Norms at the levels of d correlated normals: a Gaussian copula within each block.

    Parameters
    ----------
    correlation : array, shape (d, d)
        Symmetric and positive semidefinite, with ones on its diagonal; see :func:`rfcore.couplings.copulas.gaussian`.

    Returns
    -------
    function (key, m, d) -> (m,)

    Raises
    ------
    ValueError
        If the correlation is no such matrix; and, when the norms are drawn, if it has not d rows.

    Notes
    -----
    Variance-Reducing Couplings, Section 3.2.

    Examples
    --------
    >>> import jax, numpy as np
    >>> from rfcore.couplings import norms
    >>> norms.gaussian(np.array([[1.0, -0.9], [-0.9, 1.0]]))(jax.random.key(0), 6, 2).shape
    (6,)
    """
    return coupled(copulas.gaussian(correlation))


def equicorrelated(correlation):
    """Norms at the levels of d normals of which each two have one correlation.

    ::

        ``gaussian`` of the matrix with ones on its diagonal and the correlation elsewhere

    ``positive_monotone`` for a correlation of 1, ``independent`` in law for 0; -1 / (d - 1) is the least that d normals can have.

    Parameters
    ----------
    correlation : float
        From -1 / (d - 1) to 1. Inside ``jax.jit`` and ``jax.grad`` its value is not checked.

    Returns
    -------
    function (key, m, d) -> (m,)

    Raises
    ------
    ValueError
        If correlation is no number; and, when the norms are drawn, if it is out of range.

    Notes
    -----
    Ours; Variance-Reducing Couplings, Section 3.2, for Gaussian copulas.

    Examples
    --------
    >>> import jax
    >>> from rfcore.couplings import norms
    >>> norms.equicorrelated(0.5)(jax.random.key(0), 6, 3).shape
    (6,)
    """
    correlation = checks.real(correlation, "correlation")

    def draw(key, m, d):
        root = directions.equicorrelated_root(correlation, checks.count(d, "d"), "correlation")
        return _coupled(copulas.gaussian_of_factor(root), key, m, d)

    return draw
