"""Errors of tight frames, drawn: the table of :mod:`rfcore.theory.frames` is made here.

``python -m companion.papers.couplings.frame_errors`` writes it anew in an hour.

A frame under a uniform rotation has an error in closed form, given the lengths of sums and differences of its
rows: what is left to draw are norms and the shape of the frame, so that a few draws tell the mean.
"""

import json
import math
from functools import lru_cache

import jax
import numpy as np
from scipy.interpolate import CubicSpline
from tqdm import tqdm

from rfcore import couplings, theory
from rfcore.theory import frames, norm_costs

DIMENSIONS = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 64, 128, 512)
WIDTHS = (1.0625, 1.125, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75, 3, 3.5, 4, 4.5, 5.5, 6, 8, 8.5, 12.5, 16, 32.5, 64)  # over d
LARGEST = 1100  # frequencies


def sizes(d):
    """Numbers of frequencies in the table: up to d = 8 all to 12 d, since errors jump at multiples of d."""
    some = {max(round(width * d), d + 1) for width in WIDTHS} | {k * d + 1 for k in (1, 2, 3, 4)}
    return sorted(m for m in some.union(range(d + 1, 12 * d + 1) if d <= 8 else ()) if m <= LARGEST)


def mse_given_lengths(omega, distances, features):
    """Mean squared errors over uniform rotations of m frequencies, over those of m independent ones.

    ::

        mean over i, j of E[f(omega_i . u) f(omega_j . u)] - 2 K mean over i of E[f(omega_i . u)] + K^2

    with u uniform on the sphere of radius z, E[exp(w . u)] = 0F1(; d/2; z^2 |w|^2 / 4) and z^2 negative for
    cosines.

    Args:
        omega: (m, d).
        distances: a sequence.
        features: "fourier", "positive" or "cosh".
    """
    m, d = omega.shape
    gram = omega @ omega.T
    square = np.diag(gram)
    signs = (1,) if features == "positive" else (1, -1)
    i, j = np.triu_indices(m, 1)
    own, sums = 2 * np.sqrt(square), [np.sqrt(np.maximum(square[i] + square[j] + 2 * sign * gram[i, j], 0)) for sign in signs]
    found = []
    sign = -1 if features == "fourier" else 1
    for z in distances:
        mean, K = _mean_on_sphere(d, sign, math.ceil(z * max(x.max() for x in (own, *sums)) / 8) * 8), np.exp(sign * z**2 / 2)
        of_own = np.mean([mean(z * x).mean() for x in (own, 0 * own)[: len(signs)]])
        of_pairs = of_own / m + (1 - 1 / m) * np.mean([mean(z * x).mean() for x in sums])
        error = of_pairs - 2 * K * mean(z * np.sqrt(square)).mean() + K**2
        one = theory.one_frequency_mse(z, features) * (1 if features == "fourier" else K**2)
        found.append(error * m / one)
    return np.array(found)


@lru_cache
def _mean_on_sphere(d, sign, top):
    """0F1(; d/2; sign t^2 / 4) = E[cosh(t u)] or E[cos(t u)], u a coordinate of a uniform unit vector."""
    grid, (u, log_weights) = np.linspace(0, top, 4000), norm_costs.coordinate(d)
    return CubicSpline(grid, (np.cos if sign < 0 else np.cosh)(np.outer(grid, u)) @ np.exp(log_weights))


def drawn(kind, m, d, n_draws, key):
    """Mean squared errors over those of independent frequencies, (n_draws, distances)."""
    coupling, features = FRAMES[kind]
    draw = jax.jit(lambda key: coupling(key, m, d))
    each = [np.asarray(draw(one), dtype=float) for one in jax.random.split(key, n_draws)]
    return np.array([mse_given_lengths(omega, frames.DISTANCES[kind], features) for omega in each])


FRAMES = {
    "tight": (couplings.tight, "fourier"),
    "balanced": (couplings.tight_balanced, "positive"),
    "cosh": (couplings.tight, "cosh"),
}


def row(kind, d):
    """A row of the table: RMSE over the limit's, by size and distance."""
    over = []
    for m in tqdm(sizes(d), desc=f"{kind}, d = {d}"):
        ratios = drawn(kind, m, d, max(6, min(1000, 150_000 // (m * d))), jax.random.key(m * d)).mean(axis=0)
        limits = [frames.limit(z, kind, m, d) for z in frames.DISTANCES[kind]]
        over.append([float(f"{x:.3g}") for x in np.sqrt(ratios / limits)])
    return {"d": d, "m": sizes(d), "over_limit": over}


if __name__ == "__main__":
    table = {kind: [row(kind, d) for d in DIMENSIONS] for kind in FRAMES}
    frames.TABLE.write_text(json.dumps(table) + "\n", encoding="utf-8")
