"""Masks of pairs as flax and equinox make them: those that are products of rows and keys, and words for others."""

import equinox
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from rfcore import couplings
from rfcore.attention import FeatureAttention, dot_product_attention

Q, K, V = np.random.default_rng(0).normal(size=(3, 2, 9, 2, 4)).astype(np.float32) / 2
OMEGA = couplings.orthogonal(jax.random.key(1), 16, 4).astype(np.float32)
ROWS, KEYS = np.arange(9) < np.array([[7], [9]]), np.arange(9) != np.array([[3], [0]])
BELOW = np.tri(9, dtype=bool)
PRODUCTS = {  # a mask of pairs, and whether it is causal
    "padding": (nnx.make_attention_mask(ROWS, ROWS), ROWS, ROWS, False),
    "rows and keys": (nnx.make_attention_mask(ROWS, KEYS, dtype=bool), ROWS, KEYS, False),
    "causal": (nnx.make_causal_mask(ROWS), ROWS | True, KEYS | True, True),
    "both": (nnx.combine_masks(nnx.make_causal_mask(ROWS), nnx.make_attention_mask(ROWS, KEYS)), ROWS, KEYS, True),
    "of heads": (ROWS[:, None, :, None] & KEYS[[0, 1, 1, 0]].reshape(2, 2, 1, 9), ROWS, KEYS[[0, 1, 1, 0]].reshape(2, 2, 9), False),
}


def attended(mask, is_causal=False, q=Q):
    return dot_product_attention(q, K, V, OMEGA, mask=mask, is_causal=is_causal)


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("compiled", [False, True])
def test_products_are_masks_of_keys_and_zeros_in_rows_that_see_none(name, compiled):
    mask, _, keys, causal = PRODUCTS[name]
    of_keys = attended(keys.reshape(2, -1, 1, 9), causal)
    sees = np.asarray(mask != 0).any(axis=(1, 3))[:, :, None, None]
    out = jax.jit(lambda mask: attended(mask, causal))(mask) if compiled else attended(mask)
    assert np.allclose(out, np.where(sees, of_keys, 0), rtol=0, atol=1e-5)
    assert sees.all() == (name == "causal") and not np.asarray(out)[~sees[:, :, 0, 0]].any()


def test_a_causal_layer_takes_a_mask_of_padding_too():
    """The triangle of ``is_causal`` and a product of rows and keys: what a causal model of flax is given."""
    padding, both = PRODUCTS["padding"][0], nnx.combine_masks(nnx.make_causal_mask(ROWS), PRODUCTS["padding"][0])
    for mask in (padding, both):
        assert np.allclose(attended(mask, is_causal=True), attended(both), rtol=0, atol=1e-5)


def test_gradients_do_not_see_what_is_masked():
    def loss(q, k, v):
        return jnp.sum(dot_product_attention(q, k, v, OMEGA, mask=PRODUCTS["both"][0], is_causal=True) ** 2)

    of_q, of_k, of_v = jax.jit(jax.grad(loss, argnums=(0, 1, 2)))(*map(jnp.asarray, (Q, K, V)))
    assert not of_q[~ROWS].any() and not of_k[~KEYS].any() and not of_v[~KEYS].any()
    assert all(np.isfinite(x).all() and x.any() for x in (of_q, of_k, of_v))


WINDOW = abs(np.arange(9)[:, None] - np.arange(9)) < 2


@pytest.mark.parametrize("causal", [False, True])
def test_other_masks_are_told_apart(causal):
    """In words, and by NaN in the sequences concerned where a compiled function knows no values."""
    compiled = jax.jit(attended, static_argnums=1)
    for mask, complaint in [(WINDOW, "is no product"), (WINDOW & BELOW if causal else WINDOW | BELOW, "is no product"), (-1e9 * ~WINDOW, "values that are not 0 and 1")]:
        with pytest.raises(ValueError, match=complaint):
            attended(mask[None, None], causal)
        both = np.stack([mask, BELOW if causal else BELOW | True])[:, None]
        assert np.isnan(compiled(both, causal)[0]).all() and np.isfinite(compiled(both, causal)[1]).all()
    assert np.isnan(compiled(BELOW[None, None], False)).all()  # is_causal=True was to be given


def test_complaints():
    for options, complaint in [
        ({"bias": np.zeros((2, 2, 9, 9))}, "bias is given; sums of features know no pairs"),
        ({"local_window_size": 3}, "local_window_size is given"),
        ({"mask": np.ones((2, 1, 8, 9), bool)}, r"mask has shape \(2, 1, 8, 9\); give one of keys, .* or of pairs"),
        ({"mask": BELOW}, r"mask has shape \(9, 9\); give an axis of heads, too"),
    ]:
        with pytest.raises(ValueError, match=complaint):
            dot_product_attention(Q, K, V, OMEGA, **options)


def test_the_layer_has_equinox_masks():
    exact = equinox.nn.MultiheadAttention(2, 8, key=jax.random.key(0))
    layer, x = FeatureAttention(exact, 16, key=jax.random.key(1)), Q[0].reshape(9, 8)
    causal = FeatureAttention(exact, 16, causal=True, key=jax.random.key(1))
    assert np.allclose(layer(x, x, x, BELOW), causal(x, x, x), rtol=0, atol=1e-5)
    pairs = ROWS[0][:, None] & KEYS[0]
    truth = layer(x, x, x, KEYS[0])
    for mask in (pairs, np.stack([pairs, pairs])):
        assert np.allclose(layer(x, x, x, mask)[:7], truth[:7], rtol=0, atol=1e-5)
    with pytest.raises(ValueError, match=r"mask has shape \(8, 9\); give one of keys, \(..., 1, 9\), or of pairs, \(..., 9, 9\)"):
        layer(x, x, x, BELOW[1:])
    with pytest.raises(ValueError, match=r"query has shape \(1, 9, 8\); give one sequence, \(n, 8\), and a batch to jax.vmap"):
        layer(x[None], x[None], x[None])


def test_a_cache_of_flax_is_a_mask_of_keys():
    """flax decodes with a cache of keys and a mask of those so far: outputs are those of the whole sequence."""

    def attention(q, k, v, mask=None, **_):
        return dot_product_attention(q, k, v, OMEGA, mask=mask, is_causal=q.shape[-3] > 1)

    layer = nnx.MultiHeadAttention(2, 8, attention_fn=attention, decode=False, rngs=nnx.Rngs(0))
    x = Q.reshape(2, 9, 8)
    whole = layer(x)
    layer.init_cache(x.shape)
    for i in range(9):
        assert np.allclose(layer(x[:, i : i + 1], decode=True)[:, 0], whole[:, i], rtol=0, atol=1e-5)
