"""Where an integral over time is looked at: independent times, one in each part, or the middles."""

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
    """Independent uniform times on [0, t]: unbiased, with an error of order 1 / sqrt(n) of its own (Eq. 13).

    Parameters
    ----------
    key : JAX PRNG key
    t : float
        At least 0.
    n : int
    n_repeats : int, optional
        Draw so many sets of n times.

    Returns
    -------
    Times, shape (n,) or (n_repeats, n)

    Notes
    -----
    Universal Graph Random Features, Eq. 13.

    Examples
    --------
    >>> import jax
    >>> from rfcore.models import ode
    >>> ode.uniform_times(jax.random.key(0), 2.0, 4).weight.tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    return _times(_uniforms(key, n, n_repeats) * n, t, n)


def stratified_times(key, t, n, n_repeats=None):
    """One uniform time in each of n equal parts of [0, t]: unbiased, with an error of order n^(-3/2).

    Parameters and result are those of :func:`uniform_times`.

    Notes
    -----
    Ours; stratified sampling, Owen, Monte Carlo Theory, Methods and Examples, 2013, Chapter 8.

    Examples
    --------
    >>> import jax
    >>> from rfcore.models import ode
    >>> (ode.stratified_times(jax.random.key(0), 4.0, 4).time // 1).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    return _times(np.arange(checks.count(n, "n")) + _uniforms(key, n, n_repeats), t, n)


def midpoint_times(t, n, n_repeats=None):
    """Middles of n equal parts of [0, t]: no randomness, a bias of order n^(-2).

    Parameters and result are those of :func:`uniform_times`, and all repeats have the same times.

    Notes
    -----
    Ours; the midpoint rule.

    Examples
    --------
    >>> from rfcore.models import ode
    >>> ode.midpoint_times(2.0, 4).time.tolist()
    [0.25, 0.75, 1.25, 1.75]
    """
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
