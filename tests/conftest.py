"""Work in float64, draw hypothesis examples from a fixed seed, and never open a window."""

import os

os.environ.setdefault("MPLBACKEND", "Agg")
# One thread: the suite runs two workers, and XLA's CPU thread pool can deadlock on LAPACK calls.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import hypothesis
import jax

jax.config.update("jax_enable_x64", True)
hypothesis.settings.register_profile("rfcore", derandomize=True, deadline=None, max_examples=25)
hypothesis.settings.load_profile("rfcore")
