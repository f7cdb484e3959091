"""Known mistakes in attention, planted in the library's source one by one: the tests that stand beside it go red.

What catches a mistake is a test of another file, or a check here where those need an encoder.
"""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import test_attention
import test_attention_layer
import test_encoder
from planting import with_another_line

from companion.models import transformer
from companion.papers.favor import in_encoder, real_heads
from rfcore.attention import FeatureAttention, layer
from rfcore.attention import causal as sums
from rfcore.features import exponentials


def the_past_in_one_chunk_and_the_next():
    test_attention.test_the_past_is_the_same_to_the_bit_whatever_the_future_holds("linear_of_logs", 1.0, test_attention.LENGTH, 180)


def blocks():
    test_attention.test_blocks_are_what_each_query_sees(1.0, "here")


def the_past_elsewhere():
    test_attention.test_the_past_is_the_same_to_the_bit_whatever_the_future_holds("elsewhere", 1.0, test_attention.LENGTH, 180)


def blocks_elsewhere():
    test_attention.test_blocks_are_what_each_query_sees(1.0, "elsewhere")


def the_past_of_the_layer():
    test_attention_layer.test_the_past_does_not_hang_on_the_future(67, -3)


def own_features():
    test_attention_layer.test_heads_are_quotients_of_sums_of_their_own_features(False)


def many_features_are_the_layer():
    test_attention_layer.test_many_features_are_the_layer_that_they_replace(False, None)


def scores():
    test_encoder.test_heads_weigh_keys_by_scalar_products_over_the_root_of_their_size()


def calibration_lowers_the_error():
    test_attention_layer.test_calibrated_features_err_less_and_centred_ones_ignore_a_constant("aderf")


RNG = np.random.default_rng(0)
MASK = np.arange(9) < np.array([9, 4, 6])[:, None]


def beyond_the_texts(x):
    """The same with other numbers in the padding, and with other ones again."""
    return [jnp.where(MASK[..., None], x, size) for size in (1.0, -7.0)]


def fits_are_blind_to_padding(kind="aderf_centred"):
    q, k = (beyond_the_texts(x) for x in RNG.normal(size=(2, 2, 3, 9, 4)))
    fits = [real_heads.fitted(real_heads.FITS[kind], real_heads.Texts(*both, None, MASK, None)) for both in zip(q, k, strict=True)]
    for leaves in zip(*map(jax.tree.leaves, fits), strict=True):
        assert all(np.array_equal(one, other) for one, other in pairwise(leaves))


def fits_in_an_encoder_are_blind_to_padding():
    model = in_encoder.Classifier((transformer.layer(jax.random.key(0), 8, 2),), None)
    states = beyond_the_texts(RNG.normal(size=(3, 9, 8)).astype(np.float32))
    fits = [in_encoder.fitted(model, in_encoder.Task(x, MASK, None), "gerf_centred") for x in states]
    for one, other in zip(*map(jax.tree.leaves, fits), strict=True):
        assert np.array_equal(one, other)


EVERYTHING = "jax.lax.cummax(jax.lax.stop_gradient(log_k.max(axis=2)))"
WHATEVER_COMES = "jnp.tile(log_k.max(axis=(0, 2)), (len(log_k), 1, 1))"
THERE = "jax.lax.cummax(jnp.concatenate([exponents[None], of_chunks]))"
FAULTS = {
    "maximum over all keys": (
        sums, "_logs_one_by_one", EVERYTHING, WHATEVER_COMES, the_past_in_one_chunk_and_the_next,
    ),
    "maximum over the keys of the chunk": (
        sums, "_logs_one_by_one", "stop_gradient(log_k[:, :, 0])", "stop_gradient(log_k.max(axis=2))", the_past_in_one_chunk_and_the_next,
    ),
    "sums that do not go from block to block": (sums, "_logs_one_by_one", "return sums, _merged(", "return start, _merged(", blocks),
    "maximum over all keys, in the layer": (
        sums, "_logs_one_by_one", EVERYTHING, WHATEVER_COMES, the_past_of_the_layer,
    ),
    "maximum over all keys, elsewhere": (
        sums, "_of_block", THERE, "jnp.stack((len(log_k) + 1) * [log_k.max(axis=(0, -2))])", the_past_elsewhere,
    ),
    "maximum over the keys of the chunk, elsewhere": (
        sums, "_of_block", "log_k[..., 0, :]))", "log_k.max(axis=-2)))", the_past_elsewhere,
    ),
    "sums that do not go from block to block, elsewhere": (
        sums, "_of_block", "return (sums, exponents", "return (0 * sums, exponents", blocks_elsewhere,
    ),
    "other frequencies for keys than for queries": (
        layer, "random_feature_attention", "(omega, of_side)", "(omega[:, :: 1 if of_side is parameters else -1], of_side)", own_features,
    ),
    "other frequencies for keys, in the layer": (
        layer, "random_feature_attention", "(omega, of_side)", "(omega[:, :: 1 if of_side is parameters else -1], of_side)", many_features_are_the_layer,
    ),
    "one side's features for both": (layer, "random_feature_attention", "(parameters, parameters.swapped())", "(parameters, parameters)", own_features),
    "d^(-1/2) for d^(-1/4)": (transformer.Layer, "heads", "** -0.25", "** -0.5", scores),
    "d^(-1/2) for d^(-1/4), in the layer": (
        FeatureAttention, "_heads", "q * layer.qk_size**-0.25, k * layer.qk_size**-0.25", "q * layer.qk_size**-0.5, k * layer.qk_size**-0.5",
        many_features_are_the_layer,
    ),
    "padding in the moments of a fit": (
        real_heads, "fitted", "of.q[:, of.mask], of.k[:, of.mask]", "*(x.reshape(len(x), -1, x.shape[-1]) for x in of[:2])",
        fits_are_blind_to_padding,
    ),
    "padding in the moments of keys": (
        real_heads, "fitted", "of.k[:, of.mask]", "of.k.reshape(len(of.k), -1, of.k.shape[-1])", fits_are_blind_to_padding,
    ),
    "padding in the moments of a fit, in an encoder": (
        in_encoder, "fitted", "x.swapaxes(0, 1)[:, sample.mask]", "x.swapaxes(0, 1).reshape(x.shape[1], -1, x.shape[-1])",
        fits_in_an_encoder_are_blind_to_padding,
    ),
    "weights of centring dropped": (
        exponentials, "_log_exponential", 'half = (other, centre', 'half = (0 * other, centre',
        calibration_lowers_the_error,
    ),
}  # fmt: skip


@pytest.fixture
def forgotten():
    """What tests have compiled remembers the right code, and then would the wrong one."""
    jax.clear_caches()
    yield
    jax.clear_caches()


UNITS = {  # which call what the ordinary run has already
    the_past_in_one_chunk_and_the_next, blocks, the_past_of_the_layer, own_features, many_features_are_the_layer, scores,
    calibration_lowers_the_error,
}  # fmt: skip


def cases():
    for check in dict.fromkeys(check for *_, check in FAULTS.values()):
        yield pytest.param(check, id=check.__name__, marks=[pytest.mark.nightly] * (check in UNITS))


@pytest.mark.parametrize("check", cases())
def test_good_code_passes(check):
    check()


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_can_still_be_planted(fault):
    """At every commit, so that source which has moved is not noticed at night alone."""
    with_another_line(*FAULTS[fault][:4])


@pytest.mark.nightly
@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_caught(monkeypatch, fault):
    owner, name, right, wrong, check = FAULTS[fault]
    monkeypatch.setattr(owner, name, with_another_line(owner, name, right, wrong))
    with pytest.raises(AssertionError):
        check()
