"""What features are for: models that need a kernel and make do with its features."""

from rfcore.models import clustering, generalisation, gp, interpolation, ode, regression

__all__ = ["clustering", "generalisation", "gp", "interpolation", "ode", "regression"]
