"""Features whose first hops are exact: unbiased with two keys, exact where f ends, and far better than walks alone."""

import jax
import networkx as nx
import numpy as np
import pytest

from rfcore import features, kernels
from rfcore.features import modulation
from rfcore.graphs import Graph

G = Graph.from_networkx(nx.karate_club_graph()).normalised()
W = G.to_scipy().toarray()
F = modulation.diffusion(1.0)


def walked(seed, hops, f=F, g=G, n_walks=8, **more):
    return features.walk_features(jax.random.key(seed), g, f, n_walks, 0.3, exact_hops=hops, **more)


def test_no_hop_is_walks_alone():
    assert (walked(0, 0).to_scipy() != features.walk_features(jax.random.key(0), G, F, 8, 0.3).to_scipy()).nnz == 0


@pytest.mark.parametrize("hops", [3, 5])
def test_an_f_that_ends_is_exact(hops):
    f = modulation.from_values([0.5, -0.3, 0.2])
    exact = 0.5 * np.eye(34) - 0.3 * W + 0.2 * W @ W
    assert np.allclose(walked(0, hops, f).toarray(), exact, rtol=0, atol=1e-14)


@pytest.mark.parametrize("hops", [1, 2])
def test_two_keys_are_unbiased_rows_of_some_nodes_too(hops):
    nodes = [3, 3, 30]
    drawn = np.stack([(walked(2 * i, hops, nodes=nodes) @ walked(2 * i + 1, hops).T).toarray() for i in range(400)])
    exact, error = kernels.diffusion(G, 1.0)[nodes], drawn.std(axis=0, ddof=1) / np.sqrt(400)
    assert np.all(abs(drawn.mean(axis=0) - exact) < 5 * error)


def test_weights_that_are_not_normalised_or_directed():
    g = Graph.from_networkx(nx.gnp_random_graph(12, 0.4, seed=1, directed=True))
    f = modulation.from_values([1.0, 0.3, 0.1, 0.02])
    exact = sum(f(np.arange(4))[k] * np.linalg.matrix_power(g.to_scipy().toarray(), k) for k in range(4))
    drawn = np.stack([walked(i, 1, f, g).toarray() for i in range(400)])
    error = drawn.std(axis=0, ddof=1) / np.sqrt(400)
    assert np.all(abs(drawn.mean(axis=0) - exact) < 5 * error + 1e-12)


def test_each_hop_leaves_a_small_part_of_the_error():
    exact = kernels.diffusion(G, 1.0)

    def error(hops):
        return np.mean([np.linalg.norm((walked(2 * i, hops) @ walked(2 * i + 1, hops).T).toarray() - exact) for i in range(20)])

    errors = [error(hops) for hops in (0, 1, 2)]
    assert errors[1] < errors[0] / 5 and errors[2] < errors[1] / 4


def test_another_modulation_has_the_same_walks():
    other = modulation.p_step(2.0, 4)
    assert np.allclose(walked(0, 1).with_modulation(other).toarray(), walked(0, 1, other).toarray(), rtol=0, atol=1e-15)
    assert "exact_hops=1" in repr(walked(0, 1))


def test_they_are_stored():
    with pytest.raises(ValueError, match="exact_hops = 1 and stored = False"):
        walked(0, 1, stored=False)
    with pytest.raises(ValueError, match="exact_hops = -1"):
        walked(0, -1)
