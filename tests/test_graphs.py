"""Graphs keep what they are given, and normalisation is what its formula says."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from rfcore.graphs import Graph


def random_weights(seed, n=7, symmetric=True):
    rng = np.random.default_rng(seed)
    W = rng.uniform(0.5, 2.0, (n, n)) * (rng.random((n, n)) < 0.4)
    return W + W.T if symmetric else W


@given(seed=st.integers(0, 2**31), symmetric=st.booleans())
def test_round_trip_through_scipy_and_dense(seed, symmetric):
    W = random_weights(seed, symmetric=symmetric)
    for given_as in (W, sp.csr_array(W), sp.coo_array(W)):
        g = Graph.from_scipy(given_as)
        assert np.array_equal(g.to_scipy().toarray(), W)
        assert np.array_equal(g.neighbour_counts, (W != 0).sum(axis=1))
        assert np.allclose(g.degrees, W.sum(axis=1))
        assert g.is_symmetric == np.array_equal(W, W.T)


@given(seed=st.integers(0, 2**31))
def test_normalised_weights_have_spectral_radius_one(seed):
    W = random_weights(seed)
    normalised = Graph.from_scipy(W).normalised().to_scipy().toarray()
    d = W.sum(axis=1)
    for i, j in zip(*np.nonzero(W), strict=True):
        assert normalised[i, j] == pytest.approx(W[i, j] / np.sqrt(d[i] * d[j]))
    if W.any():
        assert np.abs(np.linalg.eigvalsh(normalised)).max() == pytest.approx(1.0)
    assert np.array_equal(normalised, normalised.T)  # to the last bit: kernels ask for it


def test_scaled_weights():
    g = Graph.from_scipy(random_weights(0))
    assert np.array_equal(g.scaled(-0.5).to_scipy().toarray(), -0.5 * g.to_scipy().toarray())
    assert np.array_equal(g.scaled(-0.5).neighbour_counts, g.neighbour_counts)


def test_input_is_not_changed_and_duplicates_add_and_zeros_vanish():
    W = sp.csr_array((np.array([1.0, 2.0, 0.0, 3.0]), (np.array([0, 0, 1, 1]), np.array([1, 1, 2, 0]))), shape=(3, 3))
    before = W.toarray().copy()
    g = Graph.from_scipy(W)
    assert np.array_equal(W.toarray(), before)
    assert list(g.indices) == [1, 0]
    assert list(g.weights) == [3.0, 3.0]


def test_networkx_weights_are_used_only_when_named():
    G = nx.karate_club_graph()
    assert set(Graph.from_networkx(G).weights) == {1.0}
    assert Graph.from_networkx(G, weight="weight").weights.sum() == 2 * sum(w for *_, w in G.edges(data="weight"))
    G.add_edge(0, 33)
    with pytest.raises(ValueError, match="no such attribute"):
        Graph.from_networkx(G, weight="weight")


def test_networkx_order_self_loops_directions_and_isolated_nodes():
    G = nx.DiGraph()
    G.add_nodes_from(["b", "a", "lonely"])
    G.add_edges_from([("b", "a"), ("a", "a")])
    g = Graph.from_networkx(G)
    assert np.array_equal(g.to_scipy().toarray(), [[0, 1, 0], [0, 1, 0], [0, 0, 0]])
    assert not g.is_symmetric


def test_isolated_nodes_keep_empty_rows_when_normalised():
    G = nx.path_graph(3)
    G.add_node(3)
    normalised = Graph.from_networkx(G).normalised()
    assert normalised.neighbour_counts[3] == 0
    assert np.all(np.isfinite(normalised.weights))


def test_mesh_vertices_and_faces():
    box = trimesh.creation.box()
    vertices, faces = Graph.from_mesh(box), Graph.from_mesh(box, nodes="faces")
    assert (vertices.n_nodes, len(vertices.weights)) == (8, 2 * 18)
    assert (faces.n_nodes, set(faces.neighbour_counts)) == (12, {3})
    assert set(vertices.weights) == set(faces.weights) == {1.0}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Graph.from_scipy(np.ones((2, 3))), "square"),
        (lambda: Graph.from_scipy(np.ones(3)), "square"),
        (lambda: Graph.from_scipy(np.zeros((0, 0))), "at least one node"),
        (lambda: Graph.from_scipy(np.array([[0.0, np.nan], [1.0, 0.0]])), "NaN or infinite"),
        (lambda: Graph.from_scipy(np.array([[0.0, np.inf], [1.0, 0.0]])), "NaN or infinite"),
        (lambda: Graph.from_networkx(nx.Graph()), "at least one"),
        (lambda: Graph.from_networkx(nx.MultiGraph([(0, 1), (0, 1)])), "multigraph"),
        (lambda: Graph.from_mesh(trimesh.creation.box(), nodes="edges"), "nodes = 'edges'"),
        (lambda: Graph.from_scipy(np.array([[0.0, -1.0], [-1.0, 0.0]])).normalised(), "weighted degree -1"),
        (lambda: Graph.from_scipy(np.array([[0.0, 1.0], [0.0, 0.0]])).normalised(), "weighted degree 0"),
        (lambda: Graph.from_networkx(nx.path_graph(2)).scaled(0), "no edges"),
        (lambda: Graph.from_networkx(nx.path_graph(2)).scaled(np.nan), "factor"),
    ],
)
def test_bad_graphs_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
