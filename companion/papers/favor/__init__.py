"""FAVOR#: what only its pages use."""
