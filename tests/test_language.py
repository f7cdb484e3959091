"""The causal model of characters: it never sees the future, and pairs share what they should."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from companion.papers.favor import language
from companion.papers.favor.real_heads import FITS

LENGTH, SYMBOLS = 70, 30  # more than one chunk of 64 positions
TRAINING = np.random.default_rng(0).integers(SYMBOLS, size=3000, dtype=np.int32)
BATCHES = language.windows(np.random.default_rng(1), TRAINING, 3, 2, LENGTH)
SIZES = 2, 2, 4
SDERF, ADERF = (language.Features(8, FITS[name]) for name in ("sderf", "aderf_centred"))


@pytest.fixture(scope="module")
def model():
    return language.model(jax.random.key(0), TRAINING, SYMBOLS, width=8, n_layers=2, n_heads=2)


@pytest.fixture(scope="module")
def omega():
    return language.frequencies(jax.random.key(1), 1, SIZES)[0]


def answers(model, symbols, attend, omega, fitted_to):
    drawn = isinstance(attend, language.Features)
    parameters = language.fitted(model, fitted_to, omega, attend) if drawn else ()
    return np.asarray(model(symbols, language.attentions(attend, omega, parameters)))


def changed(symbols, t):
    later = np.arange(symbols.shape[-1]) >= t
    return np.where(later, (symbols + 7) % SYMBOLS, symbols)


@pytest.mark.parametrize("attend", [language.uniform, language.exact, SDERF, ADERF])
def test_the_past_is_the_same_to_the_bit_whatever_follows(model, omega, attend):
    """With parameters as training takes them: from the batch before."""
    t, symbols = 40, BATCHES[1, :, :-1]
    one, other = (
        answers(model, x, attend, omega, language.before(np.stack([BATCHES[0], follows(x)]), 0))
        for x in (symbols, changed(symbols, t))
    )
    assert np.array_equal(one[:, :t], other[:, :t])
    assert not np.allclose(one[:, t:], other[:, t:])


def follows(symbols):
    """A window that begins with these symbols."""
    return np.concatenate([symbols, symbols[:, :1]], axis=1)


@pytest.mark.parametrize("attend", [SDERF, ADERF])
def test_a_fit_to_the_sequence_itself_would_tell_the_past_what_follows(model, omega, attend):
    t, symbols = 40, BATCHES[1, :, :-1]
    one, other = (answers(model, x, attend, omega, x) for x in (symbols, changed(symbols, t)))
    assert np.abs(one[:, :t] - other[:, :t]).max() > 1e-4


def test_training_fits_to_what_came_before_the_steps(model, monkeypatch):
    """Not to a sequence of the steps that take the parameters, nor to what is held out."""
    seen, batches = [], language.windows(np.random.default_rng(2), TRAINING, 1 + 2 * language.EVERY, 2, 8)
    watched = language.windows(np.random.default_rng(3), TRAINING, 2, 2, 8)
    fitted = language.fitted

    def spied(model, symbols, omega, features):
        seen.append(symbols)
        return fitted(model, symbols, omega, features)

    monkeypatch.setattr(language, "fitted", spied)
    language.trained(jax.random.key(0), model, batches, watched, watched, SDERF)
    assert np.array_equal(seen, batches[[0, language.EVERY], :, :-1])


def test_uniform_attention_is_the_mean_so_far():
    v = np.random.default_rng(4).normal(size=(2, 3, 9, 4))
    out = language.uniform(jnp.array(v), jnp.array(v), jnp.array(v))
    for t in range(9):
        assert np.allclose(out[..., t, :], v[..., : t + 1, :].mean(axis=-2))


def test_exact_attention_hangs_on_distances_alone():
    """Of rotated queries and keys that are all the same; and far from uniform."""
    x = language.rotated(jnp.broadcast_to(jnp.array([1.0, 2.0, -1.0, 0.5]), (6, 4)))
    scores = np.asarray(x @ x.T)
    assert np.allclose(scores[1:, 1:], scores[:-1, :-1])
    assert np.ptp(scores[-1]) > 0.1


def test_before_training_the_model_knows_frequencies_alone(model):
    """Of evenly frequent symbols: bits near the logarithm of their number."""
    got = language.held_out_bits(jax.random.key(0), model, BATCHES, language.exact)
    assert abs(got - np.log2(SYMBOLS)) < 0.2
    rare = language.model(jax.random.key(0), np.zeros(10_000, np.int32), SYMBOLS, width=8, n_layers=2, n_heads=2)
    assert language.held_out_bits(jax.random.key(0), rare, 0 * BATCHES, language.exact) < 0.2


def test_bits_are_of_the_symbol_that_follows(model):
    logits = np.asarray(model(BATCHES[0, :, :-1], (language.exact,) * 2), dtype=float)
    chances = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    of_next = [chances[i, t, BATCHES[0, i, t + 1]] for i in range(2) for t in range(LENGTH)]
    assert np.isclose(language.bits(model, BATCHES[0], (language.exact,) * 2), -np.mean(np.log2(of_next)))


def test_training_learns_what_can_be_known(model):
    """Each symbol follows from the one before, in a text that goes round and round."""
    text = np.arange(3000, dtype=np.int32) % SYMBOLS
    batches = language.windows(np.random.default_rng(5), text, 1 + 2 * language.EVERY, 4, 16)
    for attend in (language.exact, language.Features(4, FITS["gerf"])):
        run = language.trained(jax.random.key(0), model, batches, batches[:2], batches[:2], attend, rate=0.03)
        assert run.curve.shape == (2,)
        assert run.final < run.curve[0] < np.log2(SYMBOLS)
        assert run.final < 2.5
        assert all(leaf.dtype == np.float32 for leaf in jax.tree.leaves(run.model))


def test_pairs_share_batches_and_frequencies():
    rngs = (np.random.default_rng(seed) for seed in (0, 0, 1))
    one, same, other = (language.windows(rng, TRAINING, 3, 2, 9) for rng in rngs)
    assert np.array_equal(one, same) and not np.array_equal(one, other)
    anywhere = np.lib.stride_tricks.sliding_window_view(TRAINING, 10)
    assert all((anywhere == window).all(axis=1).any() for window in one.reshape(-1, 10))
    drawn, again = (language.frequencies(jax.random.key(0), 2, SIZES) for _ in range(2))
    assert np.array_equal(drawn, again)
    assert drawn.shape == (2, *SIZES[:2], language.MOST, SIZES[2]) and drawn.dtype == np.float32
    first = np.asarray(drawn[0, 0, 0, : SIZES[2]])
    gram = first @ first.T
    assert np.allclose(gram, np.diag(np.diag(gram)), atol=1e-5)


def test_frequencies_are_standard_normal():
    omega = np.asarray(language.frequencies(jax.random.key(7), 10, SIZES)).reshape(-1, 4)
    assert np.allclose(omega.mean(axis=0), 0, atol=4.5 / np.sqrt(len(omega)))
    assert np.allclose(omega.T @ omega / len(omega), np.eye(4), atol=4.5 * np.sqrt(2 / len(omega)))


def test_an_alphabet_holds_the_most_frequent_characters():
    text = language.text(["aaab", "aabc", "zzz"], n_symbols=4, share=1 / 3)
    assert text.characters == "ab\n" and text.training.dtype == np.int32
    assert text.training.tolist() == [1, 1, 1, 2, 3, 1, 1, 2, 0]
    assert text.held_out.tolist() == [0, 0, 0]
