"""What is solved or fitted to get a coupling, a feature map or a law."""

from rfcore.solvers import best_directions, descent, gram, transport

__all__ = ["best_directions", "descent", "gram", "transport"]
