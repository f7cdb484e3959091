"""Formulas for positive features as Simplex Random Features prints them; series run in float64.

Their ``n_terms`` must be several times v^2. :func:`rfcore.theory.log_conformity` gives the same conformities
safely.
"""

import jax.numpy as jnp
import numpy as np
from scipy.special import gammaln, xlogy

from rfcore import checks
from rfcore.theory.conformity import log_conformity
from rfcore.theory.series import check_range, pair


def orthogonal_conformity(v, d, n_terms=800):
    """Conformity of orthogonal features by its series, for v <= 15, beyond which the sum overflows.

    ::

        rho(v) = Gamma(d/2) / Gamma(d) sum_k v^2k / (2^k k!) Gamma(k + d) / Gamma(k + d/2)

    Source: Simplex Random Features, Theorem 4.3, Eq. 23.
    """
    v, d, n_terms = checks.real(v, "v", least=0), checks.count(d, "d"), checks.count(n_terms, "n_terms")
    if v > 15:
        raise ValueError(f"v = {v}; the sum overflows beyond v = 15, use theory.log_conformity")
    return float(orthogonal_terms(v * v, d, n_terms).sum())


def simplex_conformity(v, d, n_terms=200):
    """Conformity of simplex features by an alternating series: right on paper, useless for large v.

    ::

        rho(v) = sqrt(pi) / (Gamma(d/2) 2^(d-1)) sum_k Gamma(k + d) / Gamma(k + d/2) v^2k / 2^k
                 sum_{p <= k} (-1 / (d - 1))^p Gamma((d + p) / 2) / Gamma((d + p + 1) / 2) / ((k - p)! p!)

    The inner sum cancels: for d = 2 a hundredth is lost at v = 7 and everything at v = 10; large d fare
    better.

    Source: Simplex Random Features, Theorem 4.3, Eq. 24.
    """
    v, d, n_terms = checks.real(v, "v", least=0), checks.count(d, "d", least=2), checks.count(n_terms, "n_terms")
    k, p = np.arange(n_terms)[:, None], np.arange(n_terms)[None, :]
    rest = np.maximum(k - p, 0)
    logs = (
        xlogy(k, v * v / 2) + gammaln(k + d) - gammaln(k + d / 2) + gammaln((d + p) / 2) - gammaln((d + p + 1) / 2)
        - gammaln(rest + 1) - gammaln(p + 1) - p * np.log(d - 1) + np.log(np.pi) / 2 - gammaln(d / 2) - (d - 1) * np.log(2)
    )  # fmt: skip
    return float(np.sum(np.where(p <= k, (-1.0) ** p * np.exp(logs), 0.0)))


def error_prefactor(d):
    """Factor of v^2 in the error of d simplex features for small v; that of IID and orthogonal features is 1.

    ::

        1 - sqrt(pi) Gamma(d + 1) Gamma((d + 1)/2) / (Gamma(d/2) Gamma(d/2 + 1)^2 2^d)

    The text calls it an error; exp(-2|x|^2 - 2|y|^2) / m, with m = d, is left out.

    Source: Simplex Random Features, Section 5.1.
    """
    d = checks.count(d, "d", least=2)
    log_ratio = gammaln(d + 1) + gammaln((d + 1) / 2) - gammaln(d / 2) - 2 * gammaln(d / 2 + 1) - d * np.log(2)
    return float(1 - np.sqrt(np.pi) * np.exp(log_ratio))


def positive_gap(x, y, m):
    """Orthogonality gap of positive features by Eq. 25, where a factor 2^-k is missing.

    ::

        (m - 1)/m exp(-2|x|^2 - 2|y|^2)
        (e^(v^2) - Gamma(d/2) / Gamma(d) sum_k v^2k / k! Gamma(k + d) / Gamma(k + d/2)),   v = |x + y|

    For m <= d. Without 2^-k the sum is the conformity at sqrt(2) v, and the gap is negative for every v > 0,
    against the statement that it is positive everywhere. Right is :func:`rfcore.theory.positive_gap`.

    Source: Simplex Random Features, Corollary 4.4, Eq. 25; compare Eq. 69.
    """
    x, y = pair(x, y)
    m, d = checks.count(m, "m"), x.shape[0]
    if m > d:
        raise ValueError(f"m = {m}; the formula is for one block, m <= d = {d}")
    v = jnp.linalg.norm(x + y)
    check_range(jnp.sqrt(2) * v, "sqrt(2) |x + y|")
    shrink = 2 * jnp.sum(x**2) + 2 * jnp.sum(y**2)
    right, wrong = v**2 - shrink, log_conformity(jnp.sqrt(2) * v, d, "orthogonal") - shrink
    return (m - 1) / m * (jnp.exp(right) - jnp.exp(wrong))


def orthogonal_terms(square, d, n_terms):
    """Terms k = 0, ..., n_terms - 1 of the series of :func:`orthogonal_conformity`, with v^2 = square."""
    k = np.arange(n_terms)
    logs = xlogy(k, square) - k * np.log(2) - gammaln(k + 1) + gammaln(k + d) - gammaln(k + d / 2)
    return np.exp(logs + gammaln(d / 2) - gammaln(d))
