"""Modulation functions: how much a walk of length k counts, which decides the kernel that graph features estimate.

A modulation is a function ``f(k)`` of an integer array of walk lengths. Features phi_1, phi_2 of two
independent sets of walks on a graph with weights W, under modulations f_1 and f_2, satisfy

::

    E[phi_1 phi_2^T] = (sum_k f_1(k) W^k) (sum_k f_2(k) W^k)^T,  so that f_1 * f_2 = alpha gives sum_k alpha_k W^k

for a symmetric W. Those named after a kernel are for W = D^(-1/2) A D^(-1/2), ``g.normalised()``, and hold the
regulariser's powers and the constant: the product estimates the kernel of the same name in
:mod:`rfcore.kernels` itself. Universal Graph Random Features, Theorems 2.1 and 2.2. None overflows for long
walks. Learned modulations are in :mod:`rfcore.features.neural`.
"""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        "closed_forms": ("diffusion", "exponential", "p_step", "regularised_laplacian"),
        "series": (
            "deconvolve",
            "from_taylor",
            "from_values",
            "inverse_cosine",
            "lazy",
            "tilted",
            "to_taylor",
        ),
    },
)
