"""Random graphs: the law of each, and that a key alone decides them."""

import hashlib
from collections import Counter

import jax
import numpy as np
from scipy import stats

from companion import random_graphs


def keys(n):
    return map(jax.random.key, range(n))


def test_graphs_are_simple_undirected_and_unweighted():
    for key in keys(6):
        for g in (random_graphs.erdos_renyi(key, 20, 0.2), random_graphs.regular(key, 20, 5)):
            W = g.to_scipy()
            assert g.is_symmetric and not W.diagonal().any() and np.all(g.weights == 1) and not g.is_normalised


def test_each_pair_of_an_erdos_renyi_graph_is_an_edge_with_probability_p():
    n, p, repeats = 6, 0.3, 400
    total = sum(random_graphs.erdos_renyi(key, n, p).to_scipy().toarray() for key in keys(repeats))
    counts = total[np.triu_indices(n, 1)]
    assert stats.chisquare(np.stack([counts, repeats - counts], 1), repeats * np.array([[p, 1 - p]] * 15), axis=1).pvalue.min() > 1e-4
    assert stats.binom.ppf(1e-4, 15 * repeats, p) <= counts.sum() <= stats.binom.isf(1e-4, 15 * repeats, p)


def test_all_nodes_of_a_regular_graph_have_the_degree():
    for key, (n, degree) in zip(keys(6), [(2, 1), (4, 3), (6, 3), (9, 8), (30, 4), (100, 10)], strict=True):
        assert set(random_graphs.regular(key, n, degree).neighbour_counts.tolist()) == {degree}


def test_regular_graphs_are_about_equally_likely():
    """On six nodes there are 60 prisms and 10 complete bipartite graphs of degree 3, 70 in all."""
    found = Counter(random_graphs.regular(key, 6, 3).to_scipy().toarray().tobytes() for key in keys(700))
    assert len(found) == 70
    assert max(found.values()) < 3 * 700 / 70  # ten each, up to chance and to what six nodes are short of infinity


def test_a_key_means_the_same_graph_everywhere():
    digest = hashlib.sha256()
    for key in keys(5):
        for g in (random_graphs.erdos_renyi(key, 20, 0.2), random_graphs.regular(key, 30, 4)):
            digest.update(repr((g.indptr.tolist(), g.indices.tolist())).encode())
    assert digest.hexdigest()[:16] == "000d5e96a6932ab6"
