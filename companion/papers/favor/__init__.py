"""FAVOR#: what only its pages use."""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        ".": ("better_maps", "exponential_votes", "formulas", "in_encoder", "language", "real_heads"),
    },
)
