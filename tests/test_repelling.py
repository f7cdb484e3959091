"""Repelling walks: the joint law of walkers on a node by enumeration; each walk alone a right one; nothing biased."""

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import jax
import networkx as nx
import numpy as np
import pytest
from rounding import rounding
from scipy import stats
from small_graphs import DEAD_ENDS, on_dead_ends

from companion import evidence
from companion.evidence import Verdict
from companion.papers.couplings import repelling
from rfcore import copulas, features, kernels, walks
from rfcore.features import modulation
from rfcore.graphs import Graph
from rfcore.walks import streams

KARATE = Graph.from_networkx(nx.karate_club_graph())
LAWS = {"blocks": repelling.blocks, "shifted": repelling.shifted}
CASES = [(2, 3), (3, 2), (3, 3), (3, 5), (4, 3), (5, 3), (4, 2)]  # walkers, neighbours


class Given:
    """An order and uniforms that are given: one number per call, or the first numbers of a call."""

    def __init__(self, order, draws):
        self.order, self.draws = np.array(order), list(draws)

    def permutation(self, n):
        return self.order

    def random(self, n):
        return np.array([self.draws.pop(0)]) if n == 1 else np.append(self.draws, np.zeros(n))[:n]


def middles(n):
    return (np.arange(n) + 0.5) / n


