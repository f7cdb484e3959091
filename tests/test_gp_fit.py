"""Gaussian processes that are fitted to values on a graph: the posterior, the maximum, agreement of methods, known parameters."""

import jax
import networkx as nx
import numpy as np
import pytest
from rounding import rounding

from rfcore import gp, kernels
from rfcore.graphs import Graph

KEY = jax.random.key(0)
G = Graph.from_networkx(nx.grid_2d_graph(16, 16))
KAPPA, GAMMA, NOISE = 2.0, 1.5, 0.1
RNG = np.random.default_rng(0)
SEEN = RNG.permutation(256)[:128]
ASKED = np.arange(256)


def simulated(g, seen, rng):
    """Values of a process whose hyper-parameters are known."""
    law = KAPPA * kernels.diffusion(g, np.sqrt(2) * GAMMA) + 1e-9 * np.eye(g.n_nodes)
    h = np.linalg.cholesky(law) @ rng.normal(size=g.n_nodes)
    return h[seen] + np.sqrt(NOISE) * rng.normal(size=len(seen))


Y = simulated(G, SEEN, RNG)
EXACT = gp.fit_graph(KEY, G, SEEN, Y)


def law(parameters):
    """The dense covariance, by another way than any of the methods."""
    return parameters.variance * kernels.diffusion(G, np.sqrt(2) * float(parameters.lengthscale)), float(parameters.noise)


@pytest.mark.parametrize("method", ["spectrum", "products"])
def test_predictions_and_evidence_are_those_of_the_exact_posterior_at_the_parameters(method):
    fit = gp.fit_graph(KEY, G, SEEN, Y, method=method)
    K, noise = law(fit.parameters)
    mean, variance = fit.predict(ASKED)
    exact = gp.posterior(K, Y, noise, SEEN, ASKED)
    condition = 1 + np.linalg.norm(K, 2) / noise
    # Chebyshev polynomials leave out coefficients below 1e-10 of some tens.
    slack = rounding(1000 * condition, Y) + (1e-8 * condition if method == "products" else 0)
    assert fit.method == method
    assert np.allclose(mean, exact.mean, rtol=0, atol=slack)
    assert np.allclose(variance, exact.variance, rtol=0, atol=slack)
    assert fit.evidence == pytest.approx(float(gp.log_evidence(K[np.ix_(SEEN, SEEN)], Y, noise)), abs=128 * slack)


def test_no_parameters_nearby_have_more_evidence():
    best = np.exp(np.array([float(log) for log in EXACT.parameters]))

    def evidence(parameters):
        K, noise = law(gp.hyperparameters(*parameters))
        return float(gp.log_evidence(K[np.ix_(SEEN, SEEN)], Y, noise))

    for i in range(3):
        for factor in (0.9, 1 / 0.9):
            assert evidence(np.where(np.arange(3) == i, factor * best, best)) < evidence(best)


def test_exact_methods_agree():
    """Both end their search where the evidence is flat to a thousandth of a logarithm squared."""
    other = gp.fit_graph(KEY, G, SEEN, Y, method="products")
    assert np.allclose(other.parameters, EXACT.parameters, rtol=0, atol=1e-3)
    assert other.evidence == pytest.approx(EXACT.evidence, abs=1e-4)


def test_walks_agree_with_the_exact_methods_to_within_their_noise():
    """Relative errors of means and variances, in root mean square over nodes and three sets of walks.

    Independent walks have errors of c / sqrt(n_walks), to which the bias of the diagonal adds 1 / n_walks. Measured here, where
    lengths and hops are coupled: c = 0.26 and 0.46 for 64 walks, 0.15 and 0.29 for 256, and for the
    logarithm of the lengthscale, at most, 0.27 and 0.12. The bounds are twice the first.
    """
    mean, variance = EXACT.predict(ASKED)
    away = []
    for n_walks in (64, 256):
        walked = [gp.fit_graph(key, G, SEEN, Y, method="walks", n_walks=n_walks) for key in jax.random.split(KEY, 3)]
        means, variances = np.moveaxis([fit.predict(ASKED) for fit in walked], 1, 0)
        errors = np.sqrt(np.mean((means - mean) ** 2) / np.mean(mean**2)), np.sqrt(np.mean((variances / variance - 1) ** 2))
        away.append(np.array(errors))
        lengthscales = [float(fit.parameters.log_lengthscale) for fit in walked]
        assert np.abs(np.array(lengthscales) - float(EXACT.parameters.log_lengthscale)).max() < 0.54 / np.sqrt(n_walks)
        assert np.all(away[-1] < np.array([0.52, 0.92]) / np.sqrt(n_walks))
    assert np.all(away[1] < away[0] / 2)  # four times the walks


