"""Models of experiments: clustering, flows, ranks and votes by a kernel or its features."""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(__name__, {".": ("clustering", "encoder", "ode", "pagerank", "regression", "transformer")})
