"""Exact kernels, which random features estimate: reference implementations, written for clarity.

``gaussian``, ``matern`` and ``softmax`` take points. The others take a :class:`rfcore.graphs.Graph` g,
undirected unless stated otherwise, and return float64 NumPy arrays. Kernels between nodes are dense and
exact, (N, N); functions of the normalised Laplacian L normalise g first, unless it is normalised already.
:func:`chebyshev_matvec` and :func:`expm_multiply` multiply by a kernel without forming it: on a large graph,
use them rather than a dense kernel or walk features. :func:`power_series_rows` computes sparse rows of a
kernel, from the neighbourhoods of the given nodes.
"""

from rfcore.kernels.euclidean import gaussian, matern, softmax
from rfcore.kernels.laplacian import (
    Diffusion,
    InverseCosine,
    LaplacianKernel,
    PStep,
    RegularisedLaplacian,
    diffusion,
    inverse_cosine,
    p_step,
    regularised_laplacian,
)
from rfcore.kernels.products import chebyshev_matvec, expm_multiply, power_series_rows
from rfcore.kernels.spectral import Spectrum, exponential, matrix_function, power_series, spectrum
