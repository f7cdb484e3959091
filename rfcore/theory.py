"""Closed-form errors of features under geometric couplings (Simplex Random Features, Sections 3 and 4).

One power series carries everything. With v = |x + y|, the *conformity* of a coupling is

::

    rho(v) = sum_k a_k v^(2k),    a_k >= 0

and the error of positive features is an increasing function of it. The logarithms of the coefficients are
tables computed once on the host in float64; what is evaluated at v is a log-sum-exp, so that nothing overflows
and everything is differentiable in the points. The gap e^(v^2) - rho(v) is a series with coefficients of one
sign too, so that it is exact where the two terms nearly cancel.

Results come in the default float dtype: enable x64 for errors below 1e-6.
"""

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from scipy.special import gammaln, roots_legendre

from rfcore import checks

COUPLINGS = ("iid", "orthogonal", "simplex")
LARGEST_V = 30.0


def log_conformity(v, d, coupling):
    """Logarithm of the RF-conformity of a pair of frequencies from one block.

    ::

        rho(v) = E[ 0F1(; d/2; v^2 w^2 / 4) ],  w = |omega_i + omega_j|                               (Eq. 10)
        iid         rho = exp(v^2)                                                                    (Eq. 19)
        orthogonal  rho = sum_k v^2k / (2^k k!) Gamma(d/2) Gamma(k + d) / (Gamma(d) Gamma(k + d/2))     (Eq. 23)
        simplex     each term of that times E_u[(1 - sin(u) / (d - 1))^k], u ~ sin(u)^(d-1) on [0, pi]  (Eq. 21)

    Parameters
    ----------
    v : array
        |x + y|, between 0 and 30.
    d : int
        Dimension, at least 1 (at least 2 for "simplex").
    coupling : "iid", "orthogonal" or "simplex"

    Returns
    -------
    array, the shape of v

    Raises
    ------
    ValueError
        If v is outside [0, 30] or not finite, d too small, or the coupling unknown.

    Notes
    -----
    Simplex Random Features, Definition 3.1, Lemmas 4.1 and 4.2, Theorem 4.3. Its Eq. 24 expands the simplex
    term into an alternating sum that loses all digits for small d and large v; Eq. 21 stays positive.
    """
    checks.choice(coupling, "coupling", COUPLINGS)
    return _log_series(_square(v), _log_coefficients(_dimension(d, coupling), coupling))


def positive_mse(x, y, m, coupling):
    """Mean squared error of the estimate of the Gaussian kernel of two points by m positive features.

    ::

        MSE = 1/m exp(-2|x|^2 - 2|y|^2) [(e^(2 v^2) - e^(v^2)) + (m - 1) (rho(v) - e^(v^2))],  v = |x + y|   (Eq. 11)

    where for m > d only pairs within a block of d count towards (m - 1).

    Parameters
    ----------
    x, y : array, shape (d,)
    m : int
        Number of frequencies.
    coupling : "iid", "orthogonal" or "simplex"

    Returns
    -------
    scalar array

    Raises
    ------
    ValueError
        If the shapes differ, |x + y| > 30, m < 1, or the coupling is unknown.

    Notes
    -----
    Simplex Random Features, Theorem 3.2. Evaluated as
    exp(4 x.y) / m [1 - e^(-v^2) - partners (e^(v^2) - rho(v)) e^(-2 v^2)], whose bracket is between 0 and 1.
    """
    checks.choice(coupling, "coupling", COUPLINGS)
    m = checks.count(m, "m")
    x, y = _pair(x, y)
    square = jnp.sum((x + y) ** 2)
    _check_range(jnp.sqrt(jax.lax.stop_gradient(square)))
    bracket = -jnp.expm1(-square) - square * _saving(square, _dimension(x.shape[0], coupling), m, coupling)
    return jnp.exp(4 * jnp.dot(x, y)) / m * bracket


def positive_mse_ratio(v, d, m, coupling):
    """Error of positive features under a coupling over the error under independence.

    ::

        MSE(coupling) / MSE(iid),  a function of v = |x + y| alone

    Parameters
    ----------
    v : array
        |x + y|, between 0 and 30. Both errors vanish at v = 0; the ratio there is its limit.
    d, m : int
        Dimension; number of frequencies.
    coupling : "iid", "orthogonal" or "simplex"

    Returns
    -------
    array, the shape of v

    Raises
    ------
    ValueError
        As :func:`log_conformity`.

    Notes
    -----
    Simplex Random Features, Section 5.1 and Figure 6.
    """
    checks.choice(coupling, "coupling", COUPLINGS)
    m, d, square = checks.count(m, "m"), _dimension(d, coupling), _square(v)
    safe = jnp.where(square > 0, square, 1.0)
    over_iid = jnp.where(square > 0, safe / -jnp.expm1(-safe), 1.0)
    return 1 - _saving(square, d, m, coupling) * over_iid


