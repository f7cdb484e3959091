"""Gaussian processes on graphs: kernels for GPJax, and sparse or iterative methods for larger graphs."""

from rfcore.gp.kernels import Diffusion, Walks, loads
from rfcore.gp.sparse import (
    Hyperparameters,
    Posterior,
    conjugate_gradients,
    diffusion_covariance,
    fit_diffusion,
    posterior,
    posterior_weights,
)
