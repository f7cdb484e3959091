"""Learned modulations: losses are those of the walks, scales are least, many trainings are each as if alone; fits."""

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import optax
import pytest

from companion.models import descent
from companion.papers.ugrf import eight_graphs, fits, learned_modulations
from companion.papers.ugrf.eight_graphs import shared_bias, shared_errors
from rfcore import features, kernels, walks
from rfcore.features import neural
from rfcore.graphs import Graph

G = Graph.from_networkx(nx.karate_club_graph()).normalised()
KEY = jax.random.key(3)
K = kernels.regularised_laplacian(G, 0.8, 2)
SHORT = Graph.from_networkx(nx.path_graph(5)).normalised()
TARGET = 4 * kernels.regularised_laplacian(SHORT, 1.0, 2)


def loss(seed, n_walks=4):
    return learned_modulations.loss_of_walks(jax.random.key(seed), SHORT.scaled(0.5), TARGET, n_walks, 0.5, 16)


def test_shared_errors_are_those_of_dense_products():
    of_lengths, of_hops = jax.random.split(KEY)
    lengths = walks.lengths.draw(of_lengths, 3 * 34, 8, 0.4, "iid")
    deposits = walks.simulate(of_hops, G, lengths, nodes=np.tile(np.arange(34), 3))
    fs = [lambda k: 0.5**k, lambda k: np.where(k == 0, 1.0, -0.3)]
    found = shared_errors(KEY, G, [K, 2 * K], fs, 8, 0.4, n_repeats=3)
    for i, (f, target) in enumerate(zip(fs, (K, 2 * K), strict=True)):
        phi = features.weigh(deposits, f).toarray().reshape(3, 34, 34)
        expected = np.sum((phi @ phi.transpose(0, 2, 1) - target) ** 2, axis=(1, 2)) / np.sum(target**2)
        assert np.allclose(found[:, i], expected, rtol=1e-7)


def test_walks_on_the_weights_serve_every_length_scale():
    """As walks on beta W of the same key do, each beta against its own kernel."""
    sigma, beta = 0.8, 0.64 / 1.64
    assert np.allclose(eight_graphs.target(G, beta), (1 + sigma**2) ** 2 * K, rtol=1e-12)
    readings = [(lambda k: 0.9**k, beta), (lambda k: 1.0 + 0 * k, 0.2)]
    found = eight_graphs.errors(KEY, G, readings, 8, 0.4, n_repeats=3)
    for i, (f, b) in enumerate(readings):
        alone = shared_errors(KEY, G.scaled(b), [eight_graphs.target(G, b)], [f], 8, 0.4, n_repeats=3)
        assert np.allclose(found[:, i], alone[:, 0], rtol=1e-7)


def test_loss_of_walks_is_the_mean_of_shared_errors():
    found = float(loss(5, 64)(lambda k: 0.9**k))
    errors = shared_errors(jax.random.key(5), SHORT, [TARGET], [lambda k: 0.45**k], 64, 0.5, n_repeats=16)
    assert found == pytest.approx(errors.mean(), rel=0.02)  # the loss stops at ten steps


def test_best_scale_is_least():
    form = loss(0)
    c, least = learned_modulations.best_scale(form, lambda k: 0.8**k)
    nearby = [float(form(lambda k, x=x: x * c * 0.8**k)) for x in (0.98, 1.0, 1.02)]
    assert nearby[1] == pytest.approx(least, rel=1e-6)
    assert nearby[1] < min(nearby[0], nearby[2])


@pytest.mark.parametrize("shared", [True, False])
def test_each_is_learned_as_if_alone(shared):
    starts, forms = [neural.flat(), neural.flat(0.7), neural.random(KEY)], [loss(s) for s in range(3)]
    forms = [forms[0]] * 3 if shared else forms
    together = learned_modulations.learn_each(starts, forms[0] if shared else forms, 30, optax.adam(0.05))
    for i, (start, form) in enumerate(zip(starts, forms, strict=True)):
        alone = descent.learn(lambda f, form: form(f), start, (form,), 30, optax.adam(0.05)).f
        for one, other in zip(*map(jax.tree.leaves, (alone, together)), strict=True):
            assert np.allclose(one, other[i], atol=1e-5)


