"""Errors of norms that are stratified over all frequencies, or over blocks of one norm each, in closed form.

A feature of an orthogonal frequency is f, its mean given the norm g(w) = 0F1(; d/2; +-(distance w / 2)^2),
and K = E[f]. Blocks have independent directions, so that pairs of blocks are coupled through g alone, and
stratification removes the part of Var g that lies between strata. A frequency shares its block with a mean of
p = :func:`partners` others, d - 1 if no block is cut, and with n strata

::

    all       m MSE = Var f + p (E[c] - K^2) - (m - 1 - p) / (n - 1) Var_between(g),  n = m
    blocks    m MSE = Var f + p (e - K^2)    - (m - 1 - p) / (n - 1) Var_between(g),  n blocks

with c the cost of two norms in different strata, e the cost of one norm for both. With e = K^2 for orthogonal
directions, the second tends to Var f - d Var g. For Fourier and cosh features of close points that vanishes
to leading order: in Hermite polynomials f starts with He_2, and the sum of He_2 over an orthogonal block of
equal norms is w^2 - d, which strata integrate; a block that is cut to k < d rows is no such sum, and restores
a share (d - k) / m of the error, or k (d - k) / ((d + 2) m) with strata over all. Means over a stratum of
powers of w^2 give all of these, by Gauss-Legendre quadrature over normal scores.

Features are "fourier", "positive" or "cosh"; the last are positive features of frequencies and their
opposites. The distance is |x - y| for Fourier features, |x + y| for the others. An error is compared with
that of independent features of its kind.
"""

from functools import lru_cache
from typing import Literal

import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float, Int
from scipy import special

from rfcore import checks
from rfcore.theory.conformity import partners
from rfcore.theory.norm_costs import CLOSEST, strata

Features = Literal["fourier", "positive", "cosh"]
FEATURES = ("fourier", "positive", "cosh")
LARGEST = 3.0  # distance: beyond it the powers of the norms overflow float64


