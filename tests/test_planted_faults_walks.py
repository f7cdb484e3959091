"""Known mistakes in walk features, planted one by one: our own checks pass without them and go red with them.

A check draws with whatever engine is in place and returns the decision of a rule of :mod:`companion.evidence`, at the
same size for the right engine and the wrong one. Mistakes in one line of the library are planted in its source, and
the checks for them are exact: they assert.
"""

import hashlib
import itertools
import os
import sys
import tempfile
from dataclasses import replace

import jax
import numpy as np
import optax
import pytest
import trimesh
from planting import with_another_line
from small_graphs import UNEVEN

from companion import evidence
from companion.datasets import storage
from companion.datasets.registry import File
from companion.evidence import Verdict
from companion.models import descent, ode, pagerank
from companion.papers.ugrf import generalisation, reduction
from rfcore import copulas, features, kernels, walks
from rfcore.features import DepositFeatures, modulation, neural
from rfcore.gp import weights
from rfcore.graphs import Graph
from rfcore.theory import walk_errors
from rfcore.walks import streams

G = UNEVEN.normalised()
P_HALT, N_WALKS, REPEATS = 0.3, 4, 2000
NODES = np.tile(np.arange(5), REPEATS)


def check_lengths():
    """P(length >= k) = (1 - p_halt)^k."""
    lengths = walks.lengths.draw(jax.random.key(0), 5000, N_WALKS, P_HALT, "iid").values
    at_least = (lengths[:, :, None] >= np.arange(6)).mean(axis=1)
    return evidence.unbiased(at_least, (1 - P_HALT) ** np.arange(6.0), smallest_bias=0.03)


def check_loads():
    """The expected load at node j and step k of a walk from i is (W^k)_ij, step by step."""
    lengths = walks.lengths.draw(jax.random.key(1), len(NODES), N_WALKS, P_HALT, "iid")
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
    phi, psi = (features.walk_features(key, G, f, N_WALKS, P_HALT, "iid", NODES).toarray() for key in keys)
    estimates = phi.reshape(-1, 5, 5) @ psi.reshape(-1, 5, 5).transpose(0, 2, 1)
    return evidence.unbiased(estimates, kernels.regularised_laplacian(UNEVEN, 1.0, 2), smallest_bias=0.04)


CHECKS = [check_lengths, check_loads, check_kernel]


def check_each_walk_is_geometric(coupling="stratified"):
    """P(length >= k) = (1 - p_halt)^k, walk by walk."""
    lengths = walks.lengths.draw(jax.random.key(0), 5000, N_WALKS, P_HALT, coupling).values
    at_least = lengths[:, :, None] >= np.arange(6)
    truth = np.broadcast_to((1 - P_HALT) ** np.arange(6.0), (N_WALKS, 6))
    return evidence.unbiased(at_least.astype(float), truth, smallest_bias=0.05)


def check_antithetic_walks_are_geometric():
    return check_each_walk_is_geometric("antithetic")


def check_nodes_are_independent():
    """Lengths of nodes 2i and 2i + 1 are uncorrelated, walk by walk."""
    lengths = walks.lengths.draw(jax.random.key(0), 10_000, N_WALKS, P_HALT, "reversal").values.reshape(-1, 2, N_WALKS)
    short = (lengths == 0) - P_HALT
    return evidence.unbiased(short[:, 0, :, None] * short[:, 1, None, :], np.zeros((N_WALKS, N_WALKS)), smallest_bias=0.02)


COUPLED = [check_each_walk_is_geometric, check_antithetic_walks_are_geometric, check_nodes_are_independent]


@pytest.mark.parametrize("check", CHECKS + COUPLED)
def test_checks_pass_on_good_code(check):
    decision = check()
    assert decision.verdict is Verdict.REPRODUCED, decision.detail


def edges(hops, multiplier):
    edge = hops.edge.copy()
    edge[:, 1] = multiplier
    return replace(hops, edge=edge)


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


