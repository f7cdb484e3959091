"""Optimal transport between several copies of one law, and what it bounds: the gain of any coupling of norms.

A coupling of m norms is a law on (0, inf)^m whose m marginals are chi_d; the best one minimises the mean of a
cost that is a sum over pairs (Variance-Reducing Couplings, Eq. 5). With k quantile bins in place of the real
line this is a linear programme. Its unknowns are one weight per *multiset* of m bins: the cost does not care
for the order, and any plan can be averaged over all orders, so that C(k + m - 1, m) weights, at most 200,000,
do the work of k^m. Distances are |x + y| for positive, |x - y| for Fourier features.
"""

import itertools
from math import comb
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from scipy import optimize, special

from companion.papers.couplings.costs import fourier_cost, log_positive_cost
from rfcore import checks
from rfcore.theory.conformity import partners
from rfcore.theory.norm_costs import log_excess, log_iid_and_error, norms_at
from rfcore.theory.norm_costs import near as distance_of

LARGEST_PROGRAMME = 200_000


class Plan(NamedTuple):
    """A coupling of m draws from k bins that costs least."""

    cost: float
    """Mean over pairs of the cost of the two bins."""
    bins: np.ndarray
    """Shape (n, m), whole numbers, sorted in each row: what is drawn together, in random order."""
    weights: np.ndarray
    """Shape (n,), above 0, summing to 1: probabilities of the rows. At most k of them."""
    prices: np.ndarray
    """Shape (k,), the dual solution: the prices of the bins of any multiset sum to at most its cost."""


def solve(costs, m):
    """Coupling of m draws, each uniform on k bins, that minimises a symmetric cost (k, k) of pairs, by HiGHS.

    ::

        min E[1 / (m (m - 1)) sum_{i != j} costs[a_i, a_j]],   a_1, ..., a_m each uniform on 0, ..., k - 1

    Source: Variance-Reducing Couplings, Eq. 5; that symmetric plans suffice is ours.
    """
    costs = np.asarray(checks.points(costs, "costs"), dtype=float)
    k = len(costs)
    if costs.shape != (k, k) or np.abs(costs - costs.T).max(initial=0) > 1e-9 * np.abs(costs).max(initial=0):
        raise ValueError(f"costs has shape {costs.shape}, or is not symmetric; give the cost of each pair of bins, whatever their order")
    n = comb(k + m - 1, m)
    if n > LARGEST_PROGRAMME:
        raise ValueError(f"m = {m} with {k} bins has {n} multisets; give fewer bins or a smaller m, for at most {LARGEST_PROGRAMME}")
    bins = np.array(list(itertools.combinations_with_replacement(range(k), m)))
    i, j = np.triu_indices(m, 1)
    of_bins = costs[bins[:, i], bins[:, j]].mean(axis=1)
    scale = np.abs(of_bins).max() or 1.0
    counts = sp.csr_array((np.full(n * m, 1 / m), (bins.ravel(), np.repeat(np.arange(n), m))), shape=(k, n))
    found = optimize.linprog(of_bins / scale, A_eq=counts, b_eq=np.full(k, 1 / k), method="highs")
    if found.status:
        raise RuntimeError(f"HiGHS found no solution: {found.message}")
    used = found.x > 0
    prices = found.eqlin.marginals * scale / m
    return Plan(float(of_bins[used] @ found.x[used]), bins[used], found.x[used], prices)


def swap_gain(cost):
    """What exchanging partners takes off the cost of pairs (x_i, y_i), for a matrix of c(x_i, y_j).

    ::

        g_ij = c(x_i, y_i) + c(x_j, y_j) - c(x_i, y_j) - c(x_j, y_i);   no entry is above 0 if c-monotone

    Source: Variance-Reducing Couplings, Definition A.4 and Lemma A.5.
    """
    cost = checks.points(cost, "cost")
    if cost.shape[0] != cost.shape[1]:
        raise ValueError(f"cost has shape {cost.shape}; give the cost of each x with each y, a square matrix")
    own = jnp.diagonal(cost)
    return own[:, None] + own - cost - cost.T


class TwoNorms(NamedTuple):
    """The best coupling of two norms, cut to quantiles."""

    norms: np.ndarray
    """Shape (k,): the chi_d quantiles at (i + 1/2) / k."""
    pairs: np.ndarray
    """Shape (n, 2), indices of the norms that the plan draws together, in either order."""
    cost: float
    """Mean cost of the plan, less what no coupling changes."""
    opposite: float
    """That of opposite quantiles, the negative monotone coupling."""
    swap_gain: float
    """The most that two pairs of the plan would gain by exchanging partners, over the spread of the costs; at most 0, to 1e-7."""


