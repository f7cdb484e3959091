"""Stabilised features give the attention of float64, at any scale."""

import jax.numpy as jnp
import numpy as np
import pytest
from rounding import rounding
from scipy import special

from rfcore import features
from rfcore.attention import stabilised

N, M, D = 64, 128, 64


def far_logs(scale):
    """Queries and keys with entries of standard deviation scale / d^(1/4), so that |q . k| is of size scale^2."""
    q, k = (scale * np.random.default_rng(0).normal(size=(2, N, D)) / D**0.25).astype(np.float32)
    omega = np.random.default_rng(2).normal(size=(M, D)).astype(np.float32)
    return q, k, omega, [features.log_positive(x, omega, kernel="softmax") for x in (q, k)]


def log_kernel(log_q, log_k):
    """Entry by entry, in more digits than float64 where the processor has them."""
    return np.logaddexp.reduce(np.asarray(log_q, np.longdouble)[:, None] + np.asarray(log_k, np.longdouble), axis=-1)


def attention(log_q, log_k, v):
    return special.softmax(log_kernel(log_q, log_k), axis=1) @ v


@pytest.mark.parametrize("scale", [6, 10, 40])
def test_attention_of_far_queries_in_float32(scale):
    q, k, omega, (log_q, log_k) = far_logs(scale)
    v = np.random.default_rng(1).uniform(size=N)
    plain = features.positive(q, omega, kernel="softmax")
    assert np.sum(np.all(plain == 0, axis=1)) > N / 2

    phi_q, phi_k = stabilised(log_q, log_k)
    assert phi_q.dtype == phi_k.dtype == jnp.float32
    assert np.all(phi_q.max(axis=1) == 1)  # no row is zero
    assert np.all(phi_k.max(axis=0) == 1)
    below = phi_q @ phi_k.sum(axis=0)
    assert np.all(below >= 1)
    out = phi_q @ (phi_k.T @ v) / below

    # From the same logarithms: three sums and differences of exponents of this size, products of M and sums of N terms.
    size, eps = 3 * max(np.abs(log).max() for log in (log_q, log_k)), np.finfo(np.float32).eps
    assert np.abs(np.asarray(out) - attention(log_q, log_k, v)).max() < 2 * np.expm1((3 * size / 2 + M + N) * eps)
    # From the same points: a dot product of d terms is off by at most d eps times the sum of their sizes, and so are the
    # two exponents of a weight; the mean of values in [0, 1] by at most twice that.
    if scale < 40:
        exact = (features.log_positive(x.astype(float), omega.astype(float), "softmax") for x in (q, k))
        sizes = [np.max(abs(x) @ abs(omega).T) + np.max(np.sum(x**2, axis=1)) for x in (q, k)]
        assert np.abs(np.asarray(out) - attention(*exact, v)).max() < 2 * np.expm1(D * eps / 2 * sum(sizes))


def test_one_factor_for_all_keys_loses_queries_that_a_factor_per_feature_keeps():
    log_q, log_k = np.float32([[0, -200], [-200, 0]]), np.float32([[0, -200], [-1, -190]])
    usual = np.exp(log_q - log_q.max(axis=1, keepdims=True)) @ np.exp(log_k - log_k.max()).T
    assert np.all(usual[1] == 0)
    phi_q, phi_k = stabilised(log_q, log_k)
    weights = phi_q @ phi_k.T / (phi_q @ phi_k.sum(axis=0))[:, None]
    truth = special.softmax(log_kernel(log_q, log_k), axis=1)
    assert np.allclose(weights, truth, rtol=400 * np.finfo(np.float32).eps)


def test_what_is_stabilised_differs_by_a_factor_per_query():
    x, y, omega = np.random.default_rng(0).normal(size=(3, 4, 3))
    phi_q, phi_k = stabilised(features.log_positive(x, omega), features.log_positive(y, omega))
    factors = np.asarray(features.positive(x, omega) @ features.positive(y, omega).T / (phi_q @ phi_k.T))
    assert np.allclose(factors, factors[:, :1], rtol=rounding(1000), atol=0)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: stabilised(np.ones((2, 3)), np.ones((2, 4))), "log_k has 4 columns and log_q 3; give"),
        (lambda: stabilised(np.ones((2, 3)), np.ones((0, 3))), "log_k has shape .*; give at least one key"),
        (lambda: stabilised(np.full((2, 3), -np.inf), np.ones((2, 3))), "log_q has 6 NaN or infinite"),
    ],
)
def test_bad_input(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()
