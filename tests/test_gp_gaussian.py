"""Gaussian processes on points: the maximum of the evidence, and the posterior in the weights of features."""

import jax
import numpy as np
import pytest
from rounding import rounding

from rfcore import kernels, models

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.linalg.cholesky(2 * np.asarray(kernels.gaussian(X / 1.5, X / 1.5)) + 0.1 * np.eye(40)) @ RNG.normal(size=40)


def evidence(lengthscale, variance, noise):
    return float(models.gp.log_evidence(variance * kernels.gaussian(X / lengthscale, X / lengthscale), Y, noise))


def test_the_fit_is_a_maximum_of_the_evidence_whatever_the_start_and_the_dtype():
    fit = models.gp.fit_gaussian(X, Y)
    at = np.array(fit[:3])
    # 40 points; a factor of rounding per row of Cholesky's.
    assert np.isclose(fit.log_evidence, evidence(*at), rtol=0, atol=rounding(40 * 100, fit.log_evidence))
    assert fit.slope < 1e-4
    for i in range(3):
        for factor in (0.9, 1.1):
            assert evidence(*np.where(np.arange(3) == i, factor * at, at)) < fit.log_evidence
    other = models.gp.fit_gaussian(X, Y, start=(4.0, 0.3, 1.0))
    assert np.allclose(other[:3], at, rtol=1e-3, atol=0)  # a flat maximum: slopes of 1e-4
    with jax.enable_x64(False):
        assert models.gp.fit_gaussian(X, Y) == fit


def test_a_lengthscale_that_is_given_stays():
    fit = models.gp.fit_gaussian(X, Y, lengthscale=2.5)
    assert np.isclose(fit.lengthscale, 2.5, rtol=rounding(4), atol=0)
    assert evidence(2.5, 1.1 * fit.variance, fit.noise) < fit.log_evidence > evidence(2.5, fit.variance, 1.1 * fit.noise)
    assert fit.log_evidence < models.gp.fit_gaussian(X, Y).log_evidence


def test_the_gradient_is_that_of_the_evidence():
    logs, h = np.log([1.3, 1.7, 0.2]), 1e-5
    slope = models.gp.gaussian._objective(logs, ((X[:, None] - X) ** 2).sum(axis=2), Y)[1]
    differences = [(evidence(*np.exp(logs - h * e)) - evidence(*np.exp(logs + h * e))) / (2 * h) for e in np.eye(3)]
    assert np.allclose(slope, differences, rtol=1e-6, atol=1e-6)  # h^2, and rounding / h


@pytest.mark.parametrize("m", [3, 60])
def test_weights_have_the_posterior_of_the_kernel(m):
    phi = np.random.default_rng(1).normal(size=(40, m)) / np.sqrt(m)
    seen = np.arange(0, 40, 2)
    found, truth = (make(features, Y[seen], 0.05, seen) for make, features in (
        (models.gp.posterior_by_weights, phi), (models.gp.posterior, phi @ phi.T)
    ))  # fmt: skip
    condition = 1 + np.linalg.norm(phi @ phi.T, 2) / 0.05
    assert np.allclose(found.mean, truth.mean, rtol=0, atol=rounding(40 * condition, Y))
    assert np.allclose(found.covariance, truth.covariance, rtol=0, atol=rounding(40 * condition))
    assert np.all(np.linalg.eigvalsh(found.covariance) > -rounding(40, found.covariance))


def test_equation_39_lacks_the_noise():
    phi, seen, noise = np.random.default_rng(2).normal(size=(6, 2)), [0, 1, 2, 3], 0.3
    exact = models.gp.posterior(phi @ phi.T, Y[:4], noise, seen).mean
    printed = phi[4:] @ np.linalg.solve(phi[:4].T @ phi[:4] / noise + np.eye(2), phi[:4].T @ Y[:4])
    assert np.allclose(printed / noise, exact, rtol=0, atol=rounding(1000))


def test_divergence_of_predictives_is_zero_for_equal_ones_and_never_negative():
    phi = np.random.default_rng(3).normal(size=(40, 5))
    seen = np.arange(20)
    mean, covariance = models.gp.posterior_by_weights(phi, Y[seen], 1e-6, seen)
    predictive = covariance + 1e-6 * np.eye(20)  # of rank 5 but for the noise
    near = predictive * (1 + 1e-9)
    assert 0 <= models.gp.kl(mean, predictive, mean, predictive) < 1e-6
    assert models.gp.kl(mean, near, mean, predictive) >= 0


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: models.gp.fit_gaussian(X, Y[:3]), r"y has shape \(3,\), X"),
        (lambda: models.gp.fit_gaussian(X, Y, start=(1.0, 0.0, 1.0)), "start = .* above 0"),
        (lambda: models.gp.posterior_by_weights(X, Y, 0.1, [0]), "seen has shape"),
    ],
)
def test_bad_input(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()
