"""What is solved or fitted to get a coupling, a feature map or a proposal."""

from rfcore.solvers import exponential, importance, transport
