"""Frequencies of every kind have one protocol; importance weights change the variance, never the mean."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads
from rounding import rounding
from scipy import stats

from rfcore import couplings, features
from rfcore.couplings import fast
from rfcore.features import frequencies

X = np.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1], [-0.5, 0.1, 0.2]])
OMEGA, FAST = jax.jit(lambda key: (couplings.simplex(key, 5, 3), fast.draw(key, 5, 3, "simplex")))(jax.random.key(0))
MEAN, FACTOR = np.array([0.4, -0.3, 0.2]), np.array([[1.1, 0.0, 0.0], [0.2, 0.9, 0.0], [-0.1, 0.3, 1.2]])
LOG_WEIGHTS = np.array([0.1, -0.2, 0.3, 0.0, -1.0])


@pytest.mark.parametrize(
    "omega",
    [OMEGA, FAST, frequencies.weighted(OMEGA, LOG_WEIGHTS)],
    ids=["dense", "fast", "weighted"],
)
def test_all_kinds_follow_the_protocol(omega):
    omega = frequencies.as_frequencies(omega, d=3)
    matrix = omega.project(np.eye(3)).T
    assert (omega.m, omega.d, matrix.shape) == (5, 3, (5, 3))
    assert omega.log_weights is None or omega.log_weights.shape == (5,)
    assert isinstance(omega, frequencies.Frequencies)
    through = jax.jit(lambda omega: omega.project(X))(omega)
    assert np.allclose(through, X @ matrix.T, rtol=0, atol=rounding(100, matrix))
    assert frequencies.as_frequencies(omega) is omega


def test_features_of_weighted_frequencies_are_features_times_roots_of_weights():
    omega = frequencies.weighted(OMEGA, LOG_WEIGHTS)
    roots = np.exp(LOG_WEIGHTS / 2)
    for kernel in ("gaussian", "softmax"):
        plain = features.positive(X, OMEGA, kernel)
        assert np.allclose(features.positive(X, omega, kernel), plain * roots, rtol=rounding(100), atol=0)
        plain = features.fourier(X, OMEGA, kernel)
        assert np.allclose(features.fourier(X, omega, kernel), plain * np.tile(roots, 2), rtol=rounding(100), atol=0)
    log_plain = features.log_positive(X, OMEGA)
    assert np.allclose(features.log_positive(X, omega) - log_plain, LOG_WEIGHTS / 2, rtol=0, atol=rounding(10, log_plain))


def test_weights_upon_weights_multiply_and_weights_fit_fast_frequencies():
    twice = frequencies.weighted(frequencies.weighted(OMEGA, LOG_WEIGHTS), LOG_WEIGHTS[::-1])
    assert np.allclose(twice.log_weights, LOG_WEIGHTS + LOG_WEIGHTS[::-1], rtol=0, atol=rounding(2))
    omega = fast.draw(jax.random.key(0), 5, 3, "orthogonal")
    phi = features.positive(X, frequencies.weighted(omega, LOG_WEIGHTS))
    assert np.allclose(phi, features.positive(X, omega) * np.exp(LOG_WEIGHTS / 2), rtol=rounding(100), atol=0)


def test_weights_beyond_the_range_of_exponentials_stay_logarithms():
    omega = np.float32(OMEGA)
    far = np.float32(30 * X)  # log features down to -340, below the range of float32; weights of e^600 above it
    phi = features.positive(far, frequencies.weighted(omega, np.full(5, np.float32(600))))
    with jax.enable_x64(True):
        log_phi = np.asarray(features.log_positive(far.astype(float), OMEGA)) + 300
    assert phi.dtype == jnp.float32
    seen = np.abs(log_phi) < 80
    assert np.sum(seen) >= 5
    # Exponents of size 600 are off by a few eps of it.
    assert np.allclose(phi[seen], np.exp(log_phi)[seen], rtol=4 * 600 * np.finfo(np.float32).eps, atol=0)


def test_a_gaussian_proposal_has_the_frequencies_and_the_weights_of_the_formula():
    moved = frequencies.weighted_gaussian(OMEGA, MEAN, FACTOR)
    rows = np.asarray(moved.matrix)
    assert np.allclose(rows, MEAN + OMEGA @ FACTOR.T, rtol=0, atol=rounding(20, rows))
    p, q = stats.multivariate_normal(np.zeros(3)), stats.multivariate_normal(MEAN, FACTOR @ FACTOR.T)
    assert np.allclose(moved.log_weights, p.logpdf(rows) - q.logpdf(rows), rtol=0, atol=rounding(200, np.sum(rows**2, axis=1)))
    same = frequencies.weighted_gaussian(OMEGA, np.zeros(3), np.eye(3))
    assert np.array_equal(features.positive(X, same), features.positive(X, OMEGA))


def test_gradients_reach_frequencies_and_weights():
    def total(omega, log_weights, x):
        omega = frequencies.weighted(omega, log_weights)
        return sum(jnp.sum(feature(x, omega, "softmax") ** 3) for feature in (features.fourier, features.positive))

    rtol = 1e-5 if jax.config.jax_enable_x64 else None  # JAX's own
    check_grads(total, (OMEGA, jnp.asarray(LOG_WEIGHTS), jnp.asarray(X)), order=1, modes=["rev"], rtol=rtol)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: frequencies.weighted(OMEGA, np.zeros(4)), r"log_weights has shape \(4,\); give shape"),
        (lambda: frequencies.weighted(OMEGA, np.full(5, -np.inf)), "log_weights has 5 NaN or infinite values"),
        (lambda: frequencies.weighted_gaussian(OMEGA, np.zeros(2), np.eye(3)), r"mean has shape \(2,\); give shape"),
        (lambda: frequencies.weighted_gaussian(OMEGA, np.zeros(3), np.ones((2, 3))), "factor has shape .*; give shape"),
        (lambda: frequencies.weighted_gaussian(OMEGA, np.zeros(3), np.zeros((3, 3))), "factor has determinant 0; give an invertible"),
        (lambda: frequencies.as_frequencies(OMEGA, d=4), "omega has frequencies of dimension 3 for points of dimension 4; give"),
    ],
)
def test_bad_input(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()
