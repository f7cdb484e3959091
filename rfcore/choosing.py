"""The choice of a coupling for m frequencies in d dimensions, with its expected error."""

import json
import math
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import equinox as eqx
import numpy as np
from jaxtyping import Float

from rfcore import checks, copulas
from rfcore.couplings import (
    Coupling,
    Product,
    Turned,
    WithOpposites,
    directions,
    orthogonal_pm,
    orthogonal_pnc,
    simplex,
    sobol,
)
from rfcore.theory import mse_ratio, partners
from rfcore.theory.stratified_norms import LARGEST

TABLE = Path(__file__).with_name("choosing.json")
DISTANCES = (0.5, 1.0, 2.0)  # close, middle, far
# Lines m = c d^a: from the first on Sobol' points, from the second on shells, below both strata over all norms.
SOBOL, SHELLS = (2**2.5, 2.0), (2**0.5, 1.5)
Features = Literal["fourier", "positive", "attention"]

# The candidates: ties go to the first.
FOURIER: dict[str, Coupling] = {
    "PNC": orthogonal_pnc,
    "strata over all": Product(directions.orthogonal, copulas.stratified, "all"),
    "shells": Product(directions.orthogonal, copulas.stratified, "blocks"),
    "Sobol'": Turned(sobol),
}
POSITIVE: dict[str, Coupling] = {
    "simplex": simplex,
    "simplex shells": Product(directions.simplex, copulas.stratified, "blocks"),
    "Sobol'": Turned(sobol),
}
ATTENTION: dict[str, Coupling] = {
    "simplex": simplex,
    "simplex, equal norms": Product(directions.simplex, copulas.comonotone),
    "cross-polytopes": WithOpposites(orthogonal_pm),
}
CANDIDATES = {"fourier": FOURIER, "positive": POSITIVE, "attention": ATTENTION}


class Choice(eqx.Module):
    """A coupling, its expected errors, and the reason for it; from :func:`choose`."""

    coupling: Coupling
    """Called as ``(key, m, d) -> omega``."""
    name: str = eqx.field(static=True)
    """Of the mechanism, such as "shells"."""
    rmse_over_iid: dict[float, float] = eqx.field(static=True)
    """Distance -> root mean squared error over that of independent frequencies, at close, middle and far points.

    NaN where it is not known: of Sobol' points beyond 4,096, or with positive features that are far.
    """
    why: str = eqx.field(static=True)
    """A sentence."""


def choose(*, m: int, d: int, features: Features = "fourier", distance: float | None = None) -> Choice:
    """A coupling for m frequencies in d dimensions, with its error over that of independent ones.

    At d = 64 and m = 256 the RMSE of Fourier features falls to 17 % at distance 0.5, 29 % at 1 and 83 % at 2:
    couplings help most for points that are close.

    ::

        Fourier:    Sobol' points from m = 5.7 d^2 on, shells from 1.4 d^1.5 on, else strata over all m norms
        positive:   the least error at |x + y| = 1: simplex, shells on simplices, or Sobol' points
        attention:  the least error of its weights at queries and keys of length 1

    The rule for Fourier features was within a tenth of the best coupling in 14 of 16 cases that were not used
    to find it (the page "Which coupling to take"); the other two were not tested.

    Args:
        features: "fourier", "positive", or "attention" for the weights that positive features give in it.
        distance: of points that matter, over the lengthscale, up to 3 (of attention up to 2): the least error
            there is taken. |x - y| for "fourier", |x + y| for "positive", the length of queries and keys, a
            transformer's times d^(-1/4), for "attention".

    Returns:
        Choice. Ratios are closed forms at this very m; those of Sobol' points (up to 32 dimensions) and of
        attention come from a table of draws, to 10 % or better. A last block that is cut to k = m mod d rows
        restores a share k (d - k) / ((d + 2) m) of the squared error of close points; of shells it is
        (d - k) / m. Take a multiple of d: at distance 0.5 (256, 100) has 34 %, (300, 100) 14 %.

    Source: Variance-Reducing Couplings goes up to m = d; beyond it ours.

    >>> import jax
    >>> from rfcore import choose
    >>> choice = choose(m=256, d=64)
    >>> choice.name, {z: round(ratio, 2) for z, ratio in choice.rmse_over_iid.items()}
    ('strata over all', {0.5: 0.17, 1.0: 0.29, 2.0: 0.83})
    >>> choice.coupling
    Product(directions=Orthogonal(), norms=Stratified(), across='all')
    >>> omega = choice.coupling(jax.random.key(0), 256, 64)
    """
    m, d = checks.count(m, "m"), checks.count(d, "d")
    candidates = CANDIDATES[checks.choice(features, "features", CANDIDATES)]
    farthest = 2.0 if features == "attention" else LARGEST
    if distance is not None and not 0 < checks.real(distance, "distance") <= farthest:
        raise ValueError(f"distance = {distance}; give one above 0 and at most {farthest:g}")
    at = 1.0 if distance is None else float(distance)
    if features == "fourier" and distance is None:
        name, why = rule(m=m, d=d), "by a rule in m and d"
    else:
        found = {name: rmse_over_iid(name, features, at, m=m, d=d) for name in candidates}
        name = min(found, key=lambda name: (math.isnan(found[name]), found[name]))
        why = f"of {', '.join(found)} it has the least error at {'length' if features == 'attention' else 'distance'} {at:g}"
    ratios = {z: rmse_over_iid(name, features, z, m=m, d=d) for z in DISTANCES}
    shares = ", ".join(f"{100 * ratio:.0f} % at {z:g}" for z, ratio in ratios.items() if not math.isnan(ratio))
    return Choice(candidates[name], name, ratios, f"{name}, {why}; its error over that of independent frequencies is {shares}")


