"""Moments of graph features against the enumeration of all walks, and against draws."""

import itertools

import jax
import numpy as np
import pytest
from rounding import rounding

from rfcore import evidence, features, theory
from rfcore.features import modulation
from rfcore.graphs import Graph

# Directed weights, a self-loop, an isolated node; f vanishes after two hops, so that the walks can be enumerated.
G = Graph.from_scipy(np.array([[0, 2.0, -0.5, 0], [1.0, 0.3, 0, 0], [0, 1.5, 0, 0], [0, 0, 0, 0]]))
F1, F2 = modulation.from_values([1.0, -0.6, 0.4]), modulation.from_values([0.7, 0.5, 0.2])
P_HALT = 0.3


def walks_from(g, start, f, p_halt):
    """(probability, features) of every walk from a node, up to two hops."""
    W, values = g.to_scipy().toarray(), f(np.arange(3))

    def go(node, step, load, probability, phi):
        phi = phi + load * values[step] * np.eye(len(W))[node]
        neighbours = np.flatnonzero(W[node])
        if step == 2 or len(neighbours) == 0:
            yield probability, phi
            return
        yield probability * p_halt, phi
        for other in neighbours:
            grown = load * len(neighbours) * W[node, other] / (1 - p_halt)
            yield from go(other, step + 1, grown, probability * (1 - p_halt) / len(neighbours), phi)

    return list(go(start, 0, 1.0, 1.0, np.zeros(len(W))))


def rows(f, n_walks):
    """(probability, features) of every set of n_walks walks from every node."""
    for start in range(G.n_nodes):
        single = walks_from(G, start, f, P_HALT)
        sets = itertools.product(single, repeat=n_walks)
        yield [(np.prod([p for p, _ in some]), np.mean([phi for _, phi in some], axis=0)) for some in sets]


@pytest.mark.parametrize("n_walks", [1, 2])
def test_moments_are_those_of_all_walks(n_walks):
    mean, square = theory.walk_feature_moments(G, F1, n_walks, P_HALT, n_terms=3)
    for start, row in enumerate(rows(F1, n_walks)):
        assert sum(p for p, _ in row) == pytest.approx(1)
        # Some hundred terms, none above 1000: rounding below 1e-11.
        assert np.allclose(sum(p * phi for p, phi in row), mean[start], rtol=0, atol=1e-11)
        assert np.allclose(sum(p * phi**2 for p, phi in row), square[start], rtol=0, atol=1e-11)


def test_gram_error_is_that_of_all_pairs_of_walks():
    total = 0.0
    for left, right in itertools.product(rows(F1, 2), rows(F2, 2)):
        outcomes = [(p * q, phi @ psi) for (p, phi), (q, psi) in itertools.product(left, right)]
        mean = sum(p * x for p, x in outcomes)
        total += sum(p * (x - mean) ** 2 for p, x in outcomes)
    assert theory.walk_gram_mse(G, F1, F2, 2, P_HALT, n_terms=3) == pytest.approx(total, rel=rounding(5000))  # sums of some thousand positive terms


def test_moments_agree_with_the_engine():
    g, f = Graph.from_scipy(np.array([[0, 1.0, 1], [1, 0, 2], [1, 2, 0]])).normalised(), modulation.diffusion(1.0)
    nodes = np.tile(np.arange(3), 4000)
    phi = features.walk_features(jax.random.key(0), g, f, 3, 0.3, nodes=nodes).toarray().reshape(-1, 3, 3)
    mean, square = theory.walk_feature_moments(g, f, 3, 0.3)
    found = evidence.unbiased(np.stack([phi, phi**2], axis=1), np.stack([mean, square]), smallest_bias=0.02)
    assert found.verdict is evidence.Verdict.REPRODUCED, found.detail


def test_terms_past_the_modulation_change_nothing():
    assert theory.walk_gram_mse(G, F1, F2, 2, P_HALT, 3) == theory.walk_gram_mse(G, F1, F2, 2, P_HALT, 2000)


@pytest.mark.parametrize(
    ("arguments", "message"), [((0, 0.5, 3), "n_walks = 0"), ((1, 1.0, 3), "p_halt"), ((1, 0.5, 0), "n_terms = 0")]
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        theory.walk_feature_moments(G, F1, *arguments)
    with pytest.raises(ValueError, match=message):
        theory.walk_gram_mse(G, F1, F2, *arguments)