def across_nodes(right):
    """Couple walk i of one node with walk i of the next, in place of the walks of a node."""

    def drawn(copula, uniform, shape):
        n, m, k = shape
        return np.swapaxes(right(copula, uniform, (n // 2, 2 * m, k)).reshape(n // 2, m, 2, k), 1, 2).reshape(shape)

    return drawn


def unpermuted(right):
    """Walk i always in stratum i."""

    return lambda *drawn: np.sort(right(*drawn), axis=-2)


FAULTS = [
    (copulas, "draw", across_nodes, [check_nodes_are_independent]),
    (copulas, "draw", unpermuted, [check_each_walk_is_geometric]),
    (walks.engine, "tables", weighted_degree, [check_loads, check_kernel]),
    (walks.engine, "tables", no_survival, [check_loads, check_kernel]),
    (walks.engine, "tables", no_weight, [check_loads, check_kernel]),
    (walks.lengths, "quantile", one_hop_more, CHECKS),
    (walks.lengths, "quantile", one_hop_less, CHECKS),
    (walks.lengths, "quantile", halt_for_survival, CHECKS),
]


@pytest.mark.nightly
@pytest.mark.parametrize(("module", "name", "fault", "checks"), FAULTS, ids=[fault.__name__ for *_, fault, _ in FAULTS])
def test_fault_is_caught(monkeypatch, module, name, fault, checks):
    monkeypatch.setattr(module, name, fault(getattr(module, name)))
    for check in checks:
        assert check().verdict is Verdict.NOT_REPRODUCED, check.__name__


@pytest.mark.nightly
def test_shared_walks_are_caught_where_independence_is_claimed():
    assert check_kernel(key_of_the_right=2).verdict is Verdict.NOT_REPRODUCED


def check_both_halves_of_a_key():
    keys = [np.array(words, dtype=np.uint32) for words in ([0, 7], [1, 7], [1, 8])]
    first, second, third = (walks.lengths.draw(key, 20, 4, 0.1, "iid").values for key in keys)
    assert not np.array_equal(first, second)
    assert not np.array_equal(second, third)


def check_fresh_walks_for_every_time():
    """Twice the same time with weights 1 and -1: nothing is left of walks that are the same."""
    times = ode.Times(np.array([0.5, 0.5]), np.array([1.0, -1.0]))
    assert np.any(ode.estimate(jax.random.key(0), G, np.ones(5), 1.0, times, 2, P_HALT))


def check_antithetic_verdict():
    assert check_antithetic_walks_are_geometric().verdict is Verdict.REPRODUCED


def check_uniforms_choose_the_hops_of_their_walk():
    """Hop t of every walk leads to neighbour number floor(u_t * number of neighbours), walk by walk; node 0 ends walks."""
    W = np.array([[0, 0, 0, 0.0], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]])
    g = Graph.from_scipy(W)
    lengths = walks.lengths.draw(jax.random.key(0), 4, 30, P_HALT, walks.Coupling(copulas.stratified, walks.hops.First(2)))
    deposits = walks.simulate(jax.random.key(0), g, lengths)
    for start in range(4):
        wanted = {1: [], 2: []}
        for length, uniforms in zip(lengths.values[start], lengths.hops.uniforms[start], strict=True):
            node = start
            for step in range(1, min(length, 2) + 1):
                if node == 0:
                    break
                node = int(np.flatnonzero(W[node])[int(3 * uniforms[step - 1])])
                wanted[step].append(node)
        for step, nodes in wanted.items():
            assert sorted(deposits.node[(deposits.row == start) & (deposits.step == step)]) == sorted(nodes)


def check_what_a_coupling_hop_by_hop_sees():
    """What a coupling that acts hop by hop sees: rows of walkers, and nodes that an edge joins to those of the hop before."""
    g, seen = UNEVEN, []

    def watched(step, walkers, rows, nodes):
        assert np.array_equal(rows, walkers // 6)
        seen.append(dict(zip(walkers.tolist(), nodes.tolist(), strict=True)))
        return np.full(len(walkers), 0.0)

    lengths = walks.lengths.draw(jax.random.key(0), 5, 6, P_HALT, "iid").values
    hops = walks.engine.tables(g, P_HALT)
    walks.engine.walk(np.random.default_rng(0), hops, np.arange(5), lengths, uniforms=watched)
    assert len(seen) > 4
    assert seen[0] == {i: i // 6 for i in range(24) if lengths.flat[i] > 0}  # node 4 has no neighbours
    for step, (before, after) in enumerate(itertools.pairwise(seen)):
        assert after == {i: g.indices[g.indptr[node]] for i, node in before.items() if lengths.flat[i] > step + 1}


def check_hops_are_uniform_and_starts_independent(law=walks.hops.Systematic):
    """Of one walker of two, and with that of another start: frequencies of quarters of [0, 1)."""
    n = 4000
    uniforms = law()(np.random.default_rng(0), n, 2)
    u = uniforms(0, np.arange(2 * n), np.arange(2 * n) // 2, np.arange(2 * n) % 2).reshape(n, 2)
    second = np.histogram(u[:, 1], 4, (0, 1))[0] / n
    both = np.histogram2d(u[::2, 1], u[1::2, 1], 4, [(0, 1), (0, 1)])[0] / (n / 2)
    assert abs(second - 1 / 4).max() < 5 * np.sqrt(3 / 16 / n)
    assert abs(both - 1 / 16).max() < 5 * np.sqrt(15 / 256 / (n / 2))


def check_array_rqmc():
    check_hops_are_uniform_and_starts_independent(walks.hops.ArrayRQMC)


def check_walkers_on_a_node_spread_evenly():
    """Six walkers on each of two nodes, mixed: two of them to each third."""
    rng, rows = np.random.default_rng(0), np.repeat(np.arange(20), 12)
    nodes = rng.permuted(np.tile(np.arange(12) % 2, (20, 1)), axis=1).ravel()
    u = walks.hops.Systematic()(rng, 20, 12)(0, np.arange(240), rows, nodes)
    counts = np.zeros((20, 2, 3))
    np.add.at(counts, (rows, nodes, np.floor(3 * u).astype(int)), 1)
    assert np.all(counts == 2)


def check_bins_make_all_walks():
    assert np.allclose(walk_errors.bin_survival(5, P_HALT, 9).mean(axis=0), 1, rtol=1e-12)


def check_pagerank_is_a_law():
    rho = pagerank.estimate(jax.random.key(0), UNEVEN, 6, P_HALT)
    assert rho.sum() == pytest.approx(1, rel=1e-12)
    assert rho[4] == pytest.approx(1 / 5, rel=1e-12)  # walks from an isolated node stay


def check_pagerank_is_where_walks_end():
    rho = pagerank.estimate(jax.random.key(0), UNEVEN, 4, P_HALT, n_repeats=REPEATS)
    decision = evidence.unbiased(rho, pagerank.exact(UNEVEN, P_HALT), smallest_bias=0.02)
    assert decision.verdict is Verdict.REPRODUCED, decision.detail


def check_products_of_few_rows():
    key, f = jax.random.key(0), modulation.diffusion(1.0)
    stepped = features.by_step(walks.simulate(key, G, walks.lengths.draw(key, 2, 4, P_HALT, "iid"), nodes=[1, 2]))
    v = np.arange(5.0)
    product = stepped.with_modulation(f) @ v
    assert product.shape == (2,)
    assert np.allclose(product, stepped.with_modulation(f).toarray() @ v)


def check_normalisation_is_by_the_rows():
    W = np.array([[0.0, 4.0, 0.0], [1.0, 0.0, 3.0], [9.0, 0.0, 0.0]])
    d = W.sum(axis=1)
    assert np.allclose(Graph.from_scipy(W).normalised().to_scipy().toarray(), W / np.sqrt(np.outer(d, d)))


def check_mesh_graphs_have_weights_of_one():
    lens = trimesh.Trimesh(np.eye(3), [[0, 1, 2], [2, 1, 0]], process=False)  # two faces that share three edges
    assert np.array_equal(Graph.from_mesh(lens, nodes="faces").to_scipy().toarray(), [[0, 1], [1, 0]])


def check_standard_error_of_the_complexity():
    """Two nodes, |s^T I s| + |s^T W s| = 6 or 2: the mean tells how often, and that the standard error."""
    g, n = Graph.from_scipy(np.ones((2, 2))), 50
    mean, error = generalisation.rademacher_complexity(jax.random.key(0), g, [0, 1], [1.0, 1.0], n_draws=n)
    low, high = np.sqrt([2.0, 6.0]) / 2
    share = (mean - low) / (high - low)
    assert 0.2 < share < 0.8
    assert error == pytest.approx((high - low) * np.sqrt(share * (1 - share) / (n - 1)))


def check_random_start_has_both_signs():
    f = neural.random(jax.random.key(0), 200)
    for values in (f.w1, f.b1, f.w2):
        assert 60 < np.sum(np.asarray(values) < 0) < 140  # a binomial of mean 100 and deviation 7.1


def check_no_stream_is_drawn_from_twice():
    opened, right = [], streams.generator

    def recorded(*seed):
        opened.append(seed)
        return right(*seed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "generator", recorded)
        key = jax.random.key(0)
        phi = features.walk_features(key, G, modulation.diffusion(1.0), 2, P_HALT)
        reduction.johnson_lindenstrauss(key, phi, 2)
        reduction.johnson_lindenstrauss(key, phi, 2, kind="sparse")
        reduction.anchor_points(key, phi, 2)
    assert len(opened) == 5
    assert len(set(opened)) == 5


def check_chunks_of_pagerank_have_streams_of_their_own():
    opened, right = [], streams.generator
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "generator", lambda *seed: opened.append(seed) or right(*seed))
        patch.setattr(streams, "WALKERS_PER_CHUNK", 4)
        pagerank.estimate(jax.random.key(0), UNEVEN, 4, P_HALT, coupling="systematic")
    assert len(set(opened)) == len(opened) >= 2 * UNEVEN.n_nodes


def check_single_walkers_on_their_nodes_spread():
    """Eight multiples of the golden ratio leave no gap of .15; one shift for all nodes of a start leaves all."""
    walkers = np.arange(24)
    u = walks.hops.Systematic()(np.random.default_rng(0), 3, 8)(0, walkers, walkers // 8, walkers % 8).reshape(3, 8)
    ends = np.sort(np.column_stack([u, u.min(axis=1) + 1]), axis=1)
    assert np.diff(ends).max() < 0.15


def check_a_download_is_never_half_there():
    """Nobody opens a file under its own name to write it: one that is whole is renamed."""
    content, written = b"whole", []
    file = File("set/file", "http://nowhere/file", hashlib.sha256(content).hexdigest(), len(content))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RFCORE_DATA_CACHE", folder)
        patch.delenv("RFCORE_DATA_MIRROR", raising=False)
        seen = storage._download.__globals__  # by a planted fault, a copy of the module's
        patch.setitem(seen, "ask", lambda host, url, stamps: None)
        patch.setitem(seen, "download", lambda url, target, stamps: target.write_bytes(content))
        WATCHING.append(written)
        try:
            assert storage.read(file) == content
        finally:
            WATCHING.remove(written)
        kept = storage.cache() / file.path
        assert kept.is_file()
        assert str(kept) not in written


WATCHING = []  # lists to which the paths of files that are opened for writing are added


def _watch(event, arguments):
    if event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR):
        for written in WATCHING:
            written.append(str(arguments[0]))


sys.addaudithook(_watch)  # for good: Python has no way to take one off


def check_descent_steps_once():
    learned = descent.learn(lambda f: f**2, 1.0, n_steps=3, optimiser=optax.sgd(0.1))
    assert float(learned.f) == pytest.approx(0.8**3)


def check_named_modulations_want_normalised_weights():
    with pytest.raises(ValueError, match="normalised weights"):
        features.walk_features(jax.random.key(0), UNEVEN, modulation.diffusion(1.0), 2, P_HALT)


def check_normalised_graphs_stay_as_they_are():
    assert np.array_equal(kernels.diffusion(G, 1.0), kernels.diffusion(UNEVEN, 1.0))


def check_noise_is_in_the_system():
    K, y = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[1.0], [-1.0]])
    assert np.allclose(weights.conjugate_gradients(lambda v: K @ v, y, 0.5, 1e-12), np.linalg.solve(K + 0.5 * np.eye(2), y))


IN_SOURCE = [
    (walks.hops.Given, "__call__", "by_hop[step]", "by_hop[-1 - step]", check_uniforms_choose_the_hops_of_their_walk),
    (walks.hops.Given, "__call__", "take(walkers,", "take(np.arange(len(walkers)),", check_uniforms_choose_the_hops_of_their_walk),
    (walks.hops.Given, "__call__", "take(walkers,", "take(rows,", check_uniforms_choose_the_hops_of_their_walk),
    (walks.engine, "_walk", "order = order[stay]", "order = order[: len(row)]", check_uniforms_choose_the_hops_of_their_walk),
    (walks.engine, "_walk", "here[stay]", "here[: len(row)]", check_what_a_coupling_hop_by_hop_sees),
    (walks.hops.Systematic, "__call__", "rng.random(n_rows)", "np.zeros(n_rows)", check_hops_are_uniform_and_starts_independent),
    (walks.hops.Systematic, "__call__", "rng.random(n_rows)", "rng.random(1).repeat(n_rows)", check_hops_are_uniform_and_starts_independent),
    (walks.hops.ArrayRQMC, "__call__", "rng.random(n_rows)", "np.zeros(n_rows)", check_array_rqmc),
    (walks.hops.Systematic, "__call__", "start += moved[: len(first)]", "pass", check_single_walkers_on_their_nodes_spread),
    (walks.hops.Systematic, "__call__", "n) - first)", "n) - first + 1)", check_walkers_on_a_node_spread_evenly),
    (walks.hops, "_placed", "placed[order] = u", "placed = u", check_walkers_on_a_node_spread_evenly),
    (walk_errors, "bin_survival", "n_bins - 1 -", "n_bins -", check_bins_make_all_walks),
    (pagerank, "estimate", "(n_nodes * walkers.n_walks)", "n_nodes", check_pagerank_is_a_law),
    (pagerank, "estimate", "(n_nodes * walkers.n_walks)", "walkers.n_walks", check_pagerank_is_a_law),
    (
        pagerank,
        "_ends",
        "walk_anew(walkers, chunk,",
        "walk_anew(walkers, 0,",
        check_chunks_of_pagerank_have_streams_of_their_own,
    ),
    (
        pagerank,
        "_ends",
        "(begin + after, begin + now)",
        "(begin, begin + now - after)",
        check_pagerank_is_where_walks_end,
    ),
    (walks.AntitheticTermination, "__call__", "- halts) + 1", "- halts)", check_antithetic_verdict),
    (walks.AntitheticTermination, "__call__", "min(0.5, 1 - p_halt)", "1 - p_halt", check_antithetic_verdict),
    (streams, "words", "(int(data[0]) << 32) | ", "", check_both_halves_of_a_key),
    (ode, "estimate", "fold_in(key, j)", "fold_in(key, 0)", check_fresh_walks_for_every_time),
    (DepositFeatures, "_times", "self.shape[0])", "self.shape[1])", check_products_of_few_rows),
    (weights, "conjugate_gradients", " + noise * direction", "", check_noise_is_in_the_system),
    (Graph, "degrees", "axis=1", "axis=0", check_normalisation_is_by_the_rows),
    (Graph, "from_mesh", "W.data[:] = 1.0", "pass", check_mesh_graphs_have_weights_of_one),
    (generalisation, "rademacher_complexity", "(draws.std(", "2 * (draws.std(", check_standard_error_of_the_complexity),
    (neural, "random", "(hidden,), minval=-1.0", "(hidden,), minval=0.0", check_random_start_has_both_signs),
    (reduction, "johnson_lindenstrauss", "PURPOSES[kind]", "2", check_no_stream_is_drawn_from_twice),
    (descent, "descend", "apply_updates(f, update)", "apply_updates(optax.apply_updates(f, update), update)", check_descent_steps_once),
    (modulation, "values", "and not is_normalised", "and False", check_named_modulations_want_normalised_weights),
    (storage, "_kept", "os.replace(whole, kept)", "kept.write_bytes(content)", check_a_download_is_never_half_there),
    (storage, "_kept", "os.replace(whole, kept)", "shutil.copy(whole, kept)", check_a_download_is_never_half_there),
    (storage, "_kept", "os.replace(whole, kept)", "pass", check_a_download_is_never_half_there),
    (Graph, "normalised", "if self.is_normalised:", "if False:", check_normalised_graphs_stay_as_they_are),
]


@pytest.mark.parametrize("check", [check for *_, check in IN_SOURCE])
def test_exact_checks_pass_on_good_code(check):
    check()


@pytest.mark.parametrize(("owner", "name", "right", "wrong"), [row[:4] for row in IN_SOURCE])
def test_fault_can_still_be_planted(owner, name, right, wrong):
    """At every commit, so that source which has moved is not noticed at night alone."""
    with_another_line(owner, name, right, wrong)


@pytest.mark.nightly
@pytest.mark.parametrize(("owner", "name", "right", "wrong", "check"), IN_SOURCE, ids=[check.__name__ for *_, check in IN_SOURCE])
def test_fault_in_the_source_is_caught(monkeypatch, owner, name, right, wrong, check):
    monkeypatch.setattr(owner, name, with_another_line(owner, name, right, wrong))
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check()
