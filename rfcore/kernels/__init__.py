"""The truth that features estimate, written slowly and plainly.

``gaussian`` and ``softmax`` take points; the others take a :class:`rfcore.graphs.Graph`. All are dense, except
:func:`chebyshev_product` and :func:`exponential_product`, which multiply by a kernel that they never form, and
:func:`power_series_rows`, which stays near its nodes.
"""

from rfcore.kernels import spectral
from rfcore.kernels.euclidean import gaussian, softmax
from rfcore.kernels.graph import (
    diffusion,
    exponential,
    function_of_weights,
    inverse_cosine,
    p_step,
    power_series,
    regularised_laplacian,
    spectrum,
)
from rfcore.kernels.products import chebyshev_product, exponential_product, power_series_rows

__all__ = [
    "chebyshev_product",
    "diffusion",
    "exponential",
    "exponential_product",
    "function_of_weights",
    "gaussian",
    "inverse_cosine",
    "p_step",
    "power_series",
    "power_series_rows",
    "regularised_laplacian",
    "softmax",
    "spectral",
    "spectrum",
]
