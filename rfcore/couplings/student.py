"""Frequencies of Matérn kernels: Student's t law in d dimensions, its lengths under any joint law of norms.

::

    omega = r theta,  theta uniform on the sphere,  r^2 / d ~ F(d, 2 nu),  r^2 / (r^2 + 2 nu) ~ Beta(d/2, nu)

nu = 1/2 is Cauchy's law, for Laplace's kernel. JAX has no inverse of the incomplete beta function. With p the
smaller of u and 1 - u,

::

    log(r / sqrt(d)) - log(u) / d            for u <= 1/2
    log(r / sqrt(d)) + log(1 - u) / (2 nu)   above

are smooth functions of s = log(-log p), as those of :mod:`rfcore.couplings.chi` are, and polynomials of the
same degree on the same pieces interpolate them. ``tests/test_student_proof.py`` proves a relative error of
the quantile in chi's manner, at 117 laws with d up to 1000: of at most 1.4e-13 in float64 for nu >= 0.3. In
float32 it is 1.6e-6 where nu >= 1/2 and 4 nu is whole, 2.6e-6 for other nu >= 1/2, and 1e-5 down to nu =
0.1, as 2 nu is rounded. For more dimensions levels below 1e-200, which no draw of uniforms reaches, may be
wrong; at others mpmath finds 5e-12 at most, at d = 10^5.
"""

import math
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from numpy.polynomial import chebyshev
from scipy import special

from rfcore import checks, copulas
from rfcore.couplings import directions
from rfcore.couplings.chi import DEGREE, LARGEST_D, N_LOWER, N_UPPER, START, WIDTH
from rfcore.couplings.compose import compose

LEAST_NU, LARGEST_NU = 0.1, 100.0


def matern(key, m, d, nu, draw_directions=directions.orthogonal, law="independent", over="block"):
    """Frequencies whose Fourier features estimate the Matérn kernel (:func:`rfcore.kernels.matern`).

    Strata over all norms, ``law="stratified", over="all"``, are a safe choice for nu <= 5/2, where directions
    alone save little; the page "Heavy tails" has what each law leaves of the error. Positive features do not
    exist: exp(omega . v) has no mean under Student's law.

    Args:
        key, m, d: as for every coupling.
        nu: smoothness, from 0.1 to 100: 1/2 for Laplace's kernel exp(-|x - y|).
        draw_directions: function ``(key, m, d) -> (m, d)`` of :mod:`rfcore.couplings.directions`.
        law, over: joint law of the lengths, as for :func:`rfcore.couplings.norms.coupled`.

    Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, Eq. 4.15.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, kernels
    >>> x = jnp.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]])
    >>> phi = features.fourier(x, couplings.matern(jax.random.key(0), 3000, 3, nu=0.5))
    >>> bool(jnp.allclose(phi @ phi.T, kernels.matern(x, x, nu=0.5), atol=0.05))
    True
    """
    return compose(draw_directions, coupled(nu, law, over))(key, m, d)


def coupled(nu, law="independent", over="block"):
    """Joint law ``(key, m, d) -> (m,)`` of lengths, as :func:`rfcore.couplings.norms.coupled` of norms."""
    law, over = copulas.named(law, "law"), checks.choice(over, "over", ("block", "all", "blocks"))
    return partial(_coupled, _smoothness(nu), law, over)


