"""How small a spectral radius makes a power series of a matrix positive semidefinite, whatever the signs of its coefficients."""

import numpy as np
from scipy.optimize import brentq

from rfcore import checks


def definite_radius(alpha):
    """Spectral radius up to which sum_k alpha_k W^k is positive semidefinite for every symmetric W.

    ::

        the r > 0 at which  sum_{k >= 1} |alpha_k| r^k = alpha_0

    An eigenvalue lambda of W becomes sum_k alpha_k lambda^k >= alpha_0 - sum_{k >= 1} |alpha_k| |lambda|^k, which does not
    fall below zero while |lambda| <= r.

    Parameters
    ----------
    alpha : array, shape (K,)
        Taylor coefficients, alpha_0 > 0.

    Returns
    -------
    float
        Infinite if all coefficients but the first are zero.

    Raises
    ------
    ValueError
        If alpha is no finite vector, or alpha_0 <= 0.

    Notes
    -----
    Ours; Weyl's inequality. Universal Graph Random Features, Section 2, says that some such radius exists. A matrix with an
    eigenvalue at which all terms are negative shows that no larger radius will do for all coefficients of these sizes.

    Examples
    --------
    >>> from rfcore.theory.definiteness import definite_radius
    >>> round(definite_radius([1.0, -2.0]), 6)  # 1 - 2 x is negative past 1/2
    0.5
    """
    alpha = np.asarray(checks.vector(alpha, "alpha"), dtype=float)
    if not alpha[0] > 0:
        raise ValueError(
            f"alpha[0] = {alpha[0]}; give a positive constant term, without which no radius is small enough"
        )
    sizes, k = np.abs(alpha[1:]) / alpha[0], np.arange(1, len(alpha))
    if not sizes.any():
        return float("inf")
    longest = np.min(sizes[sizes > 0] ** (-1 / k[sizes > 0]))  # where the first of the terms reaches 1 alone
    return float(brentq(lambda r: np.sum(sizes * r**k) - 1, 0, longest, xtol=1e-15 * longest, rtol=1e-14))
