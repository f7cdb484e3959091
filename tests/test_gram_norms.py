"""Expected errors of Gram matrices under couplings of norms: against sums over all pairs of points, and against draws."""

from itertools import combinations_with_replacement

import jax
import numpy as np
import pytest
import ratio_of

from companion.papers.couplings import gram_norms
from rfcore import copulas, couplings, features, kernels, theory
from rfcore.couplings import Product, directions
from rfcore.theory import stratified_norms

X = np.random.default_rng(0).normal(size=(7, 4)) / 5
SIMPLEX = np.eye(4) * 4 / 3 - 1 / 3
MAPS = [("fourier", "none"), ("positive", "none"), ("positive", "equal")]
# Six distances, or six sums. What a distance costs is remembered, and takes half a second: tests share points and nodes.
POINTS = {"fourier": X[:4], "positive": X[:3]}


def pair_by_pair(points, law, features, opposites):
    """The mean square that the Gauss rule replaces."""
    d, total = points.shape[1], 0.0
    for x, y in combinations_with_replacement(points, 2):
        if features == "fourier":
            distance = np.linalg.norm(x - y)
            one, prefactor = (1 - np.exp(-(distance**2))) ** 2 / 2, 1.0
        else:
            distance, prefactor = np.linalg.norm(x + y), np.exp(-2 * x @ x - 2 * y @ y)
            grown = np.exp(distance**2)
            one = (grown - 1) ** 2 / 2 if opposites == "equal" else grown**2 - grown
        if distance == 0:
            continue
        ratio = ratio_of.norms(distance, d, d, law, features)
        times = 1 if x is y else 2  # (y, x) has the same error as (x, y)
        total += times * prefactor * one * (stratified_norms.cosh_ratio(ratio, distance) if opposites == "equal" else ratio) / d
    return total / len(points) ** 2


@pytest.mark.parametrize(("kind", "opposites"), MAPS)
def test_a_few_distances_stand_for_all_pairs(kind, opposites):
    points = POINTS[kind]
    for law in ("stratified", SIMPLEX):
        few, more = (gram_norms.gram_rmse(points, law, kind, opposites, n) for n in (3, 4))
        assert abs(few / more - 1) < 1e-5
        assert abs(more**2 / pair_by_pair(points, law, kind, opposites) - 1) < 1e-8


@pytest.mark.parametrize(("kind", "opposites"), MAPS)
def test_the_two_ways_meet(kind, opposites):
    """Independent norms by the spline for all pairs, and as the Gaussian copula of no correlation by the Gauss rule."""
    for law, same in (("independent", np.eye(4)), ("iid", "positive_monotone")):
        errors = [gram_norms.gram_rmse(POINTS[kind], one, kind, opposites, 4) for one in (law, same)]
        if opposites == "none" or law != "iid":  # a common norm and its opposite are no two independent frequencies
            assert np.isclose(*errors, rtol=1e-4, atol=0)  # the spline


@pytest.mark.parametrize(("kind", "opposites"), MAPS)
def test_gram_matrices_that_are_drawn_err_as_much(kind, opposites):
    x = POINTS[kind]
    K, coupling, n = kernels.gaussian(x, x), Product(directions.orthogonal, copulas.gaussian(SIMPLEX)), 10_000

    def squared(key):
        omega = coupling(key, 4, 4)
        omega = couplings.antithetic(omega) if opposites == "equal" else omega
        phi = features.fourier(x, omega) if kind == "fourier" else features.positive(x, omega)
        return ((phi @ phi.T - K) ** 2).mean()

    drawn = np.asarray(jax.jit(jax.vmap(squared))(jax.random.split(jax.random.key(0), n)))
    truth = gram_norms.gram_rmse(x, SIMPLEX, kind, opposites, 4) ** 2
    assert abs(drawn.mean() - truth) < 5.5 * drawn.std() / np.sqrt(n)
    assert drawn.std() / np.sqrt(n) < truth / 15


@pytest.mark.parametrize(("kind", "opposites"), MAPS)
def test_the_error_is_a_constant_and_a_mean_over_pairs_of_norms(kind, opposites):
    h = gram_norms.gram_pair_excess(POINTS[kind], [0.0, -1 / 3], kind, 4)
    errors = [gram_norms.gram_rmse(POINTS[kind], law, kind, opposites, 4) ** 2 for law in (np.eye(4), SIMPLEX)]
    assert abs(np.diff(errors - 3 / 4 * h).item()) < 1e-5 * abs(np.ptp(h))  # the Gauss rules


def test_as_many_distances_as_there_are():
    two = np.array([[0.0, 0.0], [1.0, 0.0]])
    error = gram_norms.gram_rmse(two, np.eye(2), "fourier", n_nodes=12) ** 2
    assert np.isclose(error, theory.fourier_mse(two[0], two[1], 2, "orthogonal") / 2, rtol=1e-6)
