"""Posterior means from streamed features, and from products with the kernel, against dense algebra."""

from functools import partial

import jax
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from rounding import rounding
from scipy.sparse.linalg import aslinearoperator

from rfcore import features, gp, kernels
from rfcore.features import modulation
from rfcore.graphs import Graph

G = Graph.from_networkx(nx.grid_2d_graph(9, 9)).normalised()
SEEN = np.arange(0, 81, 4)[::-1]
Y = np.sin(SEEN)
NOISE = 0.05


def test_weights_predict_what_the_dense_posterior_does_with_the_same_features():
    own, others = jax.random.split(jax.random.key(0))
    what = G, modulation.diffusion(2.0), 16, 0.1
    phi = features.walk_features(own, *what, nodes=SEEN)
    asked = features.walk_features(others, *what, stored=False)
    b = gp.mean_weights(phi, Y, NOISE, rtol=1e-14)
    both = np.vstack([phi.toarray(), asked.toarray()])
    system = both[:21] @ both[:21].T + NOISE * np.eye(21)
    slack = rounding(1000 * np.linalg.cond(system), Y, both)
    exact = gp.posterior(both @ both.T, Y, NOISE, np.arange(21)).mean
    assert np.allclose(asked @ b, exact, rtol=0, atol=slack)
    assert np.allclose(b, phi.T @ np.linalg.solve(system, Y), rtol=0, atol=slack)
    assert np.array_equal(b, gp.mean_weights(phi.to_scipy(), Y, NOISE, rtol=1e-14))


@pytest.mark.parametrize("asked", [None, np.array([3, 80, 4, 3])])
def test_products_with_the_kernel_give_its_posterior(asked):
    """Whoever multiplies: an operator, or features that are walked anew."""
    walk = partial(features.walk_features, jax.random.key(0), G, modulation.diffusion(2.0), 16, 0.1)
    phi = walk()
    for K, given in ((kernels.diffusion(G, 2.0), None), ((phi @ phi.T).toarray(), walk(stored=False))):
        found = gp.posterior(aslinearoperator(K) if given is None else given, Y, NOISE, SEEN, asked, rtol=1e-14)
        exact = gp.posterior(K, Y, NOISE, SEEN, asked)
        system = K[np.ix_(SEEN, SEEN)] + NOISE * np.eye(21)
        slack = rounding(1000 * np.linalg.cond(system), Y, K)
        assert np.allclose(found.mean, exact.mean, rtol=0, atol=slack)
        assert np.allclose(found.covariance, exact.covariance, rtol=0, atol=slack)


def test_a_node_seen_twice_counts_twice():
    twice = gp.posterior(aslinearoperator(2 * np.eye(2)), [1.0, 2.0], 0.5, [1, 1], [0, 1], covariance=False)
    assert np.allclose(twice.mean, [0.0, 2 * 3 / 4.5], rtol=0, atol=rounding(100, 2.0))


def test_what_is_too_few_steps_is_said():
    phi = sp.csr_array(np.diag(np.arange(1.0, 9.0)))
    with pytest.raises(RuntimeError, match="give more max_steps"):
        gp.mean_weights(phi, np.ones(8), 0.01, rtol=1e-12, max_steps=2)
    with pytest.raises(RuntimeError, match="give more max_steps"):
        gp.posterior(aslinearoperator(phi), np.ones(8), 0.01, np.arange(8), max_steps=2)