def strata_ratio(
    distance: float, features: Features, m: int, d: int, across: Literal["all", "blocks"], angles: Literal["orthogonal", "simplex"] = "orthogonal"
) -> float:
    """Error of features whose norms are stratified over all blocks, over that of independent frequencies.

    Args:
        distance: above 0 and at most 3; below 1e-8 the ratio is its limit.
        across: "all" for a norm per frequency, in m strata; "blocks" for a norm per block, in as many strata.
        angles: of the directions; "simplex" with "blocks" alone, and not for cosh features.
    """
    if not distance <= LARGEST:
        raise ValueError(f"distance = {distance}; give one of at most {LARGEST:g} for strata over all blocks")
    distance = max(distance, CLOSEST)
    square, sign = distance**2, -1 if features == "fourier" else 1
    inside = partners(m, d)
    n_strata = m if across == "all" else -(-m // d)
    change = -(m - 1 - inside) / max(n_strata - 1, 1) * between_strata(distance, d, sign, n_strata)
    if inside and across == "all":
        change += inside * _pair(_moments(distance, d, n_strata), d, sign, square)
    elif inside and angles == "simplex":
        change += inside * _one_norm(d, sign, square)
    # In units of the features, not of the kernel.
    of_one = one_frequency_mse(distance, features) * (1 if features == "fourier" else np.exp(square))
    return float(1 + change / of_one)


def one_frequency_mse(distance: float, features: Features) -> float:
    """Mean squared error of the estimate by one frequency; m independent ones have an m-th of it.

    ::

        (1 - e^(-z^2))^2 / 2                         fourier, the Gaussian kernel at distance z = |x - y|
        e^(v^2) - 1,   2 sinh(v^2 / 2)^2             positive and cosh, over the squared kernel, v = |x + y|

    Source: Simplex Random Features, Theorems 3.2 and 4.5, with m = 1.
    """
    distance = checks.real(distance, "distance", above=0)
    square = distance * distance
    checks.choice(features, "features", FEATURES)
    if features == "fourier":
        return float(np.expm1(-square) ** 2 / 2)
    if square > 700:
        raise ValueError(f"distance = {distance}: the error, about exp(distance^2), overflows; give one of at most 26")
    return float(np.expm1(square) if features == "positive" else 2 * np.sinh(square / 2) ** 2)


def cosh_ratio(positive_ratio: Float[ArrayLike, "*shape"], v: float) -> Float[np.ndarray | np.floating, "*shape"]:
    """Error of cosh features over that of independent ones, from that ratio of positive features.

    ::

        1 + (ratio - 1) 2 / (1 - e^(-v^2))

    since a coupling changes the covariance of two features, the same for exp and cosh where omega_i + omega_j
    and omega_i - omega_j have the same distribution (orthogonal or independent directions), while a feature's
    variance is e^(2 v^2) - e^(v^2) for exp, (e^(v^2) - 1)^2 / 2 for cosh.

    Here v = |x + y| is above 0. The error of the ratio is multiplied by 2 / v^2 where v is small.

    Raises ValueError where no digit would remain, for v^2 of at most 8 eps of the ratio's dtype.
    """
    ratio = checks.finite(checks.numbers(positive_ratio, "positive_ratio"), "positive_ratio")
    v, eps = checks.real(v, "v", above=0), float(np.finfo(ratio.dtype).eps)
    if v * v <= 8 * eps:
        raise ValueError(f"v = {v}: of the ratio's difference from 1, of order v^2, rounding leaves nothing; give v above {(8 * eps) ** 0.5:.1g}")
    return 1 + (np.asarray(ratio, dtype=float) - 1) * 2 / -np.expm1(-v * v)


def _one_norm(d: int, sign: int, square: float) -> float:
    """e - K^2 for simplex directions of one norm; zero for orthogonal ones."""
    bent = square / (d - 1)
    rest = np.expm1(-bent) if sign == 1 else 2 * np.sinh(bent / 2) ** 2
    return np.exp(sign * square) * rest


@lru_cache(maxsize=128)
def _moments(distance: float, d: int, n: int) -> tuple[Float[np.ndarray, "n k"], Float[np.ndarray, " k"]]:
    """Means of :func:`_powers` over each of n strata, (n, powers), and overall."""
    a = np.arange(int(36 + 5 * distance**2))
    overall = np.exp(a * np.log(distance**2 / 2) - special.gammaln(a + 1)) / _falling(d, a)
    if n == 1:
        return overall[None], overall
    norms, weights, starts = strata(d, n)
    return n * np.add.reduceat(weights[:, None] * _powers(distance, norms, d), starts, axis=0), overall


def between_strata(distance: float, d: int, sign: int, n: int) -> float:
    """Variance between n strata of g, the mean of a feature given its norm."""
    of_strata, _ = _moments(distance, d, n)
    return float(np.mean(_from_mean(of_strata, distance, d, sign) ** 2))


def variance_of_means(distance: float, d: int, sign: int) -> float:
    """Variance of g."""
    norms, weights, _ = strata(d, 16)
    return float(weights @ _from_mean(_powers(distance, norms, d), distance, d, sign) ** 2)


def _from_mean(powers: Float[np.ndarray, "n k"], distance: float, d: int, sign: int) -> Float[np.ndarray, " n"]:
    """g - K, from means of :func:`_powers`."""
    a = np.arange(1, powers.shape[1])
    return powers[:, 1:] @ (float(sign) ** a * _falling(d, a)) - np.expm1(sign * distance**2 / 2)  # 1 is common to both


def _powers(distance: float, norms: Float[np.ndarray, " n"], d: int) -> Float[np.ndarray, "n k"]:
    """(distance^2 w^2 / (2 d))^a / a!."""
    a = np.arange(int(36 + 5 * distance**2))
    logs = np.log(distance**2 * norms**2 / (2 * d))
    return np.exp(np.multiply.outer(logs, a) - special.gammaln(a + 1))


def _pair(moments: tuple, d: int, sign: int, square: float) -> float:
    """E[c] - K^2, the norms in different strata of as many as there are."""
    of_strata, overall = moments
    n, a = of_strata.shape
    # The terms 1 and (w_1^2 + w_2^2) distance^2 / (2 d) have a mean that nothing changes.
    cost = np.add.outer(np.arange(a), np.arange(a))
    cost = np.where(cost > 1, float(sign) ** cost * _falling(d, cost), 0)
    means = np.concatenate([overall[None], of_strata])
    independent, *alike = np.einsum("ia,ab,ib->i", means, cost, means, optimize=True)
    excess = independent + (independent - np.mean(alike)) / (n - 1)
    return excess - square**2 / 2 * special.hyp1f1(1, 3, sign * square)  # e^x - 1 - x, x = sign square


def _falling(d: int, a: Int[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """(d / 2)^a Gamma(d / 2) / Gamma(d / 2 + a), nearly 1 in many dimensions, as a product."""
    return np.exp(-np.concatenate([[0.0], np.cumsum(np.log1p(2 * np.arange(np.max(a)) / d))]))[a]