def rule(*, m: int, d: int) -> str:
    """The mechanism for Fourier features when the distances are unknown."""
    if d == 1:
        return "strata over all"  # there are no directions to couple
    if m >= SOBOL[0] * d ** SOBOL[1]:
        return "Sobol'"
    if m < d:
        return "PNC"
    return "shells" if m >= SHELLS[0] * d ** SHELLS[1] else "strata over all"


def rmse_over_iid(name: str, features: Features, distance: float, *, m: int, d: int) -> float:
    """RMSE of a mechanism over that of independent frequencies; NaN where it is not known."""
    if features == "attention":
        return _of_attention(name, distance, m, d)
    if name == "Sobol'":
        return _of_sobol(features, distance, m, d)
    return math.sqrt(mse_ratio(CANDIDATES[features][name], features, distance, m=m, d=d))


@lru_cache(maxsize=1)
def _table() -> dict:
    return json.loads(TABLE.read_text(encoding="utf-8"))


def _of_sobol(features: Features, distance: float, m: int, d: int) -> float:
    """From the table's errors e(n) of n = 2^k points, exactly, for any m of which it has the powers of two.

    ::

        m = n_1 + n_2 + ...,   falling powers of two
        m^2 e(m) = sum_i n_i^2 e(n_i) + 2 sum_{i < j} n_i n_j c(n_i)
        c(n) = 2 e(2 n) - e(n),   the covariance of a net's error with those of the parts of its sibling

    since a random digital shift makes Walsh coefficients uncorrelated, and of those that a net of n points
    gets wrong its sibling has the same sign where both together get them wrong, the opposite elsewhere.
    """
    table = _table()
    if d > len(table[f"sobol, {features}"]) or m > table["widths"][-1]:
        return math.nan
    ratios = np.array(table[f"sobol, {features}"][d - 1], float)  # distances, widths
    errors = np.concatenate([np.ones((len(DISTANCES), 1)), ratios**2 / table["widths"]], axis=1)  # of 1, 2, 4, ... points
    parts = [k for k in reversed(range(m.bit_length())) if m >> k & 1]
    total = sum(4.0**k * errors[:, k] for k in parts)
    for k in parts[:-1]:
        total = total + 2.0 ** (k + 1) * (m % 2**k) * (2 * errors[:, k + 1] - errors[:, k])
    return float(np.exp(_between_distances(np.log(total / m) / 2, distance)))


def _of_attention(name: str, distance: float, m: int, d: int) -> float:
    """From the table of whole blocks: a coupling saves in proportion to the pairs that it couples."""
    table = _table()
    places = np.log(table["dimensions"]), np.log(table["blocks"])
    ratios = np.log(np.array(table["attention"][name], float))  # dimensions, distances, blocks

    def saved(blocks: float) -> float:
        logs = _interpolated(places[0], math.log(d), ratios)
        return -np.expm1(2 * _between_distances(_interpolated(places[1], math.log(blocks), logs.T), distance))

    def share(m: int) -> float:
        return partners(m, d) / (d - 1) if d > 1 else 0.0

    if name != "cross-polytopes":
        return math.sqrt(1 - share(m) * saved(max(m / d, 1)))
    # Half of the frequencies, in blocks of their own, and their opposites, which save even where they are alone.
    half = -(-m // 2)
    whole, alone = saved(max(m / d, 2)), saved(1)
    of_half = share(max(d // 2, 1))
    of_pairs = (whole - alone) / (1 - of_half) if d > 1 else 0.0
    return math.sqrt(1 - (whole - (1 - share(half)) * of_pairs) * (1 - m % 2 / m))


def _between_distances(logs: Float[np.ndarray, " distances"], distance: float) -> float:
    return float(_interpolated(np.log(DISTANCES), math.log(distance), logs))


def _interpolated(places: Float[np.ndarray, " n"], at: float, values: Float[np.ndarray, "n ..."]) -> Any:
    """Linear along the first axis of values, constant beyond the places; a number if values are a vector."""
    x = np.interp(at, places, np.arange(len(places)))
    low = min(int(x), len(places) - 2)
    share = x - low
    return values[low] if share == 0 else (1 - share) * values[low] + share * values[low + 1]
