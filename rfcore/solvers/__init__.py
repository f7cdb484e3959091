"""Solvers for parameters of feature maps, proposals of frequencies and couplings of walks."""

from rfcore.solvers import exponential, importance, transport
