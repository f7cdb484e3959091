"""The supremum over signs: by hand on small graphs, above every draw, and never above the bound for distinct nodes."""

import itertools

import jax
import networkx as nx
import numpy as np
import pytest

from companion.papers.ugrf import generalisation
from companion.papers.ugrf.generalisation import sign_supremum
from rfcore.graphs import Graph

KARATE = Graph.from_networkx(nx.karate_club_graph()).normalised()
FAMILIES = np.array([[1.0, 0.5, 0.25, 0.0, 0.7], [0.0, 1.0, 0.0, 0.0, 0.0]])


@pytest.mark.parametrize("sample", [[0, 1, 3], [1, 1, 2], [2]])
def test_it_is_the_largest_over_all_signs(sample):
    W = KARATE.to_scipy().toarray()
    powers = [np.linalg.matrix_power(W, i)[np.ix_(sample, sample)] for i in range(5)]
    signs = [np.array(s) for s in itertools.product([-1, 1], repeat=len(sample))]
    wanted = [
        max(np.sqrt(sum(b * abs(s @ P @ s) for b, P in zip(bounds, powers, strict=True))) for s in signs) for bounds in FAMILIES
    ]
    assert np.allclose(sign_supremum(KARATE, sample, FAMILIES), wanted, rtol=1e-9)
    assert sign_supremum(KARATE, sample, FAMILIES[0]) == pytest.approx(wanted[0])


def test_it_lies_between_the_mean_over_signs_and_the_papers_right_side_for_distinct_nodes():
    sample = np.arange(0, 34, 4)
    most = sign_supremum(KARATE, sample, FAMILIES)
    mean, _ = generalisation.rademacher_complexity(jax.random.key(0), KARATE, sample, FAMILIES, n_draws=200)
    assert np.all(len(sample) * mean < most)
    assert np.all(most < len(sample) * generalisation.rademacher_bound(FAMILIES, 1.0, len(sample)))


def test_repeated_nodes_exceed_the_papers_right_side():
    repeated = np.zeros(9, dtype=int)  # |s|^2 adds up to 81
    right_side = 9 * generalisation.rademacher_bound(FAMILIES[0], 1.0, 9)
    assert sign_supremum(KARATE, repeated, FAMILIES[0]) > right_side
    assert sign_supremum(KARATE, repeated, [1.0]) == pytest.approx(9.0)
