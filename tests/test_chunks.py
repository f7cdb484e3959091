"""Walks of several chunks: their products and their hops are those of all the walks at once."""

import jax
import networkx as nx
import numpy as np
import pytest
from rounding import rounding

from rfcore import copulas, features, walks
from rfcore.features import modulation
from rfcore.graphs import Graph
from rfcore.walks import streams

KEY, F = jax.random.key(0), modulation.regularised_laplacian(1.0, 2)
G = Graph.from_networkx(nx.karate_club_graph()).normalised()
NODES = [3, 3, 30, 7, 0, 33, 12, 5, 21]


@pytest.fixture(autouse=True)
def chunks_of_two_nodes(monkeypatch):
    """Of 16 walkers; the last of nine start nodes is alone."""
    monkeypatch.setattr(streams, "WALKERS_PER_CHUNK", 16)
    assert [rows.stop - rows.start for rows in streams.chunks(9, 8)] == [2, 2, 2, 2, 1]


@pytest.mark.parametrize("coupling", ["iid", "stratified", walks.Coupling(copulas.stratified, walks.hops.Systematic())])
def test_streamed_products_are_those_of_stored_features(coupling):
    stored, streamed = (features.walk_features(KEY, G, F, 8, 0.3, coupling, NODES, stored=stored) for stored in (True, False))
    dense = stored.toarray()
    right, left = np.cos(np.arange(102.0)).reshape(34, 3), np.sin(np.arange(27.0)).reshape(9, 3)
    for found, expected in (
        (streamed @ right, dense @ right),
        (streamed @ right[:, 0], dense @ right[:, 0]),
        (streamed.T @ left, dense.T @ left),
        (streamed.T @ left[:, 0], dense.T @ left[:, 0]),
        (left.T @ streamed, left.T @ dense),
        (right.T @ streamed.T, right.T @ dense.T),
        (stored @ right, dense @ right),
        (stored.T @ left, dense.T @ left),
        (streamed.toarray(), dense),
        (stored.with_modulation(F).toarray(), dense),
    ):
        # Sums of 34 terms at most, each a sum of 8 walks' deposits.
        assert np.allclose(found, expected, rtol=0, atol=rounding(500, np.abs(dense).sum(axis=1), np.abs(dense).sum(axis=0)))


def test_first_hops_are_those_of_the_row_in_every_chunk():
    """On a ring of directed chords a uniform u leads from node i to its neighbour number floor(4 u)."""
    n, rng = 9, np.random.default_rng(0)
    neighbours = np.sort((np.arange(n)[:, None] + [1, 2, 4, 7]) % n, axis=1)
    weights = np.zeros((n, n))
    np.put_along_axis(weights, neighbours, 1.0, axis=1)
    hops = rng.random((n, 8, 2))
    deposits = walks.simulate(KEY, Graph.from_scipy(weights), walks.Lengths(np.full((n, 8), 2), 0.5, walks.hops.Given(hops)))
    here = np.broadcast_to(np.arange(n)[:, None], (n, 8))
    for step in (1, 2):
        here = neighbours[here, np.floor(4 * hops[..., step - 1]).astype(int)]
        at = deposits.step == step
        for row in range(n):
            assert np.array_equal(np.sort(deposits.node[at & (deposits.row == row)]), np.sort(here[row]))


def test_given_lengths_are_those_of_the_row_in_every_chunk():
    lengths = np.arange(72).reshape(9, 8) % 11
    deposits = walks.simulate(KEY, G, walks.Lengths(lengths, 0.5), nodes=NODES)
    for row in range(9):
        steps = deposits.step[deposits.row == row]
        assert [np.sum(steps == k) for k in range(1, 12)] == [np.sum(lengths[row] >= k) for k in range(1, 12)]
        assert deposits.node[(deposits.row == row) & (deposits.step == 0)] == [NODES[row]]


@pytest.mark.parametrize("coupling", ["iid", "stratified", walks.Coupling(copulas.stratified, walks.hops.Systematic())])
def test_rows_of_one_node_in_different_chunks_are_independent(coupling):
    """A thousand rows: those at equal places of neighbouring chunks are uncorrelated."""
    total = features.walk_features(KEY, G, F, 8, 0.3, coupling, 1000 * [5]) @ np.cos(np.arange(34.0))
    assert abs(np.corrcoef(total[:-2], total[2:])[0, 1]) < 4.5 / np.sqrt(998)
