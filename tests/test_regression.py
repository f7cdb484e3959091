"""Kernel regression is a weighted vote, however it is computed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rfcore import couplings, features, kernels
from rfcore.models import regression

RNG = np.random.default_rng(0)
X_TRAIN, X_TEST = RNG.normal(size=(300, 3)), RNG.normal(size=(130, 3))
LABELS = (X_TRAIN[:, 0] > 0).astype(int) + (X_TRAIN[:, 1] > 1)
TARGETS = np.eye(3)[LABELS]


def test_exact_scores_are_the_kernel_matrix_times_the_targets():
    truth = np.asarray(kernels.gaussian(X_TEST, X_TRAIN)) @ TARGETS
    assert np.allclose(regression.scores_exact(X_TRAIN, TARGETS, X_TEST), truth, rtol=1e-12)
    far = regression.scores_exact(X_TRAIN + 1e6, TARGETS, X_TEST + 1e6)
    assert np.allclose(far, truth, rtol=1e-8)


def test_label_distribution_is_the_formula_of_section_5_3():
    weights = np.exp(-np.sum((X_TEST[7] - X_TRAIN) ** 2, axis=1) / 2)
    truth = [weights[c == LABELS].sum() / weights.sum() for c in range(3)]
    predicted = regression.label_distribution(regression.scores_exact(X_TRAIN, TARGETS, X_TEST))
    assert np.allclose(predicted[7], truth, rtol=1e-12)


def test_scores_of_features_are_those_of_the_kernel_they_make():
    omega = couplings.simplex(jax.random.key(0), 7, 3)
    phi, phi_test = features.positive(X_TRAIN, omega), features.positive(X_TEST, omega)
    assert np.allclose(regression.scores(phi, TARGETS, phi_test), np.asarray(phi_test @ phi.T) @ TARGETS, rtol=1e-12)


def test_many_features_classify_like_the_kernel_for_every_seed():
    def agreement(key):
        omega = couplings.orthogonal(key, 3000, 3)
        phi, phi_test = features.fourier(X_TRAIN, omega), features.fourier(X_TEST, omega)
        return regression.accuracy(regression.scores(phi, TARGETS, phi_test), exact)

    exact = jnp.argmax(regression.scores_exact(X_TRAIN, TARGETS, X_TEST), axis=1)
    agreements = jax.vmap(agreement)(jax.random.split(jax.random.key(1), 3))
    assert agreements.shape == (3,)
    assert np.all(agreements > 0.9)
    assert np.mean(exact == np.argmax(TARGETS.sum(axis=0))) < 0.7  # agreeing is no accident


def test_accuracy_counts():
    scores = jnp.array([[0.1, 0.3], [2.0, 1.0], [0.0, 5.0]])
    assert regression.accuracy(scores, [1, 0, 0]) == pytest.approx(2 / 3)


def test_no_test_points():
    assert regression.scores_exact(X_TRAIN, TARGETS, np.zeros((0, 3))).shape == (0, 3)
    assert regression.scores(np.ones((4, 2)), np.ones((4, 3)), np.zeros((0, 2))).shape == (0, 3)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: regression.scores(np.ones((4, 2)), np.ones((3, 2)), np.ones((1, 2))), "targets has 3 rows"),
        (lambda: regression.scores(np.ones((4, 2)), np.ones((4, 2)), np.ones((1, 3))), "phi_test has shape"),
        (lambda: regression.scores(np.ones((4, 2)), LABELS[:4], np.ones((1, 2))), "targets has shape"),
        (lambda: regression.scores_exact(np.ones((4, 2)), np.ones((4, 1)), np.ones((1, 3))), "x_test has shape"),
        (lambda: regression.accuracy(np.ones((4, 2)), np.ones(3)), "labels has shape"),
    ],
)
def test_bad_input(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()
