"""Gaussian processes whose kernel is a matrix, or a product of features that is never formed.

::

    y = h(seen) + noise,   h ~ N(0, K),   noise ~ N(0, s^2 I),   K = phi phi^T  for features phi

Means, covariances and exact evidence are differentiable in the kernel or the modulation, in y and in s^2, inside ``jax.jit``
too; sparse features of SciPy are multiplied on the host wherever all values are known. Features are one *shared* set for both
sides, which keeps K positive semidefinite at the price of a diagonal that is biased upwards; they are walk features, or any
matrix with a row per node or point. The hyper-parameters of the diffusion kernel of a graph are learned on walks that stay
(:func:`walk_loss`), or exactly (:func:`exact_loss`). Rasmussen and Williams, 2006, Sections 2.2, 2.3 and 5.4.
"""

from rfcore.models.gp.by_probes import Evidence, log_evidence_by_probes
from rfcore.models.gp.exact import Posterior, kl, log_evidence, posterior
from rfcore.models.gp.gaussian import (
    Divergences,
    FactoredPosterior,
    GaussianFit,
    divergences,
    factored_posterior,
    fit_gaussian,
    posterior_by_weights,
)
from rfcore.models.gp.graph import (
    Hyperparameters,
    diffusion_covariance,
    diffusion_features,
    exact_loss,
    hyperparameters,
    predictive_kl,
    walk_loss,
)
from rfcore.models.gp.of_features import (
    covariance_operator,
    log_evidence_of_features,
    posterior_mean,
    posterior_of_features,
)

__all__ = [
    "Divergences",
    "Evidence",
    "FactoredPosterior",
    "GaussianFit",
    "Hyperparameters",
    "Posterior",
    "covariance_operator",
    "diffusion_covariance",
    "diffusion_features",
    "divergences",
    "exact_loss",
    "factored_posterior",
    "fit_gaussian",
    "hyperparameters",
    "kl",
    "log_evidence",
    "log_evidence_by_probes",
    "log_evidence_of_features",
    "posterior",
    "posterior_by_weights",
    "posterior_mean",
    "posterior_of_features",
    "predictive_kl",
    "walk_loss",
]
