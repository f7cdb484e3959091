"""Vectors of given norms: what independent directions cost, how short their sum can be, and what a conformity is worth.

This module is imported by its own name, ``rfcore.theory.arrangements``; its results are float64 NumPy.
"""

import numpy as np
from scipy.special import hyp0f1

from rfcore import checks

# Of v times a norm: 0F1 grows like the exponential of it, and a product of two must not overflow.
LARGEST = 300.0


def independent_conformity(norms, v, d):
    """RF-conformity of vectors of given norms whose directions are independent and uniform.

    ::

        rho(v | w) = 1 / (m (m - 1)) sum_{i != j} g(w_i) g(w_j),  g(w) = 0F1(; d/2; v^2 w^2 / 4)

    Parameters
    ----------
    norms : array, shape (..., m), of at least two vectors
        At least 0.
    v : float
        |x + y|, above 0 and at most 300 over the largest norm.
    d : int
        Dimension of the vectors.

    Returns
    -------
    float64 array, shape (...)

    Raises
    ------
    ValueError
        If there are fewer than two norms, one is negative or not finite, v is out of range, or d < 1.

    Notes
    -----
    Simplex Random Features, Definition 3.1, given the norms: independent directions factorise, since the mean of exp(omega . x)
    over the direction of omega is 0F1. The sum over pairs is one of positive terms.

    Examples
    --------
    >>> from rfcore.theory import arrangements
    >>> round(float(arrangements.independent_conformity([1.0, 2.0, 2.0], 1.0, 3)), 3)  # 0F1 is sinh(v w) / (v w) at d = 3
    2.517
    """
    norms, v, d = _norms(norms, "norms"), checks.real(v, "v", above=0), checks.count(d, "d")
    if norms.shape[-1] < 2:
        raise ValueError(f"norms has shape {norms.shape}; give at least two vectors, a pair")
    if v * norms.max(initial=0) > LARGEST:
        raise ValueError(f"norms reach {norms.max():g}, and v = {v}; give a product of at most {LARGEST:g}")
    single, m = hyp0f1(d / 2, (v * norms) ** 2 / 4), norms.shape[-1]
    below = np.cumsum(single[..., :-1], axis=-1)
    return np.sum(below * single[..., 1:], axis=-1) / (m * (m - 1) / 2)


def shortest_sum(norms):
    """The least length that the sum of vectors of given norms can have.

    ::

        min |w_1 + ... + w_m| = max(2 max_i |w_i| - sum_i |w_i|, 0)

    Zero if the norms close a polygon; otherwise the longest vector points against all others.

    Parameters
    ----------
    norms : array, shape (..., m), of at least one vector
        At least 0.

    Returns
    -------
    float64 array, shape (...)

    Raises
    ------
    ValueError
        If there is no norm, or one is negative or not finite.

    Notes
    -----
    Simplex Random Features, Eq. 16 and Appendix A.3, for vectors of at least two dimensions.

    Examples
    --------
    >>> from rfcore.theory import arrangements
    >>> arrangements.shortest_sum([[3.0, 4.0, 5.0], [1.0, 2.0, 7.0]]).tolist()
    [0.0, 4.0]
    """
    norms = _norms(norms, "norms")
    return np.maximum(2 * norms.max(axis=-1) - norms.sum(axis=-1), 0)


def mse_ratio(log_conformity, v, m):
    """Error of m positive features of some conformity over that of independent ones.

    ::

        MSE / MSE(iid) = 1 + (m - 1) (rho - e^(v^2)) / (e^(2 v^2) - e^(v^2))

    Parameters
    ----------
    log_conformity : array
        log rho, of the pairs of one block of m.
    v : array
        |x + y|, above 0. Broadcasts against log_conformity.
    m : int
        Number of frequencies.

    Returns
    -------
    float64 array, the common shape of log_conformity and v

    Raises
    ------
    ValueError
        If a value is not finite, v not above 0, or m < 1.

    Notes
    -----
    Simplex Random Features, Theorem 3.2. Near v = 0 the numerator is a difference of nearly equal numbers; for the couplings of
    :func:`rfcore.theory.positive_mse_ratio` that function loses nothing.

    Examples
    --------
    >>> from rfcore import theory
    >>> from rfcore.theory import arrangements
    >>> log_rho = theory.log_conformity_at_angle(0.5, 8, -1.0)  # two opposite vectors
    >>> round(float(arrangements.mse_ratio(log_rho, 0.5, 2)), 2)
    0.26
    """
    log_rho = np.asarray(
        checks.finite(checks.numbers(log_conformity, "log_conformity"), "log_conformity"), dtype=float
    )
    v, m = np.asarray(checks.finite(checks.numbers(v, "v"), "v"), dtype=float), checks.count(m, "m")
    if v.size and not v.min() > 0:
        raise ValueError(f"v has the value {v.min()}; give distances above 0")
    return 1 + (m - 1) * np.expm1(log_rho - v**2) * np.exp(-(v**2)) / -np.expm1(-(v**2))


def _norms(norms, name):
    norms = np.asarray(checks.finite(checks.numbers(norms, name), name), dtype=float)
    if norms.ndim == 0 or norms.shape[-1] == 0:
        raise ValueError(f"{name} has shape {norms.shape}; give one norm per vector, shape (..., m)")
    if norms.size and norms.min() < 0:
        raise ValueError(f"{name} has the value {norms.min()}; give norms of at least 0")
    return norms
