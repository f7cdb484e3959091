"""Blocks of kernels between few nodes: exactly by columns and by push, without bias by walks, and from powers."""

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
from rounding import rounding

from companion.papers.ugrf import blocks
from rfcore import features, kernels
from rfcore.features import modulation
from rfcore.graphs import Graph

KEY = jax.random.key(0)
G = Graph.from_networkx(nx.grid_2d_graph(8, 8)).normalised()
S = np.array([27, 3, 28, 60])
K = kernels.diffusion(G, 1.0)[np.ix_(S, S)]
F = modulation.diffusion(1.0)


def test_columns_and_pushed_rows_give_the_block():
    slack = rounding(2000, 1.0)
    assert np.allclose(blocks.by_columns(G, kernels.Diffusion(1.0), 20, S), K, rtol=0, atol=slack)
    assert np.allclose(blocks.by_push(G, F, 20, S), K, rtol=0, atol=slack)


def test_push_is_the_features_of_infinitely_many_walks_cut_at_the_degree():
    R = sum(F(np.arange(3))[k] * np.linalg.matrix_power(G.to_scipy().toarray(), k)[S] for k in range(3))
    assert np.allclose(blocks.by_push(G, F, 2, S), R @ R.T, rtol=0, atol=rounding(500, 1.0))


def test_walks_estimate_the_block_without_bias_on_the_diagonal_too():
    near = np.array([27, 28, 35])  # far ones meet too rarely for an error bar
    drawn = np.stack([blocks.by_walks(key, G, F, 4, 0.3, near) for key in jax.random.split(KEY, 400)])
    error = drawn.std(axis=0, ddof=1) / np.sqrt(400)
    assert np.all(np.abs(drawn.mean(axis=0) - kernels.diffusion(G, 1.0)[np.ix_(near, near)]) < 4.5 * error)


def test_powers_and_stored_walks_are_series_in_any_modulation():
    values = jnp.asarray([0.6, 0.3, 0.1])
    W = G.to_scipy().toarray()
    exact = sum(float(jnp.convolve(values, values)[k]) * np.linalg.matrix_power(W, k) for k in range(5))[np.ix_(S, S)]
    series = jnp.tensordot(jnp.convolve(values, values), blocks.powers(G, 5, S), axes=1)
    assert np.allclose(series, exact, rtol=0, atol=rounding(500, 1.0))
    f = modulation.from_values(values)
    assert blocks.deposits(KEY, G, 8, 0.3, 2, S).n_steps == 3
    stored = blocks.deposits(KEY, G, 8, 0.3, 1000, S)  # none is that long
    phi, whole = stored.with_modulation(f), features.walk_features(KEY, G, f, 8, 0.3, "iid", S)
    assert stored.shape[1] < G.n_nodes
    assert np.allclose(phi @ phi.T, (whole @ whole.T).toarray(), rtol=0, atol=rounding(500, 1.0))
