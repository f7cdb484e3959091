"""Copulas of norms: the parameterisation, what learning finds, and the best without noise."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import ratio_of
from rounding import rounding

from companion.papers.couplings import copula, costs, formulas
from companion.papers.simplex import conformities
from rfcore.theory import norm_costs


def equal_correlations(d):
    """Those of the corners of a simplex."""
    return np.eye(d) * (1 + 1 / (d - 1)) - 1 / (d - 1)


def test_every_vector_is_a_correlation_matrix_and_every_regular_one_has_a_vector():
    theta = np.random.default_rng(0).normal(size=(20, 6))
    factors = np.asarray(jax.vmap(copula.correlation_factor)(theta))
    correlations = factors @ factors.transpose(0, 2, 1)
    assert np.allclose(np.diagonal(correlations, axis1=1, axis2=2), 1, rtol=0, atol=rounding(10))
    assert np.all(factors[:, np.triu_indices(4, 1)[0], np.triu_indices(4, 1)[1]] == 0)
    lower = np.linalg.cholesky(correlations)
    back = (lower / np.diagonal(lower, axis1=1, axis2=2)[:, :, None])[:, np.tril_indices(4, -1)[0], np.tril_indices(4, -1)[1]]
    assert np.allclose(back, theta, rtol=0, atol=rounding(1000, theta))
    assert np.array_equal(copula.correlation_factor(np.zeros(3)), np.eye(3))


def test_equation_34_as_printed_is_no_factor_of_a_correlation_matrix():
    theta = np.array([[1.0, -0.5, 0.3], [-0.5, 1.0, 0.8], [0.3, 0.8, 1.0]])
    printed = np.asarray(formulas.correlation_factor(theta))
    assert np.abs(np.diag(printed @ printed.T) - 1).max() > 0.3
    right = np.asarray(copula.correlation_factor(theta[np.tril_indices(3, -1)]))
    assert np.allclose(np.diag(right @ right.T), 1, rtol=0, atol=rounding(10))
    # And positive parameters, as the text has them, cannot reach a negative correlation.
    assert np.all(np.asarray(copula.correlation_factor(np.abs(theta[np.tril_indices(3, -1)]))) >= 0)


def cost(key, norms):
    return costs.fourier_cost(norms, 0.7, 3)


def test_learning_comes_close_to_the_best():
    learn = partial(copula.learn, jax.random.key(0), cost, 3, n_steps=150, n_draws=256)
    learned = learn(optimiser=optax.adam(optax.cosine_decay_schedule(0.1, 150)))
    ratio = partial(ratio_of.norms, 0.7, 3, 3, features="fourier")
    independent, best = ratio(copula="independent"), ratio(copula=equal_correlations(3))
    assert ratio(copula=learned.correlation) < best + 0.2 * (independent - best)
    assert np.allclose(np.diag(learned.correlation), 1, rtol=0, atol=0)
    assert len(learned.losses) == 150
    assert len(np.unique(learned.losses)) > 100  # fresh noise at each step


def test_the_gradient_of_the_mean_loss_is_that_of_the_expected_cost():
    """Reparameterised gradients are unbiased; the truth is a difference of two quadratures."""
    theta, z, h = np.array([-0.4, 0.3, -0.8]), 0.7, 1e-3

    def expected(theta):
        factor = np.asarray(copula.correlation_factor(theta))
        ratio = ratio_of.norms(z, 3, 3, np.clip(factor @ factor.T, -1, 1), "fourier")
        return (ratio - 1) * (1 - np.exp(-(z**2))) ** 2 / 4  # two partners and a half

    truth = [(expected(theta + h * e) - expected(theta - h * e)) / (2 * h) for e in np.eye(3)]
    one = copula._MeanLoss(cost, 3, 1)
    slopes = np.asarray(jax.jit(jax.vmap(jax.grad(one), (None, 0)))(jnp.asarray(theta), jax.random.split(jax.random.key(0), 4000)))
    error = np.abs(slopes.mean(axis=0) - truth)
    assert np.all(error < 5.5 * slopes.std(axis=0) / np.sqrt(4000) + h**2)  # 3 means: 1e-7


@pytest.mark.parametrize("features", ["fourier", "positive"])
def test_the_best_gaussian_copula_has_the_correlations_of_a_simplex(features):
    """Where the distance is small; it costs less than pairs of opposites."""
    rows = np.linalg.qr(np.arange(16.0).reshape(4, 4) ** 2 + np.eye(4))[1].T
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    pairs = norm_costs.log_pair_excess((rows @ rows.T)[np.triu_indices(4, 1)], 0.7, 4, features)
    objective = copula._log_mean_cost(rows, norm_costs.log_excess_series(0.7, 4, features))[0]
    assert np.isclose(objective, np.log(np.mean(np.exp(pairs))), rtol=0, atol=rounding(1000))
    found = copula.optimal(jax.random.key(1), 0.7, 4, features)
    assert np.allclose(found.correlation, equal_correlations(4), rtol=0, atol=1e-3)  # an objective known to 1e-7 is flat over its root
    ratios = [ratio_of.norms(0.7, 4, 4, law, features) for law in (equal_correlations(4), "pnc")]
    assert np.isclose(found.ratio, ratios[0], rtol=0, atol=1e-7)
    assert found.ratio < ratios[1]


def test_the_power_of_equation_33_matters_and_its_argument_does_not_need_it():
    """The mean over rotations of exp(v . s) for a sum s of length 2 in three dimensions."""
    v, length = 0.8, 2.0
    truth = np.sinh(v * length) / (v * length)
    of_sum = np.array([[length, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert np.isclose(np.exp(conformities.log_conformity_of(of_sum, v)), truth, rtol=rounding(100), atol=0)
    assert abs(formulas.sum_cost(length, v, 3) - truth) > 0.1
    assert formulas.sum_cost(0.0, v, 3) == 1.0
    moments = [(formulas.chi_square_moment(k, 4), right) for k, right in ((1, 4.0), (2, 24.0))]
    assert all(abs(printed - right) > 0.5 for printed, right in moments)
