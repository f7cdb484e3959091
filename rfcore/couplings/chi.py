"""Quantiles of the chi law, which is the law of the length of a N(0, I_d) vector.

JAX has no inverse of the incomplete gamma function. With p the smaller of u and 1 - u (exact for u >= 1/2),

::

    log(x / sqrt(d)) - [u <= 1/2] log(u) / d

is a smooth function of s = log(-log p), whose nearest singularities, p = 1 on other sheets of the logarithm,
have ``|Im s| = pi/2`` for the normal law. Polynomials of degree 12 on pieces 0.43 wide then err by about
14^-13 = 1e-15; they interpolate values that SciPy's incomplete gamma function and Newton's method give in
float64.

``tests/test_chi_proof.py`` proves a relative error of the quantile of the number that u is of at most 1e-13
in float64 and 1e-6 in float32, given a log and an exp that are good to one eps. The distance of the
polynomials from the function is bounded by Taylor expansions with remainders, at all s at once (in interval
arithmetic for every d up to 900 and forty more up to 4096: 9e-14), and rounding step by step, for every d
(2e-15, 9.95e-7). Measured against 40 digits of mpmath: 3e-14 and 2e-7.
"""

import math
import sys
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from numpy.polynomial import chebyshev
from scipy import special

from rfcore import checks

LARGEST_D = 10**5

# The table has pieces of one width in s = log(-log p), p the smaller tail: to the least normal number below, to 2^-53 above.
START, N_LOWER, N_UPPER, DEGREE = math.log(math.log(2)), 16, 10, 12
WIDTH = (math.log(-math.log(sys.float_info.min)) - START) / N_LOWER


def chi_quantile(u, d):
    """Length at level u of the law of the length of a N(0, I_d) vector.

    ::

        x with P(d/2, x^2/2) = u,  P the regularised lower incomplete gamma function

    The derivative is 1 / density, at any order. Inside ``jax.jit``, where values are unknown, u = 1 gives
    infinity and u outside [0, 1] NaN.

    Args:
        u: levels in [0, 1), of any shape. Those below the least normal number of the dtype (2e-308 in
            float64) may count as 0, as XLA does with them.
        d: dimension, at most 10^5.

    Returns:
        Array of the shape of u; float64 if u is float64 and ``jax_enable_x64`` is on, else float32.

    The median of a Rayleigh law, d = 2:

    >>> from rfcore.couplings import chi
    >>> round(float(chi.chi_quantile(0.5, 2)), 6)
    1.17741
    """
    u, d = checks.levels(checks.floating(u, "u"), "u"), checks.count(d, "d")
    if d > LARGEST_D:
        raise ValueError(f"d = {d}; give a dimension of at most {LARGEST_D}")
    return _quantile(u.astype(jnp.promote_types(u.dtype, jnp.float32)), d)


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def _quantile(u, d):
    return _interpolated(u, jnp.asarray(_table(d), u.dtype), d)


@jax.jit  # compiled once for all d
def _interpolated(u, table, d):
    p, degrees = jnp.minimum(u, 1 - u), jnp.asarray(d, u.dtype)
    is_lower = u <= 0.5
    place = (jnp.log(-jnp.log(p)) - START) / WIDTH
    last = jnp.where(is_lower, N_LOWER, N_UPPER) - 1
    piece = jnp.clip(jnp.floor(jnp.nan_to_num(place)), 0, last).astype(int)
    coefficients = table[piece + jnp.where(is_lower, 0, N_LOWER)]
    value = jnp.polyval(jnp.moveaxis(coefficients, -1, 0), 2 * (place - piece) - 1)
    # log(u) / d by parts: in float32 log(u) = -88 has lost too much.
    fraction, exponent = jnp.frexp(jnp.where(is_lower, u, 1))
    whole, rest = jnp.divmod(exponent, d)
    power = (jnp.log(fraction) + rest.astype(u.dtype) * math.log(2)) / degrees
    x = jnp.ldexp(jnp.exp(value + power) * jnp.sqrt(degrees), whole)
    return jnp.select([u == 0, u == 1, (u > 0) & (u < 1)], [0.0, jnp.inf, x], jnp.nan)


@_quantile.defjvp
def _of_tangent(d, primals, tangents):
    (u,), (change,) = primals, tangents
    x = _quantile(u, d)
    return x, change / _density(x, d, _log_density_at_mode(d))


@jax.jit
def _density(x, d, log_at_mode):
    """Density of the chi law over that at its mode: the powers alone would be large in float32."""
    degrees = jnp.asarray(d, x.dtype)
    mode = jnp.sqrt(jnp.maximum(degrees - 1, 1))
    excess = x / mode - 1
    powers = jax.scipy.special.xlogy(degrees - 1, x / mode) - mode**2 * (excess + excess**2 / 2)
    return jnp.exp(log_at_mode + powers)


def _log_density_at_mode(d):
    mode = math.sqrt(max(d - 1, 1))
    return (d - 1) * math.log(mode) - mode**2 / 2 - (d / 2 - 1) * math.log(2) - math.lgamma(d / 2)


@lru_cache(maxsize=64)
def _table(d):
    """Coefficients of the polynomials, highest power first; the variable runs from -1 to 1 over a piece."""
    nodes = chebyshev.chebpts1(DEGREE + 1)
    lower = START + WIDTH * (np.arange(N_LOWER)[:, None] + (nodes + 1) / 2)
    values = np.concatenate([
        _log_quantile(-np.exp(lower), d, is_lower=True) + np.exp(lower) / d,
        _log_quantile(-np.exp(lower[:N_UPPER]), d, is_lower=False),
    ])  # fmt: skip
    return np.linalg.solve(np.vander(nodes), (values - np.log(d) / 2).T).T


def _log_quantile(log_p, d, is_lower):
    """Log of the chi quantile by Newton's method on the log of a tail, in log y with y = x^2 / 2."""
    a, p = d / 2, np.exp(log_p)
    if is_lower:
        # Leading order, a lower bound, where y underflows.
        y = np.maximum(special.gammaincinv(a, p), np.finfo(float).tiny)
        log_y = np.maximum(np.log(y), (log_p + special.gammaln(a + 1)) / a)
    else:
        log_y = np.log(special.gammainccinv(a, p))
    for _ in range(3):
        log_tail = _log_lower(log_y, a) if is_lower else np.log(special.gammaincc(a, np.exp(log_y)))
        log_density = a * log_y - np.exp(log_y) - special.gammaln(a)  # of log y
        step = (log_tail - log_p) * np.exp(log_tail - log_density)
        log_y = log_y - step if is_lower else log_y + step
    return (np.log(2) + log_y) / 2


def _log_lower(log_y, a):
    """Log of the regularised lower incomplete gamma function, by a series where y < 1: it may underflow."""
    y = np.exp(log_y)
    small = np.minimum(y, 1)
    terms = np.cumprod(small[..., None] / (a + np.arange(1, 20)), axis=-1)
    series = a * np.minimum(log_y, 0) - small - special.gammaln(a + 1) + np.log1p(terms.sum(axis=-1))
    with np.errstate(divide="ignore"):
        return np.where(y < 1, series, np.log(special.gammainc(a, y)))
