"""Gaussian processes on features against Gaussian processes on matrices, and those against SciPy."""

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from rounding import rounding
from scipy import stats

from rfcore import features, gp, kernels, walks
from rfcore.couplings import walk_lengths
from rfcore.features import modulation
from rfcore.gp import inference
from rfcore.graphs import Graph

G = Graph.from_networkx(nx.karate_club_graph()).normalised()
KEY, F, NOISE = jax.random.key(0), modulation.diffusion(2.0), 0.1
STEPS = features.by_step(walks.simulate(KEY, G, walk_lengths.draw(KEY, 34, 16, 0.5)))
PHI = features.walk_features(KEY, G, F, 16, 0.5)
DENSE = PHI.toarray()
K = DENSE @ DENSE.T
SEEN, ASKED = np.array([30, 2, 5, 17, 0, 9, 5, 12]), np.array([1, 20, 5])  # one node was seen twice
Y = np.sin(np.arange(8.0))
kl, log_evidence = jax.jit(gp.kl), jax.jit(gp.log_evidence)  # compiled whole: step by step takes several times as long


def test_posterior_is_the_conditional_law_of_the_joint_gaussian():
    """By the inverse of the whole covariance: given the seen, the others' precision is its block."""
    mean, covariance = jax.jit(lambda K: gp.posterior(K, Y, NOISE, SEEN))(kernels.diffusion(G, 1.0))
    others = np.setdiff1d(np.arange(34), SEEN)
    order = np.append(others, SEEN)
    joint = kernels.diffusion(G, 1.0)[np.ix_(order, order)] + np.diag([0.0] * 27 + [NOISE] * 8)
    precision = np.linalg.inv(joint)
    expected = np.linalg.inv(precision[:27, :27])
    slack = rounding(100 * np.linalg.cond(joint), joint)
    assert np.allclose(covariance, expected, rtol=0, atol=slack)
    assert np.allclose(mean, -expected @ precision[:27, 27:] @ Y, rtol=0, atol=slack)


def test_conjugate_gradients_find_the_posterior():
    """The residual is below 1e-10 of y, and the least eigenvalue of the system at least NOISE."""
    exact = jax.jit(lambda K: gp.posterior(K, Y, NOISE, SEEN, ASKED))(K)
    slack = 1e-10 * np.sqrt(8) / NOISE * np.abs(K).sum(axis=1).max()
    found = gp.posterior(PHI, Y, NOISE, SEEN, ASKED, rtol=1e-10)
    for ours, theirs in zip((*found, found.variance), (*exact, np.diag(exact.covariance)), strict=True):
        assert np.allclose(ours, theirs, rtol=0, atol=slack)
    alone = gp.posterior(PHI, Y, NOISE, SEEN, ASKED, covariance=False, rtol=1e-10)
    assert np.allclose(alone.mean, exact.mean, rtol=0, atol=slack)
    assert alone.covariance is None


def test_sparse_features_are_solved_on_the_host_as_they_are_in_jax():
    """The same systems by SciPy and by lineax, to the residual of 1e-10 that both have."""
    in_jax = jax.jit(lambda y: gp.posterior(PHI, y, NOISE, SEEN, ASKED, rtol=1e-10))(Y)
    slack = 2e-10 * np.sqrt(8) / NOISE * np.abs(K).sum(axis=1).max()
    for phi in (PHI, gp.OfFeatures(PHI.to_scipy())):
        found = gp.posterior(phi, Y, NOISE, SEEN, ASKED, rtol=1e-10)
        for ours, theirs in zip(found, in_jax, strict=True):
            assert isinstance(ours, jax.Array)
            assert np.allclose(ours, theirs, rtol=0, atol=slack)
    assert np.array_equal(gp.posterior(PHI, np.zeros(8), NOISE, SEEN, ASKED, covariance=False).mean, np.zeros(3))
    with pytest.raises(RuntimeError, match="maximum number of solver steps"):
        gp.posterior(PHI, Y, 1e-6, SEEN, rtol=1e-12, max_steps=2)


