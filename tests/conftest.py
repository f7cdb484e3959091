"""Work in float64, draw hypothesis examples from a fixed seed, and never open a window."""

import os

os.environ.setdefault("MPLBACKEND", "Agg")

import hypothesis
import jax

jax.config.update("jax_enable_x64", True)
hypothesis.settings.register_profile("rfcore", derandomize=True, deadline=None, max_examples=25)
hypothesis.settings.load_profile("rfcore")
