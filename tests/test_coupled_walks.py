"""Walks of a node that are coupled: each keeps its law, nodes stay independent, features stay unbiased, errors fall."""

import itertools
import pickle
from dataclasses import replace

import jax
import networkx as nx
import numpy as np
import pytest
from rounding import rounding
from scipy import stats
from small_graphs import DEAD_ENDS, UNEVEN, on_dead_ends

from companion import evidence
from companion.evidence import Verdict
from rfcore import copulas, features, kernels, walks
from rfcore.features import modulation
from rfcore.graphs import Graph

KARATE = Graph.from_networkx(nx.karate_club_graph())
COUPLINGS = {
    **{name: copulas.COPULAS[name] for name in ("independent", "reversal", "comonotone", "stratified", "systematic", "sobol", "halton")},
    "permutation": [3, 1, 4, 2, 0],
    "function": copulas.gaussian(np.full((5, 5), -0.2) + 1.2 * np.eye(5)),
}
N_WALKS, N_HOPS, P_HALT = 5, 2, 0.3  # an odd walk out; no power of two
ALARM = 1e-4 / 2000  # of a p-value here, of which there are fewer than 2000


def with_first_hops(name):
    """The law of lengths and first hops together, where it is one of uniforms."""
    return name if name == "antithetic" else walks.Coupling(copulas.named(COUPLINGS[name]), walks.hops.First(N_HOPS))


def drawn(name, n_nodes=4000):
    return walks.lengths.draw(jax.random.key(0), n_nodes, N_WALKS, P_HALT, with_first_hops(name))


def pvalue(categories, probabilities):
    """Chi-square test of whole numbers from 0 on; what lies past the last probability is one more category."""
    found = np.bincount(np.minimum(categories, len(probabilities)), minlength=len(probabilities) + 1)
    return stats.chisquare(found, len(categories) * np.append(probabilities, 1 - np.sum(probabilities))).pvalue


def pvalue_of_independence(a, b):
    return stats.chi2_contingency(stats.contingency.crosstab(a, b).count).pvalue


@pytest.mark.parametrize("name", [*COUPLINGS, "antithetic"])
def test_each_walk_has_its_law_and_nodes_are_independent(name):
    found = drawn(name)
    assert found.p_halt == P_HALT
    lengths, hops = found.values, found.hops.uniforms if name != "antithetic" else None
    assert lengths.shape == (4000, N_WALKS)
    assert lengths.dtype == np.int32
    for walk in lengths.T:
        assert pvalue(walk, P_HALT * (1 - P_HALT) ** np.arange(12)) > ALARM
    # What a walk is, in eight classes: length 0 or more, first and second hop to the left or the right.
    classes = np.minimum(lengths, 1)
    if hops is not None:
        assert hops.shape == (4000, N_WALKS, N_HOPS)
        classes = classes + 2 * (hops[..., 0] < 0.5) + 4 * (hops[..., 1] < 0.5)
        for walk in hops.transpose(1, 2, 0).reshape(-1, 4000):
            assert stats.kstest(walk, "uniform").pvalue > ALARM
        halts = np.array([P_HALT, 1 - P_HALT])
        for walk in classes.T:  # coordinates are independent
            assert pvalue(walk, np.tile(halts / 4, 4)[:7]) > ALARM
    for i in range(N_WALKS):
        for j in range(N_WALKS):
            assert pvalue_of_independence(classes[::2, i], classes[1::2, j]) > ALARM


def antithetic_law(p, n):
    """P(lengths of a pair = (a, b)) for a, b below n."""
    a, b = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    gap = np.abs(a - b)
    if p < 0.5:
        return np.where(gap > 0, p * (1 - 2 * p) ** np.minimum(a, b) * p * (1 - p) ** (gap - 1.0), 0.0)
    law = np.where((gap > 0) & (np.minimum(a, b) == 0), (1 - p) * p * (1 - p) ** (gap - 1.0), 0.0)
    law[0, 0] = 2 * p - 1
    return law


def antithetic_by_definition(rng, n_pairs, p):
    """Hop by hop: t and t + 1/2 mod 1 while both walk, independent uniforms afterwards."""
    alive, lengths = np.ones((n_pairs, 2), dtype=bool), np.zeros((n_pairs, 2), dtype=int)
    while alive.any():
        t, alone = rng.random(n_pairs), rng.random((n_pairs, 2))
        t = np.where(alive.all(axis=1)[:, None], np.column_stack([t, (t + 0.5) % 1]), alone)
        alive &= t >= p
        lengths += alive
    return lengths


