"""The engine's law by enumeration, unbiased features, and results that depend on the key alone."""

from concurrent.futures import ThreadPoolExecutor

import jax
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from rfcore import features, kernels, streams, walks
from rfcore.couplings import walk_lengths
from rfcore.features import modulation
from rfcore.graphs import Graph

KARATE = Graph.from_networkx(nx.karate_club_graph())
WEIGHTED = Graph.from_scipy(np.array([[0.0, 0.5, -0.3, 0], [0.5, 0, 0, 0], [-0.3, 0, 0.4, 0], [0, 0, 0, 0]]))
DIRECTED = Graph.from_scipy(np.array([[0.0, 0.7, 0.2], [0.0, 0.0, 0.0], [0.5, 0.0, 0.0]]))


def z_scores(estimates, truth):
    error = estimates - truth
    se = error.std(axis=0, ddof=1) / np.sqrt(len(estimates))
    assert np.allclose(error[:, se == 0], 0, atol=1e-12), "an entry without variance is wrong"
    return (error.mean(axis=0) / np.where(se == 0, 1.0, se))[se > 0]


def repeated(g, f, key, repeats, n_walks=4, p_halt=0.3):
    nodes = np.tile(np.arange(g.n_nodes), repeats)
    phi = features.walk_features(jax.random.key(key), g, f, n_walks, p_halt, nodes=nodes)
    return phi.toarray().reshape(repeats, g.n_nodes, g.n_nodes)


def test_lengths_are_geometric():
    lengths = walk_lengths.draw(jax.random.key(0), 4000, 25, 0.2)
    assert lengths.shape == (4000, 25)
    for k in range(12):
        survival = 0.8**k
        z = (np.mean(lengths >= k) - survival) / np.sqrt(survival * (1 - survival) / lengths.size + 1e-300)
        assert abs(z) < 4.5
    assert stats.spearmanr(lengths[:, 0], lengths[:, 1]).pvalue > 1e-4


@pytest.mark.parametrize("p_halt", [0.01, 0.1, 0.5, 0.99])
def test_no_uniform_draws_a_length_past_the_table(p_halt):
    extremes = np.array([0.0, 0.5, 1 - 2.0**-53])
    lengths = walk_lengths.geometric_quantile(extremes, p_halt)
    assert lengths[0] == 0
    assert lengths[-1] <= walk_lengths.longest(p_halt)


@pytest.mark.parametrize("g", [WEIGHTED, DIRECTED], ids=["negative weights, self-loop, isolated", "directed, dead end"])
def test_expected_deposit_at_each_step_is_a_power_of_the_weights(g):
    repeats, n_walks, p_halt = 20_000, 3, 0.35
    nodes = np.tile(np.arange(g.n_nodes), repeats)
    lengths = walk_lengths.draw(jax.random.key(1), len(nodes), n_walks, p_halt)
    deposits = walks.simulate(jax.random.key(1), g, lengths, p_halt, nodes=nodes)
    W = g.to_scipy().toarray()
    for step in range(5):
        here = deposits.step == step
        loads = np.zeros((len(nodes), g.n_nodes))
        np.add.at(loads, (deposits.row[here], deposits.node[here]), deposits.load[here] / n_walks)
        z = z_scores(loads.reshape(repeats, g.n_nodes, g.n_nodes), np.linalg.matrix_power(W, step))
        assert np.abs(z).max(initial=0) < 4.5


def test_every_walk_deposits_at_every_step_to_its_length():
    g = KARATE.normalised()
    lengths = np.array([[0, 5, 2], [7, 0, 1]])
    deposits = walks.simulate(jax.random.key(0), g, lengths, 0.5, nodes=[3, 30])
    for row in range(2):
        steps = deposits.step[deposits.row == row]
        assert [np.sum(steps == k) for k in range(1, 9)] == [np.sum(lengths[row] >= k) for k in range(1, 9)]
        assert deposits.load[(deposits.row == row) & (deposits.step == 0)] == [3.0]


def test_walks_follow_edges_and_loads_multiply_count_times_weight():
    # On a path the walk from an end is forced: 0, 1, then 0 or 2.
    g = Graph.from_scipy(np.array([[0, 2.0, 0], [2.0, 0, 3.0], [0, 3.0, 0]]))
    deposits = walks.simulate(jax.random.key(5), g, np.full((1, 50), 2), 0.5, nodes=[0])
    first, second = deposits.step == 1, deposits.step == 2
    assert set(deposits.node[first]) == {1}
    assert set(deposits.load[first]) == {1 * 2.0 / 0.5}
    assert set(zip(deposits.node[second], deposits.load[second], strict=True)) == {(0, 4.0 * 2 * 2.0 / 0.5), (2, 4.0 * 2 * 3.0 / 0.5)}


KERNELS = {
    "diffusion": (modulation.diffusion(1.0), kernels.diffusion(KARATE, 1.0)),
    "regularised laplacian": (modulation.regularised_laplacian(0.8, 2), kernels.regularised_laplacian(KARATE, 0.8, 2)),
    "p-step": (modulation.p_step(20, 3), kernels.p_step(KARATE, 20, 3)),
    "inverse cosine": (modulation.inverse_cosine(), kernels.inverse_cosine(KARATE)),
}


