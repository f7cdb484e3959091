"""The Rademacher bounds hold, are tight where they should be, and the complexity is the mean over all signs."""

import itertools

import jax
import networkx as nx
import numpy as np
import pytest
from rounding import rounding
from scipy import special

from companion import evidence
from companion.papers.ugrf import generalisation
from companion.papers.ugrf.generalisation import taylor_bounds
from rfcore.features import modulation
from rfcore.graphs import Graph

G = Graph.from_networkx(nx.karate_club_graph()).normalised()
DIRECTED = Graph.from_scipy(np.array([[0, 1.0], [0, 0]]))
BOUNDS = np.abs(modulation.to_taylor(modulation.diffusion(1.0), n_terms=15))


def test_bound_holds_on_a_graph():
    sample = np.arange(0, 34, 2)
    found, error = generalisation.rademacher_complexity(jax.random.key(0), G, sample, BOUNDS)
    bound = generalisation.rademacher_bound(BOUNDS, generalisation.spectral_radius(G), len(sample))
    assert evidence.bound(found, bound, error).verdict is evidence.Verdict.REPRODUCED


def test_bound_is_tight_for_self_loops():
    loops = Graph.from_scipy(0.7 * np.eye(6))
    found, error = generalisation.rademacher_complexity(jax.random.key(0), loops, np.arange(6), BOUNDS, n_draws=4)
    bound = generalisation.rademacher_bound(BOUNDS, 0.7, 6)
    assert found == pytest.approx(bound)
    assert error == pytest.approx(0, abs=rounding(20, bound))


@pytest.mark.parametrize("sample", [[0, 1, 3], [1, 1, 2]])
def test_complexity_is_the_mean_over_all_signs(sample):
    g, bounds = Graph.from_networkx(nx.path_graph(4)), np.array([1.0, 0.5, 0.25])
    W = g.to_scipy().toarray()
    powers = [np.linalg.matrix_power(W, i)[np.ix_(sample, sample)] for i in range(3)]
    signs = np.array(list(itertools.product([-1, 1], repeat=3)))
    sup = [sum(b * abs(s @ P @ s) for b, P in zip(bounds, powers, strict=True)) for s in signs]
    found, error = generalisation.rademacher_complexity(jax.random.key(0), g, sample, bounds, n_draws=20_000)
    assert abs(found - np.mean(np.sqrt(sup)) / 3) < 4 * error


def test_repeats_are_independent_estimates():
    families = np.stack([BOUNDS, np.arange(15.0)])
    mean, error = generalisation.rademacher_complexity(jax.random.key(1), G, np.arange(9), families, n_draws=4000)
    found = generalisation.rademacher_repeats(jax.random.key(2), G, np.arange(9), families, n_draws=10, n_repeats=200)
    assert found.shape == (200, 2)
    of_repeats = found.std(axis=0, ddof=1)
    assert np.all(np.abs(found.mean(axis=0) - mean) < 4 * np.hypot(error, of_repeats / np.sqrt(200)))
    # A mean over 10 draws varies by a tenth of one draw; the variance of 200 is known to a relative 0.1.
    assert np.allclose(of_repeats**2, error**2 * 4000 / 10, rtol=0.45)


def test_taylor_bounds_are_the_sizes_of_coefficients():
    i, found = np.arange(12), taylor_bounds(12, n_flat=5)
    factorial = special.factorial(i)
    expected = {
        "diffusion": 1 / (2.0**i * factorial),
        "regularised_laplacian": (i + 1) / 2.0**i,
        "inverse_cosine": (np.pi / 4) ** i / factorial,
        "flat": [1.0] * 5 + [0.0] * 7,
    }
    assert list(found) == list(expected)
    for name, sizes in expected.items():
        assert np.allclose(found[name], sizes, rtol=1e-9), name


def test_families_share_the_signs():
    families = np.stack([BOUNDS, 2 * BOUNDS, np.arange(15.0)])
    together = generalisation.rademacher_complexity(jax.random.key(3), G, np.arange(9), families, n_draws=50)
    alone = [generalisation.rademacher_complexity(jax.random.key(3), G, np.arange(9), b, n_draws=50) for b in families]
    assert np.allclose(np.stack(together, axis=1), alone)
    bounds = generalisation.rademacher_bound(families, 0.9, 9)
    assert np.allclose(bounds, [generalisation.rademacher_bound(b, 0.9, 9) for b in families])


@pytest.mark.parametrize("sample", [np.arange(0, 34, 2), np.repeat([0, 5, 33], 20), np.arange(34)])
def test_trace_bound_lies_between_the_complexity_and_theorem_2_3(sample):
    found, error = generalisation.rademacher_complexity(jax.random.key(1), G, sample, BOUNDS)
    trace = generalisation.rademacher_trace_bound(G, sample, BOUNDS)
    assert evidence.bound(found, trace, error).verdict is evidence.Verdict.REPRODUCED
    assert trace < 0.95 * generalisation.rademacher_bound(BOUNDS, 1.0, len(sample))


def test_trace_bound_takes_the_absolute_value_of_the_matrix():
    ring = Graph.from_networkx(nx.cycle_graph(6))  # |A| has the diagonal (4 + 4 * 1) / 6, though A has none
    found = generalisation.rademacher_trace_bound(ring, [0, 3, 3], [0.0, 1.0])
    assert found == pytest.approx(np.sqrt(3 * 8 / 6) / 3)


def test_trace_bound_of_many_samples_and_families():
    samples, families = np.array([[0, 1, 2], [5, 5, 33]]), np.stack([BOUNDS, np.arange(15.0)])
    together = generalisation.rademacher_trace_bound(G, samples, families)
    alone = [[generalisation.rademacher_trace_bound(G, s, b) for b in families] for s in samples]
    assert np.allclose(together, alone)


def test_spectral_radius_small_and_large_and_negative():
    assert generalisation.spectral_radius(G) == pytest.approx(1.0)
    for n in (20, 200):  # the cycle, negated: eigenvalues -2 cos(2 pi k / n)
        ring = Graph.from_networkx(nx.cycle_graph(n)).scaled(-1)
        assert generalisation.spectral_radius(ring) == pytest.approx(2.0)


def test_margin_bound_is_equation_40():
    scores, labels = np.array([2.0, -0.25, 0.1, -3.0]), np.array([1, 1, -1, -1])
    loss = generalisation.margin_loss(scores, labels, 0.5)
    assert loss == pytest.approx((0 + 1 + 1 + 0) / 4)
    bound = generalisation.margin_bound(loss, 0.1, 0.5, 50, 0.05)
    assert bound == pytest.approx(0.5 + 0.4 + 3 * np.sqrt(np.log(40) / 100))


@pytest.mark.parametrize("n", [1, 20, 60, 200])
def test_spectral_radius_of_a_graph_without_edges_is_zero(n):
    assert generalisation.spectral_radius(Graph.from_networkx(nx.empty_graph(n))) == 0.0