@pytest.mark.parametrize(("n_features", "n_steps"), [(40, 6), (12, 6), (12, 30)])
def test_quadratures_of_probes_lie_on_either_side(n_features, n_steps):
    """Of z^T f(A) z by eigenvalues, for each z; once the steps exhaust the 13 eigenvalues, both are that."""
    phi, z = np.random.default_rng(0).normal(size=(50, n_features)), np.random.default_rng(1).normal(size=(50, 20))
    z[:, 0] = 0
    A = phi @ phi.T + np.eye(50)
    values, vectors = np.linalg.eigh(A)
    for f, sign in ((np.log, 1), (np.reciprocal, -1)):
        exact = f(values) @ (vectors.T @ z) ** 2
        gauss, radau = inference._quadratures(lambda v: A @ v, z, n_steps, f)
        slack = rounding(1000 * np.linalg.cond(A), exact)
        assert np.all((sign * (gauss - exact) >= -slack) & (sign * (exact - radau) >= -slack))
        assert (np.abs(gauss - radau).max() < slack) == (n_steps > 13)


def test_evidence_by_probes_is_the_evidence_to_within_its_errors():
    """Signs leave a variance of sum_(i != j) (log A)_ij^2 / 2 to the estimate of one probe."""
    y, law = np.cos(np.arange(34.0)), K + NOISE * np.eye(34)
    exact = float(log_evidence(K, y, NOISE))
    values, vectors = np.linalg.eigh(law)
    off = (vectors * np.log(values)) @ vectors.T
    sd = np.sqrt((np.sum(off**2) - np.sum(np.diag(off) ** 2)) / 2)
    for phi in (PHI, DENSE, PHI.to_scipy()):
        mean, se, gap = gp.log_evidence_by_probes(KEY, phi, y, NOISE, n_probes=2000, n_steps=25)
        assert gap < 1e-6
        assert abs(se / (sd / np.sqrt(2000)) - 1) < 0.2  # the signs' kurtosis is below 6: 5 standard errors of se
        assert abs(mean - exact) < 5 * se + gap
    rough = gp.log_evidence_by_probes(KEY, PHI, y, NOISE, 2000, 5)  # the same probes: only the quadrature differs
    assert abs(rough.mean - mean) < rough.gap + gap
    assert rough.gap > 1e-3
    assert gp.log_evidence_by_probes(jax.random.key(1), PHI, y, NOISE, 2000, 5).mean != rough.mean


@pytest.mark.parametrize("n_features", [34, 5])
def test_evidence_is_the_density(n_features):
    y, phi = np.cos(np.arange(34.0)), DENSE[:, :n_features]
    covariance = phi @ phi.T + NOISE * np.eye(34)
    law = stats.multivariate_normal(np.zeros(34), covariance)
    slack = rounding(100 * 34 * np.linalg.cond(covariance), y @ y / NOISE)
    assert abs(log_evidence(phi @ phi.T, y, NOISE) - law.logpdf(y)) < slack < 1e-6
    of_features = gp.OfFeatures(phi), gp.OfFeatures(PHI.to_scipy()[:, :n_features]), *([PHI] if n_features == 34 else [])
    for given in (*of_features, sp.csr_array(phi @ phi.T)):
        assert abs(gp.log_evidence(given, y, NOISE) - law.logpdf(y)) < slack


def test_gradients_in_the_modulation_and_the_noise():
    """Conjugate gradients and Cholesky are differentiated by different rules, and give the same results and slopes."""
    values, y = jnp.asarray(F(np.arange(6))), np.cos(np.arange(34.0))

    def phi(values, steps):
        return steps.with_modulation(modulation.from_values(values))

    def of_features(values, noise, y, steps):
        mean, covariance = gp.posterior(phi(values, steps), y[:8], noise, SEEN, ASKED, rtol=1e-12)
        results = jnp.sum(mean**2) + covariance[0, 1], gp.log_evidence(phi(values, steps), y, noise)
        return results, (mean, covariance, *results)

    def exactly(values, noise, y, steps):
        dense = phi(values, steps).toarray()
        mean, covariance = gp.posterior(dense @ dense.T, y[:8], noise, SEEN, ASKED)
        results = jnp.sum(mean**2) + covariance[0, 1], gp.log_evidence(dense @ dense.T, y, noise)
        return results, (mean, covariance, *results)

    K6 = np.asarray(phi(values, STEPS).toarray())
    K6 = K6 @ K6.T
    ours, theirs = (jax.jit(jax.jacrev(of, (0, 1, 2), has_aux=True))(values, NOISE, y, STEPS) for of in (of_features, exactly))
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert np.abs(other).max() > 0.01
        # Slopes hold the solution up to twice, each with an error of 1e-12 times 1 / NOISE^2 and the sizes of K and y.
        assert np.allclose(one, other, rtol=0, atol=1e-12 / NOISE**2 * np.abs(K6).sum(axis=1).max() ** 2 * 34)
    inverse = np.linalg.inv(K6 + NOISE * np.eye(34))
    # d log N(y; 0, A) / d s^2 = (|A^-1 y|^2 - trace A^-1) / 2 where A = K + s^2 I: Rasmussen and Williams, Eq. 5.9.
    by_hand = (np.sum((inverse @ y) ** 2) - np.trace(inverse)) / 2
    assert float(theirs[0][1][1]) == pytest.approx(by_hand, rel=rounding(1000 * np.linalg.cond(inverse)))