def test_what_is_streamed_is_what_is_stored():
    """The same walks, and conjugate gradients to 1e-8 of y, in place of Cholesky."""
    stored, streamed = (gp.fit_graph(KEY, G, SEEN, Y, method=method, n_walks=16) for method in ("walks", "streamed"))
    assert streamed.parameters == stored.parameters
    for one, other in zip(streamed.predict([3, 77]), stored.predict([3, 77]), strict=True):
        assert np.allclose(one, other, rtol=0, atol=1e-8 * np.linalg.norm(Y) * float(KAPPA / stored.parameters.noise) * 10)


def test_many_observations_are_fitted_by_probes(monkeypatch):
    """The same walks, whose evidence is estimated: signs leave a standard error to it, which probes tell."""
    exact = gp.fit_graph(KEY, G, SEEN, Y, method="walks")
    monkeypatch.setattr(gp.graphs, "N_DENSE", 100)
    probed = gp.fit_graph(KEY, G, SEEN, Y, method="walks")
    # Eight probes: the maximum of 128 values' evidence moves by some tenths of a logarithm.
    assert np.allclose(probed.parameters, exact.parameters, rtol=0, atol=0.5)
    assert probed.evidence == pytest.approx(exact.evidence, abs=5.0)
    monkeypatch.setattr(gp.graphs, "N_SAMPLE", 110)
    assert gp.fit_graph(KEY, G, SEEN, Y, method="streamed", n_walks=8).predict([3])[1][0] > 0


def test_known_parameters_are_recovered():
    """200 of 400 nodes, each seen twice, which tells the noise from the signal; mean logarithms over six data sets.

    Over 24 data sets estimates of kappa, gamma and s^2 had standard deviations of 0.29, 0.08 and 0.09, and means within 0.07 of
    the truth. Bounds are four standard deviations of a mean of six, 0.48, 0.13 and 0.15, and these 0.07.
    """
    g = Graph.from_networkx(nx.grid_2d_graph(20, 20))
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        seen = np.repeat(rng.permutation(400)[:200], 2)
        found.append([float(log) for log in gp.fit_graph(KEY, g, seen, simulated(g, seen, rng)).parameters])
    assert np.all(np.abs(np.mean(found, axis=0) - np.log([KAPPA, GAMMA, NOISE])) < [0.55, 0.2, 0.22])


@pytest.mark.parametrize(
    ("n_nodes", "n_seen", "n_walks", "method"),
    [(2000, 4, 64, "spectrum"), (2001, 4, 64, "products"), (2001, 1001, 16, "walks"), (2001, 1001, 10**6, "streamed")],
)
def test_the_method_is_the_first_that_fits(monkeypatch, n_nodes, n_seen, n_walks, method):
    chosen = []

    def stop(*arguments):
        raise StopIteration

    monkeypatch.setattr(gp.graphs, "_by_spectrum", lambda *_: chosen.append("spectrum") or stop())
    monkeypatch.setattr(gp.graphs, "_by_products", lambda *_: chosen.append("products") or stop())
    monkeypatch.setattr(gp.graphs, "_by_walks", lambda *given: chosen.append(given[6]) or stop())
    with pytest.raises(StopIteration):
        gp.fit_graph(KEY, Graph.from_networkx(nx.path_graph(n_nodes)), np.arange(n_seen), np.ones(n_seen), n_walks=n_walks)
    assert chosen == [method]


def test_what_does_not_fit_is_refused():
    for call, complaint in (
        (lambda: gp.fit_graph(KEY, G, SEEN, Y[:3]), "seen has shape .*; give one node per value"),
        (lambda: gp.fit_graph(KEY, G, [0, 1], [0.0, 0.0]), "y has shape .*; give values that are not all 0"),
        (lambda: gp.fit_graph(KEY, Graph.from_networkx(nx.DiGraph([(0, 1)])), [0], [1.0]), "g is directed; give an undirected"),
        (lambda: gp.fit_graph(KEY, G, SEEN, Y, lengthscales=(2.0, 1.0)), "lengthscales = .*; give two bounds"),
        (lambda: EXACT.predict([256]), "asked has values in"),
    ):
        with pytest.raises(ValueError, match=complaint):
            call()
    assert [part.shape for part in EXACT.predict([])] == [(0,), (0,)]
