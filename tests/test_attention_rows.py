"""Covariances of a row of estimates: against other closed forms, quadrature of another kind and the laws that they must obey."""

import numpy as np
import pytest
import ratio_of
from scipy import special

from companion.papers.couplings import attention_rows, equicorrelation
from rfcore import theory
from rfcore.couplings import compose

D, N = 6, 4
RNG = np.random.default_rng(0)
Q, K = 0.3 * RNG.normal(size=D), 0.3 * RNG.normal(size=(N, D))


@pytest.mark.parametrize(
    ("m", "coupling", "cosine"),
    [(6, "orthogonal", 0), (15, "orthogonal", 0), (6, "simplex", -1 / 5), (9, "iid", 0)],
)
def test_the_diagonal_is_the_error_of_one_estimate(m, coupling, cosine):
    law = "iid" if coupling == "iid" else "independent"
    found = np.diag(attention_rows.row_covariance(Q, K, m, law, cosine))
    growth = np.exp(Q @ Q + np.sum(K**2, axis=1))  # the softmax kernel is the Gaussian one times its root
    expected = growth * [float(theory.positive_mse(Q, k, m, coupling)) for k in K]
    assert np.allclose(found, expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize("law", ["pnc", "positive_monotone", "independent"])
def test_coupled_norms_have_the_known_ratio_of_errors(law):
    found = attention_rows.row_covariance(Q, K, 9, law) / attention_rows.row_covariance(Q, K, 9, "iid")
    expected = [ratio_of.norms(float(np.linalg.norm(Q + k)), D, 9, law, "positive") for k in K]
    assert np.allclose(np.diag(found), expected, rtol=1e-9, atol=0)


def test_the_mean_over_frames_is_that_of_the_plane():
    """In two dimensions orthonormal frames are a circle, twice: a mean over its angle is exact."""
    angles = 2 * np.pi * np.arange(200) / 200
    first, second = np.stack([np.cos(angles), np.sin(angles)]), np.stack([-np.sin(angles), np.cos(angles)])
    q, k = Q[:2], K[:, :2]
    a, b = q + k[0], q + k[1]
    w, weights = np.polynomial.hermite_e.hermegauss(40)
    w, weights = (
        np.sqrt(-2 * np.log(special.ndtr(-w))),
        weights / weights.sum(),
    )  # Rayleigh: the chi law of d = 2
    frames = [np.exp(r * (a @ first + sign * b @ second)).mean() for r in w for sign in (1, -1)]
    both = weights @ np.reshape(frames, (-1, 2)).mean(axis=1)
    found = attention_rows.row_covariance(q, k, 2, "positive_monotone", pairs=True)[0, 1]
    assert np.isclose(found, np.exp(-q @ q - (k[0] @ k[0] + k[1] @ k[1]) / 2) * both / 2, rtol=1e-8, atol=0)


def test_every_covariance_grows_with_the_correlation_of_norms():
    found = np.stack([attention_rows.row_covariance(Q, K, D, r, pairs=True) for r in (-1.0, -0.5, 0.0, 0.5, 1.0)])
    assert np.all(np.diff(found, axis=0) > 0)
    named = [attention_rows.row_covariance(Q, K, D, law, pairs=True) for law in ("independent", "positive_monotone")]
    assert np.allclose(named, found[[2, 4]], rtol=1e-13, atol=0)


def test_the_leading_error_of_covariances_is_that_of_draws_with_them():
    kernel, covariance = np.exp(K @ Q), attention_rows.row_covariance(Q, K, D)
    factor = np.sqrt(N) * np.linalg.cholesky(covariance).T
    draws = kernel + np.concatenate([factor, -factor])[:, None]
    expected = attention_rows.row_error(draws, kernel[None]).first_order[0]
    assert np.isclose(attention_rows.leading_error(kernel, covariance), expected, rtol=1e-5, atol=0)


def test_equiangular_directions_and_correlated_norms():
    from jax import random

    u = np.asarray(equicorrelation.equiangular(-0.1)(random.key(0), 2 * D, D)).reshape(2, D, D)
    assert np.allclose(u @ u.swapaxes(1, 2), 1.1 * np.eye(D) - 0.1, rtol=0, atol=1e-5)
    w = compose("orthogonal", equicorrelation.equicorrelated(1.0)).lengths(random.key(1), D, D)
    assert np.ptp(w) == 0
