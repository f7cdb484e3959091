"""The variance of a walk by its coordinates: enumerated, added up, and as what couplings of lengths leave."""

import itertools

import networkx as nx
import numpy as np
import pytest

from companion.papers.couplings.walk_variance import walk_variance
from rfcore import theory
from rfcore.features import modulation
from rfcore.graphs import Graph

KARATE = Graph.from_networkx(nx.karate_club_graph()).normalised()
LOLLIPOP = Graph.from_networkx(nx.lollipop_graph(3, 2)).normalised()


def enumerated(g, values, p_halt, of):
    """All walks of at most len(values) - 1 hops, one by one."""
    W, last = g.to_scipy().toarray(), len(values) - 1
    M = sum(v * np.linalg.matrix_power(W, k) for k, v in enumerate(values))
    turn = M if of == "kernel" else np.eye(len(W))
    parts = np.zeros(len(values))
    for start in range(len(W)):
        found = {}  # coordinates: (length, nodes ...) -> chance, what the walk leaves
        for length in range(last + 1):
            chance = (1 - p_halt) ** length * (p_halt if length < last else 1)
            for path in itertools.product(range(len(W)), repeat=length):
                nodes = (start, *path)
                if any(W[a, b] == 0 for a, b in itertools.pairwise(nodes)):
                    continue
                load, likely, left = 1.0, chance, np.eye(len(W))[start] * values[0]
                for k, (a, b) in enumerate(itertools.pairwise(nodes), start=1):
                    neighbours = np.count_nonzero(W[a])
                    load, likely = load * neighbours * W[a, b] / (1 - p_halt), likely / neighbours
                    left = left + values[k] * load * np.eye(len(W))[b]
                found[length, path] = likely, turn @ left
        before = None
        for t in range(-1, last + 1):
            groups = {}
            for (length, path), (likely, left) in found.items():
                known = () if t < 0 else (length, *path[:t])
                total = groups.setdefault(known, [0.0, 0.0])
                total[0] += likely
                total[1] = total[1] + likely * left
            square = sum(total @ total / likely for likely, total in groups.values())
            if t >= 0:
                parts[t] += square - before
            before = square
    return parts


@pytest.mark.parametrize("of", ["kernel", "features"])
@pytest.mark.parametrize("p_halt", [0.2, 0.6])
def test_parts_are_those_of_all_walks_enumerated(p_halt, of):
    values = np.array([1.0, 0.6, -0.3, 0.2, 0.15])
    parts = walk_variance(LOLLIPOP, modulation.from_values(values), p_halt, 7, of)
    # Some thousand terms of size 10 at most, differences of which are taken.
    assert np.allclose(parts, np.append(enumerated(LOLLIPOP, values, p_halt, of), [0, 0]), rtol=0, atol=1e-9)


@pytest.mark.parametrize("f", [modulation.diffusion(1.0), modulation.regularised_laplacian(1.0, 2), modulation.p_step(20.0, 2)])
def test_they_add_up_to_the_error_of_independent_walks(f):
    """The Gram error is a / m + b / m^2 with a twice the variance of a walk."""
    one, two = (theory.walk_gram_mse(KARATE, f, f, m, 0.3) for m in (1, 2))
    assert np.isclose(2 * walk_variance(KARATE, f, 0.3).sum(), 4 * two - one, rtol=1e-8)
    mean, square = theory.walk_feature_moments(KARATE, f, 1, 0.3)
    assert np.isclose(walk_variance(KARATE, f, 0.3, of="features").sum(), np.sum(square - mean**2), rtol=1e-8)


def test_stratified_lengths_leave_all_but_the_part_of_the_length():
    """m times half the error tends to the rest; the remainder is of order 1 / m."""
    f, m = modulation.regularised_laplacian(1.0, 2), 4000
    parts = walk_variance(KARATE, f, 0.5)
    left = m / 2 * theory.walk_gram_mse(KARATE, f, f, m, 0.5, coupling="stratified")
    assert parts[0] > 0.1 * parts.sum()
    assert np.isclose(left, parts[1:].sum(), rtol=0.01)
