"""Solutions against an integrator that knows nothing of kernels, and estimates against the solutions."""

import jax
import networkx as nx
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from rfcore import evidence
from rfcore.graphs import Graph
from rfcore.models import ode

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
        (lambda key, n: ode.uniform_times(key, 1.0, n), 0.5),
        (lambda key, n: ode.stratified_times(key, 1.0, n), 1.5),
        (lambda _, n: ode.midpoint_times(1.0, n), 2.0),
    ],
    ids=["uniform", "stratified", "midpoint"],
)
def test_times_converge_at_their_rate(make, rate):
    def rms(n):
        keys = jax.random.split(jax.random.key(0), 300)
        errors = [weight @ np.exp(-2 * time) - (1 - np.exp(-2)) / 2 for time, weight in (make(key, n) for key in keys)]
        return np.sqrt(np.mean(np.square(errors)))

    assert np.log(rms(4) / rms(32)) / np.log(8) == pytest.approx(rate, abs=0.15)


@pytest.mark.parametrize("times", [ode.uniform_times, ode.stratified_times])
def test_random_times_are_unbiased(times):
    integrals = np.array([weight @ time**2 for time, weight in (times(jax.random.key(k), 3.0, 4) for k in range(400))])
    decision = evidence.unbiased(integrals, 9.0, smallest_bias=1.5)
    assert decision.verdict is evidence.Verdict.REPRODUCED, decision.detail


def test_walks_estimate_the_quadrature_without_bias():
    times = ode.midpoint_times(1.0, 3)
    estimates = np.array([ode.estimate(jax.random.key(k), G, Y, 1.0, times, 4, 0.2, **HEAT) for k in range(150)])
    decision = evidence.unbiased(estimates, ode.quadrature(G, Y, 1.0, times, **HEAT), smallest_bias=0.08)
    assert decision.verdict is evidence.Verdict.REPRODUCED, decision.detail
    shared = [ode.estimate(jax.random.key(k), G, Y, 1.0, times, 4, 0.2, shared=True, **HEAT) for k in range(150)]
    assert np.mean(shared, axis=0)[0] > estimates.mean(axis=0)[0]


def test_source_that_changes():
    def y(t):
        return np.exp(-t) * Y

    M = G.to_scipy() - np.eye(34)
    reference = solve_ivp(lambda t, x: M @ x + y(t), (0, 1.0), np.zeros(34), rtol=1e-10, atol=1e-12).y[:, -1]
    found = ode.quadrature(G, y, 1.0, ode.midpoint_times(1.0, 40), **HEAT)
    assert np.allclose(found, reference, atol=1e-4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ode.solution(G, Y[:5], 1.0), "y has shape"),
        (lambda: ode.solution(G, Y * np.nan, 1.0), "y has"),
        (lambda: ode.solution(G, Y, -1.0), "t = -1.0"),
        (lambda: ode.midpoint_times(1.0, 0), "n = 0"),
        (lambda: ode.uniform_times(None, 1.0, 3), "key = None"),
        (lambda: ode.stratified_times(7, 1.0, 3), "key = 7"),
        (lambda: ode.solution(G, Y, 1.0, shift=np.nan), "shift = nan"),
        (lambda: ode.quadrature(G, Y, 1.0, ode.midpoint_times(1.0, 4), shift=np.nan), "shift = nan"),
        (lambda: ode.estimate(KEY, G, Y, 1.0, ode.midpoint_times(1.0, 4), 4, 0.1, shift=np.nan), "shift = nan"),
        (lambda: ode.estimate(KEY, G, Y * 1j, 1.0, ode.midpoint_times(1.0, 4), 4, 0.1), "y has dtype complex"),
        (lambda: ode.quadrature(G, Y, 1.0, ode.midpoint_times(1.0, 4), shift=1e4), "the solution overflows"),
        (lambda: ode.estimate(KEY, G, Y, 1.0, ode.midpoint_times(1.0, 4), 4, 0.1, shift=1e4), "the solution overflows"),
        (lambda: ode.solution(G, Y, 1.0, shift=1e4), "the kernel overflows"),
        (lambda: ode.estimate(0, G, Y, 1.0, ode.midpoint_times(1.0, 4), 4, 0.1), "key = 0"),
        (lambda: ode.estimate(KEY, G.to_scipy(), Y, 1.0, ode.midpoint_times(1.0, 4), 4, 0.1), "give a Graph"),
        (lambda: ode.quadrature(G, Y, 1.0, [0.5]), "times is of type list"),
        (lambda: ode.quadrature(G, Y, 1.0, ode.Times(np.array([np.nan]), np.ones(1))), "times.time has 1 NaN"),
        (lambda: ode.quadrature(G, Y, 1.0, ode.Times(np.array([0.5]), np.ones(2))), "times.weight has shape"),
        (lambda: ode.quadrature(G, Y, 0.5, ode.midpoint_times(1.0, 4)), "times"),
        (lambda: ode.estimate(jax.random.key(0), G, Y, 0.5, ode.midpoint_times(1.0, 4), 4, 0.1), "times"),
    ],
)
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