def partners(m, d):
    """Mean number of frequencies that share a frequency's block of d, when m are drawn.

    ::

        (number of ordered pairs within blocks) / m,  which is m - 1 for m <= d and d - 1 for multiples of d
    """
    full, rest = divmod(m, d)
    return (full * d * (d - 1) + rest * (rest - 1)) / m


def _saving(square, d, m, coupling):
    """partners (exp(v^2) - rho(v)) exp(-2 v^2) / v^2: what the coupling takes off the error, over v^2."""
    if coupling == "iid":
        return jnp.zeros_like(square)
    return partners(m, d) * jnp.exp(_log_series(square, _log_gap_coefficients(d, coupling)) - 2 * square)


def _log_series(square, log_coefficients):
    """log of sum_k a_k s^k at s = square, safe and differentiable at s = 0."""
    positive = square > 0
    log_square = jnp.log(jnp.where(positive, square, 1.0))
    series = logsumexp(log_coefficients + jnp.arange(len(log_coefficients)) * log_square[..., None], axis=-1)
    return jnp.where(positive, series, log_coefficients[0])


def _square(v):
    v = checks.finite(jnp.asarray(v, dtype=float), "v")
    _check_range(v)
    return v**2


def _check_range(v):
    if not checks.is_traced(v) and v.size and not (v.min() >= 0 and v.max() <= LARGEST_V):
        raise ValueError(f"v = |x + y| has values in [{v.min()}, {v.max()}]; it must lie in [0, {LARGEST_V:g}]")


@lru_cache
def _log_coefficients(d, coupling):
    """log a_k of the conformity, k = 0, 1, ..., long enough for every v up to LARGEST_V."""
    return _log_iid_coefficients() + _log_share(d, coupling)


@lru_cache
def _log_gap_coefficients(d, coupling):
    """log (1/k! - a_k), k = 1, 2, ...: every coefficient of (exp(v^2) - rho(v)) / v^2 is non-negative."""
    with np.errstate(divide="ignore"):  # log 0 for k = 1 when orthogonal: the two series agree to that order
        return (_log_iid_coefficients() + np.log(-np.expm1(_log_share(d, coupling))))[1:]


def _log_iid_coefficients():
    # Terms peak near k = v^2 and fall off within a few times v of it.
    return -gammaln(np.arange(int(LARGEST_V**2 + 14 * LARGEST_V) + 80) + 1.0)


def _log_share(d, coupling):
    """log (k! a_k) <= 0: what is left of the k-th moment of independent frequencies; exactly 0 at k = 0."""
    k = np.arange(len(_log_iid_coefficients()))
    if coupling == "iid":
        return np.zeros(len(k))
    # Gamma(d/2) Gamma(k + d) / (2^k Gamma(d) Gamma(k + d/2)) as a product, which log-gammas would round at k = 1.
    orthogonal = np.concatenate([[0.0], np.cumsum(np.log1p(-k[:-1] / (d + 2.0 * k[:-1])))])
    return orthogonal if coupling == "orthogonal" else orthogonal + _log_angle_moments(k, d, cosine=-1 / (d - 1))


def _log_angle_moments(k, d, cosine):
    """log E[(1 + cosine sin u)^k] with u of density proportional to sin(u)^(d - 1) on [0, pi]."""
    # Symmetric about pi / 2: half of the interval. 200 nodes resolve the narrowest peak, 1 / sqrt(512), many times.
    nodes, weights = roots_legendre(200)
    sine = np.sin(np.pi / 4 * (nodes + 1))
    log_density = np.log(weights) + (d - 1) * np.log(sine)
    log_density -= np.logaddexp.reduce(log_density)
    log_base = np.log1p(cosine * sine)
    return np.concatenate([[0.0], np.logaddexp.reduce(log_density + k[1:, None] * log_base, axis=1)])


def _dimension(d, coupling):
    return checks.count(d, "d", least=2 if coupling == "simplex" else 1)


def _pair(x, y):
    x, y = jnp.asarray(x, dtype=float), jnp.asarray(y, dtype=float)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"x has shape {x.shape} and y {y.shape}; give two points of the same shape (d,)")
    return checks.finite(x, "x"), checks.finite(y, "y")