@pytest.mark.parametrize("p", [0.1, 0.5, 0.7])
def test_antithetic_termination_is_what_its_definition_makes(p):
    """Both against the law, and the law has geometric marginals."""
    n = 4
    law = antithetic_law(p, 400)
    assert np.allclose(law.sum(axis=1)[:n], p * (1 - p) ** np.arange(n), rtol=1e-12)  # sums of 400 terms, the rest < 1e-18
    assert law[:n, :n].sum() + 2 * law[:n, n:].sum() + law[n:, n:].sum() == pytest.approx(1, rel=1e-12)
    cells = np.append(law[:n, :n].ravel(), [law[:n, n:].sum(), law[n:, :n].sum()])
    lengths = walks.lengths.draw(jax.random.key(1), 10_000, 3, p, coupling="antithetic").values
    for pairs in (lengths[:, :2], antithetic_by_definition(np.random.default_rng(0), 10_000, p)):
        a, b = pairs.T
        cell = np.select([np.maximum(a, b) < n, (a < n), (b < n)], [n * a + b, n * n, n * n + 1], n * n + 2)
        found = np.bincount(cell, minlength=n * n + 3)
        expected = 10_000 * np.append(cells, 1 - cells.sum())
        possible = expected > 1e-9
        assert not found[~possible].any()
        assert stats.chisquare(found[possible], expected[possible]).pvalue > 1e-4
    assert pvalue_of_independence(np.minimum(lengths[:, 0], 2), np.minimum(lengths[:, 2], 2)) > 1e-4


def test_antithetic_lengths_stay_within_what_int32_holds():
    class Extremes(np.random.Generator):
        def random(self, shape):
            return np.full(shape, 1 - 2.0**-53)

    p_halt = 1.8e-8
    assert walks.AntitheticTermination()(Extremes(np.random.PCG64()), 2, 3, p_halt).max() == walks.lengths.longest(p_halt)


def test_independent_walks_are_those_of_before():
    plain, named = (walks.lengths.draw(jax.random.key(0), 50, 3, 0.2, coupling=law) for law in ("iid", copulas.independent))
    assert plain.hops == walks.hops.Independent()
    assert np.array_equal(plain.values, named.values)


def test_reversal_is_the_reversing_permutation_of_fine_bins():
    """Each pair lies where 1 - u lies for some u of the first: to the width of a bin for a permutation of 50."""
    # 1 - u is exact; a power, and the logarithms of a level below 1, move it by some units in its last place.
    for coupling, width in (("reversal", rounding(8)), (np.arange(50)[::-1], 0.02)):
        first, second = walks.lengths.draw(jax.random.key(2), 3000, 2, 0.2, coupling=coupling).values.T
        shortest = walks.lengths.quantile(np.maximum(0.8 ** (first + 1.0) - width, 0), 0.2)
        longest = walks.lengths.quantile(np.minimum(0.8**first + width, 1 - 2.0**-53), 0.2)
        assert np.all((shortest <= second) & (second <= longest))
    pairs = walks.lengths.draw(jax.random.key(2), 3000, 2, 0.2, coupling=[0]).values.T
    assert pvalue_of_independence(*np.minimum(pairs, 4)) > 1e-4  # one bin couples nothing


def walked(g, start, n_hops, uniforms):
    """Nodes after each hop of one walk, of which the first hops have uniforms; it ends at a dead end."""
    nodes = [start]
    for u in uniforms[:n_hops]:
        neighbours = g.indices[g.indptr[nodes[-1]] : g.indptr[nodes[-1] + 1]]
        if not len(neighbours):
            break
        nodes.append(int(neighbours[int(u * len(neighbours))]))
    return nodes[1:]


@pytest.mark.parametrize("g", [KARATE, DEAD_ENDS], ids=["karate", "dead ends"])
def test_uniforms_choose_the_hops_of_their_walk(g):
    lengths = walks.lengths.draw(jax.random.key(3), g.n_nodes, 7, 0.3, walks.Coupling(copulas.stratified, walks.hops.First(3)))
    deposits = walks.simulate(jax.random.key(4), g, lengths)
    for start in range(g.n_nodes):
        paths = [walked(g, start, *walk) for walk in zip(lengths.values[start], lengths.hops.uniforms[start], strict=True)]
        for step in (1, 2, 3):
            found = deposits.node[(deposits.row == start) & (deposits.step == step)]
            assert sorted(found) == sorted(path[step - 1] for path in paths if len(path) >= step)


