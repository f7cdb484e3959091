"""Kernels as functions of the eigenvalues x of normalised weights W = I - L, between -1 and 1.

A function of the matrix is that function of its eigenvalues: :func:`rfcore.kernels.chebyshev_product`
multiplies by it, :func:`rfcore.kernels.function_of_weights` makes its matrix. Universal Graph Random
Features, Table 1.
"""

import numpy as np

from rfcore import checks


def diffusion(sigma):
    """``x -> exp(-sigma^2 (1 - x) / 2)``, for sigma of at least 0."""
    sigma = checks.real(sigma, "sigma", least=0)
    return lambda x: np.exp(-(sigma**2) * (1 - x) / 2)


def regularised_laplacian(sigma, d):
    """``x -> (1 + sigma^2 (1 - x))^(-d)``, for sigma of at least 0 and d above 0."""
    sigma, d = checks.real(sigma, "sigma", least=0), checks.real(d, "d", above=0)
    return lambda x: (1 + sigma**2 * (1 - x)) ** -d


def p_step(alpha, p):
    """``x -> (alpha - 1 + x)^p``, for alpha of at least 2 and p of at least 1."""
    alpha, p = checks.real(alpha, "alpha", least=2), checks.count(p, "p")
    return lambda x: (alpha - (1 - x)) ** p


def inverse_cosine():
    """``x -> cos(pi (1 - x) / 4)``."""
    return lambda x: np.cos(np.pi * (1 - x) / 4)
