"""What features are for: models that need a kernel and make do with its features."""

from rfcore.models import regression

__all__ = ["regression"]
