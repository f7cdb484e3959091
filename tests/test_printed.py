"""The u-GRF paper's printed formulas, exactly: every comparison here is of fractions, without rounding."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from companion.papers.ugrf import formulas
from rfcore import kernels
from rfcore.features import modulation
from rfcore.graphs import Graph

N = 11
K = range(N)
ONE = Fraction(1)
# sigma = 1 and alpha = 2 leave the powers (1/2)^k, 1 and (1/2)^k in the coefficients: f carries them as well.
CLOSED = {
    **{
        f"{d}-regularised": (
            [formulas.alpha_regularised_laplacian(k, ONE, d) for k in K],
            [formulas.f_regularised_laplacian(k, d) / 2**k for k in K],
        )
        for d in (1, 2, 3, 5)
    },
    **{
        f"{p}-step": (
            [formulas.alpha_p_step(k, Fraction(2), p) for k in K],
            [formulas.f_p_step(k, p) for k in K],
        )
        for p in (1, 2, 3)
    },
    "diffusion": (
        [formulas.alpha_diffusion(k, ONE) for k in K],
        [formulas.f_diffusion(k) / 2**k for k in K],
    ),
}


def convolved(f):
    return [sum(f[k - p] * f[p] for p in range(k + 1)) for k in range(len(f))]


@pytest.mark.parametrize("name", CLOSED)
def test_closed_forms_convolve_to_the_coefficients(name):
    alpha, f = CLOSED[name]
    assert convolved(f) == alpha


@pytest.mark.parametrize("name", [*CLOSED, "inverse cosine", "random"])
def test_both_equations_of_theorem_2_2_give_the_square_root(name):
    rng = np.random.default_rng(0)
    others = {
        "inverse cosine": [formulas.alpha_inverse_cosine(k, ONE) for k in K],
        "random": [ONE, *(Fraction(int(a), int(b)) for a, b in rng.integers((-9, 1), 9, (N - 1, 2)))],
    }
    alpha = CLOSED[name][0] if name in CLOSED else others[name]
    assert convolved(formulas.f_by_partitions(alpha)) == alpha
    assert formulas.f_by_iteration(alpha) == formulas.f_by_partitions(alpha)


def test_partitions_are_counted_once_each():
    counts = [sum(1 for _ in formulas._partitions(n, n)) for n in range(9)]
    assert counts == [1, 1, 2, 3, 5, 7, 11, 15, 22]


def test_library_is_the_paper():
    k = np.arange(N)
    for d in (1, 2, 3, 5):
        f = np.array([float(formulas.f_regularised_laplacian(i, d)) for i in K]) * (1 + 0.7**-2) ** -k
        ours = modulation.regularised_laplacian(0.7, d)(k)
        assert np.allclose(ours / ours[0], f, rtol=1e-13)  # some tens of roundings in each
    ours = modulation.diffusion(0.7)(k)
    assert np.allclose(ours / ours[0], [float(formulas.f_diffusion(i)) * (0.7**2 / 2) ** i for i in K], rtol=1e-13)


def test_inverse_cosine_coefficients_rebuild_the_kernel():
    g = Graph.from_networkx(nx.karate_club_graph())
    alpha = [formulas.alpha_inverse_cosine(k) for k in range(25)]
    series = kernels.power_series(g.normalised(), alpha) / np.sqrt(2)
    assert np.allclose(series, kernels.inverse_cosine(g), atol=1e-12)  # 34 nodes, 25 terms of size 1: 1e3 roundings


def test_approximate_batch_size_is_at_most_a_step_too_long():
    for m in (1, 100, 10**6):
        b = formulas.batch_size_approximation(m, 0.1, 0.1)
        assert 0 <= np.ceil(b) - formulas.batch_size(m, 0.1, 0.1) <= 1
