"""Features estimate their kernel without bias, to the error that theory gives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax.test_util import check_grads

from rfcore import couplings, features, kernels

X = np.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1], [-0.5, 0.1, 0.2]])
Y = np.array([[0.1, 0.1, -0.3], [0.2, -0.4, 0.0]])


def estimates(feature, coupling, kernel, n=4000):
    def one(key):
        omega = coupling(key, 5, 3)
        return feature(X, omega, kernel=kernel) @ feature(Y, omega, kernel=kernel).T

    return np.asarray(jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(7), n)))


@pytest.mark.parametrize("kernel", ["gaussian", "softmax"])
@pytest.mark.parametrize("coupling", [couplings.iid, couplings.orthogonal, couplings.simplex])
@pytest.mark.parametrize("feature", [features.fourier, features.positive])
def test_unbiased(feature, coupling, kernel):
    truth = getattr(kernels, kernel)(X, Y)
    estimate = estimates(feature, coupling, kernel)
    z = (estimate.mean(axis=0) - truth) / (estimate.std(axis=0, ddof=1) / np.sqrt(len(estimate)))
    assert np.abs(z).max() < 4.5


def test_fourier_gram_has_ones_on_its_diagonal_for_every_draw():
    phi = features.fourier(X, couplings.iid(jax.random.key(0), 7, 3))
    assert jnp.allclose(jnp.sum(phi**2, axis=1), 1.0, atol=1e-12)


@given(seed=st.integers(0, 2**31), scale=st.floats(0.1, 3.0))
def test_softmax_features_are_gaussian_features_rescaled(seed, scale):
    omega = couplings.orthogonal(jax.random.key(seed), 4, 3)
    x = scale * X
    growth = np.exp(np.sum(x**2, axis=1, keepdims=True) / 2)
    for feature in (features.fourier, features.positive):
        assert jnp.allclose(feature(x, omega, kernel="softmax"), growth * feature(x, omega), rtol=1e-12)


@given(seed=st.integers(0, 2**31))
def test_rotating_points_and_frequencies_together_changes_nothing(seed):
    key_rotation, key_omega = jax.random.split(jax.random.key(seed))
    q = couplings.directions.haar(key_rotation, 3)[0]
    omega = couplings.simplex(key_omega, 5, 3)
    for feature in (features.fourier, features.positive):
        assert jnp.allclose(feature(X @ q, omega @ q), feature(X, omega), atol=1e-12)


def test_positive_features_are_positive_and_large_points_do_not_overflow_early():
    omega = couplings.iid(jax.random.key(0), 6, 3)
    assert jnp.all(features.positive(X, omega) > 0)
    far = features.positive(40 * X, omega)
    assert jnp.all(jnp.isfinite(far))


@pytest.mark.parametrize("feature", [features.fourier, features.positive])
def test_no_points_gives_no_rows_and_float32_stays_float32(feature):
    omega = couplings.iid(jax.random.key(0), 6, 3)
    assert feature(np.zeros((0, 3)), omega).shape[0] == 0
    assert feature(X.astype(np.float32), omega.astype(np.float32)).dtype == jnp.float32


@pytest.mark.parametrize("feature", [features.fourier, features.positive])
def test_differentiable_in_points_and_frequencies(feature):
    omega = couplings.iid(jax.random.key(0), 6, 3)

    def total(x, w):
        return jnp.sum(feature(x, w) ** 3)

    check_grads(total, (jnp.asarray(X), omega), order=1, modes=["rev"], rtol=1e-5)
