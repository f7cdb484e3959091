"""Kernels as functions of the eigenvalues of normalised weights W = I - L, which lie between -1 and 1.

A function of the matrix is that function of its eigenvalues: what :func:`rfcore.kernels.chebyshev_product` multiplies by and
:func:`rfcore.kernels.function_of_weights` makes a matrix of. Universal Graph Random Features, Table 1.
"""

import numpy as np

from rfcore import checks


def diffusion(sigma):
    """``x -> exp(-sigma^2 (1 - x) / 2)``, for sigma of at least 0.

    Raises
    ------
    ValueError
        If sigma < 0.

    Notes
    -----
    Universal Graph Random Features, Table 1.

    Examples
    --------
    >>> import networkx, numpy as np
    >>> from rfcore import graphs, kernels
    >>> g = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> product = kernels.chebyshev_product(g, kernels.spectral.diffusion(1.0), np.ones(34), 12)
    >>> bool(np.allclose(product, kernels.diffusion(g, 1.0) @ np.ones(34)))
    True
    """
    sigma = checks.real(sigma, "sigma", least=0)
    return lambda x: np.exp(-(sigma**2) * (1 - x) / 2)


def regularised_laplacian(sigma, d):
    """``x -> (1 + sigma^2 (1 - x))^(-d)``, for sigma of at least 0 and d above 0.

    Raises
    ------
    ValueError
        If sigma < 0 or d <= 0.

    Notes
    -----
    Universal Graph Random Features, Table 1.

    Examples
    --------
    >>> from rfcore import kernels
    >>> kernels.spectral.regularised_laplacian(1.0, 2)(0.0)
    0.25
    """
    sigma, d = checks.real(sigma, "sigma", least=0), checks.real(d, "d", above=0)
    return lambda x: (1 + sigma**2 * (1 - x)) ** -d


def p_step(alpha, p):
    """``x -> (alpha - 1 + x)^p``, for alpha of at least 2 and p of at least 1.

    Raises
    ------
    ValueError
        If alpha < 2 or p < 1.

    Notes
    -----
    Universal Graph Random Features, Table 1.

    Examples
    --------
    >>> from rfcore import kernels
    >>> kernels.spectral.p_step(2, 3)(1.0)
    8.0
    """
    alpha, p = checks.real(alpha, "alpha", least=2), checks.count(p, "p")
    return lambda x: (alpha - (1 - x)) ** p


def inverse_cosine():
    """``x -> cos(pi (1 - x) / 4)``.

    Notes
    -----
    Universal Graph Random Features, Table 1.

    Examples
    --------
    >>> from rfcore import kernels
    >>> float(kernels.spectral.inverse_cosine()(1.0))
    1.0
    """
    return lambda x: np.cos(np.pi * (1 - x) / 4)
