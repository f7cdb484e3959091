"""FAVOR#: what only its pages use."""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        ".": ("exponential_votes", "formulas", "language", "real_heads"),
    },
)
