"""Blocks of features: one block is the plain map, clusters stay unbiased, and all greatest keys are softmax."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from companion.papers.favor import better_maps, real_heads
from rfcore import attention, couplings

N_HEADS, N_TEXTS, LENGTH, D = 2, 3, 40, 4
RNG = np.random.default_rng(0)
Q, K = 0.4 * RNG.normal(size=(2, N_HEADS, N_TEXTS, LENGTH, D)) + 0.3
V = RNG.normal(size=(N_HEADS, N_TEXTS, LENGTH, 2))
MASK = np.ones((N_TEXTS, LENGTH), bool)
TEXTS = real_heads.Texts(*map(jnp.asarray, (Q, K, V)), MASK, attention.softmax(Q, K, V))
ADERF = real_heads.FITS["aderf_centred"]


def drawn(n_blocks, m, seed=0):
    omega = real_heads.frequencies(jax.random.key(seed), TEXTS, n_blocks * m, couplings.iid)
    return omega.reshape(N_HEADS, N_TEXTS, n_blocks, m, D)


BLOCKS = {
    "whole": better_maps.whole(ADERF, TEXTS),
    "own": better_maps.own(ADERF, TEXTS),
    "clusters": better_maps.clustered(np.random.default_rng(1), ADERF, TEXTS, 3),
}


def test_one_block_is_the_plain_map():
    plain = real_heads.feature_errors(drawn(1, 16)[:, :, 0], TEXTS, real_heads.fitted(ADERF, TEXTS), (16,))[0]
    assert np.allclose(better_maps.errors(better_maps.by_blocks, drawn(1, 16), TEXTS, BLOCKS["whole"]), plain)


@pytest.mark.parametrize("name", BLOCKS)
def test_products_of_features_have_the_kernel_as_their_mean(name):
    blocks = jax.tree.map(lambda x: x[0, 1] if name == "own" else x[0], BLOCKS[name])
    n_blocks = blocks.centres.shape[0]

    def estimate(key):
        omega = couplings.iid(key, n_blocks * 8, D).reshape(n_blocks, 8, D)
        log_q, log_k = better_maps.log_features(TEXTS.q[0, 1], TEXTS.k[0, 1], omega, blocks)
        return jnp.exp(log_q) @ jnp.exp(log_k).T

    found = jax.vmap(estimate)(jax.random.split(jax.random.key(2), 4000))
    truth = np.exp(Q[0, 1] @ K[0, 1].T)
    t = (found.mean(axis=0) - truth) / (found.std(axis=0) / 4000**0.5)
    assert np.abs(t).max() < 5 and np.all(found.std(axis=0) / 4000**0.5 < 0.05 * truth)


def test_a_key_has_the_features_of_its_nearest_centre_alone():
    blocks = jax.tree.map(lambda x: x[1], BLOCKS["clusters"])
    _, log_k = better_maps.log_features(TEXTS.q[1, 0], TEXTS.k[1, 0], drawn(3, 5)[1, 0], blocks)
    nearest = np.linalg.norm(K[1, 0][:, None] - blocks.centres, axis=-1).argmin(axis=1)
    assert np.array_equal(np.isfinite(log_k), np.repeat(nearest[:, None] == np.arange(3), 5, axis=1))


@pytest.mark.parametrize("count", [1, 7, LENGTH])
def test_greatest_keys_are_exact_and_the_rest_are_features(count):
    q, k, v, omega = TEXTS.q[0, 0], TEXTS.k[0, 0], TEXTS.v[0, 0], drawn(1, 6)[0, 0]
    blocks = jax.tree.map(lambda x: x[0], BLOCKS["whole"])
    log_q, log_k = better_maps.log_features(q, k, omega, blocks)
    scores = np.asarray(q @ k.T)
    top = scores >= np.sort(scores, axis=1)[:, [-count]]
    weights = np.where(top, np.exp(scores), np.exp(log_q) @ np.exp(log_k).T)
    out = better_maps.with_greatest(q, k, v, omega, blocks, count)
    assert np.allclose(out, weights @ v / weights.sum(axis=1, keepdims=True))
    if count == LENGTH:
        assert np.allclose(out, attention.softmax(q, k, v))


def test_long_keys_leave_no_gaps():
    q, k = 40.0 * TEXTS.q[0, 0], 40.0 * TEXTS.k[0, 0]
    blocks = jax.tree.map(lambda x: x[0], BLOCKS["whole"])
    out = better_maps.with_greatest(q, k, TEXTS.v[0, 0], drawn(1, 6)[0, 0], blocks, 4)
    assert np.all(np.isfinite(out))