def test_divergence_between_gaussians():
    """In one dimension log(s_2/s_1) + (s_1^2 + d^2) / (2 s_2^2) - 1/2; in more, the formula with determinants."""
    one = float(kl(*map(np.array, ([0.3], [[0.5]], [1.0], [[2.0]]))))
    assert one == pytest.approx(np.log(2.0) + (0.5 + 0.49) / 4 - 0.5, rel=0, abs=rounding(20))  # some ten steps, of size below 1
    C, D = (kernels.diffusion(G, sigma)[:8, :8] + NOISE * np.eye(8) for sigma in (1.0, 2.0))
    inverse, gap = np.linalg.inv(D), Y[::-1] - Y
    expected = (np.trace(inverse @ C) - 8 + gap @ inverse @ gap + np.linalg.slogdet(D)[1] - np.linalg.slogdet(C)[1]) / 2
    assert float(kl(Y, C, Y[::-1], D)) == pytest.approx(expected, rel=rounding(1000 * np.linalg.cond(D)))
    # A minimum of 0 where the two agree, also where covariances are all but singular: second order in rounding.
    nearly = np.ones((8, 8)) + 1e-9 * np.eye(8)
    for covariance in (C, nearly):
        assert 0 <= float(kl(Y, covariance, Y, covariance)) < rounding(100 * np.linalg.cond(covariance))
    assert np.abs(jax.jit(jax.grad(lambda C: gp.kl(Y, C, Y, D)))(jnp.asarray(D))).max() < rounding(1000 * np.linalg.cond(D))
    assert float(kl(Y, np.zeros((8, 8)), Y, D)) == np.inf


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gp.posterior(K, Y, NOISE, SEEN[:3]), r"seen has shape \(3,\), y has 8 values"),
        (lambda: gp.posterior(np.eye(8), Y, NOISE, SEEN), r"seen has values in .*give a vector of whole numbers from 0 to 7"),
        (lambda: gp.posterior(-K, Y, NOISE, SEEN), "K, with the noise, has eigenvalues that are not positive"),
        (lambda: gp.posterior(np.triu(K), Y, NOISE, SEEN), "K is not symmetric: .*of one set of features"),
        (lambda: gp.log_evidence(K, Y, NOISE), r"y has shape \(8,\), K \(34, 34\)"),
        (lambda: gp.log_evidence(PHI, Y, NOISE), r"y has shape \(8,\), K \(34, 34\)"),
        (lambda: gp.log_evidence_by_probes(KEY, PHI, Y, NOISE), r"y has shape \(8,\), phi \(34, 34\)"),
        (lambda: gp.kl(Y, np.eye(8), Y[:3], np.eye(3)), r"mean_1 has shape \(8,\), mean_2 \(3,\)"),
        (lambda: gp.kl(Y, np.eye(8), Y, -np.eye(8)), "covariance_2 has eigenvalues that are not positive"),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_too_few_steps_are_an_error_in_jax_too():
    with pytest.raises(RuntimeError, match="maximum number of solver steps"):
        gp.posterior(STEPS.with_modulation(F), Y, 1e-6, SEEN, rtol=1e-12, max_steps=2)


@pytest.mark.parametrize("n_features", [40, 3])
def test_dense_features_are_solved_on_their_smaller_side(n_features):
    phi = np.random.default_rng(0).normal(size=(34, n_features)) / np.sqrt(n_features)
    found, exact = (
        jax.jit(lambda K: gp.posterior(K, Y, NOISE, SEEN, ASKED))(K) for K in (gp.OfFeatures(jnp.asarray(phi)), phi @ phi.T)
    )
    slack = rounding(1000 * (1 + np.linalg.norm(phi, 2) ** 2 / NOISE), Y)
    for ours, theirs in zip(found, exact, strict=True):
        assert np.allclose(ours, theirs, rtol=0, atol=slack)
