"""Graphs that can be grown: who their edges join, and that a key alone decides them."""

import hashlib

import jax
import numpy as np
from scipy import stats
from scipy.sparse.csgraph import connected_components

from companion.papers.ugrf import large_graphs

KEY = jax.random.key(0)


def test_a_ring_with_chords_holds_the_ring_and_twice_as_many_chords():
    g = large_graphs.ring_with_chords(KEY, 500)
    W = g.to_scipy()
    assert g.is_symmetric and W.sum() == 2 * 3 * 500
    assert all(W[i, (i + 1) % 500] >= 1 for i in range(500))
    far = W.sum(axis=0) - 2  # ends of chords: 2000 thrown at 500 nodes
    assert stats.chisquare(far).pvalue > 1e-4


def test_communities_join_their_own_and_have_hubs():
    n, mixing = 20_000, 0.3
    g, community = large_graphs.communities(KEY, n, 4, mixing)
    W = g.to_scipy()
    assert g.is_symmetric and not W.diagonal().any() and set(g.weights) == {1.0}
    assert stats.chisquare(np.bincount(community, minlength=4)).pvalue > 1e-4 and np.all(np.diff(community) >= 0)
    row, column = W.nonzero()
    # A chord that ignores communities stays in one of four with probability about a quarter.
    assert abs(np.mean(community[row] == community[column]) - (1 - 0.75 * mixing)) < 0.02
    degrees = np.sort(g.neighbour_counts)[::-1]
    index = 1 / np.mean(np.log(degrees[:200] / degrees[200]))  # Hill's
    assert 1.2 < index < 1.8


def test_streets_join_neighbours_on_a_torus_and_are_open_by_chance():
    side, p = 60, 0.8
    g = large_graphs.streets(KEY, side, p)
    row, column = g.to_scipy().nonzero()
    step = np.abs(np.array(np.divmod(row, side)) - np.array(np.divmod(column, side)))
    assert np.all(np.minimum(step, side - step).sum(axis=0) == 1) and set(g.weights) == {1.0} and g.is_symmetric
    assert stats.binomtest(len(row) // 2, 2 * side**2, p).pvalue > 1e-4
    _, part = connected_components(g.to_scipy())
    assert np.bincount(part).max() > 0.9 * side**2


def test_a_key_means_the_same_graph_everywhere():
    digest = hashlib.sha256()
    for key in jax.random.split(KEY, 3):
        drawn = large_graphs.ring_with_chords(key, 50), large_graphs.communities(key, 50)[0], large_graphs.streets(key, 7, 0.8)
        for g in drawn:
            digest.update(repr((g.indptr.tolist(), g.indices.tolist())).encode())
    assert digest.hexdigest()[:16] == "248b4c9f15f1e3eb"
