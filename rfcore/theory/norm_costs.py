"""Expected costs of coupled norms, by quadrature: couplings are compared without Monte Carlo noise.

A norm is w = q(x), x ~ N(0, 1) its normal score and q the chi_d quantile of the level Phi(x). A coupling of
norms is one of scores: x and -x for a negative monotone pair, bivariate normals for Gaussian copulas, cells
of equal probability for strata. Means over scores are trapezoidal sums, which converge exponentially for
functions as smooth as these; costs are in logarithms, without the terms that no coupling changes. Two closed
forms are checks of the sums, and replace them:

::

    independent         E[c] = 1F1(d; d/2; +-distance^2 / 2)
    positive monotone   E[c] = e^(+-distance^2),  the cost of independent frequencies

since the sum of two orthogonal vectors of one chi_d length is N(0, 2 I_d), as that of independent ones is.
All in float64. The distance, |x + y| for positive features and |x - y| for Fourier features, is above 0 and
at most 5.

**Pairs** (Variance-Reducing Couplings, Lemma 3.1). Over all rotations of two orthogonal frequencies of given
norms, exp((omega_1 + omega_2) . v) and cos(omega_1 . z) cos(omega_2 . z) have the
means

::

    0F1(; d/2; t^2 / 4) = E[cosh(t u)],  t = v sqrt(w_1^2 + w_2^2)        positive features, v = |x + y|
    0F1(; d/2; -t^2 / 4) = E[cos(t u)],  t = z sqrt(w_1^2 + w_2^2)        Fourier features, z = |x - y|

with u the first coordinate of a uniform unit vector. The left-hand sides are the series of Lemma 3.1, of
which the second alternates with terms up to e^t; the right-hand sides are sums of numbers of similar size,
over nodes of u. Their first two terms, 1 +- t^2 / (2 d), have a mean that no coupling of norms changes. The
*excess* is the rest, and keeps its digits where the distance is small. Eq. 6 of the paper leaves out a factor
Gamma(d/2), and sums over pairs where costs here are means.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from jax.typing import ArrayLike
from jaxtyping import Array, Float
from numpy.polynomial import chebyshev
from scipy import special

from rfcore import checks, copulas
from rfcore.theory.conformity import partners

Features = Literal["positive", "fourier"]
LARGEST = 5.0  # distance; the sums err by less than 1e-12 of an excess
CLOSEST = 1e-8  # its square is at rounding level: below it ratios equal their limits, and excesses, of order distance^4, underflow
STEP = 0.4  # of normal scores
CHUNK = 512  # pairs, so that one compiled function serves all sizes
DEGREE = 40  # in the correlation
LARGEST_T = 300.0  # 200 nodes resolve the waves of cos(t u) up to here
X_MAX = 13.0  # normal scores: the highest powers of norms have their mass below this


def norms_ratio(copula: Callable, distance: float, features: Features, m: int, d: int) -> float:
    """Error of orthogonal features with norms coupled in blocks, over that of independent frequencies.

    ::

        1 + partners (E[c] - e^(v^2)) / (e^(2 v^2) - e^(v^2))          positive, v = |x + y|
        1 + 2 partners (E[c] - e^(-z^2)) / (1 - e^(-z^2))^2            fourier, z = |x - y|

    with E[c] the mean cost over the pairs within blocks (:func:`partners`). d and m are at least 2; the last
    block of d is cut.

    Source: Variance-Reducing Couplings, Lemma 3.1, Theorem 3.2 and Corollary 3.4.
    """
    distance = max(near(distance), CLOSEST)
    logs, shares = _pairs(copula, distance, m, d, features)
    log_iid, log_error = log_iid_and_error(distance, features)
    return float(1 + partners(m, d) * (shares @ np.exp(logs - log_error) - np.exp(log_iid - log_error)))


def log_pair_excess(
    correlation: Float[ArrayLike, "*shape"] | Sequence[float], distance: float, d: int, features: Features
) -> Float[np.ndarray | np.floating, "*shape"]:
    """Logarithm of the expected excess cost of two norms with a Gaussian copula of each correlation.

    ::

        log E[c(w_1, w_2) - 1 -+ distance^2 (w_1^2 + w_2^2) / (2 d)],  w_i = q(x_i),  E[x_1 x_2] = correlation

    -1 is the negative monotone pair, 1 the positive monotone one; any number of norms costs the mean of this
    over its pairs. It is a power series in the correlation (Mehler's); a Chebyshev interpolant of degree 40
    is evaluated.
    """
    correlation = np.asarray(checks.finite(checks.numbers(correlation, "correlation"), "correlation"))
    if correlation.size and not np.abs(correlation).max() <= 1:
        raise ValueError(f"correlation has values in [{correlation.min()}, {correlation.max()}]; give values in [-1, 1]")
    distance, d = near(distance), checks.count(d, "d", least=2)
    series = log_excess_series(max(distance, CLOSEST), d, checks.choice(features, "features", ("positive", "fourier")))
    return chebyshev.chebval(correlation, series) + 4 * min(np.log(distance / CLOSEST), 0)


@lru_cache(maxsize=256)
def log_excess_series(distance: float, d: int, features: Features) -> Float[np.ndarray, " k"]:
    """Coefficients of the Chebyshev series of :func:`log_pair_excess` in the correlation."""
    nodes = chebyshev.chebpts1(DEGREE + 1)
    return chebyshev.chebfit(nodes, [_log_of_bivariate(r, distance, d, features) for r in nodes], DEGREE)


def log_excess(
    first: Float[np.ndarray, " k"], second: Float[np.ndarray, " k"], distance: float, d: int, features: Features
) -> Float[np.ndarray, " k"]:
    """Logarithms of the excess costs of pairs of norms, NumPy vectors in float64."""
    t = distance * np.hypot(first, second)
    chunks = np.pad(t, (0, -len(t) % CHUNK), constant_values=1.0).reshape(-1, CHUNK)
    with jax.enable_x64(True):
        excess = log_positive_at if features == "positive" else fourier_at
        values = np.concatenate([excess(chunk, *coordinate(d, 100 if d <= 64 else 200), True) for chunk in chunks])[: len(t)]
    return values if features == "positive" else np.log(values)


def log_mean(
    first: Float[np.ndarray, " k"],
    second: Float[np.ndarray, " k"],
    log_weights: Float[np.ndarray, " k"],
    distance: float,
    d: int,
    features: Features,
) -> float:
    """Logarithm of the weighted mean of the excess cost of pairs of norms."""
    # The excess is below e^t, or t^2: the omitted terms are below rounding.
    size = log_weights + (distance * np.hypot(first, second) if features == "positive" else 0)
    kept = size > size.max() - 45
    return float(np.logaddexp.reduce(log_excess(first[kept], second[kept], distance, d, features) + log_weights[kept]))


def norms_at(scores: Float[np.ndarray, "..."], d: int) -> Float[np.ndarray, "..."]:
    """Chi_d quantiles at the levels of normal scores, to full precision in both tails."""
    upper = special.gammainccinv(d / 2, special.ndtr(-np.maximum(scores, 0)))
    return np.sqrt(2 * np.where(scores > 0, upper, special.gammaincinv(d / 2, special.ndtr(np.minimum(scores, 0)))))


def scores(distance: float) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Nodes of a trapezoidal sum over a normal score, and the logarithms of their weights."""
    n = int((9 + 1.5 * distance) / STEP)  # a norm of d = 1 has the exponent sqrt(2) v w - w^2 / 2
    x = STEP * np.arange(-n, n + 1)
    return x, -(x**2) / 2 + np.log(STEP / np.sqrt(2 * np.pi))


def _log_of_bivariate(correlation: float, distance: float, d: int, features: Features) -> float:
    x, log_density = scores(distance)
    if abs(correlation) == 1:
        return log_mean(norms_at(x, d), norms_at(correlation * x, d), log_density, distance, d, features)
    first, other = np.repeat(x, len(x)), np.tile(x, len(x))
    second = correlation * first + np.sqrt(1 - correlation**2) * other
    log_weights = np.add.outer(log_density, log_density).ravel()
    return log_mean(np.repeat(norms_at(x, d), len(x)), norms_at(second, d), log_weights, distance, d, features)


def _log_of_strata(distance: float, d: int, features: Features) -> float:
    """Two different strata out of d of equal probability, all pairs equally likely."""
    norms, weights, starts = strata(d, d, 9 + 1.5 * distance)
    cells = np.searchsorted(starts, np.arange(len(norms)), side="right")
    i, j = np.nonzero(cells[:, None] < cells)
    log_pairs = np.log(d * weights[i]) + np.log(d * weights[j]) - np.log(d * (d - 1) / 2)
    return log_mean(norms[i], norms[j], log_pairs, distance, d, features)


@lru_cache(maxsize=64)
def strata(d: int, n: int, x_max: float = X_MAX) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"], list[int]]:
    """Nodes and weights of the distribution of a norm, and where each of n equal strata starts."""
    edges = np.concatenate([[-x_max], special.ndtri(np.arange(1, n) / n), [x_max]])
    # The outer strata are long.
    outer, inner = special.roots_legendre(60), special.roots_legendre(24 if n <= 8 else 8 if n <= 64 else 5)
    x, weights, starts = [], [], [0]
    for cell, (low, high) in enumerate(itertools.pairwise(edges)):
        nodes, shares = outer if cell in (0, n - 1) else inner
        x.append(low + (high - low) * (nodes + 1) / 2)
        weights.append(shares * (high - low) / 2)
        starts.append(starts[-1] + len(nodes))
    x = np.concatenate(x)
    return norms_at(x, d), np.concatenate(weights) * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi), starts[:-1]


