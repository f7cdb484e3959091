"""Kernel regression is a weighted vote, however it is computed."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rounding import rounding

from companion.models import regression
from rfcore import attention, couplings, features, kernels

RNG = np.random.default_rng(0)
X_TRAIN, X_TEST = RNG.normal(size=(300, 3)), RNG.normal(size=(130, 3))
LABELS = (X_TRAIN[:, 0] > 0).astype(int) + (X_TRAIN[:, 1] > 1)
TARGETS, IDENTITY = np.eye(3)[LABELS], np.eye(2)
# Compiled as a whole: their steps one by one take several times as long to compile.
simplex = jax.jit(couplings.simplex, static_argnums=(1, 2))
stabilised = jax.jit(lambda *points_and_omega: attention.stabilised(*logs_of(*points_and_omega)))


def logs_of(far, x, omega):
    return features.log_positive(far, omega), features.log_positive(x, omega)


@jax.jit
def of_features(x, x_test, omega):
    """Features of training and of test points, and the scores that they give."""
    phi, phi_test = features.positive(x, omega), features.positive(x_test, omega)
    return phi, phi_test, regression.scores(phi, TARGETS, phi_test)


def test_exact_scores_are_means_weighted_by_the_kernel():
    weights = np.asarray(kernels.gaussian(X_TEST, X_TRAIN))
    truth = weights @ TARGETS / weights.sum(axis=1, keepdims=True)
    assert np.allclose(regression.scores_exact(X_TRAIN, TARGETS, X_TEST), truth, rtol=0, atol=rounding(1000))  # means of 300, exponents up to 30
    far = regression.scores_exact(X_TRAIN + 1e6, TARGETS, X_TEST + 1e6)
    assert np.allclose(far, truth, rtol=1e-8)


def test_exact_scores_and_those_of_features_are_the_formula_of_section_5_3():
    weights = np.exp(-np.sum((X_TEST[7] - X_TRAIN) ** 2, axis=1) / 2)
    truth = [weights[c == LABELS].sum() / weights.sum() for c in range(3)]
    assert np.allclose(regression.scores_exact(X_TRAIN, TARGETS, X_TEST)[7], truth, rtol=0, atol=rounding(1000))
    identity = np.eye(len(X_TRAIN))  # every training point a feature of its own: the kernel itself
    scores = regression.scores(identity, TARGETS, kernels.gaussian(X_TEST, X_TRAIN))
    assert np.allclose(scores[7] / scores[7].sum(), truth, rtol=0, atol=rounding(1000))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_far_point_votes_with_its_nearest_neighbours(dtype):
    # All of k(x, x_i) are below the least number of the type; |x - x_i|^2 / 2 = 5000 is exact to 1e-3 in float32.
    x_train, x_test = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([[100.0, 0.0], [0.0, 100.0], [-100, -99]])
    scores = regression.scores_exact(x_train.astype(dtype), np.eye(3, dtype=dtype), x_test.astype(dtype))
    assert scores.dtype == dtype
    assert np.array_equal(np.argmax(scores, axis=1), [1, 2, 0])
    assert np.allclose(scores, np.eye(3)[[1, 2, 0]], atol=1e-6)
    assert regression.accuracy(scores, [1, 2, 0]) == 1


def test_a_far_point_classifies_by_stabilised_features():
    far = np.array([[12.0, 8.0, 0.0]])  # exponents about -208 + 14 |omega|: too small for float32, not for float64
    omega = simplex(jax.random.key(0), 60, 3)
    *_, truth = of_features(X_TRAIN, far, omega)
    x, far, omega = (np.float32(a) for a in (X_TRAIN, far, omega))
    with pytest.raises(ValueError, match=r"label_scores has 1 rows that vanish.*give"):
        regression.accuracy(of_features(x, far, omega)[2], [2])
    phi_test, phi = stabilised(far, x, omega)
    scores = regression.scores(phi, TARGETS, phi_test)
    # Exponents up to 300 are off by some units in the last place of it.
    assert np.allclose(*(votes / votes.sum() for votes in (scores, truth)), rtol=10 * 300 * np.finfo(np.float32).eps)


def test_scores_of_features_are_those_of_the_kernel_they_make():
    phi, phi_test, scores = map(np.asarray, of_features(X_TRAIN, X_TEST, simplex(jax.random.key(0), 7, 3)))
    assert np.allclose(scores, (phi_test @ phi.T) @ TARGETS, rtol=rounding(2000), atol=0)


def test_many_features_classify_like_the_kernel_for_every_seed():
    @jax.jit
    @partial(jax.vmap, in_axes=(0, None))
    def agreement(key, exact):
        omega = couplings.orthogonal(key, 3000, 3)
        phi, phi_test = features.fourier(X_TRAIN, omega), features.fourier(X_TEST, omega)
        return regression.accuracy(regression.scores(phi, TARGETS, phi_test), exact)

    exact = jnp.argmax(regression.scores_exact(X_TRAIN, TARGETS, X_TEST), axis=1)
    agreements = agreement(jax.random.split(jax.random.key(1), 3), exact)
    assert agreements.shape == (3,)
    assert np.all(agreements > 0.9)
    assert np.mean(exact == np.argmax(TARGETS.sum(axis=0))) < 0.7  # agreeing is no accident


def test_accuracy_counts():
    scores = jnp.array([[0.1, 0.3], [2.0, 1.0], [0.0, 5.0]])
    assert regression.accuracy(scores, [1, 0, 0]) == pytest.approx(2 / 3)


def test_accuracy_may_capture_labels_or_scores_within_a_compiled_function():
    scores, labels = jnp.array([[0.1, 0.3], [2.0, 1.0]]), jnp.array([1, 1])
    assert jax.jit(lambda s: regression.accuracy(s, labels))(scores) == 0.5
    assert jax.jit(lambda y: regression.accuracy(scores, y))(labels) == 0.5
    empty = 0 * scores
    with pytest.raises(ValueError, match="label_scores has 2 rows that vanish"):
        jax.jit(lambda y: regression.accuracy(empty, y))(labels)


def test_scores_of_logs_are_those_of_the_first_features_up_to_a_factor_per_point():
    omega = simplex(jax.random.key(2), 12, 3)
    log, log_test = jax.jit(logs_of)(X_TRAIN, X_TEST, omega)
    votes = np.asarray(regression.scores_of_logs(log, TARGETS, log_test, (3, 12)))
    for m, of_width in zip((3, 12), votes, strict=True):
        truth = np.asarray(jnp.exp(log_test[:, :m]) @ (jnp.exp(log[:, :m]).T @ TARGETS))
        shares = [a / a.sum(axis=1, keepdims=True) for a in (of_width, truth)]
        assert np.allclose(*shares, rtol=rounding(4000), atol=0)
        # A factor of every test point, whatever its size, changes nothing at all.
        moved = regression.scores_of_logs(log, TARGETS, log_test + 2.0**20, (m,))[0]
        assert np.array_equal(np.argmax(moved, axis=1), np.argmax(truth, axis=1))


def test_scores_of_logs_keep_every_point_at_any_scale():
    # In float32, exponents of some 1e5: a maximum over all features would leave the first few nothing.
    far = np.float32(300 * X_TRAIN)
    log, log_test = jax.jit(logs_of)(far, np.float32(300 * X_TEST), simplex(jax.random.key(3), 12, 3).astype(np.float32))
    votes = regression.scores_of_logs(log, np.float32(TARGETS), log_test, (1, 3, 12))
    assert votes.dtype == np.float32
    assert np.all(np.isfinite(votes)) and np.all(votes.max(axis=2) >= 1)


def test_no_test_points():
    assert regression.scores_exact(X_TRAIN, TARGETS, np.zeros((0, 3))).shape == (0, 3)
    assert regression.scores(np.ones((4, 2)), np.ones((4, 3)), np.zeros((0, 2))).shape == (0, 3)
