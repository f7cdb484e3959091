"""How small a spectral radius makes a power series of a matrix positive semidefinite, whatever its signs."""

import numpy as np
from scipy.optimize import brentq

from rfcore import checks


def definite_radius(alpha):
    """Spectral radius up to which sum_k alpha_k W^k is positive semidefinite for every symmetric W.

    ::

        the r > 0 at which  sum_{k >= 1} |alpha_k| r^k = alpha_0 > 0,  infinite if no other differs from 0

    No larger one serves all coefficients of these sizes: W may have an eigenvalue at which every term but the
    first is negative.

    Source: Universal Graph Random Features, Section 2, which says that some such radius exists.
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
