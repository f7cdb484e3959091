"""Families of graph kernels K = sum_i alpha_i W^i of bounded coefficients, abs(alpha_i) <= bound_i."""

import numpy as np

from rfcore import checks
from rfcore.features import modulation

__all__ = ["taylor_bounds"]


def taylor_bounds(n_terms=40, n_flat=10):
    """Bounds of four families by name, scaled to begin with 1: those of kernels, and a flat one.

    The kernels have sigma = 1 and d = 2; the flat bounds are 1 for i < n_flat, then 0. What a family can fit
    is asked in :mod:`rfcore.theory.generalisation`.
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
