"""Which coupling to take for d dimensions and m frequencies, and what it leaves of the error."""

import json
import math
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from rfcore import checks, couplings
from rfcore.couplings import compose, directions, norms
from rfcore.theory.norm_costs import norm_coupling_ratio
from rfcore.theory.positive_errors import positive_mse_ratio
from rfcore.theory.stratified_norms import LARGEST, stratified_norms_ratio

TABLE = Path(__file__).with_name("choosing.json")
DISTANCES = (0.5, 1.0, 2.0)  # close, middle, far
# Lines m = c d^a: from the first on Sobol' points, from the second on shells, below both strata over all norms.
SOBOL, SHELLS = (2**2.5, 2.0), (2**0.5, 1.5)


class Choice(NamedTuple):
    """A coupling, what it is expected to do, and why it was taken."""

    name: str
    """Of the mechanism, such as "shells"."""
    draw: Callable
    """``(key, m, d) -> omega``, (m, d)."""
    rmse_over_iid: dict
    """Distance -> root mean squared error over that of independent frequencies, at close, middle and far points.

    NaN where the table has none: of Sobol' points with positive features that are far.
    """
    why: str
    """A sentence."""


def _turned_sobol(key, m, d):
    key_points, key_turn = jax.random.split(checks.key(key))
    return couplings.sobol(key_points, m, d) @ directions.haar(key_turn, d)[0]


def _polytopes(key, m, d):
    half = compose(directions.orthogonal, norms.positive_monotone)(key, -(-checks.count(m, "m", least=0) // 2), d)
    return couplings.antithetic(half)[:m]


def _coupled(draw_directions, draw_norms, key, m, d):
    return compose(draw_directions, draw_norms)(key, m, d)


def _stratified(draw_directions, over, key, m, d):
    return _coupled(draw_directions, norms.coupled("stratified", over), key, m, d)


# What there is to choose from: the first that is best is taken. All can be pickled.
FOURIER = {
    "PNC": couplings.orthogonal_pnc,
    "strata over all": partial(_stratified, directions.orthogonal, "all"),
    "shells": partial(_stratified, directions.orthogonal, "blocks"),
    "Sobol'": _turned_sobol,
}
POSITIVE = {
    "simplex": couplings.simplex,
    "simplex shells": partial(_stratified, directions.simplex, "blocks"),
    "Sobol'": _turned_sobol,
}
ATTENTION = {
    "simplex": couplings.simplex,
    "simplex, equal norms": partial(_coupled, directions.simplex, norms.positive_monotone),
    "cross-polytopes": _polytopes,
}
TRIED = {"fourier": FOURIER, "positive": POSITIVE, "attention": ATTENTION}


def choose(d, m, features="fourier", distance=None):
    """A coupling for d dimensions and m frequencies, with what it leaves of the error of independent ones.

    At d = 64 and m = 256 the best for Fourier features leaves 17 % of the RMSE at distance 0.5, 29 % at 1 and
    83 % at 2: couplings are for points that are close.

    ::

        Fourier:    Sobol' points from m = 5.7 d^2 on, shells from 1.4 d^1.5 on, else strata over all m norms
        positive:   the least error at |x + y| = 1: simplex, shells on simplices, or Sobol' points
        attention:  the least error of its weights at queries and keys of length 1

    The rule for Fourier features was tested on kernels that it had not seen (the page "Which coupling to
    take"); the other two were not.

    Args:
        d, m: dimension; number of frequencies.
        features: "fourier", "positive", or "attention" for the weights that positive features give in it.
        distance: of points that matter, over the lengthscale, up to 3 (of attention up to 2): the least error
            there is taken. |x - y| for "fourier", |x + y| for "positive", the length of queries and keys, a
            transformer's times d^(-1/4), for "attention".

    Returns:
        Choice. Ratios are closed forms, for m that is rounded up to whole blocks; those of Sobol' points and
        attention are drawn, to 10 % or better, and interpolated between powers of two.

    Source: Variance-Reducing Couplings goes up to m = d; beyond it ours.

    >>> import jax
    >>> from rfcore import couplings
    >>> choice = couplings.choose(64, 256)
    >>> choice.name, {z: round(ratio, 2) for z, ratio in choice.rmse_over_iid.items()}
    ('strata over all', {0.5: 0.17, 1.0: 0.29, 2.0: 0.83})
    >>> omega = choice.draw(jax.random.key(0), 256, 64)
    """
    d, m = checks.count(d, "d"), checks.count(m, "m")
    checks.choice(features, "features", tuple(TRIED))
    farthest = 2.0 if features == "attention" else LARGEST
    if distance is not None and not 0 < checks.real(distance, "distance") <= farthest:
        raise ValueError(f"distance = {distance}; give one above 0 and at most {farthest:g}")
    at = 1.0 if distance is None else float(distance)
    if features == "fourier" and distance is None:
        name, why = rule(d, m), "by a rule in d and m that was tested on kernels that it had not seen"
    else:
        found = {name: rmse_over_iid(name, d, m, features, at) for name in TRIED[features]}
        name = min(found, key=lambda name: (math.isnan(found[name]), found[name]))
        why = f"of {', '.join(found)} it errs least at {'length' if features == 'attention' else 'distance'} {at:g}"
    ratios = {z: rmse_over_iid(name, d, m, features, z) for z in DISTANCES}
    shares = ", ".join(f"{100 * ratio:.0f} % at {z:g}" for z, ratio in ratios.items() if not math.isnan(ratio))
    return Choice(name, TRIED[features][name], ratios, f"{name}, {why}; of the error of independent frequencies it leaves {shares}")


def rule(d, m):
    """The mechanism for Fourier features when nothing is known of the distances."""
    if d == 1 or m >= SOBOL[0] * d ** SOBOL[1]:
        return "Sobol'"
    if m < d:
        return "PNC"
    return "shells" if m >= SHELLS[0] * d ** SHELLS[1] else "strata over all"


def rmse_over_iid(name, d, m, features, distance):
    """RMSE of a mechanism over that of independent frequencies; NaN where it is not known."""
    if features == "attention":
        return _drawn(_table()["attention"][name], _table()["dimensions"][1:], _table()["blocks"], d, m / d, distance)
    if name == "Sobol'":
        return _drawn(_table()[f"sobol, {features}"], _table()["dimensions"], _table()["widths"], d, m, distance)
    if d == 1:
        return 1.0 if name in ("PNC", "simplex") else math.nan  # one direction, and independent norms of its blocks
    blocks = d * -(-m // d)
    if name == "PNC":
        return math.sqrt(norm_coupling_ratio(distance, d, min(m, d), "reversal", features))
    if name == "simplex":
        return math.sqrt(positive_mse_ratio(distance, d, m, "simplex"))
    over = "all" if name == "strata over all" else "blocks"
    on = "simplex" if name == "simplex shells" else "orthogonal"
    return math.sqrt(stratified_norms_ratio(distance, d, blocks, features, over, on))


@lru_cache(maxsize=1)
def _table():
    return json.loads(TABLE.read_text(encoding="utf-8"))


def _drawn(ratios, dimensions, widths, d, m, distance):
    """Ratios (dimensions, distances, widths), log-linear between their places and constant beyond them."""
    logs = np.log(np.array(ratios, dtype=float))
    for places, at in ((dimensions, d), (DISTANCES, distance), (widths, m)):
        x = np.interp(math.log(at), np.log(places), np.arange(len(places)))
        low, share = min(int(x), len(places) - 2), x - min(int(x), len(places) - 2)
        logs = logs[low] if share == 0 else (1 - share) * logs[low] + share * logs[low + 1]
    return float(np.exp(logs))
