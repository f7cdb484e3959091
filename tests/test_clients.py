"""What strangers write: each client at most 30 lines through the public interface alone, in float32, which users have.

Those of the review that stand elsewhere: an estimator in a pipeline (``test_estimators.py`` and the page
``beyond/01_in_a_pipeline``), walks on a cluster (``beyond/04_many_machines``).
"""

import inspect
import re
import warnings

import equinox as eqx
import gpjax as gpx
import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import optax
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import expm_multiply

from rfcore import checks, couplings, features, gp, kernels
from rfcore.attention import FeatureAttention
from rfcore.estimators import RandomFeatures
from rfcore.graphs import Graph


@pytest.fixture(autouse=True)
def as_users_have_it():
    with jax.enable_x64(False):
        yield


class Block(eqx.Module):
    """A transformer's block, written without a thought of random features."""

    attention: eqx.Module
    mlp: eqx.nn.MLP
    norms: tuple

    def __call__(self, x):
        h = jax.vmap(self.norms[0])(x)
        x = x + self.attention(h, h, h)
        return x + jax.vmap(self.mlp)(jax.vmap(self.norms[1])(x))


def block_in_training():
    """Losses and gradients of a block with exact attention and with ours, the latter after two steps too."""
    keys = jax.random.split(jax.random.key(0), 5)
    attention = eqx.nn.MultiheadAttention(2, 16, key=keys[0])
    exact = Block(attention, eqx.nn.MLP(16, 16, 32, 1, key=keys[1]), (eqx.nn.LayerNorm(16), eqx.nn.LayerNorm(16)))
    ours = eqx.tree_at(lambda block: block.attention, exact, FeatureAttention(attention, 512, key=keys[2]))  # the one line

    x = jax.random.normal(keys[3], (4, 32, 16))  # four sequences of 32 tokens
    y = x[:, ::-1]

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def loss(block):
        return jnp.mean((jax.vmap(block)(x) - y) ** 2)

    optimiser, trained, losses = optax.adam(1e-2), ours, []
    state = optimiser.init(eqx.filter(ours, eqx.is_inexact_array))
    for _ in range(2):
        value, gradient = loss(trained)
        updates, state = optimiser.update(gradient, state)
        trained = eqx.apply_updates(trained, updates)
        losses.append(value)
    return exact, ours, trained, loss, losses


def test_attention_of_a_transformer_is_replaced_in_one_line_and_trained():
    exact, ours, trained, loss, losses = block_in_training()
    (value, gradient), (of_exact, its_gradient) = loss(ours), loss(exact)
    assert abs(value - of_exact) < 0.01 * of_exact
    pairs = [(gradient.mlp, its_gradient.mlp), (gradient.attention.attention, its_gradient.attention)]
    for one, other in (map(ravelled, pair) for pair in pairs):
        assert jnp.linalg.norm(one - other) < 0.2 * jnp.linalg.norm(other)
    assert loss(trained)[0] < losses[1] < losses[0]
    assert np.array_equal(trained.attention.omega, ours.attention.omega)


def ravelled(gradient):
    return jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(gradient) if eqx.is_array(leaf)])


def process_on_a_graph():
    """Readings at half the places of a net, with noise; predictions for the others, and what was read there."""
    net = nx.grid_2d_graph(24, 24)
    g = Graph.from_networkx(net)
    rng = np.random.default_rng(0)
    truth = np.linalg.cholesky(20 * kernels.diffusion(g, 3.0) + 1e-9 * np.eye(576)) @ rng.normal(size=576)
    readings = truth + 0.3 * rng.normal(size=576)
    order = rng.permutation(576)
    seen, asked = order[:288], order[288:]

    eigenvalues, rows = kernels.spectrum(g.normalised())
    data = gpx.Dataset(X=rows[seen], y=readings[seen, None])
    prior = gpx.gps.Prior(mean_function=gpx.mean_functions.Zero(), kernel=gp.Diffusion(eigenvalues))
    model, _ = gpx.fit_lbfgs(
        model=prior * gpx.likelihoods.Gaussian(), objective=lambda m, d: -gpx.objectives.conjugate_mll(m, d), train_data=data
    )
    found = model.likelihood(model.predict(rows[asked], train_data=data))
    return readings[asked], np.asarray(found.mean), np.asarray(found.variance)


