"""Errors of Gram matrices under coupled norms: against the slow closed form, draws, and each other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import ratio_of

from companion.papers.couplings import block_errors, gram_norms
from companion.papers.simplex import conformities
from rfcore import couplings, features, kernels, theory


@pytest.mark.parametrize("kind", ("positive", "fourier"))
@pytest.mark.parametrize("law", ["independent", "reversal"])
def test_ratios_are_those_of_single_distances(kind, law):
    for d in (2, 5):
        for distance in (0.11, 1.234, 3.3):
            exact = ratio_of.norms(distance, d, d, law, kind)
            assert abs(float(block_errors.block_mse_ratio(distance, d, law, kind)) - exact) < 1e-5  # the spline


def test_far_points_err_as_with_independent_frequencies():
    assert block_errors.block_mse_ratio([12.5, 20.0], 5, "pnc", "fourier").tolist() == [1.0, 1.0]


def test_opposites_of_independent_norms_have_the_conformity_of_a_straight_angle():
    with jax.enable_x64(True):
        for v in (0.3, 2.0):
            exact = np.exp(float(conformities.log_conformity_at_angle(v, 4, -1.0)) - v**2)
            assert np.isclose(block_errors._own_opposite(np.array([v]), 4)[0], exact, rtol=1e-9)


@pytest.mark.parametrize("opposites", ["equal", "independent"])
def test_errors_with_opposites_are_those_of_draws(opposites):
    d, keys = 3, jax.random.split(jax.random.key(7), 20_000)
    x = 0.25 * jax.random.normal(jax.random.key(1), (3, d))

    def square(key):
        omega, others = (couplings.orthogonal_pnc(k, d, d) for k in jax.random.split(key))
        if opposites == "independent":
            lengths = jnp.linalg.norm(others, axis=1) / jnp.linalg.norm(omega, axis=1)
            phi = features.positive(x, jnp.concatenate([omega, -omega * lengths[:, None]]))
        else:
            phi = features.positive(x, couplings.antithetic(omega))
        return jnp.mean((phi @ phi.T - kernels.gaussian(x, x)) ** 2)

    squares = np.asarray(jax.jit(jax.vmap(square))(keys), dtype=float)
    error = squares.std() / np.sqrt(len(squares))
    assert error < 0.05 * squares.mean()
    assert abs(squares.mean() - gram_norms.gram_rmse(x, "pnc", "positive", opposites) ** 2) < 4 * error


def test_errors_of_independent_frequencies():
    x = np.array([[0.0, 0.5], [0.3, -0.1]])
    for kind, mse in (("fourier", theory.fourier_mse), ("positive", theory.positive_mse)):
        with jax.enable_x64(True):
            mean = np.mean([[float(mse(jnp.asarray(a), jnp.asarray(b), 2, "iid")) for a in x] for b in x])
        assert np.isclose(gram_norms.gram_rmse(x, "iid", kind) ** 2, mean, rtol=1e-9)
    assert np.isclose(gram_norms.gram_rmse(x, "iid", "positive", "equal") ** 2, mean / 2, rtol=1e-9)
