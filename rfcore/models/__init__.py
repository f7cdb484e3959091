"""What features are for: models that need a kernel and make do with its features.

Where a kernel of a graph is met by its products alone, :func:`rfcore.kernels.exponential_product` and
:func:`rfcore.kernels.chebyshev_product` are exact and cost less; :func:`rfcore.models.gp.fit_graph` takes
them by itself where they fit.
"""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        ".": ("attention", "clustering", "encoder", "gp", "ode", "pagerank", "regression", "transformer"),
    },
)
