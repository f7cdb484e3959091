"""Families of graph kernels K = sum_i alpha_i W^i whose Taylor coefficients are bounded, abs(alpha_i) <= bound_i.

What such a family can fit is asked in :mod:`rfcore.theory.generalisation`. This module is imported by its own name,
``rfcore.models.families``.
"""

import numpy as np

from rfcore import checks
from rfcore.features import modulation

__all__ = ["taylor_bounds"]


def taylor_bounds(n_terms=40, n_flat=10):
    """Bounds on the coefficients of four families, each scaled to a first bound of 1.

    ::

        diffusion: 1 / (2^i i!),   regularised Laplacian: (i + 1) / 2^i,   inverse cosine: (pi / 4)^i / i!,   flat: 1 for i < n_flat

    The first three are the sizes of the coefficients of the kernels with sigma = 1 (and d = 2); the flat family gives a learned
    modulation of some free values the same freedom in each.

    Parameters
    ----------
    n_terms : int
        Coefficients of each.
    n_flat : int
        Those of the flat family that are not 0.

    Returns
    -------
    dict of str to float64 array, shape (n_terms,)
        By ``"diffusion"``, ``"regularised_laplacian"``, ``"inverse_cosine"`` and ``"flat"``.

    Raises
    ------
    ValueError
        If a number is no whole number of at least 1.

    Notes
    -----
    Universal Graph Random Features, Table 1 for the kernels; the choice of families is ours, as the paper names none.

    Examples
    --------
    >>> from rfcore.models import families
    >>> families.taylor_bounds(3)["regularised_laplacian"].round(6).tolist()
    [1.0, 1.0, 0.75]
    """
    n_terms, n_flat = checks.count(n_terms, "n_terms"), checks.count(n_flat, "n_flat")
    named = {
        "diffusion": modulation.diffusion(1.0),
        "regularised_laplacian": modulation.regularised_laplacian(1.0, 2),
        "inverse_cosine": modulation.inverse_cosine(),
    }
    bounds = {name: np.abs(modulation.to_taylor(f, n_terms=n_terms)) for name, f in named.items()}
    scaled = {name: sizes / sizes[0] for name, sizes in bounds.items()}
    return scaled | {"flat": (np.arange(n_terms) < n_flat).astype(float)}
