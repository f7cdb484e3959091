"""Graphs keep what they are given, and normalisation is what its formula says."""

import pickle
from types import SimpleNamespace

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


def test_weights_whose_inverse_overflows_are_not_normalised():
    tiny = np.finfo(float).tiny
    smallest = Graph.from_scipy(np.array([[0, tiny], [tiny, 0]])).normalised()
    assert np.allclose(smallest.weights, 1)
    for weight in (1e-320, tiny / 2):
        with pytest.raises(ValueError, match=r"node 0 has edges but the weighted degree .* scale the weights"):
            Graph.from_scipy(np.array([[0, weight], [weight, 0]])).normalised()


def test_a_graph_knows_whether_it_is_normalised():
    g = Graph.from_scipy(random_weights(0))
    assert not g.is_normalised
    normalised = g.normalised()
    assert normalised.is_normalised
    assert normalised.normalised() is normalised
    assert Graph.from_scipy(normalised.to_scipy(), is_normalised=True).normalised().is_normalised
    assert [normalised.scaled(factor).is_normalised for factor in (1, -1, 0.5)] == [True, False, False]
    assert not g.scaled(1).is_normalised


def test_what_a_graph_gives_away_cannot_be_written_to():
    g = Graph.from_networkx(nx.path_graph(4))
    given = np.ones(6)
    made = Graph(g.indptr, g.indices, given)
    given[0] = 1.0  # the caller's own array stays as it was
    for array in (g.weights, g.indices, g.indptr, g.degrees, g.neighbour_counts, g.to_scipy().data, made.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2
    copy = g.to_scipy().copy()
    copy.data[:] = 5.0
    assert set(g.weights) == {1.0}


def test_degrees_of_a_directed_graph_are_those_of_the_rows():
    W = np.array([[0.0, 4.0, 0.0], [1.0, 0.0, 3.0], [9.0, 0.0, 0.0]])
    d = W.sum(axis=1)
    right = W / np.sqrt(np.outer(d, d))
    assert np.allclose(Graph.from_scipy(W).normalised().to_scipy().toarray(), right, rtol=1e-14, atol=0)  # six roundings


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


def test_nodes_of_networkx_are_taken_in_the_order_that_is_given_and_keep_their_labels():
    G = nx.Graph([("c", "a", {"w": 2.0}), ("a", "b", {"w": 3.0})])
    G.add_node("lonely")
    for nodes in (None, ["a", "b", "c", "lonely"], ["lonely", "b", "c", "a"], ["b", "a"]):
        g = Graph.from_networkx(G, weight="w", nodes=nodes)
        assert np.array_equal(g.to_scipy().toarray(), nx.to_numpy_array(G, nodelist=nodes, weight="w"))
        assert g.nodes == tuple(nodes or G)
        same = (g.normalised(), g.scaled(2.0), g.transitions(), pickle.loads(pickle.dumps(g)))
        assert all(made.nodes == g.nodes for made in same)
    assert Graph.from_edges([[0], [1]]).nodes is None


def test_numbers_of_networkx_in_another_order_are_warned_of():
    G = nx.Graph([(2, 0), (0, 1)])
    with pytest.warns(UserWarning, match=r"nodes 0 to 2 in another order, so that node 0 is 2; give nodes=range\(3\), or nodes=list\(G\)"):
        silent = Graph.from_networkx(G)
    assert silent.nodes == (2, 0, 1)
    assert Graph.from_networkx(G, nodes=range(3)).neighbour_counts.tolist() == [2, 1, 1]
    assert Graph.from_networkx(G, nodes=list(G)).neighbour_counts.tolist() == [1, 2, 1]
    Graph.from_networkx(nx.Graph([(2, 1), (1, 3)]))  # not numbers of rows


def test_a_graph_prints_the_number_of_edges_that_networkx_has():
    looped = nx.Graph([(0, 1), (1, 2), (2, 2)])
    assert repr(Graph.from_networkx(looped)) == f"Graph(n_nodes=3, n_edges={looped.number_of_edges()}, is_normalised=False)"
    assert repr(Graph.from_networkx(nx.DiGraph(looped))) == repr(Graph.from_networkx(looped))
    assert repr(Graph.from_networkx(nx.DiGraph([(0, 1)]))) == "Graph(n_nodes=2, n_directed_edges=1, is_normalised=False)"


def test_edges_whose_directions_differ_by_rounding_are_undirected():
    weights = [0.1 + 0.2, 0.3]
    assert weights[0] != weights[1]
    g = Graph.from_edges([[0, 1], [1, 0]], weights=weights)
    assert np.allclose(g.weights, 0.3, rtol=1e-15, atol=0) and g.is_symmetric
    with pytest.raises(ValueError, match="differ; give directed=True"):
        Graph.from_edges([[0, 1, 2], [1, 0, 2]], weights=[1e-20, 2e-20, 1.0])


def test_the_laplacian_is_that_of_networkx_with_isolated_nodes_too():
    G = nx.path_graph(3)
    G.add_nodes_from([3, 4])
    G.add_edge(4, 4)
    W = Graph.from_networkx(G).normalised().to_scipy().toarray()
    assert np.allclose(np.eye(5) - W, nx.normalized_laplacian_matrix(G).toarray(), rtol=0, atol=1e-15)


def test_an_edge_list_is_undirected_however_often_and_whichever_way_it_names_an_edge():
    once, both, twice = [[0, 2, 2], [1, 1, 2]], [[0, 1, 2, 1, 2], [1, 0, 1, 2, 2]], [[0, 2, 2, 0], [1, 1, 2, 1]]
    dense = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 1.0]])
    for edges in (once, both, twice):
        assert np.array_equal(Graph.from_edges(edges).to_scipy().toarray(), dense)
    weights = [1.0, -2.0, 3.0]
    weighted = np.array([[0, 1, 0], [1, 0, -2], [0, -2, 3.0]])
    assert np.array_equal(Graph.from_edges(once, weights=weights).to_scipy().toarray(), weighted)
    assert np.array_equal(Graph.from_edges(both, weights=[1.0, 1.0, -2.0, -2.0, 3.0]).to_scipy().toarray(), weighted)
    assert np.array_equal(Graph.from_edges(twice, weights=[0.25, -2.0, 3.0, 0.75]).to_scipy().toarray(), weighted)
    directed = Graph.from_edges(once, directed=True).to_scipy().toarray()
    assert np.array_equal(directed, [[0, 1, 0], [0, 0, 0], [0, 1, 1]])


