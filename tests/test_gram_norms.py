"""Expected errors of Gram matrices under couplings of norms: against sums over all pairs of points, and against draws."""

import jax
import numpy as np
import pytest
from rounding import rounding

from rfcore import couplings, features, kernels, theory
from rfcore.couplings import compose, directions, norms
from rfcore.theory.gram_norms import MAPS

X = np.random.default_rng(0).normal(size=(7, 4)) / 5
SIMPLEX = np.eye(4) * 4 / 3 - 1 / 3


def pair_by_pair(law, feature_map):
    """The sum that the Gauss rule replaces."""
    d, total = X.shape[1], 0.0
    for x in X:
        for y in X:
            if feature_map == "fourier":
                distance = np.linalg.norm(x - y)
                one, prefactor = (1 - np.exp(-(distance**2))) ** 2 / 2, 1.0
            else:
                distance, prefactor = np.linalg.norm(x + y), np.exp(-2 * x @ x - 2 * y @ y)
                grown = np.exp(distance**2)
                one = (grown - 1) ** 2 / 2 if feature_map == "antithetic" else grown**2 - grown
            if distance == 0:
                continue
            ratio = theory.norm_coupling_ratio(distance, d, d, law, "fourier" if feature_map == "fourier" else "positive")
            total += prefactor * one * (theory.antithetic_ratio(ratio, distance) if feature_map == "antithetic" else ratio) / d
    return total / len(X) ** 2


@pytest.mark.parametrize("feature_map", MAPS)
def test_a_dozen_distances_stand_for_all_pairs(feature_map):
    for law in ("independent", "pnc"):
        few, more = (theory.gram_norm_mse(X, law, feature_map, n) for n in (4, 8))
        assert abs(few / more - 1) < 1e-3
        assert abs(more / pair_by_pair(law, feature_map) - 1) < 1e-6


@pytest.mark.parametrize("feature_map", MAPS)
def test_gram_matrices_that_are_drawn_err_as_much(feature_map):
    K, coupling, n = kernels.gaussian(X, X), compose(directions.orthogonal, norms.gaussian(SIMPLEX)), 10_000

    def squared(key):
        omega = coupling(key, 4, 4)
        omega = couplings.antithetic(omega) if feature_map == "antithetic" else omega
        phi = features.fourier(X, omega) if feature_map == "fourier" else features.positive(X, omega)
        return ((phi @ phi.T - K) ** 2).mean()

    drawn = np.asarray(jax.jit(jax.vmap(squared))(jax.random.split(jax.random.key(0), n)))
    truth = theory.gram_norm_mse(X, SIMPLEX, feature_map, 4)
    assert abs(drawn.mean() - truth) < 5.5 * drawn.std() / np.sqrt(n)
    assert drawn.std() / np.sqrt(n) < truth / 15


@pytest.mark.parametrize("feature_map", MAPS)
def test_the_error_is_a_constant_and_a_mean_over_pairs_of_norms(feature_map):
    h = theory.gram_pair_excess(X, [0.0, -1 / 3, -1.0], feature_map, 4)
    errors = [theory.gram_norm_mse(X, law, feature_map, 4) for law in (np.eye(4), SIMPLEX, "pnc")]
    of_pairs = 3 / 4 * np.array([h[0], h[1], h[2] / 3 + 2 * h[0] / 3])
    assert np.ptp(errors - of_pairs) < rounding(2000, max(errors)) + 1e-10 * h[0]  # the interpolation in the correlation


def test_as_many_distances_as_there_are():
    two = np.array([[0.0, 0.0], [1.0, 0.0]])
    error = theory.gram_norm_mse(two, "independent", "fourier", 12)
    assert np.isclose(error, theory.fourier_mse(two[0], two[1], 2, "orthogonal") / 2, rtol=1e-6)


@pytest.mark.parametrize(
    ("points", "complaint"),
    [
        (X[:, :1], r"x has shape \(7, 1\); give"),
        (np.ones((3, 2)), "has no distance above 0"),
        (9 * X, "divide by a lengthscale"),
    ],
)
def test_bad_points(points, complaint):
    with pytest.raises(ValueError, match=complaint):
        theory.gram_norm_mse(points, "pnc", "fourier")