@pytest.mark.parametrize("name", KERNELS)
def test_independent_walks_estimate_the_kernel_without_bias(name):
    f, kernel = KERNELS[name]
    g = KARATE.normalised()
    left, right = (repeated(g, f, key, 600) for key in (1, 2))
    z = z_scores(left @ right.transpose(0, 2, 1), kernel)
    assert np.abs(z).max() < 4.8  # 1156 entries: a false alarm once in 500
    assert 0.9 < np.sqrt(np.mean(z**2)) < 1.1


def test_isolated_node_and_graph_of_one_node():
    g = Graph.from_networkx(nx.empty_graph(1))
    f = modulation.diffusion(1.0)
    phi = features.walk_features(jax.random.key(0), g.normalised(), f, 5, 0.1)
    assert phi.toarray() ** 2 == pytest.approx(kernels.diffusion(g, 1.0))


def test_shared_walks_bias_the_diagonal_only():
    g, f, kernel = KARATE.normalised(), modulation.regularised_laplacian(1.0, 2), kernels.regularised_laplacian(KARATE, 1.0, 2)
    phi = repeated(g, f, 3, 1500)
    gram = phi @ phi.transpose(0, 2, 1)
    diagonal = np.einsum("rii->ri", gram)
    z = (diagonal.mean(axis=0) - np.diag(kernel)) / (diagonal.std(axis=0) / np.sqrt(len(phi)))
    assert z.min() > 3
    i, j = np.triu_indices(34, 1)
    assert np.abs(z_scores(gram[:, i, j], kernel[i, j])).max() < 4.8


def test_result_depends_on_the_key_alone(monkeypatch):
    monkeypatch.setattr(streams, "WALKERS_PER_CHUNK", 64)  # 17 chunks of two nodes
    g, f = KARATE.normalised(), modulation.diffusion(1.0)
    alone = features.walk_features(jax.random.key(4), g, f, 32, 0.1)
    with ThreadPoolExecutor(3) as threads:
        pooled = features.walk_features(jax.random.key(4), g, f, 32, 0.1, executor=threads)
    assert np.array_equal(alone.toarray(), pooled.toarray())
    assert not np.array_equal(alone.toarray(), features.walk_features(jax.random.key(5), g, f, 32, 0.1).toarray())
    lengths = walk_lengths.draw(jax.random.key(4), 34, 32, 0.1)
    deposits = walks.simulate(jax.random.key(4), g, lengths, 0.1)
    assert np.allclose(features.weigh(deposits, f, 32, (34, 34)).toarray(), alone.toarray(), rtol=1e-13)


def test_old_style_keys_and_typed_keys_agree():
    g, f = KARATE.normalised(), modulation.diffusion(1.0)
    typed, raw = (features.walk_features(make(9), g, f, 4, 0.1).toarray() for make in (jax.random.key, jax.random.PRNGKey))
    assert np.array_equal(typed, raw)


def test_pinned_draw():
    """A key means the same walks for ever: this draw was recorded when the engine was written."""
    lengths = walk_lengths.draw(jax.random.key(0), 3, 4, 0.3)
    phi = features.walk_features(jax.random.key(0), KARATE.normalised(), modulation.diffusion(1.0), 2, 0.3, nodes=[0, 5])
    assert lengths.tolist() == PINNED_LENGTHS
    assert phi.to_scipy().indices.tolist() == PINNED_NODES


PINNED_LENGTHS = [[4, 3, 3, 1], [3, 0, 4, 2], [2, 7, 4, 2]]
PINNED_NODES = [0, 8, 15, 19, 31, 32, 33, 0, 5, 6, 10]


def test_with_modulation_keeps_the_walks():
    g = KARATE.normalised()
    f, other = modulation.diffusion(1.0), modulation.regularised_laplacian(0.5, 2)
    phi = features.walk_features(jax.random.key(0), g, f, 8, 0.2)
    same = features.walk_features(jax.random.key(0), g, other, 8, 0.2)
    assert np.array_equal(phi.with_modulation(other).toarray(), same.toarray())


def test_products_are_those_of_the_dense_array():
    phi = features.walk_features(jax.random.key(0), KARATE.normalised(), modulation.diffusion(1.0), 8, 0.2, nodes=[1, 1, 7])
    v, u = np.arange(34.0), np.arange(3.0)
    assert phi.shape == (3, 34)
    assert np.allclose(phi @ v, phi.toarray() @ v)
    assert np.allclose(phi.T @ u, phi.toarray().T @ u)
    assert not np.array_equal(phi.toarray()[0], phi.toarray()[1])  # repeats of a node are independent
    assert sp.issparse(phi.to_scipy())


def test_no_nodes_gives_no_rows():
    phi = features.walk_features(jax.random.key(0), KARATE, modulation.diffusion(1.0), 2, 0.1, nodes=np.zeros(0, dtype=int))
    assert phi.shape == (0, 34)
