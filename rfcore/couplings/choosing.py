"""Which coupling to take for d dimensions and m frequencies, and how small the error gets."""

import json
import math
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from rfcore import checks
from rfcore.couplings import directions, norms
from rfcore.couplings.compose import antithetic, compose, orthogonal_pnc, simplex
from rfcore.couplings.low_discrepancy import sobol
from rfcore.precision import product
from rfcore.theory.conformity import partners
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

    NaN where it is not known: of Sobol' points beyond 4,096, or with positive features that are far.
    """
    why: str
    """A sentence."""


def _turned_sobol(key, m, d):
    key_points, key_turn = jax.random.split(key)
    return product(sobol(key_points, m, d), directions.haar(key_turn, d)[0])


def _polytopes(key, m, d):
    half = compose(directions.orthogonal, norms.positive_monotone)(key, -(-m // 2), d)
    return antithetic(half)[:m]


def _coupled(draw_directions, draw_norms, key, m, d):
    return compose(draw_directions, draw_norms)(key, m, d)


def _stratified(draw_directions, over, key, m, d):
    return _coupled(draw_directions, norms.coupled("stratified", over), key, m, d)


# What there is to choose from: the first that is best is taken. All can be pickled.
FOURIER = {
    "PNC": orthogonal_pnc,
    "strata over all": partial(_stratified, directions.orthogonal, "all"),
    "shells": partial(_stratified, directions.orthogonal, "blocks"),
    "Sobol'": _turned_sobol,
}
POSITIVE = {
    "simplex": simplex,
    "simplex shells": partial(_stratified, directions.simplex, "blocks"),
    "Sobol'": _turned_sobol,
}
ATTENTION = {
    "simplex": simplex,
    "simplex, equal norms": partial(_coupled, directions.simplex, norms.positive_monotone),
    "cross-polytopes": _polytopes,
}
TRIED = {"fourier": FOURIER, "positive": POSITIVE, "attention": ATTENTION}


def choose(d, m, features="fourier", distance=None):
    """A coupling for d dimensions and m frequencies, with its error over that of independent ones.

    At d = 64 and m = 256 the RMSE of Fourier features falls to 17 % at distance 0.5, 29 % at 1 and 83 % at 2:
    couplings are for points that are close.

    ::

        Fourier:    Sobol' points from m = 5.7 d^2 on, shells from 1.4 d^1.5 on, else strata over all m norms
        positive:   the least error at |x + y| = 1: simplex, shells on simplices, or Sobol' points
        attention:  the least error of its weights at queries and keys of length 1

    The rule for Fourier features was within a tenth of the best coupling in 14 of 16 cases that it had not
    seen (the page "Which coupling to take"); the other two were not tested.

    Args:
        d, m: dimension; number of frequencies.
        features: "fourier", "positive", or "attention" for the weights that positive features give in it.
        distance: of points that matter, over the lengthscale, up to 3 (of attention up to 2): the least error
            there is taken. |x - y| for "fourier", |x + y| for "positive", the length of queries and keys, a
            transformer's times d^(-1/4), for "attention".

    Returns:
        Choice. Ratios are closed forms at this very m; those of Sobol' points (up to 32 dimensions) and of
        attention come from a table of draws, to 10 % or better. A last block that is cut to k = m mod d rows
        brings back a share k (d - k) / ((d + 2) m) of the squared error of close points; of shells it is
        (d - k) / m. Take a multiple of d: at distance 0.5 (100, 256) has 34 %, (100, 300) 14 %.

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
        name, why = rule(d, m), "by a rule in d and m"
    else:
        found = {name: rmse_over_iid(name, d, m, features, at) for name in TRIED[features]}
        name = min(found, key=lambda name: (math.isnan(found[name]), found[name]))
        why = f"of {', '.join(found)} it has the least error at {'length' if features == 'attention' else 'distance'} {at:g}"
    ratios = {z: rmse_over_iid(name, d, m, features, z) for z in DISTANCES}
    shares = ", ".join(f"{100 * ratio:.0f} % at {z:g}" for z, ratio in ratios.items() if not math.isnan(ratio))
    return Choice(name, TRIED[features][name], ratios, f"{name}, {why}; its error over that of independent frequencies is {shares}")


def rule(d, m):
    """The mechanism for Fourier features when nothing is known of the distances."""
    if d == 1:
        return "strata over all"  # of all features, which have no direction
    if m >= SOBOL[0] * d ** SOBOL[1]:
        return "Sobol'"
    if m < d:
        return "PNC"
    return "shells" if m >= SHELLS[0] * d ** SHELLS[1] else "strata over all"


def rmse_over_iid(name, d, m, features, distance):
    """RMSE of a mechanism over that of independent frequencies; NaN where it is not known."""
    if features == "attention":
        return _of_attention(name, d, m, distance)
    if name == "Sobol'":
        return _of_sobol(d, m, features, distance)
    if name == "PNC":
        return math.sqrt(norm_coupling_ratio(distance, d, m, "reversal", features)) if min(d, m) > 1 else 1.0
    if name == "simplex":
        return math.sqrt(positive_mse_ratio(distance, d, m, "simplex")) if d > 1 else 1.0
    over = "all" if name == "strata over all" else "blocks"
    on = "simplex" if name == "simplex shells" else "orthogonal"
    return math.sqrt(stratified_norms_ratio(distance, d, m, features, over, on))


@lru_cache(maxsize=1)
def _table():
    return json.loads(TABLE.read_text(encoding="utf-8"))


def _of_sobol(d, m, features, distance):
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


def _of_attention(name, d, m, distance):
    """From the table of whole blocks: a coupling saves in proportion to the pairs that it couples."""
    table = _table()
    places = np.log(table["dimensions"]), np.log(table["blocks"])
    ratios = np.log(np.array(table["attention"][name], float))  # dimensions, distances, blocks

    def saved(blocks):
        logs = _interpolated(places[0], math.log(d), ratios)
        return -np.expm1(2 * _between_distances(_interpolated(places[1], math.log(blocks), logs.T), distance))

    def share(m):
        return partners(m, d) / (d - 1) if d > 1 else 0.0

    if name != "cross-polytopes":
        return math.sqrt(1 - share(m) * saved(max(m / d, 1)))
    # Half of the frequencies, in blocks of their own, and their opposites, which save even where they are alone.
    half = -(-m // 2)
    whole, alone = saved(max(m / d, 2)), saved(1)
    of_half = share(max(d // 2, 1))
    of_pairs = (whole - alone) / (1 - of_half) if d > 1 else 0.0
    return math.sqrt(1 - (whole - (1 - share(half)) * of_pairs) * (1 - m % 2 / m))


def _between_distances(logs, distance):
    return float(_interpolated(np.log(DISTANCES), math.log(distance), logs))


def _interpolated(places, at, values):
    """Linear along the first axis of values, constant beyond the places."""
    x = np.interp(at, places, np.arange(len(places)))
    low = min(int(x), len(places) - 2)
    share = x - low
    return values[low] if share == 0 else (1 - share) * values[low] + share * values[low + 1]
