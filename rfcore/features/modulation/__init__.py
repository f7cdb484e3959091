"""Modulation functions: how much a walk of length k counts, which decides the kernel that is estimated.

A modulation is a function ``f(k)`` of an integer array of walk lengths. Features phi_1, phi_2 of two
independent sets of walks on a graph with symmetric weights W, under modulations f_1 and f_2, satisfy

::

    E[phi_1 phi_2^T] = (sum_k f_1(k) W^k) (sum_k f_2(k) W^k) = sum_k alpha_k W^k   where  f_1 * f_2 = alpha

Modulations named after a kernel are for ``g.normalised()`` of an undirected graph (walks on other weights
refuse them) and hold the regulariser's powers and the constant: they estimate the kernel of that name in
:mod:`rfcore.kernels` itself.
None overflows for long walks. Learned modulations are in :mod:`rfcore.features.neural`. Universal Graph
Random Features, Theorems 2.1 and 2.2.
"""

from rfcore.features.modulation.of_kernels import (
    diffusion,
    exponential,
    inverse_cosine,
    of_kernel,
    p_step,
    regularised_laplacian,
)
from rfcore.features.modulation.series import deconvolve, from_taylor, from_values, lazy, tilted, to_taylor
