"""What is solved or fitted to get a coupling, a feature map or a law."""

from rfcore.solvers import exponential, sampling, transport