def test_vertices_at_one_place_are_warned_of():
    cube = trimesh.creation.box()
    soup = trimesh.Trimesh(cube.vertices[cube.faces.ravel()], np.arange(36).reshape(-1, 3), process=False)
    with pytest.warns(UserWarning, match="36 vertices at 8 places"):
        assert Graph.from_mesh(soup).n_nodes == 36
    soup.merge_vertices(merge_norm=True, merge_tex=True)
    assert np.array_equal(Graph.from_mesh(soup).neighbour_counts.sum(), Graph.from_mesh(cube).neighbour_counts.sum())


def test_vertices_that_trimesh_would_merge_are_warned_of():
    sheets = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1e-9, 0, 0], [1, 1e-9, 0], [1, -1, 0]])
    split = trimesh.Trimesh(sheets, [[0, 1, 2], [3, 4, 5]], process=False)
    with pytest.warns(UserWarning, match="6 vertices at 4 places"):
        Graph.from_mesh(split)
    split.merge_vertices()
    assert Graph.from_mesh(split).n_nodes == 4
    box = trimesh.creation.box()
    Graph.from_mesh(trimesh.Trimesh(1e-9 * box.vertices, box.faces, process=False))  # small as a whole


def made_of(vertices, faces):
    return SimpleNamespace(vertices=vertices, faces=faces)


