"""Log-space sums are those of float64, and stabilised features give the attention of float64, at any scale."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rounding import rounding
from scipy import special

from rfcore import features

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

    phi_q, phi_k = features.stabilised(log_q, log_k)
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
    phi_q, phi_k = features.stabilised(log_q, log_k)
    weights = phi_q @ phi_k.T / (phi_q @ phi_k.sum(axis=0))[:, None]
    truth = special.softmax(log_kernel(log_q, log_k), axis=1)
    assert np.allclose(weights, truth, rtol=400 * np.finfo(np.float32).eps)


def test_what_is_stabilised_differs_by_a_factor_per_query():
    x, y, omega = np.random.default_rng(0).normal(size=(3, 4, 3))
    phi_q, phi_k = features.stabilised(features.log_positive(x, omega), features.log_positive(y, omega))
    factors = np.asarray(features.positive(x, omega) @ features.positive(y, omega).T / (phi_q @ phi_k.T))
    assert np.allclose(factors, factors[:, :1], rtol=rounding(1000), atol=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_log_gram_is_exact_whatever_the_sizes(dtype):
    rng, spread = np.random.default_rng(0), 300 if dtype is np.float32 else 3000
    # Rows that are large at the same features, and rows that are not: there all products underflow.
    log_phi = np.concatenate([rng.normal(size=(3, 8)), spread * rng.normal(size=(4, 8)), rng.normal(size=(2, 8)) - spread])
    log_psi = np.concatenate([rng.normal(size=(3, 8)), spread * rng.normal(size=(2, 8))])
    log_phi, log_psi = log_phi.astype(dtype), log_psi.astype(dtype)
    naive = np.exp(log_phi - log_phi.max(axis=1, keepdims=True)) @ np.exp(log_psi - log_psi.max(axis=1, keepdims=True)).T
    truth = log_kernel(log_phi, log_psi)
    assert np.any(naive == 0)
    assert np.any(np.all(naive > 1e-20, axis=1))  # both ways are taken
    for found in (features.log_gram(log_phi, log_psi), jax.vmap(features.log_gram)(log_phi[None], log_psi[None])[0]):
        assert found.dtype == dtype
        # Sums of two exponents, exponentials, a sum of 8, a logarithm.
        sizes = np.abs(log_phi).max(axis=1)[:, None] + np.abs(log_psi).max(axis=1)
        assert np.all(np.abs(np.asarray(found) - truth) <= 20 * np.finfo(dtype).eps * np.maximum(1, sizes))


def test_log_gram_differentiates_to_shares_also_where_products_underflow():
    log_phi, log_psi = jnp.array([[0.0, -900.0], [0.1, 0.2]]), jnp.array([[-900.0, 0.5], [0.3, 0.4]])

    def plain(log_phi, log_psi):
        return jnp.sum(jnp.sin(jax.nn.logsumexp(log_phi[:, None] + log_psi, axis=-1)))

    def ours(log_phi, log_psi):
        return jnp.sum(jnp.sin(features.log_gram(log_phi, log_psi)))

    def in_batch(log_phi, log_psi):
        return jax.vmap(ours)(log_phi[None], log_psi[None])[0]

    ways = jax.jit(lambda *logs: [jax.grad(way, argnums=(0, 1))(*logs) for way in (plain, ours, in_batch)])
    truth, *others = ways(log_phi, log_psi)
    for other in others:
        for found, true in zip(other, truth, strict=True):
            assert np.allclose(found, true, rtol=0, atol=rounding(2000))  # exponents of 900


def test_log_gram_estimates_the_logarithm_of_a_kernel_far_below_the_least_number():
    # The softmax kernel of q and -q, whose features have the same product for every frequency: no error of sampling.
    q, omega = np.array([[40.0, 0.0, 0.0]]), np.random.default_rng(0).normal(size=(4, 3))
    logs = [features.log_positive(x, omega, kernel="softmax") for x in (q, -q)]
    assert np.allclose(features.log_gram(*logs), -1600.0, rtol=0, atol=rounding(100, 1600.0))


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: features.log_gram(np.ones((2, 3)), np.ones((2, 4))), "log_psi has 4 columns and log_phi 3; give"),
        (lambda: features.stabilised(np.ones((2, 3)), np.ones((2, 4))), "log_k has 4 columns and log_q 3; give"),
        (lambda: features.stabilised(np.ones((2, 3)), np.ones((0, 3))), "log_k has shape .*; give at least one key"),
        (lambda: features.log_gram(np.full((2, 3), -np.inf), np.ones((2, 3))), "log_phi has 6 NaN or infinite"),
    ],
)
def test_bad_input(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()
