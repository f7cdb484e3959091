"""Where an integral over [0, t] is looked at: n independent times, one in each of n parts, or the middles.

With n_repeats, there are as many sets of times, and arrays have shape (n_repeats, n).
"""

from typing import NamedTuple

import jax
import numpy as np

from rfcore import checks


class Times(NamedTuple):
    """Where an integral over [0, t] looks: ``sum_j weight_j h(time_j)`` estimates it."""

    time: np.ndarray
    """Shape (n,), or (n_repeats, n) with times of its own for every repeat."""
    weight: np.ndarray
    """Of the same shape; 1 / (n p(time)) for times drawn with density p."""


def uniform_times(key, t, n, n_repeats=None):
    """Independent uniform times: unbiased, with an error of order 1 / sqrt(n).

    Source: Universal Graph Random Features, Eq. 13.
    """
    return _times(_uniforms(key, n, n_repeats) * n, t, n)


def stratified_times(key, t, n, n_repeats=None):
    """One uniform time in each part: unbiased, with an error of order n^(-3/2).

    Source: Owen, Monte Carlo Theory, Methods and Examples (2013), Chapter 8.
    """
    return _times(np.arange(checks.count(n, "n")) + _uniforms(key, n, n_repeats), t, n)


def midpoint_times(t, n, n_repeats=None):
    """Middles of the parts, the same for all repeats: no randomness, a bias of order n^(-2)."""
    return _times(np.full(_shape(n, n_repeats), 0.5) + np.arange(n), t, n)


def within(times, t):
    """Times and weights as arrays of shape (n_repeats, n), and whether there are repeats at all."""
    if not isinstance(times, Times):
        raise ValueError(f"times is of type {type(times).__name__}; give ode.midpoint_times(t, n), or Times(time, weight)")
    time, weight = (
        np.asarray(checks.finite(checks.numbers(values, f"times.{name}"), f"times.{name}"), dtype=float)
        for name, values in zip(Times._fields, times, strict=True)
    )
    if time.ndim not in (1, 2) or 0 in time.shape:
        raise ValueError(f"times.time has shape {time.shape}; give (n,), or (n_repeats, n)")
    if weight.shape != time.shape:
        raise ValueError(f"times.weight has shape {weight.shape}; give one weight per time, shape {time.shape}")
    if not (time.min() >= 0 and time.max() <= t):
        raise ValueError(f"times has values in [{time.min()}, {time.max()}]; they must lie in [0, {t}]")
    return np.atleast_2d(time), np.atleast_2d(weight), time.ndim == 2


def _uniforms(key, n, n_repeats):
    return np.asarray(jax.random.uniform(checks.key(key), _shape(n, n_repeats)))


def _shape(n, n_repeats):
    n = checks.count(n, "n")
    return (n,) if n_repeats is None else (checks.count(n_repeats, "n_repeats"), n)


def _times(parts, t, n):
    t = checks.real(t, "t", least=0)
    time = np.asarray(parts, dtype=float) * t / n
    return Times(time, np.full(time.shape, t / n))
