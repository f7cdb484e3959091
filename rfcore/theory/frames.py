"""Errors of tight frames (:mod:`rfcore.couplings.frames`): the limit of many frequencies, and draws.

Norms in m strata leave nothing of the mean g(w) of a feature given its norm but its variance within strata.
Sorted, they are nearly equal within a block, so that an orthogonal block removes what a shell would
(:mod:`rfcore.theory.stratified_norms`). Balanced frames are blocks no more, and remove what is of first
and of second degree in the frequency. With many blocks

::

    m MSE -> Var f - Var_between(g) - (d - 1) Var g                       tight, cosh
    m MSE -> e^(2 v^2) - e^(v^2) (1 + v^2 + v^4 / 2),  Var f up to v^4    balanced

The directions of fewer frequencies are moved farther: ``frames.json`` has their errors over these, of
draws for d from 2 to 512, up to d = 8 at every m to 12 d. For m <= d a frame is one orthogonal block with
norms in m strata.
"""

import json
import math
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Float
from scipy import special

from rfcore.theory.norm_costs import CLOSEST
from rfcore.theory.stratified_norms import between_strata, one_frequency_mse, strata_ratio, variance_of_means

TABLE = Path(__file__).with_name("frames.json")
Kind = Literal["tight", "balanced", "cosh"]
DISTANCES = {"tight": (0.5, 1.0, 2.0), "balanced": (0.25, 0.5, 1.0), "cosh": (0.25, 0.5, 1.0)}
FINEST = 4096  # strata: more leave nothing that an error of a few percent would show
EPS = float(np.finfo(float).eps)
LARGEST = {"tight": 3.0, "balanced": 1.0, "cosh": 1.0}  # distance; the mean of far positive features is beyond draws


def frames_ratio(distance: float, kind: Kind, m: int, d: int) -> float:
    """Mean squared error of a tight frame over that of m independent frequencies.

    Its root is good to a few percent from d = 3 on, and to a fifth in the plane beyond m = 24, where errors
    jump between odd and even m.

    Args:
        distance: above 0; at most 3 for "tight", 1 for the others.
        kind: "tight" for Fourier features; "balanced" for positive ones, and m > d > 1; "cosh" for the
            mean of positive features of a tight frame and of its opposites.
    """
    if not 0 < distance <= LARGEST[kind]:
        raise ValueError(f"distance = {distance}; give one above 0 and at most {LARGEST[kind]:g} for frames")
    if kind == "balanced" and not m > d > 1:
        raise ValueError(f"m = {m} and d = {d}; give m > d > 1 for balanced frames")
    distance = max(distance, CLOSEST)
    if m <= d:
        return strata_ratio(distance, "fourier" if kind == "tight" else "cosh", m, d, "all")
    limits = np.array([limit(z, kind, m, d) for z in DISTANCES[kind]])
    # Where a frame is not quite tight a share of the leading degree remains, however close the points are.
    more = limits * np.expm1(2 * _log_over_limit(kind, m, d))
    more[0] = max(more[0], 0.0)  # no share is negative, which noise of the table may be
    return limit(distance, kind, m, d) + float(np.interp(np.log(distance), np.log(DISTANCES[kind]), more))


@lru_cache(maxsize=1024)
def limit(distance: float, kind: Kind, m: int, d: int) -> float:
    """Error over that of independent frequencies, with many blocks."""
    features, square, sign = "fourier" if kind == "tight" else "cosh", distance**2, -1 if kind == "tight" else 1
    if kind == "balanced":
        return float(square**3 / 6 * special.hyp1f1(1, 4, square) / np.expm1(square))  # e^x - 1 - x - x^2 / 2, x = square
    change = -between_strata(distance, d, sign, min(m, FINEST)) - (d - 1) * variance_of_means(distance, d, sign)
    of_one = one_frequency_mse(distance, features) * (1 if kind == "tight" else np.exp(square))
    return max(float(1 + change / of_one), EPS)  # of close points only rounding is left


@lru_cache(maxsize=1)
def _table() -> dict:
    return json.loads(TABLE.read_text(encoding="utf-8"))


def _log_over_limit(kind: Kind, m: int, d: int) -> Float[np.ndarray, " distances"]:
    """Logarithm of the RMSE over the limit's at ``DISTANCES``: linear in log m/d and log d, else constant."""
    if d == 1:
        return np.zeros(len(DISTANCES[kind]))
    rows = _table()[kind]
    logs = np.array([
        [np.interp(math.log(m / d), np.log(np.array(row["m"]) / row["d"]), column) for column in np.log(row["over_limit"]).T]
        for row in rows
    ])
    return np.array([np.interp(math.log(d), np.log([row["d"] for row in rows]), column) for column in logs.T])
