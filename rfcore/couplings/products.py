"""Couplings, most of which are products: a joint distribution of directions times one of norms."""

import abc
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int, PRNGKeyArray

from rfcore import checks, copulas
from rfcore.copulas.copula import Levels, Uniform
from rfcore.couplings import directions, norms
from rfcore.couplings.norms import Radial, chi
from rfcore.precision import product

Across = Literal["block", "all", "blocks", "sorted"]
DIRECTIONS = {"independent": directions.independent, "orthogonal": directions.orthogonal, "simplex": directions.simplex}


class Coupling(eqx.Module):
    """Joint distribution of m frequencies, each N(0, I_d) unless stated otherwise.

    ``coupling(key, m, d)`` is a draw, an array (m, d) of the default float dtype.
    """

    @abc.abstractmethod
    def __call__(self, key: PRNGKeyArray, m: int, d: int) -> Float[Array, "m d"]:
        """A draw of m frequencies in d dimensions."""


class Product(Coupling):
    """Directions times norms, which are independent of them.

    ::

        omega_i = F^-1(u_i) theta_i,   theta unit vectors, u a draw of the copula, F the radial distribution
        across = "block"     (u_1, ..., u_d) a draw of the copula for each block of d frequencies
        across = "all"       (u_1, ..., u_m) one draw of the copula
        across = "blocks"    one draw of the copula for all blocks: a level each, shared by its d norms
        across = "sorted"    as "all", in ascending order, so that norms within a block are nearly equal

    Blocks are independent for "block" only. One norm per block, stratified over many blocks ("shells"),
    reduces the error more than the others but "sorted": see :func:`rfcore.theory.mse_ratio` and
    :mod:`rfcore.couplings.frames`. A draw with "sorted" begins at a random row, from which on it is cyclic:
    otherwise the first rows would be the shortest ones.

    Source: Variance-Reducing Couplings, Section 3, for norms within blocks.

    >>> import jax
    >>> from rfcore import copulas
    >>> from rfcore.couplings import Product, directions
    >>> shells = Product(directions.orthogonal, copulas.stratified, across="blocks")
    >>> shells
    Product(directions=Orthogonal(), norms=Stratified(), across='blocks')
    >>> omega = shells(jax.random.key(0), 8, 4)
    """

    directions: Callable[[PRNGKeyArray, int, int], Array]
    norms: Callable[[Uniform, tuple[int, ...]], Levels] = copulas.independent
    across: Across = eqx.field(default="block", static=True)
    radial: Radial = chi

    def __call__(self, key: PRNGKeyArray, m: int, d: int) -> Float[Array, "m d"]:
        m, d = checks.count(m, "m", least=0), checks.count(d, "d")
        key_directions, key_norms = jax.random.split(checks.key(key))
        unit = self.directions(key_directions, m, d)
        if unit.shape != (m, d):
            raise ValueError(f"directions has drawn shape {unit.shape}; give a function (key, m, d) whose draws have shape {(m, d)}")
        if self.across != "sorted" or m == 0:
            return self.lengths(key_norms, m, d)[:, None] * unit
        key_levels, key_start = jax.random.split(key_norms)
        omega = self.lengths(key_levels, m, d)[:, None] * unit
        # jnp.roll would be compiled anew for each start.
        return omega[(jnp.arange(m) - jax.random.randint(key_start, (), 0, m)) % m]

    def lengths(self, key: PRNGKeyArray, m: int, d: int) -> Float[Array, " m"]:
        """A draw of the norms alone."""
        if self.norms == copulas.independent and self.radial == chi and self.across in ("block", "all"):
            return norms.independent(key, m, d)
        n_blocks = -(-m // d)
        shape = {"block": (n_blocks, d, 1), "all": (1, m, 1), "blocks": (1, n_blocks, 1), "sorted": (1, m, 1)}[self.across]
        levels = copulas.draw(self.norms, copulas.uniforms(key), shape).reshape(-1)
        lengths = self.radial(jnp.sort(levels) if self.across == "sorted" else levels, d)
        return (jnp.repeat(lengths, d) if self.across == "blocks" else lengths)[:m]


def compose(
    directions: str | Callable[[PRNGKeyArray, int, int], Array],
    norms: str | Callable[[Uniform, tuple[int, ...]], Levels] | Int[ArrayLike, "*k n"] | Sequence[int] = "independent",
    across: Across = "block",
    radial: Radial = chi,
) -> Product:
    """:class:`Product` of directions and norms that may be given by name.

    Args:
        directions: "independent", "orthogonal", "simplex", or a function ``(key, m, d)`` of unit vectors.
        norms: copula of the norms, as :func:`rfcore.copulas.named` takes it: "stratified", "antithetic", ...
        across, radial: as for :class:`Product`.

    >>> from rfcore import couplings
    >>> couplings.compose("simplex", "antithetic")
    Product(directions=Simplex(), norms=Antithetic())
    """
    found: Any = directions if callable(directions) else DIRECTIONS[checks.choice(directions, "directions", DIRECTIONS)]
    checks.choice(across, "across", get_args(Across))
    return Product(found, copulas.named(norms, "norms"), across, radial)


class Independent(Coupling):
    """Independent frequencies.

    Source: Rahimi and Recht, "Random features for large-scale kernel machines", 2007.

    >>> import jax
    >>> from rfcore import couplings
    >>> omega = couplings.iid(jax.random.key(0), 8, 4)  # 8 frequencies in dimension 4, one a row
    """

    def __call__(self, key: PRNGKeyArray, m: int, d: int) -> Float[Array, "m d"]:
        return jax.random.normal(checks.key(key), (checks.count(m, "m", least=0), checks.count(d, "d")))


class WithOpposites(Coupling):
    """Half of the frequencies from a coupling, and their opposites (:func:`antithetic`)."""

    half: Coupling

    def __call__(self, key: PRNGKeyArray, m: int, d: int) -> Float[Array, "m d"]:
        return antithetic(self.half(key, -(-m // 2), d))[:m]


class Turned(Coupling):
    """Frequencies of a coupling under one uniform random rotation, so that no axis is favoured."""

    coupling: Coupling

    def __call__(self, key: PRNGKeyArray, m: int, d: int) -> Float[Array, "m d"]:
        key_frequencies, key_rotation = jax.random.split(key)
        return product(self.coupling(key_frequencies, m, d), directions.haar(key_rotation, d)[0])


iid = Independent()
orthogonal = Product(directions.orthogonal)
"""Orthogonal frequencies: pairwise orthogonal within each block of d rows, with independent norms.

::

    W = D R,  R from Haar measure on O(d), D diagonal with independent chi_d entries

Source: Yu et al., "Orthogonal random features", 2016; Simplex Random Features, Section 1.

>>> import jax, jax.numpy as jnp
>>> from rfcore import couplings
>>> block = couplings.orthogonal(jax.random.key(0), 6, 4)[:4]
>>> gram = block @ block.T
>>> bool(jnp.allclose(gram, jnp.diag(jnp.diag(gram)), atol=1e-4))
True
"""
simplex = Product(directions.simplex)
"""Simplex frequencies: each block points to the corners of a regular simplex, with independent norms.

::

    W = D S R,  S the simplex matrix, R from Haar measure, D diagonal with independent chi_d entries

Obtuse angles keep ``|omega_i + omega_j|`` small, with which the error of positive features grows; no coupling
of directions alone does better (Theorem 3.4). For d = 1 this is ``iid``.

Source: Simplex Random Features, Eqs. 8 and 9.

With a feature map, they estimate a kernel:

>>> import jax, jax.numpy as jnp
>>> from rfcore import couplings, features, kernels
>>> x = jnp.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]])
>>> phi = features.positive(x, couplings.simplex(jax.random.key(0), 3000, 3))
>>> bool(jnp.allclose(phi @ phi.T, kernels.gaussian(x, x), atol=0.05))
True
"""
orthogonal_pnc = Product(directions.orthogonal, copulas.antithetic)
"""Pairwise norm-coupling: orthogonal frequencies, of which 2i and 2i + 1 of a block have levels u and 1 - u.

::

    F(w_1) + F(w_2) = 1,  F the chi_d distribution function

An odd last one stands alone. Of all couplings of the norms of two orthogonal frequencies this has the least
variance for positive features, and a smaller one than any given other for Fourier features of points that are
close enough (Theorem 3.2).

Source: Variance-Reducing Couplings, Eq. 7 and Definition 3.3.

>>> import jax, jax.numpy as jnp
>>> from rfcore import couplings
>>> first, second = jnp.linalg.norm(couplings.orthogonal_pnc(jax.random.key(0), 2, 2), axis=1)
>>> bool((first < 1.1774) == (second > 1.1774))  # one on either side of the median, sqrt(2 log 2)
True
"""
orthogonal_pm = Product(directions.orthogonal, copulas.comonotone)
"""Orthogonal frequencies with one norm in each block: the positive monotone coupling of norms.

For positive features its variance is the greatest of all couplings of the norms of orthogonal frequencies.

Source: Variance-Reducing Couplings, Appendix B.3.

>>> import jax, jax.numpy as jnp
>>> from rfcore import couplings
>>> lengths = jnp.linalg.norm(couplings.orthogonal_pm(jax.random.key(0), 6, 4)[:4], axis=1)
>>> bool(jnp.allclose(lengths, lengths[0]))
True
"""


def orthogonal_copula(key: PRNGKeyArray, m: int, d: int, correlation: Float[ArrayLike, "d d"]) -> Float[Array, "m d"]:
    """Orthogonal frequencies whose norms have a Gaussian copula in each block.

    ::

        Product(directions.orthogonal, copulas.gaussian(correlation))(key, m, d)

    See :func:`rfcore.copulas.gaussian`, also for gradients.

    Source: Variance-Reducing Couplings, Section 3.2 and Appendix A.5.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings
    >>> correlation = jnp.array([[1.0, -0.9], [-0.9, 1.0]])
    >>> omega = couplings.orthogonal_copula(jax.random.key(0), 6, 2, correlation)
    """
    return Product(directions.orthogonal, copulas.gaussian(correlation))(key, m, d)


def matern(key: PRNGKeyArray, m: int, d: int, nu: float) -> Float[Array, "m d"]:
    """Orthogonal frequencies for Fourier features of the Matérn kernel (:func:`rfcore.kernels.matern`).

    ::

        omega = r theta,  theta uniform on the sphere,  r^2 / d ~ F(d, 2 nu)
        Product(directions.orthogonal, radial=norms.Student(nu))(key, m, d)

    which is Student's t distribution in d dimensions, Cauchy's for nu = 1/2. For nu <= 5/2 directions alone
    save little, and strata over all norms, ``compose("orthogonal", "stratified", "all", norms.Student(nu))``,
    are a safe choice; the page "Heavy tails" has the error under each copula. Positive features do not exist:
    exp(omega . v) has no mean.

    Args:
        nu: smoothness, from 0.1 to 100: 1/2 for Laplace's kernel exp(-|x - y|).

    Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, Eq. 4.15.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, kernels
    >>> x = jnp.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]])
    >>> phi = features.fourier(x, couplings.matern(jax.random.key(0), 3000, 3, nu=0.5))
    >>> bool(jnp.allclose(phi @ phi.T, kernels.matern(x, x, nu=0.5), atol=0.05))
    True
    """
    return Product(directions.orthogonal, radial=norms.Student(nu))(key, m, d)


def antithetic(omega: Float[ArrayLike, "m d"]) -> Float[Array, "2*m d"]:
    """Frequencies and their opposites: rows omega, then rows -omega.

    Source: Variance-Reducing Couplings, Theorem 3.5.

    >>> import jax
    >>> from rfcore import couplings
    >>> omega = couplings.antithetic(couplings.orthogonal_pnc(jax.random.key(0), 4, 4))
    >>> bool((omega[:4] == -omega[4:]).all())
    True
    """
    omega = checks.points(omega, "omega")
    return jnp.concatenate([omega, -omega])