@pytest.mark.parametrize(
    ("mesh", "message"),
    [
        ("mesh.stl", "mesh is of type str; give a trimesh.Trimesh"),
        ((np.eye(3), np.array([[0, 1, 2]])), "mesh is of type tuple"),
        (trimesh.PointCloud(np.eye(3)), "mesh is of type PointCloud"),
        (trimesh.load_path(np.array([[[0.0, 0], [1, 0]]])), "mesh is of type Path2D"),
        (trimesh.Scene(), "mesh is of type Scene"),
        (made_of(np.eye(4), np.array([[0, 1, 2, 3]])), r"mesh.faces has shape \(1, 4\); give a mesh of triangles"),
        (made_of(np.eye(4), np.array([3, 0, 1, 2])), r"mesh.faces has shape \(4,\); give a mesh of triangles"),
        (made_of(np.eye(3), np.array([[1, 2, 3]])), r"mesh.faces has values in \[1, 3\]; give .* from 0 to 2"),
        (made_of(np.eye(3), np.array([[0, 1, -1]])), r"mesh.faces has values in \[-1, 1\]"),
        (made_of(np.eye(3), np.array([[0.0, 1.0, 2.0]])), "mesh.faces has shape .*, dtype float64; give"),
    ],
)
def test_what_is_no_mesh_is_refused(mesh, message):
    with pytest.raises(ValueError, match=message):
        Graph.from_mesh(mesh)


def test_mesh_vertices_and_faces():
    box = trimesh.creation.box()
    vertices, faces = Graph.from_mesh(box), Graph.from_mesh(box, nodes="faces")
    assert (vertices.n_nodes, len(vertices.weights)) == (8, 2 * 18)
    assert (faces.n_nodes, set(faces.neighbour_counts)) == (12, {3})
    assert set(vertices.weights) == set(faces.weights) == {1.0}


def mesh(faces):
    return trimesh.Trimesh(np.random.default_rng(0).random((1 + np.max(faces), 3)), faces, process=False)


def test_faces_on_one_edge_are_joined_each_with_each():
    fan = Graph.from_mesh(mesh([[0, 1, 2], [0, 1, 3], [1, 0, 4]]), nodes="faces")
    assert np.array_equal(fan.to_scipy().toarray(), 1 - np.eye(3))


def test_faces_that_share_two_edges_are_joined_once():
    lens = Graph.from_mesh(mesh([[0, 1, 2], [2, 1, 0]]), nodes="faces")
    assert np.array_equal(lens.to_scipy().toarray(), 1 - np.eye(2))


