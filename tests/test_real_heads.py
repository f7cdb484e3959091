"""Errors of a trained encoder's attention: exact where they should be, blind to padding, and smaller with more features."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from companion.models import encoder, transformer
from companion.papers.favor import in_encoder, real_heads
from rfcore import attention, couplings

WIDTH, N_HEADS, N_LAYERS = 8, 2, 2
SENTENCES = ["a short text", "another text, which is longer", "one", "four", "five", "six", "and seven"]
# Compiled as wholes: their steps one by one take several times as long to compile.
applied = eqx.filter_jit(lambda function, *inputs, **options: function(*inputs, **options))


def pieces(text, max_length):
    return [*(2 + ord(letter) % 20 for letter in text[: max_length - 1]), 1]


@pytest.fixture(scope="module")
def small():
    """An encoder of two layers whose queries and keys are short."""
    keys = iter(jax.random.split(jax.random.key(0), 9))
    layers = [transformer.layer(next(keys), WIDTH, N_HEADS) for _ in range(N_LAYERS)]
    words, positions = (jax.random.normal(next(keys), (n, WIDTH)) for n in (30, 512))
    norm = transformer.Norm(jnp.ones(WIDTH), jnp.zeros(WIDTH))
    whole = encoder.Encoder(words, positions, norm, tuple(layers), pieces, "here")
    return jax.tree.map(lambda x: jnp.asarray(0.6 * x, float), whole)


@pytest.fixture(scope="module")
def texts(small):
    return real_heads.texts(small, SENTENCES, 40)


def test_texts_hold_every_head_of_every_layer(small, texts):
    heads = applied(small.heads, *small.tokens(SENTENCES, 40))
    assert texts.q.shape == (N_LAYERS * N_HEADS, 7, texts.mask.shape[1], WIDTH // N_HEADS)
    for layer in range(N_LAYERS):
        for head in range(N_HEADS):
            for here, there in ((texts.q, heads.q), (texts.k, heads.k), (texts.v, heads.v)):
                assert np.allclose(np.asarray(here)[layer * N_HEADS + head], np.asarray(there)[layer, :, head], atol=1e-6)


def test_errors_are_zero_of_the_exact_and_one_of_nothing(texts):
    exact = real_heads.outputs(attention.softmax, texts)
    assert np.allclose(real_heads.relative_errors(exact, texts.exact, texts.mask), 0)
    assert np.allclose(real_heads.relative_errors(0 * exact, texts.exact, texts.mask), 1)
    padded = jnp.where(texts.mask[..., None], exact, 1e6)
    assert np.allclose(real_heads.relative_errors(padded, texts.exact, texts.mask), 0)


def errors(texts, kind, widths, coupling=couplings.orthogonal, repeats=4):
    fits = real_heads.fitted(real_heads.FITS[kind], texts)
    keys = jax.random.split(jax.random.key(1), repeats)
    drawn = (real_heads.frequencies(key, texts, max(widths), coupling) for key in keys)
    return np.mean([real_heads.feature_errors(omega, texts, fits, widths) for omega in drawn], axis=0)


@pytest.mark.parametrize("kind", real_heads.FITS)
def test_errors_fall_as_the_root_of_the_number_of_features(texts, kind):
    found = errors(texts, kind, (64, 1024)).mean(axis=(1, 2))
    assert found[1] < 0.1 and 2.5 < found[0] / found[1] < 6


def test_what_stands_in_the_padding_does_not_count(texts):
    def spoiled(x):
        return jnp.where(texts.mask[..., None], x, 3.0)

    other = texts._replace(q=spoiled(texts.q), k=spoiled(texts.k), v=spoiled(texts.v))
    for kind in ("positive", "aderf_centred"):
        assert np.allclose(errors(texts, kind, (16,)), errors(other, kind, (16,)))
    for attend in (real_heads.uniform, real_heads.elu, real_heads.relu, real_heads.greatest):
        pair = [real_heads.relative_errors(real_heads.outputs(attend, x), x.exact, x.mask) for x in (texts, other)]
        assert np.allclose(*pair)


@pytest.mark.parametrize("scale", [1.0, 60.0])
def test_errors_of_few_features_are_those_of_the_first_alone(texts, scale):
    """Sums over more features are added to those over fewer, at any scale of the exponents."""
    texts, widths = texts._replace(q=scale * texts.q), (2, 5, 16)
    omega = real_heads.frequencies(jax.random.key(3), texts, 16, couplings.iid)
    fits = real_heads.fitted(real_heads.FITS["aderf_centred"], texts)
    together = real_heads.feature_errors(omega, texts, fits, widths)
    for found, m in zip(together, widths, strict=True):
        (alone,) = real_heads.feature_errors(omega[:, :, :m], texts, fits, (m,))
        assert np.all(np.isfinite(found)) and np.allclose(found, alone)


def test_frequencies_differ_from_head_to_head_and_from_text_to_text(texts):
    omega = real_heads.frequencies(jax.random.key(0), texts, 6, couplings.iid).reshape(-1, 6 * WIDTH // N_HEADS)
    assert len(np.unique(np.asarray(omega), axis=0)) == N_LAYERS * N_HEADS * 7


def test_uniform_attention_is_a_mean_of_values(texts):
    out, v = (np.asarray(x) for x in (real_heads.outputs(real_heads.uniform, texts), texts.v))
    for i, seen in enumerate(texts.mask):
        assert np.allclose(out[:, i], v[:, i, seen].mean(axis=1, keepdims=True))


def test_all_keys_are_softmax_and_the_greatest_are_its_limit(texts):
    q, k, v, mask = *(np.asarray(x)[0] for x in (texts.q, texts.k, texts.v)), texts.mask
    assert np.allclose(applied(real_heads.greatest, q, k, v, mask, count=99), applied(attention.softmax, q, k, v, mask=mask))
    one = applied(real_heads.greatest, q, k, v, mask, count=1)
    best = np.where(mask[:, None], q @ k.mT, -np.inf).argmax(axis=-1)
    assert np.allclose(one, np.take_along_axis(v, best[..., None], axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_least_of_the_greatest_is_found_among_ties_and_hidden_keys(dtype):
    scores = np.random.default_rng(0).normal(scale=9.0, size=(200, 40)).astype(dtype)
    scores[:50, 7:30] = -np.inf
    scores[:9, [2, 33]] = scores[:9, :1]
    for count in (1, 5, 17, 40):
        seen = scores >= applied(real_heads.least_of_greatest, scores, count)
        wanted = np.maximum(np.sort(scores)[:, [-count]], np.where(np.isinf(scores), np.inf, scores).min(axis=1, keepdims=True))
        assert np.array_equal(seen, scores >= wanted)


def test_as_many_landmarks_as_positions_are_exact():
    """Then the three matrices are one, and A A^-1 A = A; the iteration converges where A is well conditioned."""
    rng = np.random.default_rng(0)
    q = 4.0 * np.eye(8)[None] + 0.01 * rng.normal(size=(1, 8, 8))
    v, mask = rng.normal(size=(1, 8, 3)), np.ones((1, 8), bool)
    assert np.allclose(applied(real_heads.landmarks, q, q, v, mask, count=8), applied(attention.softmax, q, q, v), atol=1e-6)


def test_replaced_attention_with_many_features_gives_the_exact_embedding(small, texts):
    ids, mask = small.tokens(["a short text", "another text, which is longer"], 40)
    fits = real_heads.fitted(real_heads.FITS["aderf_centred"], texts)
    fits = jax.tree.map(lambda x: x.reshape(N_LAYERS, N_HEADS, *x.shape[1:]), fits)
    exact = applied(small.embed, ids, mask)
    few, many = (in_encoder.embeddings(jax.random.key(0), small, ids, mask, "aderf_centred", fits, m) for m in (8, 4096))
    assert np.abs(many - exact).max() < 0.02 < np.abs(few - exact).max()
    for kind in ("exact", "uniform"):
        plain = applied(small.embed, ids, mask, in_encoder.PLAIN[kind])
        assert np.allclose(in_encoder.embeddings(None, small, ids, mask, kind, None, 1), plain)


@pytest.fixture(scope="module")
def lesson(small):
    """Texts of a's and texts of b's."""
    labels = np.arange(80) % 2
    return in_encoder.task(small, ["ab"[y] * (3 + i % 5) for i, y in enumerate(labels)], labels, 1, 12)


def test_a_task_holds_states_after_the_frozen_layers(small, lesson):
    ids, mask = small.tokens(["aaa", "bbbb"], 12)
    states = applied(lambda encoder: encoder.layers[0](encoder.start(ids), mask), small)
    assert np.allclose(np.asarray(lesson.states)[0, :4], np.asarray(states)[0, :4], atol=1e-6) and lesson.mask[0].sum() == 4


def test_a_program_takes_weights_and_does_not_hold_them(small, monkeypatch):
    """Those of a real encoder, as constants, were 70 MB for the compiler and its cache: then each encoder has its own program."""
    start, traced = encoder.Encoder.start, []
    monkeypatch.setattr(encoder.Encoder, "start", lambda self, ids: traced.append(self) or start(self, ids))
    for scale in (1.0, 0.5):
        in_encoder.task(jax.tree.map(lambda x, by=scale: by * x, small), SENTENCES, np.arange(7) % 2, 2, 40)
    assert len(traced) == 1


@pytest.mark.parametrize("kind", ["exact", "sderf"])
def test_tuned_layers_learn(small, lesson, kind):
    key = jax.random.key(3)
    model, fits = in_encoder.tuned(key, small.layers[1:], lesson, kind, 16, 60, batch=16, rate=1e-2, refits=2)
    assert in_encoder.accuracy(key, model, lesson, kind, fits, 16, at_once=40).mean() > 0.95
    assert (fits is None) == (kind == "exact")


def test_paired_runs_share_their_start(small, lesson):
    key = jax.random.key(4)
    one, other = (
        in_encoder.tuned(key, small.layers[1:], lesson, kind, 4, 2, rate=0.0, refits=1)[0].last.weight for kind in ("exact", "gerf")
    )
    assert np.array_equal(one, other)
