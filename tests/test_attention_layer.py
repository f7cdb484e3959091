"""The layer: equinox's own attention in the limit, its masks and rotations, its frequencies and its calibration."""

import dataclasses
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from rounding import rounding

from rfcore import couplings, features, solvers
from rfcore.attention import FeatureAttention, dot_product_attention, layer

HEADS, SIZE, LENGTH = 2, 8, 70
EXACT = eqx.nn.MultiheadAttention(HEADS, SIZE, use_key_bias=True, dtype=float, key=jax.random.key(0))
X = 0.3 * np.random.default_rng(0).normal(size=(LENGTH, SIZE))  # so near 0 that errors fall as those of sums do
ROTATE = eqx.nn.RotaryPositionalEmbedding(SIZE // HEADS, dtype=float)


def rotated(q, k, v):
    return *(jax.vmap(ROTATE, in_axes=1, out_axes=1)(x) for x in (q, k)), v


# Made, fitted and applied in one piece each: their steps one by one take several times as long to compile.
made = eqx.filter_jit(FeatureAttention)
calibrated = eqx.filter_jit(lambda layer, x, fit: layer.calibrated(x, x, x, fit))
applied = eqx.filter_jit(lambda layer, *inputs, **options: layer(*inputs, **options))


@eqx.filter_jit
def redrawn(layer, inputs, options):
    keys = jax.random.split(jax.random.key(2), 16)

    def of(key):
        return layer(*inputs, key=key, **options)

    # Of many features one draw after the other: vmap computes both branches of what a causal layer decides, pair by pair.
    return jax.vmap(of)(keys) if layer.omega.shape[-2] <= 100 else jax.lax.map(of, keys)


def error(layer, truth, *inputs, **options):
    """Relative error over 16 draws of the frequencies."""
    out = np.asarray(redrawn(layer, inputs, options))
    return np.sqrt(np.mean((out - truth) ** 2) / np.mean(truth**2))


@pytest.mark.parametrize("process_heads", [None, rotated])
@pytest.mark.parametrize("causal", [False, True])
def test_many_features_are_the_layer_that_they_replace(causal, process_heads):
    """With equinox's mask of queries and keys for ours of keys, and the same weights."""
    mask = np.arange(LENGTH) != 3
    pairs = mask & (np.tri(LENGTH, dtype=bool) if causal else True)
    pairs = np.broadcast_to(pairs, (LENGTH, LENGTH))
    truth = np.asarray(applied(EXACT, X, X, X, pairs, process_heads=process_heads))
    layers = (made(EXACT, m, causal=causal, key=jax.random.key(1)) for m in (100, 2500))
    few, many = (error(layer, truth, X, X, X, mask=mask, process_heads=process_heads) for layer in layers)
    assert few / 7 < many < few / 3.5  # a fifth, but for chance
    uniform = eqx.tree_at(lambda layer: layer.query_proj.weight, EXACT, 0 * EXACT.query_proj.weight)
    none = np.asarray(applied(uniform, X, X, X, pairs))
    assert many < np.sqrt(np.mean((none - truth) ** 2) / np.mean(truth**2)) / 3


fitted_to = jax.jit(partial(solvers.exponential.aderf, centred=True))
exponential = jax.jit(features.exponential, static_argnums=(3, 4))


@pytest.mark.parametrize("causal", [False, True])
def test_heads_are_quotients_of_sums_of_their_own_features(causal):
    """Linear attention is its quadratic form, head by head: with one omega on both sides, and fitted parameters."""
    rng = np.random.default_rng(3)
    q, k = 0.5 * rng.normal(size=(2, HEADS, LENGTH, 4)) + 0.5
    v, omega = rng.normal(size=(HEADS, LENGTH, 3)), rng.normal(size=(HEADS, 5, 4))
    fits = [fitted_to(*of_head) for of_head in zip(q, k, strict=True)]
    whole = jax.tree.map(lambda *of_heads: np.stack(of_heads), *fits)
    out = np.asarray(jax.jit(layer.random_feature_attention, static_argnums=5)(q, k, v, omega, whole, causal))
    for h in range(HEADS):
        phi, psi = (exponential(x[h], omega[h], fits[h], side, "softmax") for x, side in ((q, "x"), (k, "y")))
        kernel = np.asarray(phi) @ np.asarray(psi).T
        kernel = np.tril(kernel) if causal else kernel
        expected = kernel @ v[h] / kernel.sum(axis=1, keepdims=True)
        assert np.allclose(out[h], expected, rtol=0, atol=rounding(1000, v))


def test_inputs_of_other_sizes_and_lengths():
    sizes = {"query_size": 8, "key_size": 5, "value_size": 3, "qk_size": 4, "vo_size": 2, "output_size": 7}
    exact = eqx.nn.MultiheadAttention(HEADS, **sizes, dtype=float, key=jax.random.key(0))
    inputs = X, X[:9, :5], X[:9, :3]
    truth = np.asarray(applied(exact, *inputs))
    few, many = (error(made(exact, m, key=jax.random.key(1)), truth, *inputs) for m in (100, 2500))
    assert few / 7 < many < few / 3.5


def test_frequencies_are_fixed_by_the_layer_or_redrawn_by_a_key():
    layer = FeatureAttention(EXACT, 32, couplings.simplex, key=jax.random.key(1))
    one, other = (layer(X, X, X, key=jax.random.key(k)) for k in (2, 3))
    assert np.array_equal(layer(X, X, X), layer(X, X, X))
    assert not np.allclose(one, other)
    assert np.array_equal(one, FeatureAttention(EXACT, 32, couplings.simplex, key=jax.random.key(2))(X, X, X))
    assert not np.allclose(layer.omega[0], layer.omega[1])


def test_fast_frequencies_and_narrow_weights():
    layer = FeatureAttention(EXACT, 16, couplings.orthogonal_fast, causal=True, key=jax.random.key(1))
    assert error(layer, np.asarray(layer(X, X, X)), X, X, X) > 0  # redrawn
    narrow = jax.tree.map(lambda leaf: leaf.astype(np.float32) if eqx.is_inexact_array(leaf) else leaf, layer)
    out = narrow(*[X.astype(np.float32)] * 3)
    assert out.dtype == np.float32
    assert np.allclose(out, layer(X, X, X), rtol=0, atol=1e-5)


def test_training_leaves_frequencies_and_parameters_alone():
    layer = FeatureAttention(EXACT, 32, causal=True, key=jax.random.key(1)).calibrated(X, X, X)
    optimiser = optax.adam(1e-2)
    weights, rest = eqx.partition(layer, eqx.is_inexact_array)
    state = optimiser.init(weights)

    @jax.jit
    def step(weights, state):
        def loss(weights):
            return jnp.mean((eqx.combine(weights, rest)(X, X, X) - X[:, ::-1]) ** 2)

        value, gradients = jax.value_and_grad(loss)(weights)
        updates, state = optimiser.update(gradients, state, weights)
        return optax.apply_updates(weights, updates), state, value

    losses = []
    for _ in range(30):
        weights, state, value = step(weights, state)
        losses.append(float(value))
    assert losses[-1] < 0.9 * losses[0]
    assert np.array_equal(weights.omega, layer.omega)
    for now, before in zip(*(jax.tree.leaves(of.parameters) for of in (weights, layer)), strict=True):
        assert np.array_equal(now, before)


@pytest.mark.parametrize("fit", ["gerf", "saderf", "sderf", "aderf"])
def test_calibrated_features_err_less_and_centred_ones_ignore_a_constant(fit):
    away = 7 * X + np.linspace(0, 3, SIZE)
    truth, fit = np.asarray(applied(EXACT, away, away, away)), getattr(solvers.exponential, fit)
    plain = made(EXACT, 64, key=jax.random.key(1))
    fitted = calibrated(plain, away, fit)
    assert error(fitted, truth, away, away, away) < 0.9 * error(plain, truth, away, away, away)
    bias = EXACT.key_proj.bias + 1.0  # adds the same to all keys
    moved = eqx.tree_at(lambda layer: layer.attention.key_proj.bias, plain, bias)
    outs = [applied(layer, X, X, X) for layer in (calibrated(moved, away, fit), fitted)]
    assert np.allclose(*outs, rtol=0, atol=rounding(1e5))
    assert not np.allclose(applied(moved, X, X, X), applied(plain, X, X, X), rtol=0, atol=1e-3)


def fields(*parameters):
    return [[getattr(one, field.name) for field in dataclasses.fields(one)] for one in parameters]


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("fit", ["gerf", "saderf", "sderf", "aderf"])
def test_calibrated_parameters_are_those_of_the_fit_of_each_head(fit, centred):
    away, fit = 7 * X + np.linspace(0, 3, SIZE), getattr(solvers.exponential, fit)
    plain = made(EXACT, 8, key=jax.random.key(1))
    q, k, _ = plain._heads(away, away, away, None)
    found = plain.calibrated(away, away, away, fit, centred).parameters
    for head in range(HEADS):
        for of_layer, of_fit in zip(*fields(found, fit(q[head], k[head], centred=centred)), strict=True):
            assert (of_layer is None) == (of_fit is None)
            assert of_fit is None or np.array_equal(of_layer[head], of_fit)
    assert (found.centre_x is None) != centred


def test_parameters_are_fitted_to_what_becomes_of_heads():
    plain = made(EXACT, 8, key=jax.random.key(1))
    q, k, _ = plain._heads(X, X, X, rotated)
    found = plain.calibrated(X, X, X, solvers.exponential.aderf, process_heads=rotated).parameters
    for head in range(HEADS):
        for of_layer, of_fit in zip(*fields(found, solvers.exponential.aderf(q[head], k[head], centred=True)), strict=True):
            assert np.array_equal(of_layer[head], of_fit)


def test_parameters_of_heads_reach_the_attention_of_jaxs_shapes():
    """Two groups of keys for four heads: each head with its own frequencies and parameters, at products times the scale."""
    rng = np.random.default_rng(6)
    q, k, v = (rng.normal(size=(LENGTH, heads, 3)) for heads in (4, 2, 2))
    omega, scale = rng.normal(size=(4, 16, 3)), 0.3
    fitted = [solvers.exponential.aderf(scale**0.5 * q[:, head], scale**0.5 * k[:, head // 2], centred=True) for head in range(4)]
    found = dot_product_attention(q, k, v, omega, jax.tree.map(lambda *of_heads: jnp.stack(of_heads), *fitted), scale=scale)
    for head in range(4):
        phi = features.exponential(scale**0.5 * q[:, head], omega[head], fitted[head], "x", "softmax")
        psi = features.exponential(scale**0.5 * k[:, head // 2], omega[head], fitted[head], "y", "softmax")
        weights = phi @ psi.T
        expected = weights @ v[:, head // 2] / weights.sum(axis=1, keepdims=True)
        assert np.allclose(found[:, head], expected, rtol=0, atol=rounding(1000, v))


@pytest.mark.parametrize("now", [50, 67])  # in the first chunk of 64 positions, and in the second
@pytest.mark.parametrize("size", [-3, 100])  # keys whose features are large, and all but 0
def test_the_past_does_not_hang_on_the_future(now, size):
    layer = FeatureAttention(EXACT, 32, causal=True, key=jax.random.key(1)).calibrated(X, X, X)
    later = np.concatenate([X[:now], size * X[now:]])
    assert np.array_equal(layer(X, X, X)[:now], layer(later, later, later)[:now])


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (
            lambda: FeatureAttention(eqx.nn.MultiheadAttention(2, 8, dropout_p=0.1, key=jax.random.key(0)), key=jax.random.key(0)),
            "attention has dropout_p = 0.1; give",
        ),
        (lambda: FeatureAttention(EXACT, 8, key=jax.random.key(0))(X, X, X, np.tri(LENGTH, k=1, dtype=bool)), "mask has shape .* is no product"),
    ],
)
def test_bad_input(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("hidden", [False, True])
def test_shapes_and_options_are_those_of_jax(causal, hidden):
    """Two groups of keys for four heads, another scale, a mask: in the limit, and in bfloat16."""
    rng = np.random.default_rng(5)
    q, k, v = (rng.normal(size=(2, LENGTH, heads, 3)) for heads in (4, 2, 2))
    mask = rng.random((2, 1, 1, LENGTH)) < 0.7 if hidden else None
    mask = mask if mask is None else mask | (np.arange(LENGTH) == 0)  # or a causal query may see nothing
    exact = jax.nn.dot_product_attention(q, k, v, mask=mask, scale=0.1, is_causal=causal)
    omega = couplings.orthogonal(jax.random.key(0), 3000, 3)
    ours = partial(dot_product_attention, omega=omega, mask=mask, is_causal=causal)
    found = ours(q, k, v, scale=0.1)
    assert found.shape == exact.shape and found.dtype == exact.dtype
    assert np.abs(found - exact).max() < 0.1 < np.abs(ours(q, k, v) - exact).max()
    narrow = ours(*(jnp.asarray(x, jnp.bfloat16) for x in (q, k, v)), scale=0.1)
    assert narrow.dtype == jnp.bfloat16 and np.abs(np.asarray(narrow, float) - exact).max() < 0.15


def test_flax_takes_it_in_one_line():
    nnx = pytest.importorskip("flax.nnx")
    omega = couplings.orthogonal(jax.random.key(0), 3000, 4)
    options = {"num_heads": 2, "in_features": SIZE, "decode": False, "param_dtype": float}
    exact = nnx.MultiHeadAttention(**options, rngs=nnx.Rngs(0))
    ours = nnx.MultiHeadAttention(
        **options, rngs=nnx.Rngs(0), attention_fn=lambda q, k, v, mask=None, **_: dot_product_attention(q, k, v, omega, mask=mask)
    )
    x, seen = X[None], (np.arange(LENGTH) < 50)[None, None, None]
    for mask in (None, seen):
        truth, found = exact(x, mask=mask), ours(x, mask=mask)
        assert np.abs(found - truth).max() < 0.05 * np.abs(truth).max()
    assert np.abs(ours(x) - ours(x, mask=seen)).max() > 1e-3


def test_a_narrow_layer_has_narrow_outputs():
    layer = made(EXACT, 32, causal=True, key=jax.random.key(1))
    weights, rest = eqx.partition(layer.attention, eqx.is_inexact_array)
    narrow = eqx.combine(jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), weights), rest)
    narrow = eqx.tree_at(lambda layer: layer.attention, layer, narrow)
    x = jnp.asarray(X, jnp.bfloat16)
    assert narrow(x, x, x).dtype == jnp.bfloat16
    assert np.abs(np.asarray(narrow(x, x, x), float) - layer(X, X, X)).max() < 0.05


def test_queries_and_keys_share_the_scale_of_their_products():
    """Each is divided by d^(1/4): features are not those of queries and keys that share it otherwise."""
    ours = FeatureAttention(EXACT, 8, key=jax.random.key(0))
    q, k, v = (
        jnp.swapaxes(jax.vmap(project)(X).reshape(len(X), EXACT.num_heads, -1), 0, 1)
        for project in (EXACT.query_proj, EXACT.key_proj, EXACT.value_proj)
    )
    root = EXACT.qk_size**-0.25
    out = jnp.swapaxes(layer.random_feature_attention(q * root, k * root, v, ours.omega), 0, 1).reshape(len(X), -1)
    assert np.allclose(ours(X, X, X), jax.vmap(EXACT.output_proj)(out), rtol=0, atol=rounding(1000, out))
