"""Variance-Reducing Couplings: what only its pages use."""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        ".": (
            "attention_rows",
            "block_errors",
            "choices",
            "close_points",
            "copula",
            "equal_walkers",
            "formulas",
            "gram_norms",
            "leaderboard",
            "matern_errors",
            "multi_marginal",
            "predictives",
            "repelling",
            "traffic_gp",
            "walk_variance",
        ),
    },
)
