"""The truth that features estimate, written slowly and plainly.

``gaussian`` and ``softmax`` take points; the others take a :class:`rfcore.graphs.Graph`.
"""

from rfcore.kernels.euclidean import gaussian, softmax
from rfcore.kernels.graph import diffusion, inverse_cosine, p_step, regularised_laplacian

__all__ = ["diffusion", "gaussian", "inverse_cosine", "p_step", "regularised_laplacian", "softmax"]
