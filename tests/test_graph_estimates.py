"""Estimates from repeated walks: their means are the kernel, and their standard errors how far off they are."""

import jax
import networkx as nx
import numpy as np
import pytest
from scipy import stats

from rfcore import evidence, features, kernels, theory
from rfcore.features import modulation
from rfcore.graphs import Graph

G = Graph.from_networkx(nx.lollipop_graph(3, 2)).normalised()
F, N_WALKS, P_HALT, N_REPEATS = modulation.regularised_laplacian(1.0, 2), 4, 0.3, 5
KERNEL = kernels.regularised_laplacian(G, 1.0, 2)
KEYS = jax.random.split(jax.random.key(0), 300)


def test_grams_are_unbiased_and_their_standard_errors_what_the_closed_form_says():
    """E sum_ij se_ij^2 = E |mean - K|^2 = theory.walk_gram_mse / R: forgetting either R puts it off by 5 times."""
    found = [features.walk_gram(key, G, F, np.arange(5), N_WALKS, P_HALT, N_REPEATS) for key in KEYS[:150]]
    means, errors = (np.stack(part) for part in zip(*found, strict=True))
    expected = theory.walk_gram_mse(G, F, F, N_WALKS, P_HALT) / N_REPEATS
    for decision in (
        evidence.unbiased(means, KERNEL, smallest_bias=0.1),
        evidence.unbiased(np.sum(errors**2, axis=(1, 2)), expected, smallest_bias=expected / 2),
        evidence.unbiased(np.sum((means - KERNEL) ** 2, axis=(1, 2)), expected, smallest_bias=expected / 2),
    ):
        assert decision.verdict is evidence.Verdict.REPRODUCED, decision.detail


def test_intervals_of_products_cover_the_truth():
    """Of 95 % intervals by Student's law; from 256 walks an estimate is near normal, and so 93.5 to 96.5 % allow for the rest.

    False alarm: 1e-4 on either side.
    """
    v = np.array([1.0, -2.0, 0.5, 3.0, -1.0])
    quantile, covered = stats.t.ppf(0.975, N_REPEATS - 1), 0
    for key in KEYS:
        mean, se = features.walk_product(key, G, F, v, 256, P_HALT, N_REPEATS, nodes=[3])
        assert mean.shape == se.shape == (1,)
        covered += abs(mean[0] - (KERNEL @ v)[3]) <= quantile * se[0]
    assert stats.binom.ppf(1e-4, len(KEYS), 0.935) <= covered <= stats.binom.ppf(1 - 1e-4, len(KEYS), 0.965) < len(KEYS)


def test_repeats_are_pairs_of_independent_features():
    key, v = jax.random.key(7), np.arange(10.0).reshape(5, 2)
    mean, se = features.walk_product(key, G, F, v, 3, P_HALT, 2, coupling="reversal", n_coupled_hops=1)
    pairs = [
        [features.walk_features(one, G, F, 3, P_HALT, "reversal", 1).toarray() for one in pair] for pair in jax.random.split(key, (2, 2))
    ]
    (a, b), (c, d) = pairs
    first, second = a @ b.T @ v, c @ d.T @ v
    assert np.allclose(mean, (first + second) / 2, rtol=0, atol=1e-12)  # some 50 roundings of numbers below 100
    assert np.allclose(se, abs(first - second) / 2, rtol=0, atol=1e-12)
    assert not np.allclose(a, b)


@pytest.mark.parametrize(("v", "n_repeats", "message"), [(np.ones(4), 2, "v has shape"), (np.ones(5), 1, "n_repeats = 1")])
def test_what_does_not_fit_is_refused(v, n_repeats, message):
    with pytest.raises(ValueError, match=message):
        features.walk_product(KEYS[0], G, F, v, 2, P_HALT, n_repeats)
