"""Random features: a coupling of frequencies times a feature map estimates a kernel.

Import what you need: ``from rfcore import couplings, features, kernels, theory, graphs``.
"""

from rfcore import faces

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        ".": (
            "citations",
            "couplings",
            "datasets",
            "estimators",
            "evidence",
            "features",
            "graphs",
            "jobs",
            "kernels",
            "models",
            "plotting",
            "random_graphs",
            "repository",
            "solvers",
            "streams",
            "theory",
            "walks",
        ),
        "citations": ("cite",),
    },
)
