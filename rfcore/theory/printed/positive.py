"""Formulas for positive features as Simplex Random Features prints them (Sections 3 to 5.1)."""

import jax.numpy as jnp
import numpy as np
from scipy.special import gammaln, xlogy

from rfcore import checks
from rfcore.theory.conformity import log_conformity
from rfcore.theory.series import check_range, pair


def orthogonal_conformity(v, d, n_terms=800):
    """Conformity of orthogonal features by the series of Eq. 23, in float64.

    ::

        rho(v) = Gamma(d/2) / Gamma(d) sum_k v^2k / (2^k k!) Gamma(k + d) / Gamma(k + d/2)

    Parameters
    ----------
    v : float
        At most 15.
    d : int
    n_terms : int
        Terms of the sum; several times v^2 are needed.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If v is not in [0, 15], d < 1 or n_terms < 1.

    Notes
    -----
    Simplex Random Features, Theorem 4.3. :func:`rfcore.theory.log_conformity` is the same number in logarithms.

    Examples
    --------
    >>> import math
    >>> from rfcore import theory
    >>> math.isclose(theory.printed.orthogonal_conformity(1.0, 3), math.exp(theory.log_conformity(1.0, 3, "orthogonal")), rel_tol=1e-5)
    True
    """
    v, d, n_terms = checks.real(v, "v", least=0), checks.count(d, "d"), checks.count(n_terms, "n_terms")
    if v > 15:
        raise ValueError(f"v = {v}; the sum overflows beyond v = 15, use theory.log_conformity")
    return float(orthogonal_terms(v * v, d, n_terms).sum())


def simplex_conformity(v, d, n_terms=200):
    """Conformity of simplex features by the alternating series of Eq. 24, in float64.

    ::

        rho(v) = sqrt(pi) / (Gamma(d/2) 2^(d-1)) sum_k Gamma(k + d) / Gamma(k + d/2) v^2k / 2^k
                 sum_{p <= k} (-1 / (d - 1))^p Gamma((d + p) / 2) / Gamma((d + p + 1) / 2) / ((k - p)! p!)

    Right on paper. In floating point the inner sum cancels: for d = 2 a hundredth is lost at v = 7 and everything at
    v = 10; large d fare better. :func:`rfcore.theory.log_conformity` is the same number without cancellation.

    Parameters
    ----------
    v : float
    d : int
        At least 2.
    n_terms : int
        Terms of the outer sum; several times v^2 are needed.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If v is no finite number of at least 0, d < 2 or n_terms < 1.

    Notes
    -----
    Simplex Random Features, Theorem 4.3, Eq. 24.

    Examples
    --------
    >>> import math
    >>> from rfcore import theory
    >>> math.isclose(theory.printed.simplex_conformity(1.0, 3), math.exp(theory.log_conformity(1.0, 3, "simplex")), rel_tol=1e-5)
    True
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
    """Factor of v^2 in the error of d simplex features for small v, by the formula of Section 5.1.

    ::

        1 - sqrt(pi) Gamma(d + 1) Gamma((d + 1)/2) / (Gamma(d/2) Gamma(d/2 + 1)^2 2^d)

    The text has it as an error; the factor exp(-2|x|^2 - 2|y|^2) / m, with m = d, is left out.

    Parameters
    ----------
    d : int
        At least 2.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If d < 2.

    Examples
    --------
    >>> round(error_prefactor(64), 4)
    0.0078

    Notes
    -----
    Simplex Random Features, Section 5.1. For IID and orthogonal features the factor is 1.
    """
    d = checks.count(d, "d", least=2)
    log_ratio = gammaln(d + 1) + gammaln((d + 1) / 2) - gammaln(d / 2) - 2 * gammaln(d / 2 + 1) - d * np.log(2)
    return float(1 - np.sqrt(np.pi) * np.exp(log_ratio))


def positive_gap(x, y, m):
    """Orthogonality gap of positive features as printed in Eq. 25, where a factor 2^-k is missing.

    ::

        (m - 1)/m exp(-2|x|^2 - 2|y|^2) (e^(v^2) - Gamma(d/2) / Gamma(d) sum_k v^2k / k! Gamma(k + d) / Gamma(k + d/2))

    The sum without 2^-k is the conformity at sqrt(2) v. The result is negative for every v > 0, against the statement
    that it is positive everywhere; the right one is :func:`rfcore.theory.positive_gap`.

    Parameters
    ----------
    x, y : array, shape (d,)
    m : int
        Number of frequencies, at most d.

    Returns
    -------
    scalar array

    Raises
    ------
    ValueError
        If the shapes differ, sqrt(2) |x + y| > 30, or m is not in 1, ..., d.

    Notes
    -----
    Simplex Random Features, Corollary 4.4, Eq. 25; compare Eq. 69.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from rfcore import theory
    >>> x, y = jnp.array([0.5, 0.0, 0.2]), jnp.array([0.1, 0.4, 0.0])
    >>> bool(theory.printed.positive_gap(x, y, 3) < 0 < theory.positive_gap(x, y, 3))
    True
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
    """Gamma(d/2) / Gamma(d) square^k / (2^k k!) Gamma(k + d) / Gamma(k + d/2) for k = 0, 1, ..."""
    k = np.arange(n_terms)
    logs = xlogy(k, square) - k * np.log(2) - gammaln(k + 1) + gammaln(k + d) - gammaln(k + d / 2)
    return np.exp(logs + gammaln(d / 2) - gammaln(d))