def test_degenerate_faces_make_no_loops():
    bad = mesh([[0, 1, 2], [1, 1, 2], [3, 3, 3]])
    vertices, faces = (Graph.from_mesh(bad, nodes=nodes).to_scipy().toarray() for nodes in ("vertices", "faces"))
    assert np.array_equal(vertices, [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]])
    assert np.array_equal(faces, [[0, 1, 0], [1, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize("shape", [trimesh.creation.icosphere(subdivisions=2), trimesh.creation.cylinder(1.0, 2.0)])
def test_on_closed_surfaces_faces_are_the_pairs_that_trimesh_finds(shape):
    for nodes, edges in (("vertices", shape.edges_unique), ("faces", shape.face_adjacency)):
        g = Graph.from_mesh(shape, nodes=nodes)
        i, j = np.asarray(edges).T
        dense = np.zeros((g.n_nodes, g.n_nodes))
        dense[i, j] = dense[j, i] = 1.0
        assert np.array_equal(g.to_scipy().toarray(), dense)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Graph.from_scipy(np.ones((2, 3))), "square"),
        (lambda: Graph.from_scipy(np.ones(3)), "square"),
        (lambda: Graph.from_scipy(np.zeros((0, 0))), "at least one node"),
        (lambda: Graph.from_scipy(np.array([[0.0, np.nan], [1.0, 0.0]])), "NaN or infinite"),
        (lambda: Graph.from_scipy(np.array([[0.0, np.inf], [1.0, 0.0]])), "NaN or infinite"),
        (lambda: Graph.from_networkx(nx.MultiGraph([(0, 1), (0, 1)])), "multigraph"),
        (lambda: Graph.from_mesh(trimesh.creation.box(), nodes="edges"), "nodes = 'edges'"),
        (lambda: Graph.from_scipy(np.array([[0.0, -1.0], [-1.0, 0.0]])).normalised(), "weighted degree -1"),
        (lambda: Graph.from_scipy(np.array([[0.0, 1.0], [0.0, 0.0]])).normalised(), "weighted degree 0"),
        (lambda: Graph.from_networkx(nx.path_graph(2)).scaled(0), "no edges"),
        (lambda: Graph.from_scipy(np.full((2, 2), 1e200)).scaled(1e200), "0 or infinite"),
        (lambda: Graph.from_scipy(np.full((2, 2), 1e-200)).scaled(1e-200), "0 or infinite"),
        (lambda: Graph.from_scipy(np.full((2, 2), 1e308)).normalised(), "weighted degree inf"),
        (lambda: Graph.from_scipy(np.eye(2) * 1j), "W has dtype complex"),
        (lambda: Graph.from_scipy(sp.csr_array(np.eye(2) * 1j)), "W has dtype complex"),
        (lambda: Graph.from_scipy([[0, 1], [1]]), "give an array of real numbers"),
        (lambda: Graph.from_scipy("W"), "give an array of real numbers"),
        (lambda: Graph.from_scipy(None), "give an array of real numbers"),
        (lambda: Graph.from_scipy(nx.path_graph(2)), "give"),
        (lambda: Graph.from_networkx(nx.Graph([(0, 1, {"w": "two"})]), weight="w"), "two"),
        (lambda: Graph.from_networkx(nx.Graph([(0, 1, {"w": np.nan})]), weight="w"), "NaN"),
        (lambda: Graph.from_networkx(nx.Graph([(0, 1, {"w": 1}), (1, 2)]), weight="w"), "no such attribute"),
        (lambda: Graph.from_networkx(np.eye(3)), "G is of type ndarray; give a networkx Graph, or a matrix to Graph.from_scipy"),
        (lambda: Graph.from_networkx(sp.eye_array(3)), "G is of type dia_array"),
        (lambda: Graph.from_networkx(nx.Graph()), "G has no nodes"),
        (lambda: Graph.from_networkx(nx.path_graph(3), nodes=[0, 7]), "nodes has 7, which is not in G"),
        (lambda: Graph.from_networkx(nx.path_graph(3), nodes=[0, 1, 1]), r"nodes = \[0, 1, 1\]; give labels .* each once"),
        (lambda: Graph.from_networkx(nx.path_graph(3), nodes=3), "nodes = 3; give labels"),
        (lambda: Graph.from_edges([[0], [1]], 2.0), "n_nodes = 2.0; give a whole number"),
        (lambda: Graph.from_edges([(0, 1), (1, 2), (2, 3)]), r"edges has shape \(3, 2\); .* here np.array\(edges\).T"),
        (lambda: Graph.from_edges([[0, 1], [1, 0]], weights=[1.0, 2.0]), "differ; give directed=True"),
        (lambda: Graph.from_networkx(nx.path_graph(2)).scaled(np.nan), "factor"),
    ],
)
def test_bad_graphs_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_edge_indices():
    W = random_weights(1)
    pairs = np.array(np.nonzero(W))
    order = np.random.default_rng(0).permutation(pairs.shape[1])
    g = Graph.from_edges(pairs[:, order], len(W), W[*pairs][order], directed=True)
    assert np.array_equal(g.to_scipy().toarray(), W)
    twice = np.concatenate([pairs, pairs], axis=1)
    assert np.array_equal(Graph.from_edges(twice, len(W), directed=True).to_scipy().toarray(), W != 0)  # an edge weighs 1, however often it stands
    added = Graph.from_edges(twice, len(W), np.concatenate([W[*pairs], W[*pairs]]), directed=True)
    assert np.array_equal(added.to_scipy().toarray(), 2 * W)
    assert Graph.from_edges([[0, 4], [4, 0]]).n_nodes == 5
    assert Graph.from_edges(np.zeros((2, 0), dtype=int), 3).neighbour_counts.tolist() == [0, 0, 0]
