"""Variance-Reducing Couplings: what only its pages use."""