def _coupled(nu, law, over, key, m, d):
    m, d = checks.count(m, "m", least=0), checks.count(d, "d")
    n_blocks = -(-m // d)
    shape = {"block": (n_blocks, d, 1), "all": (1, m, 1), "blocks": (1, n_blocks, 1)}[over]
    lengths = quantile(copulas.draw(law, copulas.uniforms(key), shape).reshape(-1), d, nu)
    return (jnp.repeat(lengths, d) if over == "blocks" else lengths)[:m]


def quantile(u, d, nu):
    """Length at level u of Student's t law in d dimensions with 2 nu degrees of freedom.

    Args:
        u: levels in [0, 1), of any shape.
        d: dimension, at most 10^5.
        nu: from 0.1 to 100, known when this is compiled.

    Returns:
        Array of the shape of u; float64 if u is float64 and ``jax_enable_x64`` is on, else float32.

    >>> from rfcore.couplings import student
    >>> round(float(student.quantile(0.5, 1, 0.5)), 6)  # the median of |Cauchy|
    1.0
    """
    u, d = checks.levels(checks.floating(u, "u"), "u"), checks.count(d, "d")
    if d > LARGEST_D:
        raise ValueError(f"d = {d}; give a dimension of at most {LARGEST_D}")
    return _quantile(u.astype(jnp.promote_types(u.dtype, jnp.float32)), d, _smoothness(nu))


def _smoothness(nu):
    if checks.is_traced(nu):
        raise ValueError("nu is traced; give a number that is known when the frequencies are compiled")
    nu = checks.real(nu, "nu", above=0)
    if not LEAST_NU <= nu <= LARGEST_NU:
        raise ValueError(f"nu = {nu}; give one from {LEAST_NU} to {LARGEST_NU:g} (above, take the Gaussian kernel)")
    return float(nu)


@partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def _quantile(u, d, nu):
    return _interpolated(u, jnp.asarray(_table(d, nu), u.dtype), d, 2 * nu)


@jax.jit  # compiled once for all laws
def _interpolated(u, table, lower, upper):
    p = jnp.minimum(u, 1 - u)
    is_lower = u <= 0.5
    place = (jnp.log(-jnp.log(p)) - START) / WIDTH
    piece = jnp.clip(jnp.floor(jnp.nan_to_num(place)), 0, jnp.where(is_lower, N_LOWER, N_UPPER) - 1).astype(int)
    coefficients = table[piece + jnp.where(is_lower, 0, N_LOWER)]
    value = jnp.polyval(jnp.moveaxis(coefficients, -1, 0), 2 * (place - piece) - 1)
    # log(p) over a number by parts: in float32 a logarithm of -88 has lost too much.
    fraction, exponent = jnp.frexp(jnp.where(p > 0, p, 1))
    number = jnp.where(is_lower, jnp.asarray(lower, u.dtype), -jnp.asarray(upper, u.dtype))
    whole = jnp.round(exponent / number)
    power = (jnp.log(fraction) + (exponent - whole * number) * math.log(2)) / number
    x = jnp.ldexp(jnp.exp(value + power) * jnp.sqrt(jnp.asarray(lower, u.dtype)), whole.astype(int))
    return jnp.select([u == 0, u == 1, (u > 0) & (u < 1)], [0.0, jnp.inf, x], jnp.nan)


@_quantile.defjvp
def _of_tangent(d, nu, primals, tangents):
    (u,), (change,) = primals, tangents
    x = _quantile(u, d, nu)
    odds = 2 * jnp.log(x) - math.log(2 * nu)
    log_density = d / 2 * jax.nn.log_sigmoid(odds) + nu * jax.nn.log_sigmoid(-odds) - float(special.betaln(d / 2, nu))
    return x, change * x / (2 * jnp.exp(log_density))


@lru_cache(maxsize=64)
def _table(d, nu):
    """Coefficients of the polynomials, highest power first; the variable runs from -1 to 1 over a piece."""
    nodes = chebyshev.chebpts1(DEGREE + 1)
    minus_log_p = np.exp(START + WIDTH * (np.arange(N_LOWER)[:, None] + (nodes + 1) / 2))
    lower = _log_odds(-minus_log_p, d / 2, nu) / 2 + minus_log_p / d
    upper = -_log_odds(-minus_log_p[:N_UPPER], nu, d / 2) / 2 - minus_log_p[:N_UPPER] / (2 * nu)
    values = np.concatenate([lower, upper]) + (np.log(2 * nu) - np.log(d)) / 2
    return np.linalg.solve(np.vander(nodes), values.T).T


def _log_odds(log_p, a, b):
    """Log odds, log(B / (1 - B)), at level p <= 1/2 of the Beta(a, b) law, by Newton's method."""
    p = np.exp(log_p)
    B, rest = special.betaincinv(a, b, p), special.betainccinv(b, a, p)
    leading = (log_p + np.log(a) + special.betaln(a, b)) / a  # of log B, where B underflows
    with np.errstate(divide="ignore"):
        odds = np.where(B > 1e-290, np.log(B), leading) - np.log(np.where(rest > 0, rest, 1))
    for _ in range(3):
        log_B, log_rest = special.log_expit(odds), special.log_expit(-odds)
        B = np.exp(log_B)
        log_density = a * log_B + b * log_rest - special.betaln(a, b)  # of the log odds
        with np.errstate(all="ignore"):  # each of the two where the other is taken
            series = a * log_B - np.log(a) - special.betaln(a, b) + np.log(special.hyp2f1(a, 1 - b, a + 1, np.minimum(B, 0.5)))
            log_tail = np.where(np.minimum(log_p, log_B) < -600, series, np.log(special.betainc(a, b, B)))
        odds = odds - (log_tail - log_p) * np.exp(log_tail - log_density)
    return odds
