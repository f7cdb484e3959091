"""Norms of frequencies: chi for normal ones, Student's for those of Matérn kernels.

A radial distribution is a record that is called as ``radial(u, d)``: the quantile of the norm at level u.
JAX has no inverse of the incomplete gamma and beta functions. The logarithm of a quantile is smooth in the
normal score z of its level,

::

    log(x / sqrt(d)) = s(z),  u = Phi(z),  -10 <= z <= 8.5

so s is a spline of degree 5 through SciPy's values, 1/32 apart. Levels below 1e-23 or above 1 - 1e-17, where
no draw falls, are moved to these ends. Measured, the relative error is at most 1e-13 for chi with d <= 10^5,
and for Student's distribution with nu >= 1/2 and d <= 1000 (3e-12 for nu = 0.1 and d <= 64). At levels of
about 3e-6 SciPy's values for chi are off by 3e-12 in 10^6 dimensions and by 5e-7 in 10^7. In float32 the
error is 6e-6, at levels from 2^-24 on and with nu >= 1/2.
"""

import abc
import math
from functools import lru_cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray
from scipy import special

from rfcore import checks
from rfcore.precision import at_least_single

LARGEST_D, LEAST_NU, LARGEST_NU = 10**7, 0.1, 100.0
# The step is a power of two, so that the distance of a score from its node is exact in float32 too.
LOWEST, HIGHEST, STEP = -10.0, 8.5, 1 / 32


class Radial(eqx.Module):
    """Distribution of the norm of a frequency in d dimensions, given by its quantiles: ``radial(u, d)``."""

    @abc.abstractmethod
    def __call__(self, u: Float[ArrayLike, "*shape"], d: int) -> Float[Array, "*shape"]:
        """Norm at level u in d dimensions."""


class Chi(Radial):
    """The distribution chi_d of the length of a N(0, I_d) vector.

    ::

        x with P(d/2, x^2/2) = u,  P the regularised lower incomplete gamma function

    d is at most 10^7. Levels are in [0, 1): of traced ones outside the norm is NaN. Differentiable in u.

    The median of Rayleigh's distribution, d = 2:

    >>> from rfcore.couplings import norms
    >>> round(float(norms.chi(0.5, 2)), 5)
    1.17741
    """

    def __call__(self, u: Float[ArrayLike, "*shape"], d: int) -> Float[Array, "*shape"]:
        return _length(u, d, math.inf)


class Student(Radial):
    """The length of Student's t in d dimensions with 2 nu degrees of freedom, a frequency of a Matérn kernel.

    ::

        r with I(r^2 / (r^2 + 2 nu); d/2, nu) = u,  I the regularised incomplete beta function

    nu is from 0.1 to 100, and must be known at compile time; d and levels are as for :class:`Chi`.

    The median of |Cauchy|:

    >>> from rfcore.couplings import norms
    >>> round(float(norms.Student(0.5)(0.5, 1)), 5)
    1.0
    """

    nu: float = eqx.field(static=True)
    """Smoothness of the kernel: 1/2 for Laplace's kernel exp(-|x - y|)."""

    def __init__(self, nu: float) -> None:
        if checks.is_traced(nu):
            raise ValueError("nu is traced; give a number that is known when the frequencies are compiled")
        self.nu = checks.real(nu, "nu", above=0)
        if not LEAST_NU <= self.nu <= LARGEST_NU:
            raise ValueError(f"nu = {nu}; give one from {LEAST_NU} to {LARGEST_NU:g} (above, take the Gaussian kernel)")

    def __call__(self, u: Float[ArrayLike, "*shape"], d: int) -> Float[Array, "*shape"]:
        return _length(u, d, self.nu)


chi = Chi()


def independent(key: PRNGKeyArray, m: int, d: int) -> Float[Array, " m"]:
    """Independent chi_d lengths: ``w_i = |g_i|`` with g_i ~ N(0, I_d)."""
    # m d normals rather than m gammas: JAX's gamma sampler takes seconds to compile for every new shape.
    return jnp.linalg.norm(jax.random.normal(key, (m, d)), axis=1)


def _length(u: Float[ArrayLike, "*shape"], d: int, nu: float) -> Float[Array, "*shape"]:
    u, d = checks.levels(checks.floating(u, "u"), "u"), checks.count(d, "d")
    if d > LARGEST_D:
        raise ValueError(f"d = {d}; give a dimension of at most {LARGEST_D}")
    u = u.astype(at_least_single(u))
    return jnp.exp(_log_length(u, jnp.asarray(_spline(d, nu), u.dtype))) * math.sqrt(d)


@jax.jit  # compiled once for all distributions
def _log_length(u: Float[Array, "*shape"], spline: Float[Array, "6 nodes"]) -> Float[Array, "*shape"]:
    z = jnp.clip(jax.scipy.special.ndtri(u), LOWEST, HIGHEST)
    node = jnp.clip(jnp.floor((z - LOWEST) / STEP).astype(int), 0, spline.shape[1] - 1)
    distance, value = z - (LOWEST + STEP * node.astype(float)).astype(z.dtype), jnp.zeros_like(z)
    for coefficients in spline:  # gathered one at a time: gathering all six at once takes four times as long
        value = value * distance + coefficients[node]
    return value


@lru_cache(maxsize=64)
def _spline(d: int, nu: float) -> Float[np.ndarray, "6 nodes"]:
    """Coefficients of s above each node, highest power first, (6, nodes)."""
    from scipy.interpolate import make_interp_spline  # slow to import, and not needed for independent norms

    nodes = np.arange(LOWEST, HIGHEST + STEP, STEP)
    tail, is_lower = special.ndtr(-np.abs(nodes)), nodes < 0
    if nu == math.inf:
        squares = 2 * np.where(is_lower, special.gammaincinv(d / 2, tail), special.gammainccinv(d / 2, tail))
    else:
        lower, upper = special.betaincinv(d / 2, nu, tail), special.betaincinv(nu, d / 2, tail)
        squares = 2 * nu * np.where(is_lower, lower / (1 - lower), (1 - upper) / upper)
    spline = make_interp_spline(nodes, np.log(squares / d) / 2, k=5)
    return np.stack([spline(nodes[:-1], power) / math.factorial(power) for power in range(5, -1, -1)])
