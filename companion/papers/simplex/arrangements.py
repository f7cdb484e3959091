"""Vectors of given norms: their conformity, how short their sum can be; and what a conformity is worth.

Norms are arrays (..., m); results are float64 NumPy.
"""

import numpy as np
from scipy.special import hyp0f1

from rfcore import checks

# Of v times a norm: 0F1 grows like the exponential of it, and a product of two must not overflow.
LARGEST = 300.0


def independent_conformity(norms, v, d):
    """RF-conformity of vectors of given norms in d dimensions whose directions are independent and uniform.

    ::

        rho(v | w) = 1 / (m (m - 1)) sum_{i != j} g(w_i) g(w_j),  g(w) = 0F1(; d/2; v^2 w^2 / 4),  v = |x + y|

    v times the largest norm may reach 300.

    Source: Simplex Random Features, Definition 3.1, given the norms.
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
    """Least length of a sum of vectors of given norms, max(2 max_i w_i - sum_i w_i, 0), in d >= 2 dimensions.

    Source: Simplex Random Features, Eq. 16 and Appendix A.3.
    """
    norms = _norms(norms, "norms")
    return np.maximum(2 * norms.max(axis=-1) - norms.sum(axis=-1), 0)


def mse_ratio(log_conformity, v, m):
    """Error of a block of m positive features of some conformity over that of independent ones; v = |x + y|.

    ::

        MSE / MSE(iid) = 1 + (m - 1) (rho - e^(v^2)) / (e^(2 v^2) - e^(v^2))

    Near v = 0 it loses digits, which :func:`rfcore.theory.mse_ratio` keeps for the couplings that it
    knows.

    Source: Simplex Random Features, Theorem 3.2.
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
