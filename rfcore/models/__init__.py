"""What features are for: models that need a kernel and make do with its features."""

from rfcore.models import attention, clustering, gp, interpolation, ode, pagerank, regression

__all__ = ["attention", "clustering", "gp", "interpolation", "ode", "pagerank", "regression"]