def test_pairs_are_learned_on_both_sides():
    pair = (neural.flat(), neural.flat(0.5))
    f1, f2 = learned_modulations.learn_each([pair, pair], loss(0), 20, optax.adam(0.05))
    alone = descent.learn(lambda pair, form: form(*pair), pair, (loss(0),), 20, optax.adam(0.05)).f
    assert np.allclose(f1.b2, alone[0].b2, atol=1e-5)
    assert np.allclose(f2.b2, alone[1].b2, atol=1e-5)
    assert not np.allclose(f1.b2, f2.b2, atol=1e-3)


def test_two_numbers_are_a_function_and_a_pytree():
    f = learned_modulations.Geometric(2.0, 0.5)
    assert np.allclose(f(jnp.arange(3)), [2.0, 1.0, 0.5])
    assert jax.tree.leaves(f) == [2.0, 0.5]


def test_a_number_is_held_out_of_its_own_fit():
    at = np.linspace(0, 4, 4001)
    curves, printed = np.stack([at, 2 * at, 3 * at]), np.array([1.0, 2.0, 9.0])
    numbers, errors, (best, _) = fits.held_out(at, curves, np.full(3, 0.1), printed, np.full(3, 0.1))
    assert numbers[2] == pytest.approx(3.0, abs=0.01)
    assert numbers[0] == pytest.approx((2 * 2 + 9 * 3) / 13, abs=0.01)
    assert best == pytest.approx((1 + 2 * 2 + 9 * 3) / 14, abs=0.002)
    assert errors[2] == pytest.approx(np.sqrt(0.01 + 9 * 0.02 / 5), rel=0.02)


def test_spread_between_draws_is_that_of_the_groups():
    rng = np.random.default_rng(0)
    drawn = 5 + 0.3 * rng.standard_normal((2000, 1)) + rng.standard_normal((2000, 20))
    mean, se, spread = fits.between_draws(drawn)
    assert spread == pytest.approx(0.3, abs=0.03)
    assert abs(mean - 5) < 4 * se
    assert se == pytest.approx(drawn.mean(axis=1).std(ddof=1) / np.sqrt(2000))
    assert fits.between_draws(rng.standard_normal((2, 5)) * 1e-9 + np.arange(5))[2] == 0.0


def test_errors_are_squared_bias_and_variance():
    f = lambda k: 0.6 * 0.3**k  # noqa: E731
    off, on = shared_bias(G, K, f, 4, 0.5)
    lengths = walks.lengths.draw(KEY, 4000 * 34, 4, 0.5, "iid")
    phi = features.weigh(walks.simulate(KEY, G, lengths, nodes=np.tile(np.arange(34), 4000)), f).toarray().reshape(-1, 34, 34)
    products = phi @ phi.transpose(0, 2, 1)
    gap = ((products.mean(axis=0) - K) ** 2 - products.var(axis=0) / 4000) / np.sum(K**2)
    assert np.trace(gap) == pytest.approx(on, rel=0.1)
    assert gap.sum() - np.trace(gap) == pytest.approx(off, rel=0.1)


def test_ratios_scatter_as_the_ratio_of_means_does():
    rng = np.random.default_rng(1)
    below = 2 + 0.2 * rng.standard_normal((20_000, 25))
    above = 0.7 * below + 0.1 * rng.standard_normal(below.shape)
    found = fits.ratios(above[0], below[0])
    assert found.mean() == pytest.approx(above[0].mean() / below[0].mean())
    spread = (above.mean(axis=1) / below.mean(axis=1)).std()
    se = np.mean([fits.ratios(a, b).std(ddof=1) / 5 for a, b in zip(above[:400], below[:400], strict=True)])
    assert se == pytest.approx(spread, rel=0.05)
