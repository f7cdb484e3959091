"""Gaussian processes on graphs: kernels for GPJax, and what it has not, for more than some thousand nodes."""

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