def two_norms(distance, d, features, n_quantiles=40):
    """Coupling of the quantiles of two norms that costs least, over all couplings of them.

    ::

        min sum_ab P_ab c(q_a, q_b),   P a law on k^2 pairs with uniform margins

    with c of :func:`~companion.papers.couplings.costs.log_positive_cost` or
    :func:`~companion.papers.couplings.costs.fourier_cost`. Far points want other partners than opposites.

    Source: Variance-Reducing Couplings, Theorem 3.2 and Lemma A.5, for laws of finitely many values.
    """
    checks.choice(features, "features", ("positive", "fourier"))
    k = n_quantiles
    norms = norms_at(special.ndtri((np.arange(k) + 0.5) / k), d)
    grid = np.stack(np.meshgrid(norms, norms, indexing="ij"), axis=-1)
    with jax.enable_x64(True):
        if features == "positive":
            costs = np.exp(log_positive_cost(grid, distance, d, excess=True))
        else:
            costs = np.asarray(fourier_cost(grid, distance, d, excess=True))
        plan = solve(costs, 2)
        pairs = np.unique(np.concatenate([plan.bins, plan.bins[:, ::-1]]), axis=0)
        gain = float(np.max(swap_gain(costs[np.ix_(pairs[:, 0], pairs[:, 1])]))) / np.ptp(costs)
    return TwoNorms(norms, pairs, plan.cost, float(np.diagonal(costs[::-1]).mean()), gain)


class NormBound(NamedTuple):
    """Errors relative to those of independent frequencies: :func:`rfcore.theory.mse_ratio`."""

    achieved: float
    """Of a coupling that exists: bins by the plan, independent places within them. The best of all is at most this."""
    optimistic: float
    """With the best places for each pair of bins by itself; for m = 2 the least error of all couplings."""
    plan: Plan
    """That of the achieved error."""


def norm_bound(distance, d, m, features, n_bins):
    """How small any coupling of norms could make the error of m orthogonal features, for a distance up to 5.

    Two linear programmes on bins of equal probability. Their costs are means over places of two norms within
    their bins,

    ::

        achieved     independent places: the programme's optimum is the error of a coupling that can be drawn
        optimistic   opposite places, best for a pair of convex cost, as if all pairs could have them at once

    The two close on each other like 1 / n_bins^2. The optimistic one is exact for m = 2 and convex costs,
    where pairwise norm-coupling is optimal; those of Fourier features are convex up to
    :func:`companion.papers.couplings.close_points.convex_radius`. For m > 2 the optimal coupling might place
    norms within a bin according to the bins of the others, so that it is an estimate and no proven lower
    bound. The paper, Section 3.2, calls the problem a tough open one.
    """
    distance = distance_of(distance)
    checks.choice(features, "features", ("positive", "fourier"))
    if m > d:
        raise ValueError(f"m = {m}; give at most d = {d} frequencies, one block")
    log_iid, log_error = log_iid_and_error(distance, features)

    def ratio(mean):
        return float(1 + partners(m, d) * (mean - np.exp(log_iid - log_error)))

    def scaled(first, second):
        norms = (norms_at(scores.ravel(), d) for scores in (first, second))
        return np.exp(log_excess(*norms, distance, d, features) - log_error).reshape(first.shape)

    scores, weights = _places(n_bins, 9 + 1.5 * distance)
    independent, opposite = np.zeros((2, n_bins, n_bins))
    for a, b in itertools.combinations_with_replacement(range(n_bins), 2):
        grid = scaled(*np.meshgrid(scores[a], scores[b], indexing="ij"))
        independent[a, b] = independent[b, a] = weights[a] @ grid @ weights[b]
        # Nodes follow the bin whose scores are unbounded.
        own, other = (b, a) if b == n_bins - 1 else (a, b)
        opposite[a, b] = opposite[b, a] = weights[own] @ scaled(scores[own], _mirrored(scores[own], own, other, n_bins))
    plan = solve(independent, m)
    return NormBound(ratio(plan.cost), ratio(solve(opposite, m).cost), plan)


def _places(n_bins, largest):
    """Scores at nodes of each bin and their weights, which sum to one but for tails beyond ``largest``."""
    edges = np.concatenate([[-largest], special.ndtri(np.arange(1, n_bins) / n_bins), [largest]])
    scores, all_weights = [], []
    for a, (low, high) in enumerate(itertools.pairwise(edges)):
        nodes, weights = special.roots_legendre(12 if 0 < a < n_bins - 1 else 48)  # the outer bins are long
        x = low + (high - low) * (nodes + 1) / 2
        scores.append(x)
        all_weights.append(n_bins * weights * (high - low) / 2 * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi))
    return scores, all_weights


def _mirrored(scores, own, other, n_bins):
    """Scores in the bin ``other`` whose places are opposite to those of ``scores`` in the bin ``own``."""
    place = np.clip(n_bins * special.ndtr(scores) - own, 0, 1)
    to_the_right = np.clip(n_bins * special.ndtr(-scores) - (n_bins - 1 - own), 0, 1)  # 1 - place, exact near 0
    level, complement = (other + to_the_right) / n_bins, (n_bins - 1 - other + place) / n_bins
    return np.where(level < 0.5, special.ndtri(level), -special.ndtri(complement))
