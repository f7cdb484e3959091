"""The truth that features estimate, written slowly and plainly.

``gaussian`` and ``softmax`` take points. The others take a :class:`rfcore.graphs.Graph` g, undirected where
nothing else is said, and give float64 NumPy arrays. Kernels of nodes are dense and exact, (N, N); those that
are functions of the normalised Laplacian L normalise g themselves, unless it is already.
:func:`chebyshev_matvec` and :func:`expm_multiply` multiply by a kernel that they never form: the way
to a product on a large graph, in place of a dense kernel or of walk features. :func:`power_series_rows` stays
near its nodes.
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
