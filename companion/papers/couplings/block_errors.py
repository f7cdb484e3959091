"""Errors of blocks of coupled norms at many distances at once, for all pairs of points of a table.

The error of a pair of points is that of independent frequencies times a ratio, a function of |x - y| or
|x + y| alone, which :func:`rfcore.theory.mse_ratio` has for one distance to twelve digits. Here
quadrature over normal scores gives it at every tenth, and an even cubic spline between. All in float64.

Positive features may come with their opposites, 2 d frequencies in all. Pairs of two directions cost what
they cost without; a frequency and its own opposite cost

::

    1                                              equal norms, antithetic
    E[0F1(; d/2; v^2 (w - w')^2 / 4)]              independent norms w, w'
"""

from functools import lru_cache

import jax
import numpy as np
from scipy import special
from scipy.interpolate import CubicSpline

from rfcore import checks, copulas, theory
from rfcore.theory.norm_costs import norms_at

OPPOSITES = ("none", "equal", "independent")
# Beyond, the error is taken for that of independent frequencies: to 1e-4 of it from d = 5 on, at d = 2 to 6e-2 for PNC Fourier features,
# whose kernel is 1e-31 there; to rounding for positive ones.
FARTHEST = {"fourier": 12.0, "positive": 6.0}
GRID = 0.1


def block_mse_ratio(distance, d, law, features, opposites="none"):
    """Error of d orthogonal features, or 2 d with their opposites, over that of as many independent ones.

    ::

        1 + 2 (d - 1) (E[c] - e^(-z^2)) / (1 - e^(-z^2))^2                        fourier, z = |x - y|
        1 + (d - 1) (E[c] - e^(v^2)) / (e^(2 v^2) - e^(v^2))                      positive, v = |x + y|
        1 + [a - e^(v^2) + 2 (d - 1) (E[c] - e^(v^2))] / (e^(2 v^2) - e^(v^2))    positive with opposites

    with E[c] as for :func:`rfcore.theory.norm_costs.norms_ratio`, and a what a frequency and its own opposite
    cost, 1 for equal norms. It is good to about 1e-5; from a distance of 12 (Fourier) or 6 (positive) on it
    is taken to be 1.

    Args:
        distance: array of values of at least 0, z or v; the result has its shape.
        d: dimension, at least 2.
        law: of the norms of the d frequencies, "independent" or "reversal" (PNC).
        features: "fourier" or "positive".
        opposites: "none", "equal" or "independent", the norms of the opposite vectors; "none" for Fourier
            features, which are even.

    Source: Variance-Reducing Couplings, Lemma 3.1 and Theorem 3.5.
    """
    distance = np.asarray(checks.numbers(distance, "distance"), dtype=float)
    if distance.size and not distance.min() >= 0:
        raise ValueError(f"distance has the value {distance.min()}; give values of at least 0")
    if not has_table(law):
        raise ValueError(f"law = {law!r}; give 'independent' or 'reversal'")
    check_opposites(features, opposites)
    spline = _table(d, copulas.pairs(law).partners == -1, features, opposites)
    near = distance < FARTHEST[features]
    return np.where(near, spline(np.where(near, distance, 1.0)), 1.0)


def has_table(law):
    """Whether partners have independent or opposite norms, and all others independent ones."""
    return copulas.pairs(law) in (copulas.Correlated(0, 0), copulas.Correlated(-1, 0))


def check_opposites(features, opposites):
    """Complains of names that are unknown or do not go together."""
    checks.choice(features, "features", ("positive", "fourier"))
    checks.choice(opposites, "opposites", OPPOSITES)
    if features == "fourier" and opposites != "none":
        raise ValueError(f"opposites = {opposites!r}; give 'none' for Fourier features, which are the same for opposite frequencies")


@lru_cache(maxsize=256)
def _table(d, is_coupled, features, opposites):
    s = np.arange(GRID / 2, FARTHEST[features] + 3 * GRID, GRID)
    with jax.enable_x64(True):
        ratio = theory.mse_ratio("orthogonal", features, s, m=d, d=d)
    ratio, below = np.asarray(ratio), -np.expm1(-(s**2))
    if is_coupled:
        # What a coupled pair costs less than an independent one, over the error of one frequency.
        coupled = 2 * (d // 2) / d * (_opposite_order(s, d, features) - _independent(ratio, s, d, features))
        ratio = ratio + (2 * coupled / below**2 if features == "fourier" else coupled * np.exp(-(s**2)) / below)
    if opposites != "none":
        own = np.exp(-(s**2)) if opposites == "equal" else _own_opposite(s, d)
        ratio = 2 * ratio - 1 + (own - 1) * np.exp(-(s**2)) / below
    return CubicSpline(np.concatenate([-s[::-1], s]), np.concatenate([ratio[::-1], ratio]))


def _independent(ratio, s, d, features):
    """Cost of an independent pair; times e^(-v^2) for positive features."""
    below = -np.expm1(-(s**2))
    if features == "fourier":
        return np.exp(-(s**2)) + (ratio - 1) * below**2 / (2 * (d - 1))
    return 1 + (ratio - 1) * below * np.exp(s**2) / (d - 1)


def _opposite_order(s, d, features):
    """Cost of a negative monotone pair; times e^(-v^2) for positive features."""
    reach, step = (9.0, 0.05) if features == "fourier" else (9.0 + 1.5 * s.max(), 0.1)
    x = np.arange(-reach, reach + step / 2, step)
    t = s[:, None] * np.hypot(norms_at(x, d), norms_at(-x, d))
    log_density = -(x**2) / 2 + np.log(step / np.sqrt(2 * np.pi))
    if features == "fourier":
        return _bessel(t, d, "fourier") @ np.exp(log_density)
    return np.exp(log_density + _bessel(t, d, "positive") - s[:, None] ** 2).sum(axis=1)


def _own_opposite(s, d):
    """E[0F1(; d/2; v^2 (w - w')^2 / 4)] e^(-v^2) for independent norms."""
    x = np.arange(-18.0, 18.1, 0.3)
    norms, log_density = norms_at(x, d), -(x**2) / 2 + np.log(0.3 / np.sqrt(2 * np.pi))
    i, j = np.triu_indices(len(x))
    logs = log_density[i] + log_density[j] + np.where(i == j, 0.0, np.log(2))
    difference, kept = np.abs(norms[i] - norms[j]), logs > -200
    difference, logs = difference[kept], logs[kept]
    return np.array([np.exp(logs + _bessel(v * difference, d, "positive") - v**2).sum() for v in s])


def _bessel(t, d, features):
    """0F1(; d/2; -t^2 / 4), or the logarithm of 0F1(; d/2; t^2 / 4)."""
    order, near = d / 2 - 1, t < 1e-6
    t = np.where(near, 1.0, t)
    if features == "fourier":
        return np.where(near, 1.0, special.gamma(d / 2) * (2 / t) ** order * special.jv(order, t))
    large = special.gammaln(d / 2) + order * np.log(2 / t) + np.log(special.ive(order, t)) + t
    return np.where(near, 0.0, large)
