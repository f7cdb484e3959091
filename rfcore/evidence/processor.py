"""Processor time of compiled calls, in rounds, and the powers of a size that it grows with.

Imported by its own name, ``rfcore.evidence.processor``.
"""

import time

import jax
import numpy as np
from tqdm import tqdm

from rfcore import checks

LEAST = 3e-3  # seconds; what is over sooner is repeated, since the clock ticks


def seconds_per_call(cases, n_rounds, description):
    """Processor seconds of a call of each of several functions, all of them in turn within a round.

    Each is called once beforehand, and waited for. What other work does to the machine meets all cases of a
    round alike, so that ratios within rounds are worth more than times. The seconds are of all threads of
    this process together: the work of one thread only where XLA has no more (``XLA_FLAGS`` with
    ``--xla_cpu_multi_thread_eigen=false`` before JAX starts).

    Args:
        cases: functions without arguments; what they return is waited for (``jax.block_until_ready``).
        n_rounds: at least 1.
        description: what the progress bar says.

    Returns:
        float64 array, (n_rounds, len(cases)).
    """
    n_rounds, description = checks.count(n_rounds, "n_rounds"), checks.text(description, "description", "draws")
    if not isinstance(cases, list | tuple) or not cases or not all(map(callable, cases)):
        raise ValueError(f"cases = {cases!r}; give a list of functions without arguments")
    for case in cases:
        jax.block_until_ready(case())
    seconds = np.empty((n_rounds, len(cases)))
    for i, j in tqdm(np.ndindex(seconds.shape), total=seconds.size, desc=description, leave=False):
        n_calls, began, spent = 0, time.process_time(), 0.0
        while not n_calls or spent < LEAST:
            jax.block_until_ready(cases[j]())
            n_calls, spent = n_calls + 1, time.process_time() - began
        seconds[i, j] = spent / n_calls
    return seconds


def exponents(sizes, seconds):
    """Least-squares slope of log seconds over log size, one per round.

    ::

        sum_j (log n_j - mean log n) log s_j / sum_j (log n_j - mean log n)^2

    Rounds are fitted each by itself, so that they give the exponent an error.

    Args:
        sizes: shape (k,), at least two, above 0 and not all the same.
        seconds: shape (..., k), above 0.

    Returns:
        float64 array, (...).
    """
    sizes = np.asarray(checks.vector(sizes, "sizes"))
    if sizes.min() <= 0 or sizes.min() == sizes.max():
        raise ValueError(f"sizes = {sizes.tolist()}; give at least two above 0 that differ")
    seconds = np.asarray(checks.finite(checks.numbers(seconds, "seconds"), "seconds"))
    if seconds.ndim == 0 or seconds.shape[-1] != len(sizes) or seconds.min(initial=1) <= 0:
        got = f"seconds has shape {seconds.shape} and the least value {seconds.min(initial=1):g}"
        raise ValueError(f"{got}; give times above 0, shape (..., {len(sizes)}), one per size")
    x = np.log(sizes) - np.log(sizes).mean()
    return np.log(seconds) @ x / (x @ x)
