"""Solutions against an integrator that knows nothing of kernels, and estimates against the solutions."""

import jax
import networkx as nx
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from companion import evidence
from companion.models import ode
from rfcore.graphs import Graph

G = Graph.from_networkx(nx.karate_club_graph()).normalised()
Y = np.eye(34)[0]
KEY = jax.random.key(0)
HEAT = {"shift": -1.0}


@pytest.mark.parametrize(("g", "shift"), [(G, -1.0), (G.scaled(-1), 1.0), (G, 0.0)], ids=["-L", "+L", "W"])
def test_solution_is_the_one_of_an_integrator(g, shift):
    M = g.to_scipy() + shift * np.eye(34)
    reference = solve_ivp(lambda t, x: M @ x + Y, (0, 2.0), np.zeros(34), rtol=1e-10, atol=1e-12).y[:, -1]
    assert np.allclose(ode.solution(g, Y, 2.0, shift), reference, atol=1e-8)


def test_heat_is_conserved_and_grows_without_bound_under_the_printed_sign():
    """L has a null vector: heat put in at rate 1 stays; W = L, as printed, makes it explode."""
    root = np.sqrt(Graph.from_networkx(nx.karate_club_graph()).degrees)
    for t in (0.0, 1.0, 50.0):
        assert root @ ode.solution(G, Y, t, **HEAT) == pytest.approx(root[0] * t)
    assert np.linalg.norm(ode.solution(G.scaled(-1), Y, 50.0, shift=1.0)) > 1e20


@pytest.mark.parametrize(
    ("make", "rate"),
    [
        (lambda key, n: ode.uniform_times(key, 1.0, n, 300), 0.5),
        (lambda key, n: ode.stratified_times(key, 1.0, n, 300), 1.5),
        (lambda _, n: ode.midpoint_times(1.0, n, 2), 2.0),
    ],
    ids=["uniform", "stratified", "midpoint"],
)
def test_times_converge_at_their_rate(make, rate):
    def rms(n):
        time, weight = make(jax.random.key(0), n)
        return np.sqrt(np.mean((np.sum(weight * np.exp(-2 * time), axis=1) - (1 - np.exp(-2)) / 2) ** 2))

    assert np.log(rms(4) / rms(32)) / np.log(8) == pytest.approx(rate, abs=0.15)


@pytest.mark.parametrize("times", [ode.uniform_times, ode.stratified_times])
def test_random_times_are_unbiased(times):
    time, weight = times(jax.random.key(0), 3.0, 4, 400)
    decision = evidence.unbiased(np.sum(weight * time**2, axis=1), 9.0, smallest_bias=1.5)
    assert decision.verdict is evidence.Verdict.REPRODUCED, decision.detail


def test_walks_estimate_the_quadrature_without_bias():
    """Every repeat at times of its own, for a source that changes."""

    def y(s):
        return np.exp(-s) * Y

    times = ode.uniform_times(jax.random.key(1), 2.0, 3, 400)
    off = ode.estimate(KEY, G, y, 2.0, times, 4, 0.2, **HEAT) - ode.quadrature(G, y, 2.0, times, **HEAT)
    decision = evidence.unbiased(off, 0.0, smallest_bias=0.2)
    assert decision.verdict is evidence.Verdict.REPRODUCED, decision.detail
    shared = ode.estimate(KEY, G, y, 2.0, times, 4, 0.2, shared=True, **HEAT) - ode.quadrature(G, y, 2.0, times, **HEAT)
    assert shared[:, 0].mean() > off[:, 0].mean() + 5 * off[:, 0].std() / 20


def test_a_repeat_is_one_solution():
    times = ode.stratified_times(KEY, 2.0, 3, 2)
    rows = [ode.Times(*row) for row in zip(*times, strict=True)]
    each = np.stack([ode.quadrature(G, Y, 2.0, row, **HEAT) for row in rows])
    assert np.allclose(ode.quadrature(G, Y, 2.0, times, **HEAT), each, rtol=1e-12)
    alone = ode.Times(*(values[:1] for values in times))
    found = [ode.estimate(KEY, G, Y, 2.0, given, 4, 0.2, **HEAT) for given in (alone, rows[0])]
    assert found[0].shape == (1, 34) and np.array_equal(found[0][0], found[1])


def test_repeats_have_walks_of_their_own():
    x = ode.estimate(KEY, G, Y, 1.0, ode.midpoint_times(1.0, 1, 50), 4, 0.2, **HEAT)
    assert len(np.unique(x[:, 0])) > 10


def test_at_the_last_moment_nothing_has_moved():
    """exp(0) = I, whatever the walks do; and no time at all is no heat."""
    last = ode.Times(np.array([3.0]), np.array([0.5]))
    assert np.array_equal(ode.estimate(KEY, G, Y, 3.0, last, 2, 0.2, **HEAT), 0.5 * Y)
    assert not ode.estimate(KEY, G, Y, 0.0, ode.midpoint_times(0.0, 2), 2, 0.2, **HEAT).any()


@pytest.mark.parametrize(("g", "shift"), [(G, -1.0), (G.scaled(-1), 1.0)], ids=["-L", "+L"])
def test_a_source_at_one_node_of_a_connected_graph_never_comes_to_rest(g, shift):
    degrees = Graph.from_networkx(nx.karate_club_graph()).degrees
    M = g.to_scipy().toarray() + shift * np.eye(34)
    best = np.linalg.lstsq(M, -Y, rcond=1e-12)[0]
    found = ode.residual_at_rest(g, Y, shift)
    assert found == pytest.approx(np.sqrt(degrees[0] / degrees.sum()), rel=1e-12)
    assert found == pytest.approx(np.linalg.norm(M @ best + Y), rel=1e-12)
    assert ode.residual_at_rest(g, M @ Y, shift) < 1e-13


def test_relative_errors_are_distances_over_the_norm():
    x = np.arange(12.0).reshape(2, 2, 3)
    assert np.allclose(ode.relative_errors(x + np.array([0, 3, 4]), x[0, 1]) * np.sqrt(50), np.linalg.norm(x + np.array([-3, -1, -1]), axis=-1))


def test_source_that_changes():
    def y(t):
        return np.exp(-t) * Y

    M = G.to_scipy() - np.eye(34)
    reference = solve_ivp(lambda t, x: M @ x + y(t), (0, 1.0), np.zeros(34), rtol=1e-10, atol=1e-12).y[:, -1]
    found = ode.quadrature(G, y, 1.0, ode.midpoint_times(1.0, 40), **HEAT)
    assert np.allclose(found, reference, atol=1e-4)
