"""The public encoder: its published values, its attention as an argument; and a layer that has no weights yet."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from companion import datasets
from companion.models import encoder, transformer
from rfcore import attention, couplings

SENTENCES = ("This is an example sentence", "Each sentence is converted", "The quick brown fox jumps over the lazy dog.")


@pytest.fixture(scope="module")
def minilm():
    try:
        return encoder.minilm()
    except datasets.Unavailable as reason:
        pytest.skip(str(reason))


def test_embeddings_are_those_of_the_public_runtime(minilm):
    """sentence-transformers 6.2.0 with torch 2.13.0: cosines of three sentences and the first numbers of one."""
    z = np.asarray(eqx.filter_jit(minilm.embed)(*minilm.tokens(SENTENCES)))
    assert np.allclose(z[0, :3], [0.0676569, 0.0634960, 0.0487131], atol=1e-6, rtol=0)
    cosines = (z @ z.T)[np.triu_indices(3, 1)]
    assert np.allclose(cosines, [0.404559, 0.095674, 0.035724], atol=1e-6, rtol=0)
    assert np.allclose(np.linalg.norm(z, axis=1), 1, atol=1e-6)


def test_padding_changes_nothing(minilm):
    ids, mask = minilm.tokens(SENTENCES)
    together = minilm.embed(ids, mask)
    alone = minilm.embed(*minilm.tokens([SENTENCES[0]]))
    assert np.allclose(together[0], alone[0], atol=1e-6)
    other = np.where(mask, ids, 7)  # another word under the padding
    assert np.array_equal(minilm.embed(other, mask), together)


def test_texts_are_cut_with_their_end(minilm):
    ids, mask = minilm.tokens(["one two three four five", "one"], max_length=5)
    assert ids.shape == (2, 5) and mask.sum(axis=1).tolist() == [5, 3]
    assert ids[0, 0] == ids[1, 0] and ids[0, 4] == ids[1, 2]  # marks of beginning and end


def test_heads_are_those_of_the_forward_pass(minilm):
    """Attention of the first layer's heads, mixed as that layer does, gives the second layer's queries."""
    ids, mask = minilm.tokens(SENTENCES)
    q, k, v = minilm.heads(ids, mask)
    assert q.shape == k.shape == v.shape == (6, 3, 12, ids.shape[1], 32)
    layer = minilm.layers[0]
    states = layer(minilm.start(ids), mask, lambda *_, mask: attention.softmax(q[0], k[0], v[0], mask=mask))
    assert np.allclose(minilm.layers[1].heads(states).q, q[1], atol=1e-5)
    x = minilm.start(ids)
    whole = x @ layer.query.weight.T + layer.query.bias
    raw = np.swapaxes(whole.reshape(3, -1, 12, 32), 1, 2) @ np.swapaxes((x @ layer.key.weight.T + layer.key.bias).reshape(3, -1, 12, 32), 1, 2).mT
    assert np.allclose(q[0] @ k[0].mT, raw / 32**0.5, atol=1e-4)  # BERT's logits


def test_attention_may_differ_by_layer(minilm):
    ids, mask = minilm.tokens(SENTENCES)
    exact = minilm.embed(ids, mask)
    last = [attention.softmax] * 5 + [lambda q, k, v, mask: v]
    assert np.array_equal(minilm.embed(ids, mask, [attention.softmax] * 6), exact)
    assert not np.allclose(minilm.embed(ids, mask, last), exact, atol=1e-2)


LAYER = jax.tree.map(lambda x: x.astype(float), transformer.layer(jax.random.key(0), 8, 2))
X = np.random.default_rng(0).normal(size=(3, 70, 8))


def test_heads_weigh_keys_by_scalar_products_over_the_root_of_their_size():
    """Both sides have a factor d^(-1/4)."""
    q, k, v = LAYER.heads(X)
    queries, keys, values = (
        np.moveaxis((X @ part.weight.T + part.bias).reshape(3, 70, 2, 4), 2, 1) for part in (LAYER.query, LAYER.key, LAYER.value)
    )
    assert np.allclose(q @ k.mT, queries @ keys.mT / 4**0.5, rtol=0, atol=1e-12)
    assert np.array_equal(v, values)


def test_a_layer_without_positions_does_not_know_the_order():
    order = np.random.default_rng(1).permutation(70)
    assert np.allclose(LAYER(X[:, order]), LAYER(X)[:, order])


def test_states_leave_a_layer_normalised():
    out = LAYER(X)
    assert np.allclose(out.mean(axis=-1), 0) and np.allclose(out.std(axis=-1), 1)


@pytest.mark.parametrize("causal", [False, True])
def test_many_features_are_softmax_in_a_layer(causal):
    """The layer's queries and keys shortened, so that features can: then errors fall as m^(-1/2)."""
    short = eqx.tree_at(lambda layer: (layer.query, layer.key), LAYER, replace_fn=lambda part: jax.tree.map(lambda x: 0.3 * x, part))
    mask = None if causal else np.arange(70) < np.array([70, 50, 9])[:, None]
    exact = short(X, mask, partial(attention.softmax, causal=causal))
    errors = []
    for m in (64, 4096):
        omega = jax.vmap(lambda key, m=m: couplings.iid(key, m, 4))(jax.random.split(jax.random.key(2), 2))
        out = short(X, mask, partial(attention.random_feature_attention, omega=omega, causal=causal))
        errors.append(np.sqrt(np.mean((out - exact) ** 2, where=True if mask is None else mask[..., None])))
    assert errors[1] < 0.02 and 4 < errors[0] / errors[1] < 16


def test_gradients_stop_at_frequencies():
    q, k, v = LAYER.heads(X)
    omega = jnp.stack([couplings.iid(key, 5, 4) for key in jax.random.split(jax.random.key(0), 2)])
    gradient = jax.grad(lambda omega: attention.random_feature_attention(q, k, v, omega).sum())(omega)
    assert np.array_equal(gradient, np.zeros_like(omega))
