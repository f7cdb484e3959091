"""Hops that know of each other: each walk alone is a right random walk, exactly; walkers spread evenly; errors fall."""

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import jax
import networkx as nx
import numpy as np
import pytest
from rounding import rounding
from scipy import stats
from small_graphs import on_dead_ends

from companion.evidence import Verdict
from rfcore import copulas, features, kernels, walks
from rfcore.features import modulation
from rfcore.graphs import Graph
from rfcore.walks import streams

KARATE = Graph.from_networkx(nx.karate_club_graph())
LAWS = {"systematic": walks.hops.Systematic(), "array_rqmc": walks.hops.ArrayRQMC()}
# Nodes of one, two and three neighbours; a self-loop.
SMALL = Graph.from_scipy(np.array([[0, 1, 1, 0.0], [1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]]))


class Given(np.random.Generator):
    """Uniforms that are given, one array per call."""

    def __init__(self, *draws):
        super().__init__(np.random.PCG64())
        self.draws = iter(draws)

    def random(self, n):
        return np.full(n, next(self.draws))


def paths(law, g, start, lengths, rng):
    """Nodes of each walker before each hop, one row per walker, as the engine shows them to a law."""
    asked = LAWS[law](rng, 1, len(lengths))
    seen = np.full((len(lengths), max(lengths)), -1)

    def watched(step, walkers, rows, nodes):
        seen[walkers, step] = nodes
        return asked(step, walkers, rows, nodes)

    walks.engine.walk(np.random.default_rng(0), walks.engine.tables(g, 0.5), np.array([start]), np.array([lengths]), uniforms=watched)
    return seen


def shifts(law, m):
    """Middles and lengths of the intervals of a shift on which no walker changes its neighbour, of one to three."""
    edges = np.array([0, 1 / 3, 1 / 2, 2 / 3])
    points = {
        "systematic": [r / k + j * walks.hops.GOLDEN for k in range(1, m + 1) for r in range(k) for j in range(m)],
        "array_rqmc": np.array([0, 0.5, 0.25])[:m],
    }[law]
    cuts = np.unique(np.append(np.subtract.outer(edges, points) % 1, [0, 1]))
    return (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("lengths", "n_hops"), [((3, 4, 3), 2), ((4, 5), 3)])
def test_each_walk_is_a_right_random_walk_exactly(law, lengths, n_hops):
    """By enumeration of the shifts: every path of every walker has probability 1 / (product of the numbers of neighbours)."""
    start, m = 1, len(lengths)
    middles, widths = shifts(law, m)
    found, together = [{} for _ in lengths], {}
    for choice in itertools.product(range(len(middles)), repeat=n_hops):
        seen = paths(law, SMALL, start, lengths, Given(*middles[list(choice)], *[0.5] * 9))[:, : n_hops + 1]
        chance = widths[list(choice)].prod()
        for walker, path in enumerate(map(tuple, seen.tolist())):
            found[walker][path] = found[walker].get(path, 0.0) + chance
        hopped = tuple(seen[:2, 1].tolist())
        together[hopped] = together.get(hopped, 0.0) + chance
    W = (SMALL.to_scipy().toarray() > 0) / SMALL.neighbour_counts[:, None]
    for law_of_walker in found:
        for path in itertools.product(range(4), repeat=n_hops):
            expected = np.prod([W[i, j] for i, j in itertools.pairwise((start, *path))])
            assert law_of_walker.get((start, *path), 0.0) == pytest.approx(expected, abs=rounding(1e5))
    # Walks they are, but not independent ones: two of three never leave a node of three neighbours by one edge.
    assert all(together.get((j, j), 0.0) < 1 / 9 - 0.01 for j in (0, 2, 3))