def grids(law, k, d):
    """Middles of equally likely intervals of each uniform, on which nobody changes his neighbour."""
    if law == "blocks":
        left = k % d
        return [middles(d - left + q + 1) for q in range(left)]
    return [middles(k * d)] if k <= d else [middles(d)] * -(-k // d)


def joint(law, k, d):
    """Probability of the neighbours of k walkers on a node of d of them, a dictionary, by enumeration."""
    g, found = Graph.from_networkx(nx.star_graph(d)), {}
    orders, draws = list(itertools.permutations(range(k))), list(itertools.product(*grids(law, k, d)))
    for order, drawn in itertools.product(orders, draws):
        u = LAWS[law](g)(Given(order, drawn), 1, k)(0, np.arange(k), np.zeros(k, int), np.zeros(k, int))
        to = tuple(np.floor(d * u).astype(int).tolist())
        found[to] = found.get(to, 0) + 1 / len(orders) / len(draws)
    return found


@pytest.mark.parametrize(("k", "d"), CASES)
@pytest.mark.parametrize("law", LAWS)
def test_hop_of_each_walker_is_uniform_exactly(law, k, d):
    for walker in range(k):
        marginal = np.zeros(d)
        for to, chance in joint(law, k, d).items():
            marginal[to[walker]] += chance
        assert marginal == pytest.approx(1 / d, abs=rounding(1e4))


@pytest.mark.parametrize(("k", "d"), CASES)
def test_pair_of_walkers_by_enumeration(k, d):
    """In one block, two different neighbours, all pairs equally likely; in two blocks, independent ones."""
    sizes = np.array([d] * (k // d) + [k % d])
    together = np.sum(sizes * (sizes - 1)) / (k * (k - 1))
    expected = np.full((d, d), (1 - together) / d**2 + together / (d * (d - 1)))
    np.fill_diagonal(expected, (1 - together) / d**2)
    for pair in itertools.combinations(range(k), 2):
        found = np.zeros((d, d))
        for to, chance in joint("blocks", k, d).items():
            found[to[pair[0]], to[pair[1]]] += chance
        assert found == pytest.approx(expected, abs=rounding(1e4))


@pytest.mark.parametrize(("k", "d"), CASES)
@pytest.mark.parametrize("law", LAWS)
def test_every_block_takes_different_edges(law, k, d):
    """So that no neighbour gets more walkers than there are blocks, nor fewer than there are full ones."""
    for to in joint(law, k, d):
        counts = np.bincount(to, minlength=d)
        assert counts.min() >= k // d
        assert counts.max() <= -(-k // d)


@pytest.mark.parametrize("law", LAWS)
def test_walkers_of_many_nodes_and_starts_keep_apart(law):
    """Random crowds on karate: blocks are those of one start on one node, whatever stands between them."""
    rng, n_rows, n_walks = np.random.default_rng(0), 60, 64
    rows, nodes = np.repeat(np.arange(n_rows), n_walks), rng.integers(34, size=n_rows * n_walks)
    nodes[: 20 * n_walks] //= 9  # of twenty starts all stand on the first four nodes
    u = LAWS[law](KARATE)(rng, n_rows, n_walks)(3, np.arange(len(rows)), rows, nodes)
    degrees = KARATE.neighbour_counts[nodes]
    counts = np.zeros((n_rows, 34, degrees.max()), dtype=int)
    np.add.at(counts, (rows, nodes, np.floor(u * degrees).astype(int)), 1)
    for row, node in np.ndindex(n_rows, 34):
        to = counts[row, node, : KARATE.neighbour_counts[node]]
        assert set(to) <= {to.sum() // len(to), -(-to.sum() // len(to))}


@pytest.mark.parametrize("law", LAWS)
def test_hops_are_uniform_whatever_was_before_and_starts_are_independent(law):
    g, n = Graph.from_networkx(nx.complete_graph(5)), 8000  # four neighbours everywhere
    seen, asked = [], LAWS[law](g)(np.random.default_rng(1), n, 6)

    def watched(step, walkers, rows, nodes):
        u = asked(step, walkers, rows, nodes)
        kept = np.full((n, 6), -1)
        kept.flat[walkers] = np.floor(4 * u)
        seen.append(kept)
        return u

    lengths = np.tile([3, 3, 2, 3, 1, 3], (n, 1))
    walks.engine.walk(np.random.default_rng(0), walks.engine.tables(g, 0.5), np.zeros(n, dtype=int), lengths, uniforms=watched)
    alarm = 1e-4 / 50  # of a p-value here
    for walker in (0, 1, 2, 3, 5):
        first, second = seen[0][:, walker], seen[1][:, walker]
        for hops in (first, second):
            assert stats.chisquare(np.bincount(hops, minlength=4)).pvalue > alarm
        for a, b in ((first, second), (first[::2], first[1::2]), (seen[0][:, 0], second)):
            table = np.histogram2d(a, b, bins=4)[0]
            assert stats.chi2_contingency(table).pvalue > alarm


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("coupling", ["iid", "stratified"])
def test_deposits_with_dead_ends_are_powers_of_the_weights(law, coupling):
    decision = on_dead_ends(walks.Coupling(copulas.named(coupling), LAWS[law](DEAD_ENDS)))
    assert decision.verdict is Verdict.REPRODUCED, decision.detail


@pytest.mark.parametrize("law", LAWS)
def test_kernel_of_karate_is_estimated_without_bias_and_with_less_error(law):
    g, kernel, nodes = KARATE.normalised(), kernels.diffusion(KARATE, 1.0), np.tile(np.arange(34), 300)

    def estimates(hops):
        phi, psi = (
            features.walk_features(
                jax.random.key(key),
                g,
                modulation.diffusion(1.0),
                16,
                0.1,
                walks.Coupling(copulas.independent, hops),
                nodes,
            ).toarray()
            for key in (0, 1)
        )
        return phi.reshape(-1, 34, 34) @ psi.reshape(-1, 34, 34).transpose(0, 2, 1)

    found = estimates(LAWS[law](KARATE))
    decision = evidence.unbiased(found, kernel, smallest_bias=0.1)
    assert decision.verdict is Verdict.REPRODUCED, decision.detail
    errors = [np.mean((some - kernel) ** 2) for some in (found, estimates(walks.hops.Independent()))]
    assert errors[0] < 0.4 * errors[1]


@pytest.mark.parametrize("law", LAWS)
def test_result_depends_on_the_key_alone(monkeypatch, law):
    monkeypatch.setattr(streams, "WALKERS_PER_CHUNK", 64)  # 17 chunks of two nodes
    g, f, hops = KARATE.normalised(), modulation.diffusion(1.0), LAWS[law](KARATE)
    arguments = jax.random.key(4), g, f, 32, 0.2, walks.Coupling(copulas.independent, hops)
    alone = features.walk_features(*arguments)
    with ThreadPoolExecutor(3) as threads:
        pooled = features.walk_features(*arguments, executor=threads)
    assert np.array_equal(alone.toarray(), pooled.toarray())
    again = pickle.loads(pickle.dumps(alone)).with_modulation(f)
    assert np.array_equal(again.toarray(), alone.toarray())
