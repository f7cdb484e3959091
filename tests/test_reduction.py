"""Reduced features have the products of the whole features as their mean, given the features."""

import jax
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from rounding import rounding

from companion import evidence
from companion.papers.ugrf import reduction
from rfcore import features
from rfcore.features import modulation
from rfcore.graphs import Graph

G = Graph.from_networkx(nx.karate_club_graph()).normalised()
PHI, PSI = (features.walk_features(jax.random.key(key), G, modulation.diffusion(2.0), 8, 0.2) for key in (0, 1))
WAYS = {
    "gaussian": lambda key, phi: reduction.johnson_lindenstrauss(key, phi, 12),
    "sparse": lambda key, phi: reduction.johnson_lindenstrauss(key, phi, 12, kind="sparse"),
    "sparse, 3 places": lambda key, phi: reduction.johnson_lindenstrauss(key, phi, 12, kind="sparse", nonzeros=3),
    "anchors": lambda key, phi: reduction.anchor_points(key, phi, 12),
}


def dense(x):
    return x.toarray() if sp.issparse(x) else x


@pytest.mark.parametrize("way", WAYS)
def test_products_are_unbiased_given_the_features(way):
    reduced = [[dense(WAYS[way](jax.random.key(key), phi)) for phi in (PHI, PSI)] for key in range(600)]
    assert reduced[0][0].shape == (34, 12)
    estimates = np.array([phi @ psi.T for phi, psi in reduced])
    # The first five rows: 25 entries and their mean.
    decision = evidence.unbiased(estimates[:, :5, :5], (PHI.toarray() @ PSI.toarray().T)[:5, :5], smallest_bias=0.1)
    assert decision.verdict is evidence.Verdict.REPRODUCED, decision.detail


@pytest.mark.parametrize("way", WAYS)
def test_kinds_of_input_agree_and_the_key_decides(way):
    results = [dense(WAYS[way](jax.random.key(0), phi)) for phi in (PHI, PHI.to_scipy(), PHI.toarray())]
    assert np.allclose(results[0], results[1])
    assert np.allclose(results[0], results[2])
    assert not np.allclose(results[0], dense(WAYS[way](jax.random.key(1), PHI)))


def test_error_of_the_gaussian_projection_is_that_of_johnson_and_lindenstrauss():
    """Of one product (|x|^2 |y|^2 + (x . y)^2) / n_features, of several their sum; sparse features say the same."""
    x, y = np.array([[1.0, 2.0, 0.0, -1.0]]), np.array([[0.5, 1.0, 3.0, 0.0], [1.0, 0.0, 0.0, 2.0]])
    both, errors = np.concatenate([x, y]), np.empty(4000)
    for key in range(4000):
        left, *right = reduction.johnson_lindenstrauss(jax.random.key(key), both, 5)
        errors[key] = np.sum((np.stack(right) @ left - y @ x[0]) ** 2)
    expected = reduction.johnson_lindenstrauss_mse(x, y, 5)
    assert expected == pytest.approx((6 * 15.25 + 2.5**2 + 1) / 5)
    decision = evidence.unbiased(errors, expected, smallest_bias=expected / 5)
    assert decision.verdict is evidence.Verdict.REPRODUCED, decision.detail
    of_sparse = reduction.johnson_lindenstrauss_mse(PHI, PSI.to_scipy(), 3)
    of_dense = reduction.johnson_lindenstrauss_mse(PHI.toarray(), PSI.toarray(), 3)
    assert of_sparse == pytest.approx(of_dense, rel=rounding(34**2 + 4 * 34))  # a sum of 34^2 positive terms, each of sums of 34


def test_all_anchors_lose_nothing():
    assert np.array_equal(reduction.anchor_points(jax.random.key(0), PHI, 34).toarray(), PHI.toarray())
    assert sp.issparse(reduction.anchor_points(jax.random.key(0), PHI, 4))
    assert len(np.unique(reduction.anchor_points(jax.random.key(0), np.arange(34.0)[None], 20))) == 20
