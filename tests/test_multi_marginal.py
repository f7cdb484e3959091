"""Multi-marginal transport: against the programme over all tuples, its dual, and couplings of norms whose error is known."""

import numpy as np
import pytest
import ratio_of
from rounding import rounding
from scipy import optimize, stats

from companion.papers.couplings import costs, multi_marginal
from rfcore import theory

HIGHS = 1e-7  # the feasibility that HiGHS promises


def test_multisets_do_what_all_tuples_do():
    rng, k, m = np.random.default_rng(0), 4, 3
    costs = rng.normal(size=(k, k))
    costs += costs.T
    tuples = np.indices(m * (k,)).reshape(m, -1)
    of_tuples = (costs[tuples[0], tuples[1]] + costs[tuples[0], tuples[2]] + costs[tuples[1], tuples[2]]) / 3
    marginals = np.concatenate([row == np.arange(k)[:, None] for row in tuples])
    truth = optimize.linprog(of_tuples, A_eq=marginals, b_eq=np.full(m * k, 1 / k)).fun
    plan = multi_marginal.solve(costs, m)
    assert np.isclose(plan.cost, truth, rtol=0, atol=HIGHS)
    counts = np.array([np.bincount(row, minlength=k) for row in plan.bins])
    assert np.allclose(plan.weights @ counts / m, 1 / k, rtol=0, atol=HIGHS)
    # Prices of tuples are at most their costs, and cost together what the plan does.
    assert np.all(plan.prices[tuples].sum(axis=0) <= of_tuples + HIGHS)
    assert np.isclose(m * plan.prices.mean(), plan.cost, rtol=0, atol=HIGHS)


def test_two_draws_are_matched_in_opposite_order_where_products_cost():
    x = np.array([0.0, 1.0, 3.0, 4.0, 9.0])
    plan = multi_marginal.solve(np.outer(x, x), 2)
    assert np.all(plan.bins.sum(axis=1) == 4)
    assert np.isclose(plan.cost, np.mean(x * x[::-1]), rtol=0, atol=HIGHS)


@pytest.mark.parametrize(("features", "distance"), [("fourier", 0.7), ("positive", 1.5)])
def test_for_two_norms_the_bound_is_pairwise_norm_coupling(features, distance):
    """Theorem 3.2, by a linear programme."""
    pnc = ratio_of.norms(distance, 3, 2, "pnc", features)
    coarse, fine = (multi_marginal.norm_bound(distance, 3, 2, features, n_bins) for n_bins in (3, 9))
    for bound in (coarse, fine):
        assert np.isclose(bound.optimistic, pnc, rtol=0, atol=1e-6)  # nodes within bins; measured: 2e-8
        assert np.all(bound.plan.bins.sum(axis=1) == len(bound.plan.prices) - 1)
    assert pnc < fine.achieved < coarse.achieved
    assert fine.achieved - pnc < (coarse.achieved - pnc) / 4


def test_three_norms_can_be_coupled_better_than_in_pairs():
    d, m, z, k = 3, 3, 1.0, 8
    bound = multi_marginal.norm_bound(z, d, m, "fourier", k)
    assert bound.optimistic < bound.achieved < 0.8 * ratio_of.norms(z, d, m, "pnc", "fourier")
    # The achieved error is that of a coupling: drawn here.
    rng, n = np.random.default_rng(0), 4000
    rows = rng.permuted(bound.plan.bins[rng.choice(len(bound.plan.weights), n, p=bound.plan.weights / bound.plan.weights.sum())], axis=1)
    levels = (rows + rng.random(rows.shape)) / k
    assert min(stats.kstest(column, "uniform").pvalue for column in levels.T) > 1e-6
    excess = np.asarray(costs.fourier_cost(stats.chi.ppf(levels, d), z, d, True))
    error = (1 - np.exp(-(z**2))) ** 2 / 2
    ratios = 1 + theory.partners(m, d) * (excess - (np.exp(-(z**2)) - 1 + z**2)) / error
    assert abs(ratios.mean() - bound.achieved) < 5.5 * ratios.std() / np.sqrt(n)  # one false alarm in 2 10^7


def test_rows_are_sorted_and_weights_sum_to_one():
    plan = multi_marginal.solve(np.ones((3, 3)), 4)
    assert np.all(np.diff(plan.bins, axis=1) >= 0)
    assert abs(plan.weights.sum() - 1) < HIGHS
    assert abs(plan.cost - 1) < HIGHS + rounding(10)


def test_two_norms_pair_opposites_until_the_cost_is_no_longer_convex():
    for features, distance in (("positive", 2.0), ("fourier", 0.5), ("fourier", 3.0)):
        found = multi_marginal.two_norms(distance, 4, features, 16)
        assert found.swap_gain < 1e-6
        opposite = found.pairs.sum(axis=1) == 15
        if distance < 3:
            assert opposite.all() and np.isclose(found.cost, found.opposite, rtol=1e-7)
        else:
            assert not opposite.all() and found.cost < found.opposite
        assert np.allclose(np.bincount(found.pairs[:, 0], minlength=16) > 0, True)
