"""How strongly pairs of frequencies pull the same way: RF-conformity (Simplex Random Features, Section 3).

::

    rho(v) = E[ 0F1(; d/2; v^2 w^2 / 4) ],  w = |omega_i + omega_j|,  v = |x + y|

It is a power series in v^2 with positive coefficients, tabulated once in float64 and evaluated as a
log-sum-exp. The gap e^(v^2) - rho(v) is a series with coefficients of one sign too, so that it is exact where
its two terms nearly cancel. Everywhere v is between 0 and 30, an array unless said otherwise, and results
have its shape.
"""

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from scipy.special import gammaln

from rfcore import checks
from rfcore.theory.series import (
    COUPLINGS,
    LOG_FACTORIAL,
    K,
    adds_axes,
    angles,
    constant,
    dimension,
    log_orthogonal_share,
    log_series,
    radius,
)

__all__ = [
    "COUPLINGS",
    "log_conformity",
    "log_conformity_at_angle",
    "log_conformity_of",
    "log_conformity_of_directions",
    "log_gap",
    "partners",
]


def log_conformity(v, d, coupling):
    """Logarithm of the RF-conformity of a pair of frequencies from one block.

    ::

        rho(v) = E[ 0F1(; d/2; v^2 w^2 / 4) ],  w = |omega_i + omega_j|                          (Eq. 10)
        iid         exp(v^2)                                                                     (Eq. 19)
        orthogonal  sum_k v^2k / (2^k k!) Gamma(d/2) Gamma(k + d) / (Gamma(d) Gamma(k + d/2))    (Eq. 23)
        simplex     its terms times E_u[(1 - sin(u) / (d - 1))^k], u ~ sin(u)^(d-1) on [0, pi]   (Eq. 21)

    Eq. 24 expands the last into an alternating sum, which loses all digits for small d and large v
    (``papers.simplex.formulas.simplex_conformity``); the form used here stays positive.

    Args:
        v: |x + y|, between 0 and 30.
        d: dimension, at least 1; at least 2 for "simplex".
        coupling: "iid", "orthogonal" or "simplex".

    Source: Simplex Random Features, Theorem 4.3 and Lemmas 4.1 and 4.2.

    >>> from rfcore import theory
    >>> [round(float(theory.log_conformity(1.0, 3, coupling)), 3) for coupling in theory.COUPLINGS]
    [1.0, 0.922, 0.55]
    """
    d = dimension(d, coupling)
    return log_series(_log_share(d, coupling) - LOG_FACTORIAL, radius(v, "v") ** 2)


@adds_axes
def log_conformity_at_angle(v, d, cosine):
    """Logarithm of the RF-conformity of two frequencies that subtend a fixed angle.

    ::

        rho(v) = E_u[ rho_orthogonal(v sqrt(1 + cosine sin u)) ],  u ~ sin(u)^(d-1) on [0, pi]

    Args:
        v: |x + y|; both v and v sqrt(1 + cosine) between 0 and 30. Broadcasts against ``cosine``.
        cosine: between -1 and 1, may be traced; 0 is "orthogonal", -1 / (d - 1) is "simplex".

    Source: Simplex Random Features, Eq. 21.
    """
    v, d, cosine = radius(v, "v"), checks.count(d, "d"), cosine_of(cosine)
    sine, log_weights = map(constant, angles(d))
    stretched = (v**2)[..., None] * (1 + cosine[..., None] * sine)
    radius(jnp.sqrt(jax.lax.stop_gradient(stretched)), "v sqrt(1 + cosine sin u)")
    return logsumexp(log_weights + log_series(log_orthogonal_share(d) - LOG_FACTORIAL, stretched), axis=-1)


