"""Random features: a coupling of frequencies times a feature map estimates a kernel.

Import what you need: ``from rfcore import couplings, features, kernels, theory, graphs``.
"""

__version__ = "1.0.0"
