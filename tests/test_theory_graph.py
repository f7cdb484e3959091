"""Moments of graph features against the enumeration of all walks, and against draws."""

import itertools
import re

import jax
import numpy as np
import pytest
import ratio_of
from rounding import rounding

from companion import evidence
from companion.papers.couplings import equal_walkers
from companion.papers.couplings.walk_variance import walk_variance
from companion.papers.ugrf import hidden_values
from companion.papers.ugrf.eight_graphs import shared_bias
from rfcore import copulas, features, theory, walks
from rfcore.features import modulation
from rfcore.graphs import Graph
from rfcore.solvers import transport

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
    phi = features.walk_features(jax.random.key(0), g, f, 3, 0.3, "iid", nodes).toarray().reshape(-1, 3, 3)
    mean, square = theory.walk_feature_moments(g, f, 3, 0.3)
    found = evidence.unbiased(np.stack([phi, phi**2], axis=1), np.stack([mean, square]), smallest_bias=0.02)
    assert found.verdict is evidence.Verdict.REPRODUCED, found.detail


KNOWN = ["reversal", "comonotone", "stratified"]
COUPLINGS = [*KNOWN, "antithetic", [3, 1, 4, 2, 0], [[3, 1, 4, 2, 0], [1, 4, 2, 0, 3]]]


@pytest.mark.parametrize("coupling", COUPLINGS, ids=str)
@pytest.mark.parametrize("p_halt", [0.3, 0.7])
def test_joint_survival_is_that_of_draws(coupling, p_halt):
    lengths = walks.lengths.draw(jax.random.key(0), 40_000, 5, p_halt, coupling).values
    survives = lengths[:, :, None] >= np.arange(4)
    pairs = (survives[:, i, :, None] & survives[:, j, None, :] for i, j in itertools.permutations(range(5), 2))
    both = sum(pair.astype(float) for pair in pairs) / 20
    independent = np.outer(*2 * [(1 - p_halt) ** np.arange(4)])
    joint = independent * theory.joint_survival(coupling, 5, p_halt, 4)
    decision = evidence.unbiased(both, joint, smallest_bias=0.02)
    assert decision.verdict is evidence.Verdict.REPRODUCED, decision.detail


def test_a_law_has_closed_forms_or_says_that_it_has_none():
    """Of lengths and of norms alike: both look at the pairs of the copula."""
    for name, copula in copulas.COPULAS.items():
        if name == "antithetic":
            continue  # of lengths this is the paper's antithetic termination
        for law in (name, copula):
            if copula.pairs is None:
                for closed in (
                    lambda law=law: theory.joint_survival(law, 2, 0.3, 3),
                    lambda law=law: ratio_of.norms(1.0, 3, 3, law, "positive"),
                ):
                    with pytest.raises(
                        ValueError,
                        match="has no closed form; give antithetic, comonotone, iid, independent, pnc, positive_monotone, reversal, stratified, a perm",
                    ):
                        closed()
            else:
                assert np.array_equal(
                    theory.joint_survival(law, 4, 0.3, 3), theory.joint_survival(name, 4, 0.3, 3)
                )
                assert ratio_of.norms(1.0, 3, 3, law, "positive") == ratio_of.norms(
                    1.0, 3, 3, name, "positive"
                )
    for law, of in ((copulas.gaussian(np.eye(2)), "lengths"), ([1, 0], "norms")):
        with pytest.raises(ValueError, match=f"has no closed form for {of}"):
            theory.joint_survival(law, 2, 0.3, 3) if of == "lengths" else ratio_of.norms(
                1.0, 3, 3, copulas.permutation(law), "positive"
            )


def test_joint_survival_where_it_is_known():
    many = 1000
    fine, reversal = (theory.joint_survival(law, 2, 0.3, 4) for law in (np.arange(many)[::-1], "reversal"))
    assert np.allclose(fine * 0.7**6, reversal * 0.7**6, rtol=0, atol=2 / many)  # chances are known to within a bin
    for coupling, n_walks in (("iid", 4), ("stratified", 1), ("reversal", 1), ([0], 4)):
        assert np.allclose(theory.joint_survival(coupling, n_walks, 0.3, 5), 1, rtol=rounding(10))
    # Long walks are in the last stratum alone, of which a node has one; a walk of any length has at least no hops.
    for coupling in COUPLINGS:
        far = theory.joint_survival(coupling, 4, 0.5, 600)
        assert np.allclose(far[0], 1, rtol=rounding(100))
        assert np.all(np.isfinite(far))
    assert theory.joint_survival("stratified", 4, 0.5, 600)[-1, -1] == pytest.approx(0, abs=rounding(100))


@pytest.mark.parametrize("coupling", COUPLINGS, ids=str)
def test_moments_of_coupled_lengths_agree_with_the_engine(coupling):
    """And those of independent ones do not."""
    g, f = Graph.from_scipy(np.array([[0, 1.0, 1], [1, 0, 2], [1, 2, 0]])).normalised(), modulation.from_values([1.0, 1.0, 1.0])
    phi, psi = (
        features.walk_features(jax.random.key(key), g, f, 2, 0.4, coupling, nodes=np.tile(np.arange(3), 20_000)).toarray()
        for key in (0, 1)
    )
    squares, (mean, _) = phi.reshape(-1, 3, 3) ** 2, theory.walk_feature_moments(g, f, 2, 0.4)
    errors = phi.reshape(-1, 3, 3) @ psi.reshape(-1, 3, 3).transpose(0, 2, 1) - mean @ mean.T
    for law, wanted in ((coupling, evidence.Verdict.REPRODUCED), ("iid", evidence.Verdict.NOT_REPRODUCED)):
        mse = theory.walk_gram_mse(g, f, f, 2, 0.4, coupling=law)
        found = evidence.unbiased(np.sum(errors**2, axis=(1, 2)), mse, smallest_bias=0.1 * mse)
        assert found.verdict is wanted, (law, found.detail)
        found = evidence.unbiased(squares, theory.walk_feature_moments(g, f, 2, 0.4, coupling=law)[1], smallest_bias=0.3)
        assert found.verdict is wanted, (law, found.detail)


