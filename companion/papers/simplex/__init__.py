"""Simplex Random Features: what only its pages use."""