def _pairs(
    copula: Callable, distance: float, m: int, d: int, features: Features
) -> tuple[Float[np.ndarray | np.floating, " k"], Float[np.ndarray, " k"]]:
    """Logarithms of the excess costs of the kinds of pairs within blocks, and the shares of the kinds."""
    match copulas.pairs(copula, "coupling.norms"):
        case copulas.DifferentStrata():
            return np.array([_log_of_strata(distance, d, features)]), np.ones(1)
        case copulas.Correlated(coupled, others):
            shares, correlations = np.array(kinds_of_pairs(coupled, others, m, d)).T
            return np.array([_log_of_bivariate(r, distance, d, features) for r in correlations]), shares
        case copulas.Gaussian(factor):
            return _pairs_of_correlation(np.asarray(factor @ factor.T), distance, m, d, features)
    raise ValueError(f"coupling.norms = {copula!r} has no closed form for norms")


def kinds_of_pairs(coupled: float, others: float, m: int, d: int) -> list[tuple[float, float]]:
    """``(share, correlation)`` of the kinds of pairs within blocks, of draws that are coupled two by two."""
    if coupled == others:
        return [(1.0, others)]
    full, rest = divmod(m, d)
    share = 2 * (full * (d // 2) + rest // 2) / (m * partners(m, d))
    return [(share, coupled), (1 - share, others)]


def _pairs_of_correlation(
    correlation: Float[np.ndarray, "d d"], distance: float, m: int, d: int, features: Features
) -> tuple[Float[np.ndarray | np.floating, " k"], Float[np.ndarray, " k"]]:
    if correlation.shape != (d, d):
        raise ValueError(f"coupling.norms has a correlation of shape {correlation.shape}; give shape {(d, d)}")
    full, rest = divmod(m, d)
    whole, cut = correlation[np.triu_indices(d, 1)], correlation[:rest, :rest][np.triu_indices(rest, 1)]
    shares = np.concatenate([np.full(len(whole), float(full)), np.ones(len(cut))])
    logs = log_pair_excess(np.clip(np.concatenate([whole, cut]), -1, 1), distance, d, features)
    return logs, shares / shares.sum()


def log_iid_and_error(distance: float, features: Features) -> tuple[float, float]:
    """Logarithms of the excess cost of independent frequencies, and of the error of one frequency."""
    square, sign = distance**2, 1 if features == "positive" else -1
    log_iid = 2 * np.log(square) + np.log(special.hyp1f1(1, 3, sign * square) / 2)  # of e^x - 1 - x, x = sign square
    log_difference = np.log(-np.expm1(-square))
    # e^(2 v^2) - e^(v^2), or half of (1 - e^(-z^2))^2
    return log_iid, log_difference + (2 * square if sign == 1 else log_difference - np.log(2))


def near(distance: float) -> float:
    """``distance``, if it is in the range in which the sums are accurate."""
    distance = checks.real(distance, "distance", above=0)
    if not distance <= LARGEST:
        raise ValueError(f"distance = {distance}; give one of at most {LARGEST:g}")
    return distance


@lru_cache
def coordinate(d: int, n_nodes: int = 200) -> tuple[Float[np.ndarray, " nodes"], Float[np.ndarray, " nodes"]]:
    """Nodes of the first coordinate u in (0, 1] of a unit vector in d dimensions, and log weights."""
    if d == 1:
        return np.ones(1), np.zeros(1)
    # u = cos(a) with a of density sin(a)^(d - 2) on [0, pi / 2]: smooth, and even about either end. In many dimensions all of
    # its mass, and of its product with cosh(t u), is within 9 / sqrt(d) + 300 / d of pi / 2, where all nodes then are.
    angles, weights = special.roots_legendre(n_nodes)
    angles = np.pi / 4 * (angles + 1)
    u, log_sine = np.cos(angles), np.log(np.sin(angles))
    if d > 4096:
        u = np.sin((9 / np.sqrt(d) + LARGEST_T / d) * 2 / np.pi * angles)
        log_sine = np.log1p(-(u**2)) / 2
    log_weights = np.log(weights) + (d - 2) * log_sine
    return u, log_weights - np.logaddexp.reduce(log_weights)


@partial(jax.jit, static_argnums=3)
def log_positive_at(
    t: Float[Array, "*shape"], nodes: Float[Array, " k"], log_weights: Float[Array, " k"], excess: bool
) -> Float[Array, "*shape"]:
    """log E[cosh(t u)], or of its excess, at radii t > 0 of any shape."""
    y = t[..., None] * nodes
    if not excess:
        return logsumexp(log_weights + y + jnp.log1p(jnp.exp(-2 * y)) - jnp.log(2.0), axis=-1)
    safe = jnp.where(y > 1, y, 1.0)
    large = safe + jnp.log((1 + jnp.exp(-2 * safe)) / 2 - (1 + safe**2 / 2) * jnp.exp(-safe))
    small = jnp.where(y > 1, 1.0, y)
    first = y**2 < jnp.finfo(y.dtype).eps  # y^4 / 24 to rounding, which may underflow
    log_small = jnp.where(first, 4 * jnp.log(small) - math.log(24), jnp.log(_tail(jnp.where(first, 1.0, small), 1.0)))
    return logsumexp(log_weights + jnp.where(y > 1, large, log_small), axis=-1)


@partial(jax.jit, static_argnums=3)
def fourier_at(
    t: Float[Array, "*shape"], nodes: Float[Array, " k"], log_weights: Float[Array, " k"], excess: bool
) -> Float[Array, "*shape"]:
    """E[cos(t u)], or its excess, at radii t > 0 of any shape."""
    y = t[..., None] * nodes
    small = jnp.where(y > 1, 1.0, y)
    terms = jnp.where(y > 1, jnp.cos(y) - 1 + y**2 / 2, _tail(small, -1.0)) if excess else jnp.cos(y)
    return jnp.sum(jnp.exp(log_weights) * terms, axis=-1)


def _tail(y: Float[Array, "*shape"], sign: float) -> Float[Array, "*shape"]:
    """sum_{k >= 2} (sign y^2)^k / (2 k)! for y <= 1, the sign being 1 or -1: ten terms leave 1e-24."""
    total = jnp.ones_like(y)
    for k in range(11, 2, -1):
        total = 1 + sign * y**2 / (2 * k * (2 * k - 1)) * total
    return y**4 / 24 * total