@pytest.mark.parametrize("law", LAWS)
def test_walkers_on_a_node_spread_evenly(law):
    """From one node k walkers go to each of d neighbours floor(k/d) or ceil(k/d) times: evenly spaced points."""
    asked = LAWS[law](np.random.default_rng(0), 50, 64)
    walkers, rows = np.arange(50 * 64), np.repeat(np.arange(50), 64)
    nodes = np.where(walkers % 2, 3, 7) if law == "systematic" else np.full(50 * 64, 5)  # 32 on each of two, or all on one
    u, k = asked(0, walkers, rows, nodes), 32 if law == "systematic" else 64
    for d in (2, 3, 5, 17, 100):
        hops = np.floor(d * u).astype(int)
        counts = np.zeros((50, 8, d), dtype=int)
        np.add.at(counts, (rows, nodes, hops), 1)
        counts = counts[:, np.unique(nodes)]
        assert set(np.unique(counts)) <= {k // d, -(-k // d)}


@pytest.mark.parametrize("law", LAWS)
def test_hops_are_uniform_whatever_was_before_and_starts_are_independent(law):
    lengths = np.tile([3, 3, 2, 3, 3], (8000, 1))
    seen, asked = [], LAWS[law](np.random.default_rng(1), 8000, 5)

    def watched(step, walkers, rows, nodes):
        u = asked(step, walkers, rows, nodes)
        kept = np.full((8000, 5), np.nan)
        kept.flat[walkers] = u
        seen.append((kept, nodes))
        return u

    walks.engine.walk(np.random.default_rng(0), walks.engine.tables(KARATE, 0.5), np.arange(8000) % 34, lengths, uniforms=watched)
    (first, _), (second, _), _ = seen
    alarm = 1e-4 / 50  # of a p-value here
    for walker in range(5):
        for u in (first[:, walker], second[:, walker]):
            assert stats.kstest(u, "uniform").pvalue > alarm
        for a, b in ((first[:, walker], second[:, walker]), (first[::2, walker], first[1::2, walker]), (first[:, 0], second[:, walker])):
            table = np.histogram2d(a, b, bins=4, range=[(0, 1), (0, 1)])[0]
            assert stats.chi2_contingency(table).pvalue > alarm


@pytest.mark.parametrize("law", LAWS)
def test_deposits_with_dead_ends_are_powers_of_the_weights(law):
    decision = on_dead_ends(walks.Coupling(copulas.stratified, LAWS[law]))
    assert decision.verdict is Verdict.REPRODUCED, decision.detail


def relative_errors(m, hops, coupling="stratified", repeats=60):
    g, kernel, nodes = KARATE.normalised(), kernels.diffusion(KARATE, 1.0), np.tile(np.arange(34), repeats)
    phi, psi = (
        features.walk_features(
            jax.random.key(key),
            g,
            modulation.diffusion(1.0),
            m,
            0.1,
            walks.Coupling(copulas.named(coupling), hops),
            nodes,
        ).toarray()
        for key in (0, 1)
    )
    errors = phi.reshape(-1, 34, 34) @ psi.reshape(-1, 34, 34).transpose(0, 2, 1) - kernel
    return np.linalg.norm(errors, axis=(1, 2)).mean() / np.linalg.norm(kernel)


def test_errors_fall_to_a_third_and_less():
    """.36 and .41 of that of independent walks with 16 walkers (standard errors below .01 here)."""
    independent = relative_errors(16, walks.hops.Independent(), "iid")
    assert relative_errors(16, walks.hops.Systematic()) < 0.4 * independent
    assert relative_errors(16, walks.hops.ArrayRQMC()) < 0.45 * independent


def every_other_edge(rng, n_rows, n_walks):
    """Somebody's law: walkers of even and odd numbers hop by u and 1 - u."""

    def uniforms(step, walkers, rows, nodes):
        u = rng.random(n_rows)[rows]
        return np.where(walkers % 2, u, 1 - 2.0**-53 - u * (1 - 2.0**-53))

    return uniforms


@pytest.mark.parametrize("law", [*LAWS.values(), every_other_edge])
def test_result_depends_on_the_key_alone(monkeypatch, law):
    monkeypatch.setattr(streams, "WALKERS_PER_CHUNK", 64)  # 17 chunks of two nodes
    g, f, other = KARATE.normalised(), modulation.diffusion(1.0), modulation.regularised_laplacian(0.5, 2)
    arguments = jax.random.key(4), g, f, 32, 0.2, walks.Coupling(copulas.stratified, law)
    alone = features.walk_features(*arguments)
    with ThreadPoolExecutor(3) as threads:
        pooled = features.walk_features(*arguments, executor=threads)
    assert np.array_equal(alone.toarray(), pooled.toarray())
    deposits = walks.simulate(
        jax.random.key(4), g, walks.lengths.draw(jax.random.key(4), 34, 32, 0.2, arguments[-1])
    )
    # Sums of at most some hundred positive terms, in another order: some hundred eps.
    assert np.allclose(features.weigh(deposits, f).toarray(), alone.toarray(), rtol=1e-12, atol=0)
    again = pickle.loads(pickle.dumps(alone)).with_modulation(other)
    assert np.allclose(again.toarray(), features.weigh(deposits, other).toarray(), rtol=1e-12, atol=0)


def test_independent_hops_are_those_of_before():
    g, f = KARATE.normalised(), modulation.diffusion(1.0)
    plain, mine = (
        features.walk_features(jax.random.key(0), g, f, 8, 0.2, walks.Coupling(copulas.independent, law)).toarray()
        for law in (walks.hops.Independent(), lambda *_: lambda *_: None)
    )
    assert np.array_equal(plain, features.walk_features(jax.random.key(0), g, f, 8, 0.2, "iid").toarray())
    assert np.array_equal(plain, mine)


def test_the_longest_walks_spread_as_well():
    """Of k walkers on a node the first b: each of d neighbours gets b/d of them, to within the discrepancy of van der Corput's points.

    An interval of the circle holds as many of b of them as its length says, to within twice log2(b) / 3 + 1 (Béjian and
    Faure, 1977); evenly spaced points in the same order are less than one place away.
    """
    for k in (37, 64, 1500):  # of more than 1024 the points stay as they are
        asked = walks.hops.Systematic()(np.random.default_rng(0), 20, k)
        rows = np.repeat(np.arange(20), k)
        u = asked(0, np.arange(20 * k), rows, np.zeros(20 * k, dtype=np.int32)).reshape(20, k)
        for b, d in itertools.product((1, 2, 5, 16, k), (2, 3, 10)):
            counts = np.array([np.bincount(np.floor(d * row).astype(int), minlength=d) for row in u[:, :b]])
            assert np.abs(counts - b / d).max() <= 2 * (np.log2(b) / 3 + 1) + 1
        if k <= 1024:
            assert np.allclose(np.diff(np.sort(u), axis=1), 1 / k, rtol=0, atol=rounding(10))


def gives(u):
    return lambda *_: lambda step, walkers, rows, nodes: u(len(walkers))


@pytest.mark.parametrize(
    ("hops", "message"),
    [
        (gives(lambda n: np.zeros(n + 1)), r"hops maps 34 walkers to an array of shape \(35,\); give"),
        (gives(lambda n: np.ones(n)), r"hops has values in \[1\.0, 1\.0\]; give levels"),
        (gives(lambda n: np.full(n, np.nan)), "hops has values in"),
        ("repelling", "hops = 'repelling'; give hops that can walk"),
        (walks.hops.First(2), r"hops = First\(n_hops=2\); give hops that can walk"),
    ],
)
def test_what_is_no_law_of_hops_is_refused(hops, message):
    lengths = walks.Lengths(np.ones((34, 1), dtype=int), 0.5, hops)
    with pytest.raises(ValueError, match=message):
        walks.simulate(jax.random.key(0), KARATE, lengths)


def test_systematic_couples_lengths_and_hops():
    f, both = modulation.diffusion(1.0), walks.Coupling(copulas.stratified, walks.hops.Systematic())
    one, other = (
        features.walk_features(jax.random.key(0), KARATE.normalised(), f, 8, 0.2, law)
        for law in ("systematic", both)
    )
    assert np.array_equal(one.toarray(), other.toarray())


@pytest.mark.parametrize("law", LAWS)
def test_a_chunk_full_of_rows_is_sorted_by_row_and_node(law):
    """65,536 rows of one walker fill a chunk: row, node and walker take all 63 bits that an int64 has."""
    n = streams.WALKERS_PER_CHUNK
    g = Graph.from_networkx(nx.cycle_graph(n)).normalised()
    hops = walks.Coupling(copulas.independent, LAWS[law])
    phi = features.walk_features(jax.random.key(0), g, modulation.diffusion(1.0), 1, 0.5, hops).to_scipy()
    assert np.all(phi.diagonal() > 0)  # every walk begins at its node
    order, met = walks.hops._by_node(n, 1)(np.arange(n), np.full(n, 7))
    assert np.array_equal(order, np.arange(n)) and np.all(met >= 0) and np.all(np.diff(met) > 0)
