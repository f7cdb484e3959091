"""Gaussian processes on points: the maximum of the evidence, and the posterior in the weights of features."""

import jax
import numpy as np
import pytest
from rounding import rounding

from companion.papers.couplings import formulas, predictives
from rfcore import gp, kernels

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
gaussian = jax.jit(kernels.gaussian)  # what is compiled whole here takes several times as long step by step
Y = np.linalg.cholesky(2 * np.asarray(gaussian(X / 1.5, X / 1.5)) + 0.1 * np.eye(40)) @ RNG.normal(size=40)


def by_weights(*task):
    mean, factor = gp.factored_posterior(*task)
    return gp.Posterior(mean, factor @ factor.T)


@jax.jit
def evidence(lengthscale, variance, noise):
    return gp.log_evidence(variance * kernels.gaussian(X / lengthscale, X / lengthscale), Y, noise)


def test_the_fit_is_a_maximum_of_the_evidence_whatever_the_start_and_the_dtype():
    fit = gp.fit_gaussian(X, Y)
    at = np.array(fit[:3])
    # 40 points; a factor of rounding per row of Cholesky's.
    assert np.isclose(fit.log_evidence, evidence(*at), rtol=0, atol=rounding(40 * 100, fit.log_evidence))
    assert fit.slope < 1e-4
    for i in range(3):
        for factor in (0.9, 1.1):
            assert evidence(*np.where(np.arange(3) == i, factor * at, at)) < fit.log_evidence
    other = gp.fit_gaussian(X, Y, start=(4.0, 0.3, 1.0))
    assert np.allclose(other[:3], at, rtol=1e-3, atol=0)  # a flat maximum: slopes of 1e-4
    with jax.enable_x64(False):
        assert gp.fit_gaussian(X, Y) == fit


def test_a_lengthscale_that_is_given_stays():
    fit = gp.fit_gaussian(X, Y, lengthscale=2.5)
    assert np.isclose(fit.lengthscale, 2.5, rtol=rounding(4), atol=0)
    assert evidence(2.5, 1.1 * fit.variance, fit.noise) < fit.log_evidence > evidence(2.5, fit.variance, 1.1 * fit.noise)
    assert fit.log_evidence < gp.fit_gaussian(X, Y).log_evidence


def test_the_gradient_is_that_of_the_evidence():
    logs, h = np.log([1.3, 1.7, 0.2]), 1e-5
    slope = gp.gaussian._objective(logs, ((X[:, None] - X) ** 2).sum(axis=2), Y)[1]
    differences = [(evidence(*np.exp(logs - h * e)) - evidence(*np.exp(logs + h * e))) / (2 * h) for e in np.eye(3)]
    assert np.allclose(slope, differences, rtol=1e-6, atol=1e-6)  # h^2, and rounding / h


@pytest.mark.parametrize("m", [3, 60])
def test_weights_have_the_posterior_of_the_kernel(m):
    phi = np.random.default_rng(1).normal(size=(40, m)) / np.sqrt(m)
    seen = np.arange(0, 40, 2)
    found, truth = jax.jit(
        lambda phi, K: (by_weights(phi, Y[seen], 0.05, seen), gp.posterior(K, Y[seen], 0.05, seen))
    )(phi, phi @ phi.T)
    condition = 1 + np.linalg.norm(phi @ phi.T, 2) / 0.05
    assert np.allclose(found.mean, truth.mean, rtol=0, atol=rounding(40 * condition, Y))
    assert np.allclose(found.covariance, truth.covariance, rtol=0, atol=rounding(40 * condition))
    assert np.all(np.linalg.eigvalsh(found.covariance) > -rounding(40, found.covariance))


def test_equation_39_lacks_the_noise_and_equation_41_has_it_in():
    phi, seen, noise = np.random.default_rng(2).normal(size=(6, 2)), [0, 1, 2, 3], 0.3
    exact, (mean, covariance) = jax.jit(
        lambda phi: (
            gp.posterior(phi @ phi.T, Y[:4], noise, seen),
            formulas.posterior_by_weights(phi[:4], phi[4:], Y[:4], noise),
        )
    )(phi)
    assert np.allclose(mean / noise, exact.mean, rtol=0, atol=rounding(1000))
    assert np.allclose(covariance - noise * np.eye(2), exact.covariance, rtol=0, atol=rounding(1000))


def test_printed_posterior_refuses_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"phi_seen has shape \(4, 2\), phi_asked \(2, 3\)"):
        formulas.posterior_by_weights(np.ones((4, 2)), np.ones((2, 3)), np.ones(4), 0.1)


