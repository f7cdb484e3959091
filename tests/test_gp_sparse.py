"""Sparse Gaussian processes on graphs against dense ones, and the fit against the evidence that it maximises."""

import jax
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from rounding import rounding

from rfcore import features, gp, kernels, walks
from rfcore.couplings import walk_lengths
from rfcore.features import modulation
from rfcore.graphs import Graph

KEY = jax.random.key(0)
G = Graph.from_networkx(nx.grid_2d_graph(12, 12)).normalised()
THETA = gp.hyperparameters(2.0, 1.3, 0.05)


def test_sparse_kernel_is_the_kernel_but_for_what_is_left_out():
    """Left out are powers of a total weight below tol, entries of W^k being at most 1, and then entries below tol."""
    dense = 2.0 * kernels.diffusion(G, np.sqrt(2) * 1.3)
    for tol in (1e-3, 1e-7):
        K = gp.diffusion_covariance(THETA, G, tol)
        slack = rounding(1000 * G.n_nodes, 2.0)
        assert np.abs(K.toarray() - dense).max() <= 2 * 2.0 * tol + slack
        assert K.nnz < np.sum(dense > tol * 2.0) + 1
    assert gp.diffusion_covariance(THETA, G, 1e-3).nnz < G.n_nodes**2 / 3


def test_sparse_elimination_finds_the_posterior():
    phi = features.walk_features(KEY, G, modulation.diffusion(1.8), 16, 0.4)
    seen, asked = np.arange(0, 140, 2)[::-1], np.array([1, 20, 143, 20])
    for K in (gp.diffusion_covariance(THETA, G), phi @ phi.T):
        dense, y = K.toarray(), np.sin(seen)
        system = dense[np.ix_(seen, seen)] + 0.05 * np.eye(len(seen))
        slack = rounding(100 * len(seen) * np.linalg.cond(system), np.abs(dense).sum(axis=1).max())
        for given in (asked, None):
            found, exact = gp.posterior(K, y, 0.05, seen, given), gp.posterior(dense, y, 0.05, seen, given)
            assert np.allclose(found.mean, exact.mean, rtol=0, atol=slack)
            assert np.allclose(found.covariance, exact.covariance, rtol=0, atol=slack)
    assert slack < 1e-6


def test_no_hyper_parameters_nearby_have_more_evidence():
    """Exact evidence of the same walks. Probes of signs leave noise, so steps are large and probes many."""
    g = Graph.from_networkx(nx.grid_2d_graph(20, 20)).normalised()
    seen = np.arange(400)[np.arange(400) % 20 != 3]
    law = kernels.diffusion(g, np.sqrt(2) * 1.5)[np.ix_(seen, seen)] + 0.3 * np.eye(len(seen))
    y = 3 * np.linalg.cholesky(law) @ np.random.default_rng(0).normal(size=len(seen))
    deposits = walks.simulate(KEY, g, walk_lengths.draw(KEY, len(seen), 32, 0.4), nodes=seen)
    theta = gp.fit_diffusion(KEY, deposits, y, n_probes=200)

    def evidence(variance, lengthscale, noise):
        phi = features.weigh(deposits, modulation.diffusion(np.sqrt(2) * lengthscale))
        return float(gp.log_evidence(gp.OfFeatures(np.sqrt(variance) * phi), y, noise))

    best = np.exp(np.array([float(log) for log in theta]))
    for i in range(3):
        for factor in (0.75, 1 / 0.75):
            moved = best.copy()
            moved[i] *= factor
            assert evidence(*moved) < evidence(*best)
    assert np.all(np.abs(np.log(best / [9.0, 1.5, 2.7])) < 0.7)  # what y was drawn with, but for the noise of the walks


def test_a_covariance_that_is_none_is_refused():
    K, seen = gp.diffusion_covariance(THETA, G), np.arange(0, 144, 2)
    shifted = K - 0.5 * sp.eye_array(144)  # and with the noise still indefinite
    for bad in (-K, shifted, -0.05 * sp.eye_array(144), sp.csr_array(np.fliplr(np.eye(144)))):
        with pytest.raises(ValueError, match="K, with the noise, has eigenvalues that are not positive; give"):
            gp.posterior(bad, np.sin(seen), 0.05, seen)
