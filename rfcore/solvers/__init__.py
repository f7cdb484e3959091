"""What is solved or fitted to get a coupling, a feature map or a law."""

from rfcore.solvers import best_directions, copula, descent, gram, multi_marginal, transport

__all__ = ["best_directions", "copula", "descent", "gram", "multi_marginal", "transport"]
