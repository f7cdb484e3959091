"""What features are for: models that need a kernel and make do with its features."""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        ".": ("attention", "clustering", "encoder", "gp", "ode", "pagerank", "regression", "transformer"),
    },
)