def test_stored_walks_and_walks_walked_again_are_the_same():
    f, other = modulation.diffusion(1.0), modulation.regularised_laplacian(0.5, 2)
    for name in COUPLINGS:
        phi = features.walk_features(jax.random.key(5), KARATE.normalised(), f, 5, 0.2, with_first_hops(name))
        lengths = walks.lengths.draw(jax.random.key(5), 34, 5, 0.2, with_first_hops(name))
        deposits = walks.simulate(jax.random.key(5), KARATE.normalised(), lengths)
        for again in (phi, pickle.loads(pickle.dumps(phi))):
            # Sums of at most some hundred terms of one sign, in another order: some hundred eps.
            stored = features.weigh(deposits, other).toarray()
            assert np.allclose(again.with_modulation(other).toarray(), stored, rtol=1e-12, atol=0), name


@pytest.mark.parametrize("name", [*COUPLINGS, "antithetic"])
def test_features_are_unbiased(name):
    """For the kernel, from two keys; with lengths coupled, with hops, with both."""
    f, kernel = modulation.regularised_laplacian(1.0, 2), kernels.regularised_laplacian(UNEVEN, 1.0, 2)
    nodes = np.tile(np.arange(5), 12_000 if name == "comonotone" else 2000)  # five walkers of one length average little
    for coupling in (COUPLINGS.get(name, name), with_first_hops(name))[: 1 if name == "antithetic" else 2]:
        phi, psi = (
            features.walk_features(
                jax.random.key(key), UNEVEN.normalised(), f, N_WALKS, 0.3, coupling, nodes
            ).toarray()
            for key in (6, 7)
        )
        estimates = phi.reshape(-1, 5, 5) @ psi.reshape(-1, 5, 5).transpose(0, 2, 1)
        decision = evidence.unbiased(estimates, kernel, smallest_bias=0.04)
        assert decision.verdict is Verdict.REPRODUCED, decision.detail


def test_deposits_with_dead_ends_are_powers_of_the_weights():
    decision = on_dead_ends(walks.Coupling(copulas.sobol, walks.hops.First(2)))
    assert decision.verdict is Verdict.REPRODUCED, decision.detail


def second_moment(p, f):
    """E[phi phi^T] at the middle of a path 0 - 1 - 2 of unit weights, of a pair coupled by reversal in length and first hop.

    By enumeration: the lengths (cut at two hops, after which f is zero) are constant between levels of u, the first
    hops lead to different ends, and second hops lead back.
    """
    levels = 1 - (1 - p) ** np.arange(1.0, 3.0)
    cuts = np.unique(np.concatenate([[0.0, 1.0], levels, 1 - levels]))
    moment = np.zeros((3, 3))
    for low, high in itertools.pairwise(cuts):
        u = (low + high) / 2
        for left, right in ((0, 2), (2, 0)):
            phi = np.zeros(3)
            for length, end in ((np.sum(u >= levels), left), (np.sum(1 - u >= levels), right)):
                phi[1] += f[0]
                phi[end] += f[1] * 2 / (1 - p) * (length >= 1)
                phi[1] += f[2] * 2 / (1 - p) ** 2 * (length >= 2)
            moment += (high - low) / 2 * np.outer(phi, phi) / 4
    return moment


def test_second_moments_are_those_of_the_coupling():
    """Exact for a pair on a path; under independent walks the same rule finds another."""
    path, values = Graph.from_scipy(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])), [1.0, 0.5, 0.25]
    verdicts = []
    for coupling in (walks.Coupling(copulas.antithetic, walks.hops.First(1)), "iid"):
        phi = features.walk_features(
            jax.random.key(9),
            path,
            modulation.from_values(values),
            2,
            0.3,
            coupling,
            np.ones(20_000, dtype=int),
        ).toarray()
        squares = phi[:, :, None] * phi[:, None, :]
        verdicts.append(evidence.unbiased(squares, second_moment(0.3, values), smallest_bias=0.05).verdict)
    assert verdicts == [Verdict.REPRODUCED, Verdict.NOT_REPRODUCED]


