"""Gaussian processes whose kernel is a matrix, or a product of features that is never formed.

::

    y = h(seen) + noise,   h ~ N(0, K),   noise ~ N(0, s^2 I),   K = phi phi^T  for features phi

In all functions ``y`` holds observations, ``noise`` is the variance s^2 > 0, ``seen`` the rows (nodes,
points) that were observed, ``asked`` those to predict: by default the others, in increasing order. Features
phi, (n, m), have one row per node or point: WalkFeatures, DepositFeatures, SciPy sparse or dense. They are
one *shared* set for both sides, which keeps K positive semidefinite at the price of a diagonal that is biased
upwards.

Means, covariances and exact evidence are differentiable in the kernel or the modulation, in y and in s^2,
inside ``jax.jit`` too; sparse features of SciPy are multiplied on the host wherever all values are known.
Hyper-parameters of the diffusion kernel of a graph are learned on walks that stay (:func:`walk_loss`) or
exactly (:func:`exact_loss`). Source of the standard formulas: Rasmussen and Williams, Gaussian Processes for
Machine Learning (2006).
"""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        "by_probes": ("Evidence", "log_evidence_by_probes"),
        "exact": ("Posterior", "kl", "log_evidence", "posterior"),
        "gaussian": (
            "Divergences",
            "FactoredPosterior",
            "GaussianFit",
            "divergences",
            "factored_posterior",
            "fit_gaussian",
            "posterior_by_weights",
        ),
        "of_features": (
            "covariance_operator",
            "log_evidence_of_features",
            "posterior_mean",
            "posterior_of_features",
        ),
        "on_graphs": (
            "Hyperparameters",
            "diffusion_covariance",
            "diffusion_features",
            "exact_loss",
            "hyperparameters",
            "predictive_kl",
            "walk_loss",
        ),
    },
)
