"""Algorithm 1 as a loop, against the exact moments of walk features."""

import random

import networkx as nx
import numpy as np
import pytest

from companion import evidence
from companion.papers.ugrf import reference
from rfcore import theory
from rfcore.features import modulation
from rfcore.graphs import Graph

F = modulation.diffusion(1.0)


@pytest.fixture(scope="module")
def wheel():
    W = np.triu(nx.to_numpy_array(nx.wheel_graph(6)) * np.random.default_rng(0).uniform(0.5, 2, (6, 6)))
    return Graph.from_scipy(W + W.T).normalised()


def test_has_the_mean_and_the_mean_square_of_walk_features(wheel):
    rng, lists, n_repeats = random.Random(0), reference.as_lists(wheel), 3000
    phi = np.zeros((n_repeats, 6, 6))
    for repeat in range(n_repeats):
        for start, row in enumerate(reference.walk_features(rng, lists, F, 3, 0.2, range(6))):
            phi[repeat, start, list(row)] = list(row.values())
    exact = np.stack(theory.walk_feature_moments(wheel, F, 3, 0.2))
    assert evidence.unbiased(np.stack([phi, phi**2], axis=1), exact, smallest_bias=0.02).verdict == "reproduced"


def test_a_walk_from_an_isolated_node_ends_where_it_begins():
    g, f = Graph.from_networkx(nx.empty_graph(2)), modulation.exponential(1.0)
    assert reference.walk_features(random.Random(0), reference.as_lists(g), f, 4, 0.1, [1]) == [{1: pytest.approx(f(np.arange(1))[0])}]
