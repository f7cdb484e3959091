"""What features are for: models that need a kernel and make do with its features."""

from rfcore.models import clustering, gp, interpolation, ode, pagerank, regression

__all__ = ["clustering", "gp", "interpolation", "ode", "pagerank", "regression"]
