"""Tests that networkx and SciPy ship, run against ours, and GPJax's random features with our frequencies.

Those of scikit-learn are in test_estimators.py; GPJax ships none.
"""

import gpjax
import jax
import numpy as np
import pytest
from networkx.algorithms.link_analysis.tests import test_pagerank as of_networkx
from scipy.sparse.csgraph.tests import test_matching as of_scipy

from companion.models import pagerank
from rfcore import couplings, kernels
from rfcore.graphs import Graph
from rfcore.solvers import transport

X = np.random.default_rng(0).normal(size=(20, 3))


def test_networkx_of_pagerank():
    """With a dangling node. It is exact: where power iterations start and when they stop is nothing to it."""

    def ours(G, alpha=0.85, tol=None, nstart=None):
        return dict(zip(G, pagerank.exact(Graph.from_networkx(G), 1 - alpha, dangling="uniform"), strict=True))

    tests = of_networkx.TestPageRank()
    tests.setup_class()
    tests.test_pagerank(ours)


@pytest.mark.parametrize(("sign", "case"), list(of_scipy.linear_sum_assignment_test_cases))
def test_scipy_of_the_assignment(sign, case):
    """Also of costs that are not square, with rows or columns of zeros added and taken off again, or infinite, here 10^6."""

    def ours(costs, maximize):
        costs = np.asarray(costs, dtype=float)
        square = np.zeros(2 * [max(costs.shape)])
        square[: costs.shape[0], : costs.shape[1]] = np.clip(-costs if maximize else costs, -1e6, 1e6)
        rows, columns = np.arange(len(square)), transport.assignment(square)
        real = (rows < costs.shape[0]) & (columns < costs.shape[1])
        return rows[real], columns[real]

    of_scipy.linear_sum_assignment_assertions(ours, np.array, sign, case)


@pytest.mark.parametrize(
    ("base", "draw", "truth"),
    [
        (gpjax.kernels.RBF(n_dims=3, lengthscale=2.0), couplings.orthogonal, kernels.gaussian),
        (gpjax.kernels.RBF(n_dims=3, lengthscale=2.0), couplings.simplex, kernels.gaussian),
        (gpjax.kernels.Matern32(n_dims=3, lengthscale=2.0), couplings.matern, lambda x, y: kernels.matern(x, y, 1.5)),
    ],
)
def test_gpjax_with_our_frequencies(base, draw, truth):
    """Its product of features is our kernel, and its own; with its own draws the error is of the same size."""
    m, nu = 4000, {"nu": 1.5} if draw is couplings.matern else {}
    gram = np.asarray(truth(X / 2, X / 2))
    assert np.allclose(base.gram(X).as_matrix(), gram, rtol=0, atol=1e-6)

    def error(frequencies):
        features = gpjax.kernels.RFF(base, m, frequencies=frequencies, key=jax.random.key(1))
        return np.sqrt(np.mean((features.gram(X).as_matrix() - gram) ** 2))

    ours = [error(draw(key, m, 3, **nu) / 2) for key in jax.random.split(jax.random.key(0), 10)]
    assert np.mean(ours) < 1.5 * error(None)
