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

    Each is called once beforehand, and waited for. What other work does to the machine meets all cases of a round alike, so
    that ratios within rounds are worth more than times.

    Parameters
    ----------
    cases : sequence of function
        Without arguments; what they return is waited for (``jax.block_until_ready``).
    n_rounds : int
    description : str
        What the progress bar says.

    Returns
    -------
    float64 array, shape (n_rounds, len(cases))
        Of all threads of this process together: the work of one thread only where XLA has no more (``XLA_FLAGS`` with
        ``--xla_cpu_multi_thread_eigen=false`` before JAX starts).

    Raises
    ------
    ValueError
        If there is no case or one is no function, or n_rounds < 1.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> from rfcore.evidence.processor import seconds_per_call
    >>> seconds_per_call([lambda: sum(range(1000)), lambda: None], 2, "sums").shape
    (2, 2)
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

    Parameters
    ----------
    sizes : array, shape (k,)
        At least two, above 0 and not all the same.
    seconds : array, shape (..., k)
        Above 0.

    Returns
    -------
    float64 array, shape (...)

    Raises
    ------
    ValueError
        If sizes or seconds are not as above.

    Notes
    -----
    Ours: a fit in each round by itself, so that the rounds give the exponent an error.

    Examples
    --------
    >>> from rfcore.evidence.processor import exponents
    >>> exponents([1.0, 2.0, 4.0], [[1.0, 8.0, 64.0], [5.0, 10.0, 20.0]]).round(12).tolist()
    [3.0, 1.0]
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