@pytest.mark.parametrize("exact_noise", [None, 0.02])
def test_divergences_by_a_factor_are_those_of_the_covariances(exact_noise):
    seen, noise = np.arange(0, 40, 2), 0.05
    phi = np.random.default_rng(4).normal(size=(40, 7)) / 3
    K = np.asarray(gaussian(X, X))
    exact, few = jax.jit(
        lambda K, phi: (gp.posterior(K, Y[seen], noise, seen), gp.factored_posterior(phi, Y[seen], noise, seen))
    )(K, phi)
    divergences = jax.jit(predictives.divergences)
    found = divergences(exact, few, noise, exact_noise)
    eye = np.eye(20)
    laws = (
        (exact.mean, exact.covariance + (exact_noise or noise) * eye),
        (few.mean, few.factor @ few.factor.T + noise * eye),
    )
    condition = 1 + max(np.linalg.norm(K, 2), np.linalg.norm(phi, 2) ** 2) / (exact_noise or noise)
    kl = jax.jit(gp.kl)
    expected = kl(*laws[0], *laws[1]), kl(*laws[1], *laws[0])
    assert np.allclose(found, expected, rtol=rounding(100 * condition), atol=0)
    assert all(value > 0.1 for value in found)
    prior = gp.FactoredPosterior(np.zeros(40), phi), gp.Posterior(np.zeros(40), phi @ phi.T)
    assert np.allclose(divergences(prior[1], prior[0], noise), 0, rtol=0, atol=rounding(1000 * condition))


def test_gpjax_has_the_same_evidence_and_posterior():
    gpx = pytest.importorskip("gpjax")
    seen, asked = np.arange(30), np.arange(30, 40)
    fit = gp.fit_gaussian(X[seen], Y[seen])
    kernel = gpx.kernels.RBF(lengthscale=fit.lengthscale, variance=fit.variance)
    prior = gpx.gps.Prior(mean_function=gpx.mean_functions.Zero(), kernel=kernel, jitter=0.0)
    likelihood = gpx.likelihoods.Gaussian(obs_stddev=fit.noise**0.5)
    data = gpx.Dataset(X[seen], Y[seen, None])
    theirs = prior * likelihood
    compiled_mll = jax.jit(gpx.objectives.conjugate_mll)
    assert np.isclose(compiled_mll(theirs, data), fit.log_evidence, rtol=rounding(1e6), atol=0)
    start = gpx.gps.Prior(mean_function=gpx.mean_functions.Zero(), kernel=gpx.kernels.RBF(), jitter=0.0) * likelihood
    found, _ = gpx.fit_scipy(
        model=start, objective=lambda model, data: -gpx.objectives.conjugate_mll(model, data), train_data=data, verbose=False
    )
    assert np.isclose(compiled_mll(found, data), fit.log_evidence, rtol=0, atol=1e-5)  # a flat maximum

    @jax.jit
    def both(x):
        law = theirs.predict(x[asked], train_data=data)
        K = fit.variance * kernels.gaussian(x / fit.lengthscale, x / fit.lengthscale)
        return (law.mean, law.covariance()), gp.posterior(K, Y[seen], fit.noise, seen, asked)

    law, ours = both(X)
    assert np.allclose(law[0], ours.mean, rtol=1e-6, atol=1e-6)
    assert np.allclose(law[1], ours.covariance, rtol=0, atol=1e-5)


def test_divergence_of_predictives_is_zero_for_equal_ones_and_never_negative():
    phi = np.random.default_rng(3).normal(size=(40, 5))
    seen = np.arange(20)
    mean, covariance = jax.jit(lambda phi: by_weights(phi, Y[seen], 1e-6, seen))(phi)
    predictive = covariance + 1e-6 * np.eye(20)  # of rank 5 but for the noise
    near = predictive * (1 + 1e-9)
    assert 0 <= gp.kl(mean, predictive, mean, predictive) < 1e-6
    assert gp.kl(mean, near, mean, predictive) >= 0


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: gp.fit_gaussian(X, Y[:3]), r"y has shape \(3,\), X"),
        (lambda: gp.fit_gaussian(X, Y, start=(1.0, 0.0, 1.0)), "start = .* above 0"),
        (lambda: gp.factored_posterior(X, Y, 0.1, [0]), "seen has shape"),
        (lambda: predictives.divergences(gp.Posterior(Y, np.eye(40)), gp.FactoredPosterior(Y, X[:9]), 0.1), "exact has shapes"),
    ],
)
def test_bad_input(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()
