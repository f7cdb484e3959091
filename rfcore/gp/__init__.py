"""Gaussian processes whose kernel is a matrix, a product with vectors, or a product of features.

::

    y = h(seen) + noise,   h ~ N(0, K),   noise ~ N(0, s^2 I),   K = phi phi^T  for features phi

One :func:`posterior` and one :func:`log_evidence` choose their algebra by what K is. In all functions ``y``
holds observations, ``noise`` is the variance s^2 > 0, ``seen`` the rows (nodes, points) that were observed,
``asked`` those to predict: by default the others, in increasing order. Features are one *shared* set for both
sides, which keeps K positive semidefinite at the price of a diagonal that is biased upwards.

Means, covariances and exact evidence are differentiable in a dense kernel or the modulation, in y and in s^2,
inside ``jax.jit`` too; what is of SciPy is multiplied and eliminated on the host. Hyper-parameters are
learned by :func:`fit_graph` and :func:`fit_gaussian`. Source of the standard formulas: Rasmussen and
Williams, Gaussian Processes for Machine Learning (2006).
"""

from rfcore.gp.exact import FactoredPosterior, Posterior, factored_posterior, kl
from rfcore.gp.gaussian import GaussianFit, fit_gaussian
from rfcore.gp.graphs import (
    GraphFit,
    Hyperparameters,
    diffusion_covariance,
    diffusion_features,
    fit_diffusion,
    fit_graph,
    hyperparameters,
    loss,
)
from rfcore.gp.inference import (
    Evidence,
    OfFeatures,
    log_evidence,
    log_evidence_by_probes,
    mean_weights,
    posterior,
)
