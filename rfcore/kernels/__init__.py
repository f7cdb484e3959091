"""The truth that features estimate, written slowly and plainly.

``gaussian`` and ``softmax`` take points. The others take a :class:`rfcore.graphs.Graph` g, undirected where
nothing else is said, and give float64 NumPy arrays. Kernels of nodes are dense and exact, (N, N); those that
are functions of the normalised Laplacian L normalise g themselves, unless it is already.
:func:`chebyshev_product` and :func:`exponential_product` multiply by a kernel that they never form: the way
to a product on a large graph, in place of a dense kernel or of walk features. :func:`power_series_rows` stays
near its nodes.
"""

from rfcore.kernels.of_graphs import Spectrum, exponential, function_of_weights, power_series, spectrum
from rfcore.kernels.of_laplacian import (
    Diffusion,
    InverseCosine,
    OfLaplacian,
    PStep,
    RegularisedLaplacian,
    diffusion,
    inverse_cosine,
    p_step,
    regularised_laplacian,
)
from rfcore.kernels.of_vectors import gaussian, matern, softmax
from rfcore.kernels.products import chebyshev_product, exponential_product, power_series_rows
