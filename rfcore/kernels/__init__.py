"""The truth that features estimate, written slowly and plainly.

``gaussian`` and ``softmax`` take points; the others take a :class:`rfcore.graphs.Graph`.
"""

from rfcore.kernels.euclidean import gaussian, softmax
from rfcore.kernels.graph import (
    diffusion,
    exponential,
    inverse_cosine,
    p_step,
    power_series,
    regularised_laplacian,
)

__all__ = [
    "diffusion",
    "exponential",
    "gaussian",
    "inverse_cosine",
    "p_step",
    "power_series",
    "regularised_laplacian",
    "softmax",
]
