"""The error of a normalised row of attention, and its estimates' covariances under coupled norms, exactly.

Two estimates of a row, k^(q, k_j) and k^(q, k_l), share their frequencies. With a = q + k_j and b = q + k_l a
frequency omega_1 of the first and omega_2 of the second, of norms w_1, w_2 and orthogonal directions,
contribute

::

    E[exp(omega_1 . a + omega_2 . b) | w_1, w_2] = 0F1(; d/2; G / 4)
    G = [[w_1^2 |a|^2, w_1 w_2 a.b], [w_1 w_2 a.b, w_2^2 |b|^2]]

a hypergeometric function of a 2 x 2 matrix, which has the series (Muirhead, Aspects of Multivariate
Statistical Theory, 1982, Section 7.3)

::

    0F1(; c; G / 4) = sum_k (det G / 16)^k / ((c - 1/2)_k (c)_2k k!) 0F1(; c + 2 k; tr G / 4)

Every coefficient of w_1^2i w_2^2j in it is at least 0, so that it is supermodular in the two norms: of all
their couplings the positive monotone one has the *greatest* covariance of every pair of estimates, for every
query and keys, and the negative monotone one the least. For j = l this is the variance, under the positive
monotone one that of independent frequencies (Variance-Reducing Couplings, Appendix B.3).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special

from rfcore import checks, copulas
from rfcore.theory.conformity import partners
from rfcore.theory.norm_costs import kinds_of_pairs, norms_at

NODES = 24  # of a normal score
TERMS = 40
CHUNK = 8  # pairs of keys
LARGEST = 100.0  # exponents: the sums keep their digits, and nothing overflows


class RowError(NamedTuple):
    """Mean squared errors of normalised rows, each of shape (n,), measured and explained."""

    measured: jax.Array
    """Mean over columns and repeats of (a^_ij - a_ij)^2."""
    first_order: jax.Array
    """What the delta method predicts from variances and covariances of the estimates."""
    equal_means: jax.Array
    """Eq. 8: the same with all kernel values of a row replaced by their mean, (variance - covariance) / (sum_j k_ij)^2."""
    variance: jax.Array
    """Mean over columns of Var(k^_ij)."""
    covariance: jax.Array
    """Mean over pairs of columns of Cov(k^_ij, k^_il), j = l included."""


def row_error(estimates, kernel):
    """Error of rows that are normalised after estimation, and its shares from variances and from covariances.

    With delta_j = k^_j - k_j of one row, S = sum_j k_j and a_j = k_j / S, to first order in delta / S,

    ::

        MSE(a^_j) = [Var(k^_j) - 2 a_j sum_l Cov(k^_j, k^_l) + a_j^2 sum_{l, l'} Cov(k^_l, k^_l')] / S^2
        equal k_j:  mean_j MSE(a^_j) = [mean_j Var(k^_j) - mean_{j, l} Cov(k^_j, k^_l)] / S^2    (Eq. 8)

    What is dropped is a share O(1 / m) of the error for m features, however many columns there are: the
    paper's O(1 / N^3) counts powers of S alone. Its Eq. 45 has -4 and +3 for -2 and +1; with equal means both
    give Eq. 8.

    Args:
        estimates: independent unbiased estimates of the kernel, (repeats, n, N).
        kernel: their mean, (n, N), above 0; each row may have a factor of its own, the same in both.

    Source: Variance-Reducing Couplings, Eqs. 8 and 44 to 46.
    """
    kernel = checks.points(kernel, "kernel")
    estimates = checks.shaped(estimates, "estimates", (len(estimates), *kernel.shape))
    if not checks.is_traced(kernel) and not np.asarray(kernel).min() > 0:
        raise ValueError(f"kernel has the value {kernel.min()}; give values above 0")
    total = kernel.sum(axis=1)
    weights, deltas = kernel / total[:, None], estimates - kernel
    sums = deltas.sum(axis=2, keepdims=True)
    measured = jnp.mean((estimates / estimates.sum(axis=2, keepdims=True) - weights) ** 2, axis=(0, 2))
    first_order = jnp.mean((deltas - weights * sums) ** 2, axis=(0, 2)) / total**2
    variance, covariance = jnp.mean(deltas**2, axis=(0, 2)), jnp.mean(sums[..., 0] ** 2, axis=0) / kernel.shape[1] ** 2
    return RowError(measured, first_order, (variance - covariance) / total**2, variance, covariance)


def leading_error(kernel, covariance):
    """Leading term of the error of a normalised row whose estimates have a known covariance C.

    ::

        1 / N sum_j [C_jj - 2 a_j sum_l C_jl + a_j^2 sum_{l, l'} C_ll'] / S^2,   S = sum_j k_j,  a_j = k_j / S

    Args:
        kernel, covariance: (..., N), above 0, and (..., N, N), such as of
            :func:`row_covariance`.

    Source: Variance-Reducing Couplings, Eq. 46, and Eq. 8 for equal values.
    """
    kernel, covariance = checks.floating(kernel, "kernel"), checks.floating(covariance, "covariance")
    if not checks.is_traced(kernel) and not np.asarray(kernel).min() > 0:
        raise ValueError(f"kernel has the value {kernel.min()}; give values above 0")
    total = kernel.sum(axis=-1)
    weights, sums = kernel / total[..., None], covariance.sum(axis=-1)
    own = jnp.diagonal(covariance, axis1=-2, axis2=-1) - 2 * weights * sums + weights**2 * sums.sum(axis=-1)[..., None]
    return own.mean(axis=-1) / total**2


def row_covariance(q, k, m, law="independent", cosine=0.0, pairs=False):
    """Covariance matrix, (N, N), of the estimates of exp(q . k_j) by positive features with coupled norms.

    ::

        Cov_jl = e^(-|q|^2 - (|k_j|^2 + |k_l|^2) / 2) / m
                 [e^(|a + b|^2 / 2) - e^h + partners (E[exp(omega_1 . a + omega_2 . b)] - e^h)]
        h = (|a|^2 + |b|^2) / 2,   a = q + k_j,   b = q + k_l

    Args:
        q, k: the query, (d,), and the keys, (N, d), of at least two dimensions; exponents may reach 100.
        m: number of frequencies; the last block of d is cut.
        law: of the norms, "iid" (no blocks), "independent", "pnc", "positive_monotone", or a float, the
            correlation of every pair's Gaussian copula.
        cosine: of the angle of two directions, below 1; 0 is orthogonal, -1 / (d - 1), the least, is simplex.
        pairs: whether to give partners E[exp(omega_1 . a + omega_2 . b)] in place of the sum in brackets. It
            is what couplings change, and differs visibly where v is large and e^(2 v^2) hides the rest.
    """
    k = np.asarray(checks.points(k, "k"), dtype=float)
    q = np.asarray(checks.vector(q, "q", k.shape[1], "coordinate of a key"), dtype=float)
    d = k.shape[1]
    if not -1 / (d - 1) - 1e-12 <= cosine < 1:
        raise ValueError(
            f"cosine = {cosine}; give one of at least -1 / (d - 1) = {-1 / (d - 1):g} and below 1"
        )
    kinds = _kinds(law, m, d)
    j, i = np.triu_indices(len(k))
    a, b = q + k[j], q + k[i]
    half = (np.sum(a**2, axis=1) + np.sum(b**2, axis=1)) / 2
    same = half + np.sum(a * b, axis=1)
    if not same.max(initial=0) <= LARGEST:
        raise ValueError(
            f"q and k have |2 q + k_j + k_l|^2 / 2 = {same.max():g}; give shorter ones, for at most {LARGEST:g}"
        )
    total = (0 if kinds else partners(m, d)) * np.exp(half) if pairs else np.exp(same) - np.exp(half)
    for share, first, second, weights in kinds:
        for start in range(0, len(a), CHUNK):
            here = slice(start, start + CHUNK)
            means = _frame_mean(*_gram(a[here], b[here], first, second, cosine), d / 2) @ weights
            total[here] += partners(m, d) * share * (means - (0 if pairs else np.exp(half[here])))
    out = np.empty((len(k), len(k)))
    lengths = np.sum(k**2, axis=1) / 2
    out[j, i] = out[i, j] = np.exp(-np.sum(q**2) - lengths[j] - lengths[i]) * total / m
    return out


def _kinds(law, m, d):
    """Of the kinds of pairs in a block: share, norms of the first and of the second, weights of the nodes."""
    if law == "iid" or partners(m, d) == 0:
        return []
    if isinstance(law, str):
        of_law = copulas.pairs(law)
        kinds = kinds_of_pairs(of_law.partners, of_law.others, m, d)
    else:
        if not -1 <= law <= 1:
            raise ValueError(f"law = {law}; give a correlation from -1 to 1, or a name")
        kinds = [(1, law)]
    x, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()
    out = []
    for share, r in kinds:
        if abs(r) == 1:
            out.append((share, norms_at(x, d), norms_at(r * x, d), weights))
        elif share:
            first, other = np.repeat(x, NODES), np.tile(x, NODES)
            second = r * first + np.sqrt(1 - r**2) * other
            out.append((share, norms_at(first, d), norms_at(second, d), np.outer(weights, weights).ravel()))
    return out


def _gram(a, b, first, second, cosine):
    """Trace and determinant of G, (pairs, nodes), for directions u_1 and cosine u_1 + sine u_2."""
    squares_a, squares_b, inner = (np.sum(x * y, axis=1)[:, None] for x, y in ((a, a), (b, b), (a, b)))
    trace = first**2 * squares_a + second**2 * squares_b + 2 * first * second * cosine * inner
    volume = np.maximum(squares_a * squares_b - inner**2, 0)
    return np.maximum(trace, 0), (first * second) ** 2 * (1 - cosine**2) * volume


def _frame_mean(trace, determinant, c):
    """0F1(; c; G / 4), by ratios of neighbouring orders from the top down: sums of positive numbers."""
    z = trace / 4
    ratio = np.ones_like(z)  # 0F1(c + n + 1) / 0F1(c + n)
    ratios = []
    for n in range(2 * TERMS + 40, 0, -1):
        ratio = 1 / (1 + z / ((c + n) * (c + n - 1)) * ratio)
        if n <= 2 * TERMS:
            ratios.append(ratio)
    root = np.sqrt(trace)
    safe = np.where(root > 1e-4, root, 1.0)
    bessel = np.exp(special.gammaln(c) + (c - 1) * np.log(2 / safe) + np.log(special.ive(c - 1, safe)) + safe)
    base = np.where(root > 1e-4, bessel, 1 + z / c)
    total, term = np.ones_like(z), np.ones_like(z)
    for k in range(1, TERMS + 1):
        step = ratios[-(2 * k - 1)] * ratios[-2 * k]
        term = term * step * determinant / (16 * k * (c + k - 1.5) * (c + 2 * k - 2) * (c + 2 * k - 1))
        total += term
    return base * total