@pytest.mark.parametrize("symmetric", [True, False])
def test_errors_of_several_couplings_are_those_of_each(symmetric):
    """And, for symmetric weights, a sum of powers of W as the definition has it, term by term."""
    W = np.array([[0, 1.0, 1], [1, 0, 2], [1, 2, 0]])
    g = Graph.from_scipy(W if symmetric else np.triu(W))
    laws = ["iid", "reversal", "antithetic", [2, 0, 1]]
    found = theory.walk_gram_mses(g, F1, F2, 2, 0.4, laws)
    assert found == pytest.approx([theory.walk_gram_mse(g, F1, F2, 2, 0.4, coupling=law) for law in laws], rel=rounding(100))
    if symmetric:
        W, f, K = g.to_scipy().toarray(), F1(np.arange(3)), theory.joint_survival("reversal", 2, 0.4, 3)
        powers = [np.linalg.matrix_power(W, k) for k in range(3)]
        M = sum(f[k] * f[j] * powers[k] @ powers[j] for k in range(3) for j in range(3))
        P = sum(f[k] * f[j] * K[k, j] * powers[k] @ powers[j] for k in range(3) for j in range(3))
        iid, coupled = theory.walk_gram_mses(g, F1, F1, 2, 0.4, ["iid", "reversal"])
        assert coupled - iid == pytest.approx(_change(g, P - M, M), rel=rounding(1e4))


def _change(g, more, M):
    """Change of |(A + M) / 2|^2 where M becomes M + more, with A from its definition in walk_feature_moments' terms."""
    W, f, q = g.to_scipy().toarray(), F1(np.arange(3)), 0.6
    V = g.neighbour_counts[:, None] * W**2 / q
    visits = [np.ones(3) @ np.linalg.matrix_power(V, k) for k in range(3)]
    S = sum(
        f[k] * f[k + hop] * visits[k][:, None] * np.linalg.matrix_power(W, hop) for k in range(3) for hop in range(3 - k)
    )
    A = S + S.T - np.diag(sum(f[k] ** 2 * visits[k] for k in range(3)))
    return np.sum((A + M + more) ** 2) / 4 - np.sum((A + M) ** 2) / 4


def test_terms_past_the_modulation_change_nothing():
    assert theory.walk_gram_mse(G, F1, F2, 2, P_HALT, 3) == theory.walk_gram_mse(G, F1, F2, 2, P_HALT, 2000)


COMPLETE = Graph.from_scipy(np.ones((4, 4)) - np.eye(4)).normalised()
VALUES = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -2.0], [0.5, 0.5]])
SUMS = {  # over the steps of a modulation, up to n
    "walk_feature_moments": lambda f, n: theory.walk_feature_moments(COMPLETE, f, 2, 0.3, n),
    "walk_gram_mse": lambda f, n: theory.walk_gram_mse(COMPLETE, f, f, 2, 0.3, n),
    "walk_gram_mses": lambda f, n: theory.walk_gram_mses(COMPLETE, f, f, 2, 0.3, ["reversal"], n),
    "gram_error_terms": lambda f, n: equal_walkers.gram_error_terms(COMPLETE, f, 0.3, n),
    "walk_variance": lambda f, n: sum(walk_variance(COMPLETE, f, 0.3, n)),
    "shared_bias": lambda f, n: shared_bias(COMPLETE, np.eye(4), f, 2, 0.3, n),
    "exact_error": lambda f, n: hidden_values.exact_error(COMPLETE, f, VALUES, np.arange(4) > 0, n),
    "bin_spectra": lambda f, n: transport.bin_spectra(COMPLETE, f, 2, 0.3, n),
    "bin_features": lambda f, n: transport.bin_features(COMPLETE, f, 2, 0.3, n_terms=n),
}


@pytest.mark.parametrize("name", SUMS)
def test_a_cut_that_matters_is_refused_with_what_is_enough(name):
    """diffusion(30) peaks at the 225th step; of diffusion(100), at the 2500th, 200 values are 0 in float64."""
    for sigma in (30.0, 100.0):
        with pytest.raises(ValueError, match=r"n_terms = 100 leaves out 1 of .*; give n_terms of at least") as refused:
            SUMS[name](modulation.diffusion(sigma), 100)
        assert sigma**2 / 4 < int(re.search(r"at least (\d+)", str(refused.value))[1]) < sigma**2
    f = modulation.regularised_laplacian(1.5, 2)
    with pytest.raises(ValueError, match=r"n_terms = 5 ") as refused:
        SUMS[name](f, 5)
    enough = int(re.search(r"at least (\d+)", str(refused.value))[1])
    assert np.allclose(SUMS[name](f, enough), SUMS[name](f, 4 * enough), rtol=1e-4, atol=1e-9)
    SUMS[name](modulation.from_values(f(np.arange(5))), 5)


def test_a_sum_without_end_is_refused():
    with pytest.raises(ValueError, match=r"n_terms = 100 leaves out .*may have no end, give .*from_values\(f1\(np.arange\(100"):
        theory.walk_gram_mse(COMPLETE, modulation.inverse_cosine(), modulation.from_values([1.0]), 2, 0.3)
    assert theory.walk_gram_mse(COMPLETE, modulation.from_values([0.0]), modulation.from_values([1.0]), 2, 0.3) == 0.0
