"""RF-conformity: how far pairs of frequencies point the same way (Simplex Random Features, Section 3).

::

    rho(v) = E[ 0F1(; d/2; v^2 w^2 / 4) ],  w = |omega_i + omega_j|,  v = |x + y|

It is a power series in v^2 with positive coefficients, tabulated once in float64 and evaluated as a
log-sum-exp. The gap e^(v^2) - rho(v) is a series with coefficients of one sign too, so that it is accurate
where its two terms nearly cancel. Throughout, v is between 0 and 30, an array unless stated otherwise, and
results have its shape.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from rfcore.theory.series import (
    LOG_FACTORIAL,
    Angles,
    K,
    angles,
    angles_in,
    log_orthogonal_share,
    log_series,
    radius,
)


def log_conformity(v: Float[ArrayLike, "*shape"], d: int, coupling: str | Callable) -> Float[Array, "*shape"]:
    """Logarithm of the RF-conformity of a pair of frequencies from one block.

    ::

        rho(v) = E[ 0F1(; d/2; v^2 w^2 / 4) ],  w = |omega_i + omega_j|                          (Eq. 10)
        iid         exp(v^2)                                                                     (Eq. 19)
        orthogonal  sum_k v^2k / (2^k k!) Gamma(d/2) Gamma(k + d) / (Gamma(d) Gamma(k + d/2))    (Eq. 23)
        simplex     its terms times E_u[(1 - sin(u) / (d - 1))^k], u ~ sin(u)^(d-1) on [0, pi]   (Eq. 21)

    Eq. 24 expands the last into an alternating sum, which loses all digits for small d and large v; the form
    used here stays positive.

    Args:
        v: |x + y|, between 0 and 30.
        d: dimension; at least 2 for "simplex".
        coupling: "iid", "orthogonal" or "simplex", or these couplings themselves.

    Source: Simplex Random Features, Theorem 4.3 and Lemmas 4.1 and 4.2.

    >>> from rfcore import theory
    >>> [round(float(theory.log_conformity(1.0, 3, name)), 3) for name in ("iid", "orthogonal", "simplex")]
    [1.0, 0.922, 0.55]
    """
    d, angles = angles_in(d, coupling)
    return log_series(_log_share(d, angles) - LOG_FACTORIAL, radius(v, "v") ** 2)


def partners(m: int, d: int) -> float:
    """Mean number of frequencies that share a frequency's block of d, when m are drawn.

    For m <= d it is the factor m - 1 of Simplex Random Features, Theorem 3.2, which is for one block.

    >>> from rfcore import theory
    >>> theory.partners(3, 3), theory.partners(6, 3), theory.partners(4, 3)  # the last block may be cut
    (2.0, 2.0, 1.5)
    """
    full, rest = divmod(m, d)
    return (full * d * (d - 1) + rest * (rest - 1)) / m


def log_gap(square: Float[Array, "*shape"], d: int, coupling: Angles) -> Float[Array, "*shape"]:
    """log [(exp(v^2) - rho(v)) / v^2] at v^2 = square, for a coupling other than "iid"."""
    return log_series(log_gap_coefficients(d, coupling), square)


@lru_cache
def log_gap_coefficients(d: int, coupling: Angles) -> Float[np.ndarray, " n"]:
    """log (1/k! - a_k), k = 1, 2, ...: every coefficient of (exp(v^2) - rho(v)) / v^2 is non-negative."""
    with np.errstate(divide="ignore"):  # log 0 for k = 1 when orthogonal: the two series agree to that order
        return (np.log(-np.expm1(_log_share(d, coupling))) - LOG_FACTORIAL)[1:]


@lru_cache
def _log_share(d: int, coupling: Angles) -> Float[np.ndarray, " k"]:
    """log (k! a_k) <= 0: the share of the k-th moment of independent frequencies that is left; 0 at k = 0."""
    if coupling == "iid":
        return np.zeros(len(K))
    share = log_orthogonal_share(d)
    if coupling == "simplex":
        sine, log_weights = angles(d)
        log_powers = K[1:, None] * np.log1p(-sine / (d - 1))
        share = share + np.concatenate([[0.0], np.logaddexp.reduce(log_weights + log_powers, axis=1)])
    return share