def test_stratified_lengths_have_steadier_means():
    """Variance of the mean over 16 walks, of 4000 nodes: .07, .21 and .06 of that of independent walks."""
    laws = ("stratified", copulas.systematic, "sobol", "iid")
    variances = [
        walks.lengths.draw(jax.random.key(0), 4000, 16, 0.1, law).values.mean(axis=1).var() for law in laws
    ]
    assert np.all(np.array(variances[:3]) < variances[3] / 4)


def relative_errors(coupling, repeats=60):
    g, kernel, nodes = KARATE.normalised(), kernels.diffusion(KARATE, 1.0), np.tile(np.arange(34), repeats)
    phi, psi = (
        features.walk_features(
            jax.random.key(key), g, modulation.diffusion(1.0), 16, 0.1, coupling, nodes
        ).toarray()
        for key in (0, 1)
    )
    errors = phi.reshape(-1, 34, 34) @ psi.reshape(-1, 34, 34).transpose(0, 2, 1) - kernel
    return np.linalg.norm(errors, axis=(1, 2)) / np.linalg.norm(kernel)


def test_coupled_hops_halve_the_error_on_karate():
    """About .5 of that of independent walks (standard error .01 here), four times as many of which do the same."""
    independent = relative_errors("iid").mean()
    assert relative_errors(walks.Coupling(copulas.sobol, walks.hops.First(2))).mean() < 0.6 * independent
    assert relative_errors(walks.Coupling(copulas.stratified, walks.hops.First(2))).mean() < 0.6 * independent
    assert relative_errors("reversal").mean() > 0.9 * independent  # lengths alone do little


def other_shape(uniform, shape):
    return uniform(shape[:-1])


def past_1(uniform, shape):
    return uniform(shape) + 0.5


def not_a_number(uniform, shape):
    return uniform(shape) * np.nan


LENGTHS = walks.lengths.draw(jax.random.key(0), 34, 3, 0.5, walks.Coupling(copulas.stratified, walks.hops.First(2)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: walks.lengths.named([0, 2, 1, 1]), r"coupling = \[0, 2, 1, 1\]; give a permutation of 0, \.\.\., n - 1"),
        (lambda: walks.lengths.named(np.array([1, 2])), "give a permutation"),
        (lambda: walks.lengths.named([]), "give a"),
        (
            lambda: walks.lengths.named("no such"),
            "coupling = 'no such'; choose one of 'independent', .*'sobol', .*'iid'",
        ),
        (
            lambda: walks.Coupling("systematic", walks.hops.ArrayRQMC()),
            "lengths = 'systematic'; give a copula, such as copulas.stratified",
        ),
        (
            lambda: walks.Coupling(walks.AntitheticTermination(), walks.hops.First(1)),
            "AntitheticTermination has no coordinates for first hops",
        ),
        (
            lambda: walks.Coupling(copulas.sobol, "systematic"),
            r"hops = 'systematic'; give a record of walks.hops",
        ),
        (lambda: walks.lengths.draw(jax.random.key(0), 2, 2, 0.5, other_shape), r"copula maps shape .*; give"),
        (
            lambda: walks.lengths.draw(jax.random.key(0), 9, 9, 0.5, past_1),
            r"copula has values in .*; give levels",
        ),
        (
            lambda: walks.lengths.draw(jax.random.key(0), 9, 9, 0.5, not_a_number),
            r"copula has values in .*; give levels",
        ),
        (
            lambda: walks.simulate(jax.random.key(0), KARATE, replace(LENGTHS, hops=walks.hops.Given(LENGTHS.hops.uniforms[:, :2]))),
            "lengths.hops has shape",
        ),
        (
            lambda: walks.simulate(jax.random.key(0), KARATE, replace(LENGTHS, hops=walks.hops.Given(LENGTHS.hops.uniforms + 0.5))),
            "lengths.hops has values",
        ),
        (
            lambda: walks.simulate(jax.random.key(0), KARATE, replace(LENGTHS, hops=walks.hops.Given(LENGTHS.hops.uniforms * np.nan))),
            "lengths.hops has values",
        ),
        (
            lambda: walks.simulate(jax.random.key(0), KARATE, replace(LENGTHS, hops="u")),
            "hops = 'u'; give hops that can walk",
        ),
    ],
)
def test_coupled_walks_refuse(make, message):
    with pytest.raises(ValueError, match=message):
        make()
