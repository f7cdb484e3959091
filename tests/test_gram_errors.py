"""Errors of estimated Gram matrices are what the estimates themselves give, and as large as theory says."""

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from rounding import rounding
from scipy import stats

from companion import evidence, gram_errors
from companion import gram_errors as errors
from companion.papers.simplex import gram_matrices
from rfcore import couplings, features, kernels, theory
from rfcore.features import modulation
from rfcore.graphs import Graph

TRIANGLE, PATH = (Graph.from_networkx(g).normalised() for g in (nx.lollipop_graph(3, 1), nx.path_graph(3)))
PAIRS = {
    "diffusion": (lambda g: kernels.diffusion(g, 1.0), modulation.diffusion(1.0)),
    "p_step": (lambda g: kernels.p_step(g, 3.0, 2), modulation.p_step(3.0, 2)),
}
ROUNDING = 1e-13  # products of three or four numbers below 2, over kernels of norm 1 or more


def test_errors_of_walks_are_as_large_as_the_closed_form_says():
    found = gram_errors.gram_errors(jax.random.key(0), {"a": TRIANGLE, "b": PATH}, PAIRS, (2, 8), 0.3, n_repeats=500)
    assert found.shape == (500, 2, 2, 2)
    expected = np.array([
        [[theory.walk_gram_mse(g, f, f, n, 0.3) / np.linalg.norm(kernel(g)) ** 2 for n in (2, 8)] for kernel, f in PAIRS.values()]
        for g in (TRIANGLE, PATH)
    ])  # fmt: skip
    decision = evidence.unbiased(found**2, expected, smallest_bias=expected / 2)
    assert decision.verdict is evidence.Verdict.REPRODUCED, decision.detail


def test_repeats_graphs_and_walkers_have_walks_of_their_own_and_kernels_share_them():
    same = [PAIRS["diffusion"]] * 2
    found = gram_errors.gram_errors(jax.random.key(1), [PATH, PATH], same, [4, 4], 0.3, n_repeats=3, coupling="reversal")
    assert np.array_equal(found[:, :, 0], found[:, :, 1])
    assert len(np.unique(found[:, :, 0])) == 3 * 2 * 2
    single = gram_errors.gram_errors(jax.random.key(1), [PATH], same[:1], [4], 0.3, n_repeats=3, coupling="reversal")
    assert np.array_equal(single[:, 0, 0, 0], found[:, 0, 0, 0])
    assert not np.array_equal(single, gram_errors.gram_errors(jax.random.key(1), [PATH], same[:1], [4], 0.3, n_repeats=3))


def test_repeats_taken_a_few_at_once_are_the_same(monkeypatch):
    arguments = (jax.random.key(5), [TRIANGLE], PAIRS, [3], 0.3, 7)
    together = gram_errors.gram_errors(*arguments)
    monkeypatch.setattr(errors, "ROWS", 2 * 4)  # two at once, the last alone
    assert np.allclose(gram_errors.gram_errors(*arguments), together, rtol=0, atol=ROUNDING)


def test_one_walk_matrix_by_hand():
    key = jax.random.key(2)
    found = gram_errors.gram_errors(key, [TRIANGLE], PAIRS, [5], 0.3, n_repeats=1)[0, 0, :, 0]
    sides = jax.random.split(jax.random.fold_in(jax.random.fold_in(key, 0), 0))
    for error, (kernel, f) in zip(found, PAIRS.values(), strict=True):
        phi, psi = (features.walk_features(side, TRIANGLE, f, 5, 0.3, "iid").toarray() for side in sides)
        K = kernel(TRIANGLE)
        assert error == pytest.approx(np.linalg.norm(phi @ psi.T - K) / np.linalg.norm(K), rel=0, abs=ROUNDING)


def test_euclidean_errors_are_those_of_the_first_frequencies_of_one_draw():
    x, key = 0.3 * jax.random.normal(jax.random.key(3), (4, 3)), jax.random.key(4)
    draws = {"iid": couplings.iid, "plain": lambda key, m, d: jax.random.normal(key, (m, d))}
    found = jax.jit(lambda key, x: gram_matrices.errors(key, x, draws, [3, 6]))(key, x)
    assert found.shape == (2, 2)
    K = kernels.gaussian(x, x)
    for row, draw in zip(found, draws.values(), strict=True):
        omega = draw(key, 6, 3)
        for error, m in zip(row, (3, 6), strict=True):
            phi = features.positive(x, omega[:m])
            # Two orders of the same sums of numbers below 2, over a norm above 1.
            assert float(error) == pytest.approx(float(jnp.linalg.norm(phi @ phi.T - K) / jnp.linalg.norm(K)), rel=0, abs=1e-13)


def test_every_kind_of_estimate_has_the_error_of_its_dense_matrix():
    rng = np.random.default_rng(0)
    K, (phi, psi) = kernels.diffusion(TRIANGLE, 1.0), (sp.random_array((8, 9), density=0.5, rng=rng, format="csr") for _ in range(2))
    grams = np.stack([(phi[r : r + 4] @ psi[r : r + 4].T).toarray() for r in (0, 4)])
    for relative in (False, True):
        size = np.linalg.norm(K) if relative else 1.0
        truth = np.array([np.linalg.norm(gram - K) / size for gram in grams])
        for squared in (False, True):
            found = [gram_errors.gram_error(estimate, K, relative, squared) for estimate in ((phi, psi), grams, jnp.asarray(grams))]
            found.append([gram_errors.gram_error(sp.csr_array(gram), sp.csr_array(K), relative, squared) for gram in grams])
            assert np.allclose(found, truth ** (1 + squared), rtol=ROUNDING, atol=0)
    for estimate in (K[:1], grams[0, 0], (phi, psi[:4]), (phi[:6], psi[:6])):
        with pytest.raises(ValueError, match=r"estimate has .*; give"):
            gram_errors.gram_error(estimate, K)


def test_mean_and_se_keep_the_kind_of_array():
    draws = np.random.default_rng(0).normal(size=(5, 2, 3))
    for kind in (np.asarray, jnp.asarray):
        mean, se = gram_errors.mean_and_se(kind(draws))
        assert isinstance(se, type(kind(draws)))
        assert np.allclose(mean, draws.sum(axis=0) / 5, rtol=0, atol=rounding(10, draws))
        assert np.allclose(se, stats.sem(draws, axis=0), rtol=rounding(50), atol=0)
    with pytest.raises(ValueError, match=r"estimates has shape \(1, 2, 3\); give at least two"):
        gram_errors.mean_and_se(draws[:1])
