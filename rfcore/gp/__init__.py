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

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        "exact": ("FactoredPosterior", "Posterior", "factored_posterior", "kl"),
        "gaussian": ("GaussianFit", "fit_gaussian"),
        "graphs": (
            "GraphFit",
            "Hyperparameters",
            "diffusion_covariance",
            "diffusion_features",
            "fit_diffusion",
            "fit_graph",
            "hyperparameters",
            "loss",
        ),
        "inference": ("Evidence", "OfFeatures", "log_evidence", "log_evidence_by_probes", "mean_weights", "posterior"),
    },
)
