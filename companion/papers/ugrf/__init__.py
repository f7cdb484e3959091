"""Universal Graph Random Features: what only its pages use."""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        ".": (
            "blocks",
            "definiteness",
            "eight_graphs",
            "fits",
            "formulas",
            "generalisation",
            "hidden_values",
            "large_graphs",
            "learned_modulations",
            "modulation_pairs",
            "reduction",
            "reference",
        ),
    },
)