@adds_axes
def log_conformity_of(omega, v):
    """Logarithm of the RF-conformity of given frequencies, the mean over their pairs.

    ::

        rho(v) = 1 / (m (m - 1)) sum_{i != j} 0F1(; d/2; v^2 w_ij^2 / 4),  w_ij = |omega_i + omega_j|

    Memory is O(m^2) per value of v, times the 1,400 terms of the series.

    Args:
        omega: array (m, d), m at least 2; may be traced.
        v: |x + y|, with v w_ij at most 1200.

    Source: Simplex Random Features, Eq. 12.
    """
    omega, v = checks.points(omega, "omega"), radius(v, "v")
    m, d = omega.shape
    if m < 2:
        raise ValueError(f"omega has shape {omega.shape}; give at least two frequencies, a pair")
    i, j = np.triu_indices(m, 1)
    squares = jnp.sum((omega[i] + omega[j]) ** 2, axis=1)
    quarter = (v**2)[..., None] * squares / 4
    if not checks.is_traced(quarter) and quarter.max(initial=0) > 600**2:
        raise ValueError(f"v |omega_i + omega_j| reaches {2 * float(jnp.sqrt(quarter.max()))}; give frequencies or v that keep it to 1200")
    log_coefficients = gammaln(d / 2) - gammaln(K + d / 2) - LOG_FACTORIAL
    return logsumexp(log_series(log_coefficients, quarter), axis=-1) - np.log(len(i))


@adds_axes
def log_conformity_of_directions(directions, v):
    """Logarithm of the RF-conformity of a coupling that gives its frequencies these directions.

    ::

        rho(v) = 1 / (m (m - 1)) sum_{i != j} rho_theta(v),  theta the angle between u_i and u_j    (Eq. 21)

    Every coupling whose norms are independent of its directions averages this over its law of directions, so
    that the best one takes the best directions always. A pair costs 280,000 numbers in time and memory.

    Args:
        directions: array (m, d), m at least 2, rows of any length above 0; may be traced.
        v: |x + y|, a float between 0 and 30 / sqrt(2).

    Source: Simplex Random Features, Theorem 3.4.
    """
    directions = checks.points(directions, "directions")
    m, d = directions.shape
    if m < 2:
        raise ValueError(f"directions has shape {directions.shape}; give at least two, a pair")
    lengths = jnp.linalg.norm(directions, axis=1)
    if not checks.is_traced(lengths) and not np.asarray(lengths).min() > 0:
        raise ValueError(f"directions has a row of length {lengths.min()}; give lengths above 0")
    i, j = np.triu_indices(m, 1)
    cosines = jnp.clip(jnp.sum(directions[i] * directions[j], axis=1) / (lengths[i] * lengths[j]), -1, 1)
    return logsumexp(log_conformity_at_angle(v, d, cosines)) - np.log(len(i))


def partners(m, d):
    """Mean number of frequencies that share a frequency's block of d, when m are drawn.

    For m <= d it is the factor m - 1 of Simplex Random Features, Theorem 3.2, which is for one block.

    >>> from rfcore import theory
    >>> theory.partners(3, 3), theory.partners(6, 3), theory.partners(4, 3)  # the last block may be cut
    (2.0, 2.0, 1.5)
    """
    m, d = checks.count(m, "m"), checks.count(d, "d")
    full, rest = divmod(m, d)
    return (full * d * (d - 1) + rest * (rest - 1)) / m


def log_gap(square, d, coupling):
    """log [(exp(v^2) - rho(v)) / v^2] at v^2 = square, for a coupling other than "iid"."""
    return log_series(log_gap_coefficients(d, coupling), square)


@lru_cache
def log_gap_coefficients(d, coupling):
    """log (1/k! - a_k), k = 1, 2, ...: every coefficient of (exp(v^2) - rho(v)) / v^2 is non-negative."""
    with np.errstate(divide="ignore"):  # log 0 for k = 1 when orthogonal: the two series agree to that order
        return (np.log(-np.expm1(_log_share(d, coupling))) - LOG_FACTORIAL)[1:]


@lru_cache
def _log_share(d, coupling):
    """log (k! a_k) <= 0: what is left of the k-th moment of independent frequencies; exactly 0 at k = 0."""
    if coupling == "iid":
        return np.zeros(len(K))
    share = log_orthogonal_share(d)
    if coupling == "simplex":
        sine, log_weights = angles(d)
        log_powers = K[1:, None] * np.log1p(-sine / (d - 1))
        share = share + np.concatenate([[0.0], np.logaddexp.reduce(log_weights + log_powers, axis=1)])
    return share


def cosine_of(cosine):
    cosine = checks.floating(cosine, "cosine").astype(float)
    if not checks.is_traced(cosine) and cosine.size and not (cosine.min() >= -1 and cosine.max() <= 1):
        raise ValueError(f"cosine has values in [{cosine.min()}, {cosine.max()}]; give values in [-1, 1]")
    return cosine
