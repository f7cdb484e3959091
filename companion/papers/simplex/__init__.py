"""Simplex Random Features: what only its pages use."""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        ".": ("arrangements", "best_directions", "classification", "fast_bias", "formulas", "gram_matrices", "pair_densities", "sign_change", "two_frequencies", "vision",),
    },
)