def test_a_process_on_a_graph_is_fitted_and_predicts_with_the_error_that_it_states():
    with jax.enable_x64(True):
        values, mean, variance = process_on_a_graph()
    z = (values - mean) / np.sqrt(variance)
    # Four standard errors of 144 independent values: neighbours among the 288 err together.
    assert abs(np.mean(z**2) - 1) < 4 * np.sqrt(2 / 144)
    assert abs(np.mean(abs(z) < 1.96) - 0.95) < 4 * np.sqrt(0.05 * 0.95 / 144)
    assert np.mean((values - mean) ** 2) < 0.5 * np.var(values)


def products_on_a_large_graph():
    """The diffusion kernel of 10,000 nodes times a vector: by features, and by three ways that are better."""
    rng, n = np.random.default_rng(0), 10_000
    ring = np.arange(n)
    edges = np.concatenate([[ring, (ring + 1) % n], rng.integers(n, size=(2, 2 * n))], axis=1)
    g = Graph.from_edges(np.concatenate([edges, edges[::-1]], axis=1), n_nodes=n).normalised()
    v, sigma = rng.normal(size=n), 1.0

    def random_feature_attention(n_walks):
        f, keys = features.modulation.diffusion(sigma), jax.random.split(jax.random.key(0))
        phi, psi = (features.walk_features(key, g, f, n_walks, p_halt=0.1) for key in keys)
        return phi @ (psi.T @ v)

    exact = expm_multiply(-(sigma**2) / 2 * (sp.eye_array(n) - g.to_scipy()), v)
    better = (
        np.exp(-(sigma**2) / 2) * kernels.expm_multiply(g, sigma**2 / 2, v),
        kernels.chebyshev_matvec(g, kernels.Diffusion(sigma), v, degree=16),
    )
    return exact, random_feature_attention(16), random_feature_attention(128), better


def test_a_product_on_a_large_graph_by_features_and_by_what_is_better():
    exact, few, many, better = products_on_a_large_graph()
    errors = [np.linalg.norm(product - exact) / np.linalg.norm(exact) for product in (few, many, *better)]
    assert abs(errors[0] / errors[1] / np.sqrt(8) - 1) < 0.1  # errors fall as 1 / sqrt(n_walks), here over 10,000 nodes
    assert errors[0] < 0.2
    assert max(errors[2:]) < 1e-12


@pytest.mark.parametrize("client", [block_in_training, process_on_a_graph, products_on_a_large_graph])
def test_a_client_is_short_and_public(client):
    code = [line for line in inspect.getsource(client).splitlines() if line.strip()]
    assert len(code) <= 30
    assert not [name for name in client.__code__.co_names if name.startswith("_")]


FLOAT64 = r"an array is float64, and JAX computes it in float32; for float64 put jax.config.update\(\"jax_enable_x64\", True\) .* x.astype"


def test_a_float64_array_that_is_cut_is_told_so_once():
    checks._say_that_float64_is_cut.cache_clear()
    x, omega = np.ones((3, 2)), np.eye(2, dtype=np.float32)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        features.fourier(x, omega)
        kernels.gaussian(x, x)
    (warning,) = said
    assert re.match(FLOAT64, str(warning.message))
    checks._say_that_float64_is_cut.cache_clear()
    features.fourier(x.astype(np.float32), omega)  # what it advises is silent


def cut_nothing():
    """What keeps float64, has none, or is traced."""
    x, X = [[0.1, 0.2]], np.random.default_rng(0).normal(size=(20, 3))
    g = Graph.from_networkx(nx.path_graph(4))
    f = features.modulation.diffusion(1.0)
    key = jax.random.key(0)
    return (
        lambda: kernels.gaussian(x, x),
        lambda: kernels.gaussian(jnp.ones((2, 2)), np.ones((2, 2), dtype=np.float32)),
        lambda: jax.jit(features.fourier)(X, X),
        lambda: jax.jit(lambda y: features.fourier(X, y))(jnp.ones((2, 3))),
        lambda: jax.vmap(features.fourier)(X[None], X[None]),
        lambda: jax.grad(lambda y: features.fourier(y, y).sum())(X),
        lambda: RandomFeatures(8, random_state=0).fit_transform(X),
        lambda: features.walk_features(key, g.normalised(), f, 4, 0.5) @ np.ones(4),
        lambda: kernels.chebyshev_matvec(g.normalised(), kernels.Diffusion(1.0), np.ones(4), 8),
        lambda: kernels.diffusion(g, 1.0),
        lambda: couplings.orthogonal_pnc(key, 8, 4),
    )


@pytest.mark.parametrize("call", cut_nothing())
def test_what_is_not_cut_is_not_told_so(call):
    """Warnings are errors here."""
    call()


def test_with_x64_float64_stays():
    with jax.enable_x64(True):
        assert features.fourier(np.ones((3, 2)), np.eye(2)).dtype == np.float64
