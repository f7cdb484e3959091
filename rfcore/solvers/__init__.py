"""What is solved or fitted to get a coupling, a feature map or a law."""

from rfcore.solvers import (
    best_directions,
    copula,
    descent,
    exponential,
    gram,
    multi_marginal,
    sampling,
    transport,
)

__all__ = ["best_directions", "copula", "descent", "exponential", "gram", "multi_marginal", "sampling", "transport"]
