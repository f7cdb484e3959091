"""The choice of a coupling for m frequencies in d dimensions, with its expected error."""

import bisect
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
    simplex,
    sobol,
    tight,
    tight_antithetic,
    tight_balanced,
)
from rfcore.theory import frames, mse_ratio, one_frequency_mse, partners

TABLE = Path(__file__).with_name("choosing.json")
DISTANCES = (0.5, 1.0, 2.0)  # close, middle, far
FARTHEST = {"fourier": 3.0, "positive": 3.0, "attention": 2.0}
Features = Literal["fourier", "positive", "attention"]

# The candidates: ties go to the first.
FOURIER: dict[str, Coupling] = {"tight frame": tight, "Sobol'": Turned(sobol)}
POSITIVE: dict[str, Coupling] = {
    "simplex": simplex,
    "balanced frame": tight_balanced,
    "antithetic frame": tight_antithetic,
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
    """Of the mechanism, such as "tight frame"."""
    rmse_over_iid: dict[float, float] = eqx.field(static=True)
    """Distance -> root mean squared error over that of independent frequencies, at close, middle and far points.

    NaN where it is not known: of Sobol' points beyond 4,096, or of positive features that are far.
    """
    why: str = eqx.field(static=True)
    """A sentence."""


def choose(*, m: int, d: int, features: Features = "fourier", distance: float | None = None) -> Choice:
    """A coupling for m frequencies in d dimensions, with its error over that of independent ones.

    At d = 64 and m = 256 the RMSE of Fourier features falls to 7 % at distance 0.5, 28 % at 1 and 82 % at 2:
    couplings help most for points that are close. The coupling with the least error is taken, of

    ::

        Fourier:    tight frames, or Sobol' points, which win in few dimensions
        positive:   simplex, frames whose rows add up to 0 or come with their opposites, or Sobol' points
        attention:  simplex, with independent or equal norms, or cross-polytopes

    Args:
        features: "fourier", "positive", or "attention" for the weights that positive features give in it.
        distance: of points that matter, over the lengthscale, up to 3 (of attention up to 2): the least error
            there is taken. |x - y| for "fourier", |x + y| for "positive", the length of queries and keys, a
            transformer's times d^(-1/4), for "attention". If None, the least geometric mean of the errors at
            0.5, 1 and 2 is taken for "fourier", the least error at 1 for the others. Beyond 1, where their
            errors have no mean that draws can tell, frames of positive features are taken by that at 1.

    Returns:
        Choice. Ratios are for this very m, to a tenth: those of frames are near a closed form, which a
        table of draws corrects (in the plane to a fifth); those of Sobol' points (up to 32 dimensions) and of
        attention come from a table alone.

    Source: Variance-Reducing Couplings goes up to m = d; beyond it ours.

    >>> import jax
    >>> from rfcore import choose
    >>> choice = choose(m=256, d=64)
    >>> choice.name, {z: round(ratio, 2) for z, ratio in choice.rmse_over_iid.items()}
    ('tight frame', {0.5: 0.07, 1.0: 0.28, 2.0: 0.82})
    >>> omega = choice.coupling(jax.random.key(0), 256, 64)
    """
    m, d = checks.count(m, "m"), checks.count(d, "d")
    checks.choice(features, "features", CANDIDATES)
    if distance is not None and not 0 < checks.real(distance, "distance") <= FARTHEST[features]:
        raise ValueError(f"distance = {distance}; give one above 0 and at most {FARTHEST[features]:g}")
    at = DISTANCES if distance is None and features == "fourier" else (1.0 if distance is None else float(distance),)
    if features == "positive":
        at = (min(*at, frames.LARGEST["balanced"]),)
    found = {name: np.mean([_log_at_most(name, features, z, m, d) for z in at]) for name in CANDIDATES[features]}
    name = min(found, key=lambda name: (math.isnan(found[name]), found[name]))
    ratios = {z: rmse_over_iid(name, features, z, m=m, d=d) for z in DISTANCES}
    shares = ", ".join(f"{100 * ratio:.{2 if ratio < 0.01 else 0}f} % at {z:g}" for z, ratio in ratios.items() if not math.isnan(ratio))
    where = f"{'length' if features == 'attention' else 'distance'} {', '.join(f'{z:g}' for z in at)}"
    why = f"of {', '.join(found)} it has the least error at {where}; over that of independent frequencies it is {shares}"
    return Choice(CANDIDATES[features][name], name, ratios, f"{name}: {why}")


def n_frequencies(rmse: float, *, d: int, distance: float, features: Literal["fourier", "positive"] = "fourier") -> int:
    """How many frequencies an error costs, with the coupling that :func:`choose` takes for them.

    Fourier features have two columns for each frequency, so twice as many.

    Args:
        rmse: root mean squared error of the estimate of the Gaussian kernel, relative to it for "positive".
        d: dimension.
        distance: of the two points, over the lengthscale: |x - y|, up to 3, for "fourier"; |x + y|, up to
            1, for "positive".
        features: "fourier" or "positive".

    >>> from rfcore import choose, n_frequencies
    >>> m = n_frequencies(0.001, d=64, distance=0.5)
    >>> omega = choose(m=m, d=64, distance=0.5).coupling
    """
    rmse, farthest = checks.real(rmse, "rmse", above=0), {"fourier": FARTHEST["fourier"], "positive": frames.LARGEST["balanced"]}
    if not 0 < checks.real(distance, "distance") <= farthest[checks.choice(features, "features", farthest)]:
        raise ValueError(f"distance = {distance}; give one above 0 and at most {farthest[features]:g}")
    of_one = one_frequency_mse(distance, features)

    def is_enough(m: int) -> bool:
        log_ratio = np.nanmin([_log_at_most(name, features, distance, m, d) for name in CANDIDATES[features]])
        return bool(math.log(of_one / m) / 2 + log_ratio <= math.log(rmse))

    most = next((2**k for k in range(31) if is_enough(2**k)), None)
    if most is None:
        raise ValueError(f"rmse = {rmse} takes more than 2^30 frequencies at distance {distance}; give a greater one")
    return bisect.bisect_left(range(most), True, lo=most // 2 + 1, key=is_enough)


def rmse_over_iid(name: str, features: Features, distance: float, *, m: int, d: int) -> float:
    """RMSE of a mechanism over that of independent frequencies; NaN where it is not known."""
    if features == "attention":
        return _of_attention(name, distance, m, d)
    if name == "Sobol'":
        return _of_sobol(features, distance, m, d)
    if features == "positive" and name != "simplex" and (distance > frames.LARGEST["balanced"] or (name == "balanced frame" and not m > d > 1)):
        return math.nan
    return math.sqrt(mse_ratio(CANDIDATES[features][name], features, distance, m=m, d=d))


def _log_at_most(name: str, features: Features, distance: float, m: int, d: int) -> float:
    """Logarithm of the ratio; of Sobol' points beyond their table that of fewer, which is no smaller."""
    ratio = rmse_over_iid(name, features, distance, m=m, d=d)
    while math.isnan(ratio) and name == "Sobol'" and m > 1:
        m //= 2
        ratio = rmse_over_iid(name, features, distance, m=m, d=d)
    return math.log(ratio)


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
