"""Gaussian processes on graphs: kernels for GPJax, and sparse or iterative methods for larger graphs.

GPJax's matrices are dense. Beyond about two thousand nodes kernels are better sparse, or never formed. Where
nodes have few neighbours, a diffusion kernel is nearly zero beyond some hops, and the product of walk
features is zero for nodes that no two walks join. On a surface, elimination keeps both sparse
(:func:`rfcore.gp.posterior`): on 8,700 faces there are some hundreds of entries per row in place of
thousands. For larger graphs, conjugate gradients (:func:`rfcore.gp.posterior_weights`,
:func:`rfcore.gp.sample_weights`) and Lanczos quadrature (:func:`rfcore.gp.fit_walks`) take products with
features alone. Arrays of these are float64 NumPy.
"""

from rfcore.gp.covariances import diffusion_covariance
from rfcore.gp.elimination import Posterior, posterior
from rfcore.gp.kernels import Diffusion, Walks, loads
from rfcore.gp.likelihood import Hyperparameters, fit_diffusion, fit_walks
from rfcore.gp.paths import Paths, sample_paths
from rfcore.gp.weights import conjugate_gradients, posterior_weights, sample_weights
