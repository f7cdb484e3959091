"""A standard error is the error that the estimate has: unbiased as a variance, and of the coverage it claims."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rounding import rounding
from scipy import stats

from rfcore import couplings, features, kernels

X = np.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]])
Y = np.array([[0.1, 0.1, -0.3], [0.5, 0.0, 0.2], [0.3, 0.3, 0.3]])
V = np.array([1.0, -2.0, 0.5])
TRUTH = np.asarray(jax.jit(kernels.gaussian)(X, Y))
MAPS = {"positive": features.positive, "fourier": features.fourier}
COUPLINGS = ["iid", "orthogonal", "simplex"]
N, BLOCK = 2000, 3


@cache
def drawn(m):
    """By coupling and map: mean and standard error of Gram matrices, for N keys."""

    def grams(omega):
        return {name: features.gram(feature(X, omega), feature(Y, omega), m, BLOCK) for name, feature in MAPS.items()}

    def one(key):
        return jax.vmap(grams)(jnp.stack([getattr(couplings, name)(key, m, 3) for name in COUPLINGS]))

    found = jax.tree.map(np.asarray, jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(1), N)))
    return {(c, name): (mean[:, i], se[:, i]) for name, (mean, se) in found.items() for i, c in enumerate(COUPLINGS)}


@pytest.mark.parametrize("name", COUPLINGS)
@pytest.mark.parametrize("map_name", MAPS)
def test_squared_standard_errors_have_the_variance_as_their_mean(name, map_name):
    mean, se = drawn(7)[name, map_name]  # two whole blocks and a cut one
    # E se^2 = E (mean - truth)^2 exactly, and draws are independent.
    difference, error = features.mean_and_se(se**2 - (mean - TRUTH) ** 2)
    assert np.abs(difference / error).max() < 4.5
    assert np.max(error / np.mean(se**2, axis=0)) < 0.1  # half as much again, or half, would be seen


@pytest.mark.parametrize("name", COUPLINGS)
@pytest.mark.parametrize("map_name", MAPS)
def test_intervals_of_two_thirds_and_of_95_percent_cover_as_often(name, map_name):
    m = 240 * BLOCK
    mean, se = drawn(m)[name, map_name]
    for level in (2 / 3, 0.95):
        far = stats.t.ppf((1 + level) / 2, m // BLOCK - 1)
        covered = np.mean(np.abs(mean - TRUTH) < far * se, axis=0)
        # Skewness takes this much from the coverage of Student's interval (Hall 1988), 2 % at most here.
        of_skew = 2 * stats.norm.pdf(far) * far * (far**4 + 2 * far**2 - 3) / 18 * stats.skew(mean, axis=0) ** 2
        assert of_skew.max() < 0.03
        # 4.5 standard deviations of a share of N; 1 % for kurtosis, and for the error of the skewness.
        assert np.abs(covered - level + of_skew).max() < 4.5 * np.sqrt(level * (1 - level) / N) + 0.01


@pytest.mark.parametrize(("m", "map_name"), [(9, "positive"), (8, "fourier")])
def test_gram_and_product_are_their_formulas(m, map_name):
    omega = np.random.default_rng(0).normal(size=(m, 3))
    phi, psi = np.asarray(MAPS[map_name](X, omega)), np.asarray(MAPS[map_name](Y, omega))
    of_frequency = [slice(i, None, m) for i in range(m)]
    parts = np.stack([sum(phi[:, i] @ psi[:, i].T for i in of_frequency[b : b + 3]) for b in range(0, m, 3)])
    w = np.array([3, 3, m - 6]) / m
    squares = (parts - w[:, None, None] * parts.sum(axis=0)) ** 2 / (1 - 2 * w)[:, None, None]
    variance = squares.sum(axis=0) / (1 + np.sum(w**2 / (1 - 2 * w)))
    mean, se = features.gram(phi, psi, m, 3)
    assert np.allclose(mean, phi @ psi.T, rtol=0, atol=rounding(50))
    assert np.allclose(se**2, variance, rtol=0, atol=rounding(100))
    if m == 9:  # equal blocks: the textbook's formula
        assert np.allclose(se, features.mean_and_se(3 * parts)[1], rtol=0, atol=np.sqrt(rounding(100)))
    # A product with the identity is the matrix; roots of what is off by rounding.
    for found, of_gram in zip(features.product(phi, psi, np.eye(3), m, 3), (mean, se), strict=True):
        assert np.allclose(found, of_gram, rtol=0, atol=np.sqrt(rounding(100)))
    assert [a.shape for a in jax.eval_shape(lambda v: features.product(phi, psi, v, m, 3), V)] == [(2,), (2,)]


def test_what_has_no_error_says_so_and_differentiates():
    omega = np.random.default_rng(0).normal(size=(9, 3))

    def mean_of(x):
        phi = features.fourier(x, omega)
        mean, se = features.gram(phi, phi, 9, 3)
        return jnp.sum(mean), se

    (_, se), slope = jax.jit(jax.value_and_grad(mean_of, has_aux=True))(X)
    assert np.all(np.diag(se) <= np.sqrt(rounding(100)))  # sin^2 + cos^2 = 1 in every block
    assert np.all(np.isfinite(slope))
    assert np.all(np.isfinite(jax.grad(lambda x: jnp.sum(mean_of(x)[1]))(np.zeros((1, 3)))))


def test_mean_and_se_keep_the_kind_of_array():
    draws = np.random.default_rng(0).normal(size=(5, 2, 3))
    for kind in (np.asarray, jnp.asarray):
        mean, se = features.mean_and_se(kind(draws))
        assert isinstance(se, type(kind(draws)))
        assert np.allclose(mean, draws.sum(axis=0) / 5, rtol=0, atol=rounding(10, draws))
        assert np.allclose(se, stats.sem(draws, axis=0), rtol=rounding(50), atol=0)


PHI = np.ones((2, 6))


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: features.gram(PHI, PHI, 4, 1), "phi has 6 columns for m = 4 frequencies; give all features"),
        (lambda: features.gram(PHI, PHI[:, :3], 3, 1), "psi has 3 columns and phi 6; give features of the same"),
        (lambda: features.gram(PHI, PHI, 6, 4), "block = 4 leaves fewer than two whole blocks of m = 6 frequencies"),
        (lambda: features.product(PHI, PHI, V, 6, 3), r"v has shape \(3,\); give 2 rows"),
        (lambda: features.mean_and_se(PHI[:1]), r"estimates has shape \(1, 6\); give at least two"),
    ],
)
def test_bad_input(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()
