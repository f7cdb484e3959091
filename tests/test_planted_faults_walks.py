"""Known mistakes in walk features, planted one by one: our own checks pass without them and go red with them.

A check draws with whatever engine is in place and returns the decision of a rule of :mod:`rfcore.evidence`, at the
same size for the right engine and the wrong one.
"""

import jax
import numpy as np
import pytest

from rfcore import evidence, features, kernels, walks
from rfcore.couplings import walk_lengths
from rfcore.evidence import Verdict
from rfcore.features import modulation
from rfcore.graphs import Graph

# Weighted degrees far from the numbers of neighbours, a self-loop and an isolated node.
GRAPH = Graph.from_scipy(
    np.array(
        [
            [0.0, 2.0, 0.5, 0.0, 0.0],
            [2.0, 0.3, 1.0, 0.0, 0.0],
            [0.5, 1.0, 0.0, 3.0, 0.0],
            [0.0, 0.0, 3.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.0],
        ]
    )
)
G = GRAPH.normalised()
P_HALT, N_WALKS, REPEATS = 0.3, 4, 2000
NODES = np.tile(np.arange(5), REPEATS)


def check_lengths():
    """P(length >= k) = (1 - p_halt)^k."""
    lengths = walk_lengths.draw(jax.random.key(0), 5000, N_WALKS, P_HALT).values
    at_least = (lengths[:, :, None] >= np.arange(6)).mean(axis=1)
    return evidence.unbiased(at_least, (1 - P_HALT) ** np.arange(6.0), smallest_bias=0.03)


def check_loads():
    """The expected load at node j and step k of a walk from i is (W^k)_ij, step by step."""
    lengths = walk_lengths.draw(jax.random.key(1), len(NODES), N_WALKS, P_HALT)
    deposits = walks.simulate(jax.random.key(1), G, lengths, nodes=NODES)
    W, found = G.to_scipy().toarray(), np.zeros((4, len(NODES), 5))
    early = deposits.step < 4
    step, row, node, load = (a[early] for a in (deposits.step, deposits.row, deposits.node, deposits.load))
    np.add.at(found, (step, row, node), load / N_WALKS)
    powers = np.stack([np.linalg.matrix_power(W, k) for k in range(4)])
    return evidence.unbiased(found.reshape(4, REPEATS, 5, 5).transpose(1, 0, 2, 3), powers, smallest_bias=0.25)


def check_kernel(key_of_the_right=3):
    """phi_1 phi_2^T, its diagonal included, is the kernel on average."""
    f = modulation.regularised_laplacian(1.0, 2)
    keys = jax.random.key(2), jax.random.key(key_of_the_right)
    phi, psi = (features.walk_features(key, G, f, N_WALKS, P_HALT, nodes=NODES).toarray() for key in keys)
    estimates = phi.reshape(-1, 5, 5) @ psi.reshape(-1, 5, 5).transpose(0, 2, 1)
    return evidence.unbiased(estimates, kernels.regularised_laplacian(GRAPH, 1.0, 2), smallest_bias=0.04)


CHECKS = [check_lengths, check_loads, check_kernel]


@pytest.mark.parametrize("check", CHECKS)
def test_checks_pass_on_good_code(check):
    decision = check()
    assert decision.verdict is Verdict.REPRODUCED, decision.detail


def edges(hops, multiplier):
    edge = hops.edge.copy()
    edge[:, 1] = multiplier
    return hops._replace(edge=edge)


def weighted_degree(right):
    """Multiply by the weighted degree of the node in place of its number of neighbours."""

    def hops_of(g, p_halt):
        degrees = np.repeat(g.degrees, g.neighbour_counts)
        return edges(right(g, p_halt), degrees * g.weights / (1 - p_halt))

    return hops_of


def no_survival(right):
    """Leave out 1 / (1 - p_halt)."""

    def hops_of(g, p_halt):
        hops = right(g, p_halt)
        return edges(hops, hops.edge[:, 1] * (1 - p_halt))

    return hops_of


def no_weight(right):
    """Leave out the weight of the edge."""

    def hops_of(g, p_halt):
        counts = np.repeat(g.neighbour_counts, g.neighbour_counts)
        return edges(right(g, p_halt), counts / (1 - p_halt))

    return hops_of


def one_hop_more(right):
    """Lengths on 1, 2, ...: the number of trials until the halt in place of that of hops before it."""
    return lambda u, p_halt: right(u, p_halt) + 1


def one_hop_less(right):
    """Halt one hop early."""
    return lambda u, p_halt: np.maximum(right(u, p_halt) - 1, 0)


def halt_for_survival(right):
    """Survive with p_halt, halt with 1 - p_halt."""
    return lambda u, p_halt: right(u, 1 - p_halt)


FAULTS = [
    (walks, "hops_of", weighted_degree, [check_loads, check_kernel]),
    (walks, "hops_of", no_survival, [check_loads, check_kernel]),
    (walks, "hops_of", no_weight, [check_loads, check_kernel]),
    (walk_lengths, "_quantile", one_hop_more, CHECKS),
    (walk_lengths, "_quantile", one_hop_less, CHECKS),
    (walk_lengths, "_quantile", halt_for_survival, CHECKS),
]


@pytest.mark.parametrize(("module", "name", "fault", "checks"), FAULTS, ids=[fault.__name__ for *_, fault, _ in FAULTS])
def test_fault_is_caught(monkeypatch, module, name, fault, checks):
    monkeypatch.setattr(module, name, fault(getattr(module, name)))
    for check in checks:
        assert check().verdict is Verdict.NOT_REPRODUCED, check.__name__


def test_shared_walks_are_caught_where_independence_is_claimed():
    assert check_kernel(key_of_the_right=2).verdict is Verdict.NOT_REPRODUCED
