"""Random features: a coupling of frequencies times a feature map estimates a kernel.

Import what you need: ``from rfcore import couplings, features, kernels, theory, graphs``.
"""

from rfcore import faces

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        ".": (
            "attention",
            "couplings",
            "estimators",
            "features",
            "gp",
            "graphs",
            "jobs",
            "kernels",
            "solvers",
            "streams",
            "theory",
            "walks",
        ),
    },
)
