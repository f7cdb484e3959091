"""Quantiles of lengths of frequencies: chi for normal ones, and those of Student's t in d dimensions.

JAX has no inverse of the incomplete gamma and beta functions. The logarithm of a quantile is smooth in the
normal score z of its level,

::

    log(x / sqrt(d)) = s(z),  u = Phi(z),  -10 <= z <= 8.5

so that s is a spline of degree 5 through SciPy's values, 1/32 apart. Levels below 1e-23 or above 1 - 1e-17,
which no draw reaches, count as these. Measured, the relative error is at most 1e-13 for chi with d <= 10^5,
and for Student's t with nu >= 1/2 and d <= 1000 (3e-12 for nu = 0.1 and d <= 64). At levels of about 3e-6
SciPy's values for chi err by 3e-12 in 10^6 dimensions and by 5e-7 in 10^7. In float32 the error is 6e-6, at
levels from 2^-24 on and with nu >= 1/2.
"""

import math
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special

from rfcore import checks

LARGEST_D, LEAST_NU, LARGEST_NU = 10**7, 0.1, 100.0
# A power of two apart, so that the distance of a score from its node is exact in float32 too.
LOWEST, HIGHEST, STEP = -10.0, 8.5, 1 / 32


def chi(u, d):
    """Length at level u of the law of the length of a N(0, I_d) vector, differentiable in u.

    ::

        x with P(d/2, x^2/2) = u,  P the regularised lower incomplete gamma function

    Args:
        u: levels in [0, 1), of any shape; NaN outside, where values are unknown inside ``jax.jit``.
        d: dimension, at most 10^7.

    Returns:
        Array of the shape of u; float64 if u is float64 and ``jax_enable_x64`` is on, else float32.

    The median of a Rayleigh law, d = 2:

    >>> from rfcore.couplings import quantiles
    >>> round(float(quantiles.chi(0.5, 2)), 5)
    1.17741
    """
    return length(u, d, math.inf)


def student(u, d, nu):
    """Length at level u of Student's t law in d dimensions with 2 nu degrees of freedom, differentiable in u.

    ::

        r with I(r^2 / (r^2 + 2 nu); d/2, nu) = u,  I the regularised incomplete beta function

    Args:
        u, d: as for :func:`chi`.
        nu: from 0.1 to 100, known when this is compiled.

    Returns:
        Array as that of :func:`chi`.

    The median of |Cauchy|:

    >>> from rfcore.couplings import quantiles
    >>> round(float(quantiles.student(0.5, 1, 0.5)), 5)
    1.0
    """
    return length(u, d, smoothness(nu))


def length(u, d, nu):
    """:func:`student`, and :func:`chi` for nu = infinity."""
    u, d = checks.levels(checks.floating(u, "u"), "u"), checks.count(d, "d")
    if d > LARGEST_D:
        raise ValueError(f"d = {d}; give a dimension of at most {LARGEST_D}")
    u = u.astype(jnp.promote_types(u.dtype, jnp.float32))
    return jnp.exp(_log_length(u, jnp.asarray(_spline(d, nu), u.dtype))) * math.sqrt(d)


def smoothness(nu):
    """``nu`` as a float for which :func:`student` has quantiles."""
    if checks.is_traced(nu):
        raise ValueError("nu is traced; give a number that is known when the frequencies are compiled")
    nu = checks.real(nu, "nu", above=0)
    if not LEAST_NU <= nu <= LARGEST_NU:
        raise ValueError(f"nu = {nu}; give one from {LEAST_NU} to {LARGEST_NU:g} (above, take the Gaussian kernel)")
    return nu


@jax.jit  # compiled once for all laws
def _log_length(u, spline):
    z = jnp.clip(jax.scipy.special.ndtri(u), LOWEST, HIGHEST)
    node = jnp.clip(jnp.floor((z - LOWEST) / STEP).astype(int), 0, spline.shape[1] - 1)
    distance, value = z - (LOWEST + STEP * node), 0.0
    for coefficients in spline:  # each fetched alone: all of a node at once take four times as long
        value = value * distance + coefficients[node]
    return value


@lru_cache(maxsize=64)
def _spline(d, nu):
    """Coefficients of s above each node, highest power first, (6, nodes)."""
    from scipy.interpolate import make_interp_spline  # slow to load, and independent norms need none

    nodes = np.arange(LOWEST, HIGHEST + STEP, STEP)
    tail, is_lower = special.ndtr(-np.abs(nodes)), nodes < 0
    if nu == math.inf:
        squares = 2 * np.where(is_lower, special.gammaincinv(d / 2, tail), special.gammainccinv(d / 2, tail))
    else:
        lower, upper = special.betaincinv(d / 2, nu, tail), special.betaincinv(nu, d / 2, tail)
        squares = 2 * nu * np.where(is_lower, lower / (1 - lower), (1 - upper) / upper)
    spline = make_interp_spline(nodes, np.log(squares / d) / 2, k=5)
    return np.stack([spline(nodes[:-1], power) / math.factorial(power) for power in range(5, -1, -1)])
