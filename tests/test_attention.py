"""Attention: exact, linear, causal, masked; at scales where features overflow; and the error of its rows."""

import re
from functools import cache, partial
from unittest.mock import patch

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxprs_in_params
from plain_attention import plain
from rounding import rounding
from scipy.special import logsumexp, softmax

from companion.papers.couplings import attention_rows, formulas
from rfcore import attention, couplings, features
from rfcore.attention import causal as sums
from rfcore.attention import quotients

N, M, C = 6, 5, 2
RNG = np.random.default_rng(0)
LOGS = RNG.normal(size=(2, N, M))
V = RNG.normal(size=(N, C))
linear_of_logs = jax.jit(attention.linear_of_logs, static_argnums=3)
orthogonal = jax.jit(couplings.orthogonal, static_argnums=(1, 2))
log_positive = jax.jit(lambda x, omega: features.log_positive(x, omega, kernel="softmax"))


def by_quotient(kernel, v, causal):
    kernel = np.tril(kernel) if causal else kernel
    return kernel @ v / kernel.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_a_quotient_of_sums(causal):
    x, y = RNG.normal(size=(2, N, 3))
    exact = attention.softmax(x, y, V, causal)
    assert np.allclose(exact, by_quotient(np.exp(x @ y.T), V, causal), rtol=0, atol=rounding(100, V))
    phi_q, phi_k = np.exp(LOGS)
    expected = by_quotient(phi_q @ phi_k.T, V, causal)
    assert np.allclose(attention.linear(phi_q, phi_k, V, causal), expected, rtol=0, atol=rounding(100, V))
    assert np.allclose(linear_of_logs(*LOGS, V, causal), expected, rtol=0, atol=rounding(100, V))


@pytest.mark.parametrize("causal", [False, True])
def test_logarithms_keep_every_query_at_any_scale(causal):
    """Exponents of thousands in float32; the truth is a log-sum-exp in float64."""
    log_q, log_k = (3000 * LOGS).astype(np.float32)
    log_kernel = np.logaddexp.reduce(log_q[:, None].astype(float) + log_k, axis=2)
    log_kernel = np.where(np.tri(N, dtype=bool), log_kernel, -np.inf) if causal else log_kernel
    expected = by_quotient(np.exp(log_kernel - log_kernel.max(axis=1, keepdims=True)), V, False)
    out = np.asarray(linear_of_logs(log_q, log_k, V.astype(np.float32), causal))
    # Sums and differences of three exponents of up to 10^4 in float32.
    error = 6 * float(np.finfo(np.float32).eps) * np.abs([log_q, log_k]).max() * np.abs(V).max()
    assert error < 0.1
    assert np.allclose(out, expected, rtol=0, atol=error)
    with np.errstate(all="ignore"):
        assert not np.all(np.isfinite(by_quotient(np.exp(log_q) @ np.exp(log_k).T, V, causal)))


def elsewhere(log_q, log_k, v, causal=False, mask=None):
    """The program for accelerators, where this is none, and with blocks of 512 positions."""
    if not causal:
        return attention.linear_of_logs(log_q, log_k, v, causal, mask)
    mask = jnp.ones(v.shape[-2], bool) if mask is None else jnp.asarray(mask)
    log_q, log_k, v = jnp.asarray(log_q), *(sums.hidden(jnp.asarray(x), mask) for x in (log_k, v))
    with patch.object(sums, "LEAST", 512):
        read = sums._logs_at_once(*2 * [jax.tree_util.Partial(quotients._wide)], log_q, log_k, quotients.with_ones(v), mask)
    return quotients.quotient(read).astype(v.dtype)


def elsewhere_of_features(phi_q, phi_k, v):
    with patch.object(sums, "LEAST", 512):
        return quotients.quotient(sums._features_at_once(*map(jnp.asarray, (phi_q, phi_k, quotients.with_ones(jnp.asarray(v))))))


CAUSAL = {"here": partial(attention.linear_of_logs, causal=True), "elsewhere": partial(elsewhere, causal=True)}
WAYS = {
    "softmax": lambda log_q, log_k, v, causal=False, mask=None: attention.softmax(log_q, log_k, v, causal, mask),
    "linear": lambda log_q, log_k, *rest, **mask: attention.linear(jnp.exp(log_q), jnp.exp(log_k), *rest, **mask),
    "linear_of_logs": attention.linear_of_logs,
    "elsewhere": elsewhere,
}
FAR = 0.7 * float(np.log(jnp.finfo(jnp.result_type(float)).max))  # of the exponents that floats hold: 497 of 710, 62 of 89
LENGTH = 300  # three chunks, the last one cut
LONG = 2200  # three blocks of chunks


def drawn(*leading, scale=1.0, length=LENGTH):
    rng = np.random.default_rng(1)
    return [scale * rng.normal(size=(*leading, length, columns)) for columns in (M, M)] + [rng.normal(size=(*leading, length, C))]


def with_gradients(attend, *inputs, rows=slice(None)):
    """Outputs, and gradients of the sum of squares of some rows: one function to compile, which looks at no values."""

    def loss(*inputs):
        out = attend(*inputs)
        return jnp.sum(out[rows] ** 2), out

    gradients, out = jax.jit(jax.grad(loss, (0, 1, 2), has_aux=True))(*inputs)
    return np.asarray(out), [np.asarray(gradient) for gradient in gradients]


def of_query(i, log_q, log_k, v):
    """What query i sees, in NumPy: a mean of the values up to its own."""
    logs = logsumexp(log_q[i] + log_k[: i + 1], axis=1)
    return softmax(logs) @ v[: i + 1]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_leading_axes_are_so_many_sequences(way, causal):
    log_q, log_k, v = drawn(2, 3)
    attend = jax.jit(lambda *inputs: WAYS[way](*inputs, causal))
    out = np.asarray(attend(log_q, log_k[:, :1], v))  # keys shared by heads
    assert out.shape == v.shape
    for b, h in np.ndindex(2, 3):
        one = attend(log_q[b, h], log_k[b, 0], v[b, h])
        assert np.allclose(out[b, h], one, rtol=0, atol=rounding(1000, v))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_a_hidden_key_may_hold_anything(way, causal):
    """Those that are seen alone give the same, and so do gradients; a query that sees none gets zeros."""
    log_q, log_k, v = drawn()
    mask = np.random.default_rng(2).random(LENGTH) < 0.5
    mask[:140] = False  # so that the first queries of a causal mask see nothing, in the first chunk and after it
    wild = [np.where(mask[:, None], x, other) for x, other in ((log_k, 1.4 * FAR), (v, np.nan))]
    out, found = with_gradients(lambda *inputs: WAYS[way](*inputs, causal, mask=mask), log_q, *wild, rows=mask)
    sees = np.cumsum(mask) > 0 if causal else np.ones(LENGTH, bool)
    assert np.all(out[~sees] == 0)
    expected, alone = with_gradients(lambda *inputs: WAYS[way](*inputs, causal), log_q[mask], log_k[mask], v[mask])
    assert np.allclose(out[mask], expected, rtol=0, atol=rounding(1000, v))
    for here, there in zip(found, alone, strict=True):
        assert np.allclose(here[mask], there, rtol=0, atol=rounding(1000, v))
        assert np.all(here[~mask] == 0)


@pytest.mark.parametrize(("length", "now"), [(LENGTH, 180), (LONG, 1100)])
@pytest.mark.parametrize(
    ("way", "scale"), [("linear", 1.0), ("linear_of_logs", 1.0), ("linear_of_logs", 3000.0), ("elsewhere", 1.0), ("elsewhere", 3000.0)]
)
def test_the_past_is_the_same_to_the_bit_whatever_the_future_holds(way, scale, length, now):
    log_q, log_k, v = drawn(2, scale=scale, length=length)
    later, far = [x.copy() for x in (log_k, v)], FAR if way == "linear" else 1e5
    later[0][:, now:] += far
    later[1][:, now:] -= 7
    before, after = (np.asarray(WAYS[way](log_q, *given, True)) for given in ((log_k, v), later))
    assert np.array_equal(before[:, :now], after[:, :now])
    assert not np.any(np.all(before[:, now:] == after[:, now:], axis=-1))


@pytest.mark.parametrize("way", CAUSAL)
@pytest.mark.parametrize("scale", [0.3, 30.0, 3000.0])
def test_chunks_are_what_each_query_sees(scale, way):
    """Within what features of a chunk's first key allow, a little beyond it, and far beyond."""
    log_q, log_k, v = drawn(scale=scale)
    log_k[200:] += scale * np.arange(100)[:, None]  # which grow
    out = np.asarray(CAUSAL[way](log_q, log_k, v))
    for i in (0, 1, 63, 64, 127, 128, 201, 299):
        assert np.allclose(out[i], of_query(i, log_q, log_k, v), rtol=0, atol=rounding(100 + 100 * scale, v))


@pytest.mark.parametrize("way", CAUSAL)
def test_keys_beyond_the_floats_weigh_no_more_than_they_do(way):
    """One feature of some keys has an exponent near what floats hold, and queries give it the opposite: no key outweighs the rest."""
    log_q, log_k, v = drawn()
    log_q[:, 0] -= FAR
    log_k[[5, 140, 141, 290], 0] += FAR
    out = np.asarray(CAUSAL[way](log_q, log_k, v))
    for i in (4, 5, 127, 139, 140, 141, 150, 299):
        assert np.allclose(out[i], of_query(i, log_q, log_k, v), rtol=0, atol=rounding(10_000, v))


@pytest.mark.parametrize("way", CAUSAL)
@pytest.mark.parametrize("scale", [1.0, 3000.0])
def test_blocks_are_what_each_query_sees(scale, way):
    log_q, log_k, v = drawn(scale=scale, length=LONG)
    log_k[[1500, 2047]] += 100 * scale
    out = np.asarray(CAUSAL[way](log_q, log_k, v))
    for i in (0, 1023, 1024, 1500, 1501, LONG - 1):
        assert np.allclose(out[i], of_query(i, log_q, log_k, v), rtol=0, atol=rounding(100 + 100 * scale, v))


SOME = np.array([3, 1023, 1024, 1500, 1501, 2047, LONG - 1])


def of_rows(log_q, log_k, v):
    logs = jax.scipy.special.logsumexp(log_q[SOME, None] + log_k, axis=-1)
    weights = jax.nn.softmax(jnp.where(np.arange(LONG) <= SOME[:, None], logs, -jnp.inf))
    return jnp.sum((weights @ v) ** 2)


@cache
def gradients_of_blocks(way):
    def of_blocks(*inputs):
        return jnp.sum(CAUSAL[way](*inputs)[SOME] ** 2)

    return jax.jit(lambda *inputs: [jax.grad(f, (0, 1, 2))(*inputs) for f in (of_blocks, of_rows)])


@pytest.mark.parametrize("way", CAUSAL)
@pytest.mark.parametrize("far", [0.0, FAR])  # keys that are added pair by pair
def test_gradients_of_blocks_are_those_of_what_each_query_sees(far, way):
    log_q, log_k, v = drawn(length=LONG)
    log_k[[1500, 2047]] += far
    found, truth = gradients_of_blocks(way)(log_q, log_k, v)
    for here, there in zip(found, truth, strict=True):
        assert np.allclose(here, there, rtol=0, atol=rounding(10_000, v)) and np.abs(there).max() > 1e-3


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_of_logarithms_are_those_of_features(causal):
    def of_logs(log_q, log_k):
        return jnp.sum(attention.linear_of_logs(log_q, log_k, V, causal) ** 2)

    def of_features(log_q, log_k):
        return jnp.sum(attention.linear(jnp.exp(log_q), jnp.exp(log_k), V, causal) ** 2)

    found, truth = jax.jit(lambda *logs: [jax.grad(f, (0, 1))(*logs) for f in (of_logs, of_features)])(*LOGS)
    assert np.allclose(found, truth, rtol=0, atol=rounding(1000))


@pytest.mark.parametrize("causal", [False, True])
def test_no_array_has_the_square_of_the_length(causal):
    length = 4096

    def sizes(jaxpr):
        for equation in jaxpr.eqns:
            yield from (variable.aval.size for variable in equation.outvars)
            for inner in jaxprs_in_params(equation.params):
                yield from sizes(inner)

    shapes = [jax.ShapeDtypeStruct((length, columns), np.float32) for columns in (M, M, C)]
    for attend in (attention.linear, attention.linear_of_logs):
        jaxpr = jax.make_jaxpr(lambda *arguments, attend=attend: attend(*arguments, causal))(*shapes).jaxpr
        assert max(sizes(jaxpr)) <= length * (128 if causal else 2 * M + C)  # pairs of a chunk of 128


@pytest.mark.parametrize("causal", [False, True])
def test_it_is_what_one_would_write_first(causal):
    """Where nothing overflows, a program of a few lines, with one exponent over all keys."""
    rng = np.random.default_rng(4)
    q, k, v = jnp.asarray(0.5 * rng.normal(size=(3, 2, 256, 4)))
    omega = jnp.asarray(rng.normal(size=(2, M, 4)))
    out = attention.random_feature_attention(q, k, v, omega, causal=causal)
    if causal:
        phi = (features.positive(x.reshape(-1, 4), omega[0], kernel="softmax").reshape(2, 256, M)[:1] for x in (q, k))
        there = elsewhere_of_features(*phi, v[:1])
        assert np.allclose(there, plain(q, k, v, omega, causal)[:1], rtol=0, atol=rounding(1000, v))
    assert np.allclose(out, plain(q, k, v, omega, causal), rtol=0, atol=rounding(1000, v))


HEADS, EMBEDDED, MANY = 8, 64, 256
SHAPES = [jax.ShapeDtypeStruct((HEADS, 65_536, EMBEDDED), np.float32)] * 3 + [jax.ShapeDtypeStruct((HEADS, MANY, EMBEDDED), np.float32)]


def long(*inputs):
    return jnp.sum(attention.random_feature_attention(*inputs, causal=True) ** 2)


def test_an_accelerator_waits_for_few_rounds():
    """Bounds of all loops of the program for 65,536 positions, forward and backward, lowered for a GPU that is not there."""
    with patch.object(sums, "on_a_cpu", bool):  # False
        text = jax.jit(jax.grad(long, (0, 1, 2))).trace(*SHAPES).lower(lowering_platforms=("cuda",)).as_text()
    jax.clear_caches()
    loops = text.split("stablehlo.while(")[1:]
    bounds = [int(re.search(r"cond \{\s*%\w+ = stablehlo.constant dense<(\d+)>", loop)[1]) for loop in loops]
    assert bounds and max(bounds) <= 16


def test_memory_of_many_positions():
    """Of 65,536, forward and backward, below four times that of features of queries and keys; and in proportion to the length."""
    held = []
    for length in (16_384, 65_536):
        shapes = [jax.ShapeDtypeStruct((HEADS, length, EMBEDDED), np.float32)] * 3
        held.append(jax.jit(jax.grad(long, (0, 1, 2))).lower(*shapes, SHAPES[3]).compile().memory_analysis().temp_size_in_bytes)
    assert held[1] < 4 * 2**30 and held[1] < 4.4 * held[0]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_narrow_inputs_have_narrow_outputs(way, causal):
    """Whatever the default float is; weights are rounded by 2^-9, which outputs are means with, and so are these."""
    narrow = [jnp.asarray(x, jnp.bfloat16) for x in drawn(scale=0.5)]
    out = WAYS[way](*narrow, causal)
    wide = np.asarray(WAYS[way](*(np.asarray(x, float) for x in narrow), causal))
    assert out.dtype == jnp.bfloat16
    assert np.abs(np.asarray(out, float) - wide).max() < 4 * 2**-8 * np.abs(np.asarray(narrow[2], float)).max()


def test_many_features_estimate_softmax_attention():
    q, k = 0.5 * np.random.default_rng(3).normal(size=(2, N, 3))
    omega = orthogonal(jax.random.key(0), 30_000, 3)
    out = linear_of_logs(*(log_positive(x, omega) for x in (q, k)), V, False)
    exact = attention.softmax(q, k, V)
    assert np.linalg.norm(out - exact) < np.linalg.norm(V.mean(axis=0) - exact) / 5  # of what no attention at all would err


def noisy(kernel, scale, repeats=20_000):
    """Estimates with correlated errors that share a part."""
    mix = np.array([[1.0, 0.4, 0.0], [0.4, 1.0, -0.3], [0.2, 0.2, 1.0]])
    noise = np.random.default_rng(1).normal(size=(repeats // 2, 1, 3)) @ mix
    return kernel + scale * np.concatenate([noise, -noise])  # without third moments


def test_first_order_explains_the_error_of_rows_and_equation_45_does_not():
    kernel = np.array([[1.0, 2.0, 5.0]])
    error = attention_rows.row_error(noisy(kernel, 0.05), kernel)
    # The next order: squares of relative errors of the sum, 0.05 * 1.9 / 8, and of the parts.
    assert np.isclose(error.measured[0], error.first_order[0], rtol=3e-3, atol=0)
    printed = formulas.attention_error(noisy(kernel, 0.05), kernel)
    assert abs(printed[0] / error.measured[0] - 1) > 0.1
    # E[a^^2] - a^2, which Eq. 45 is, misses the bias of a^.
    shares = noisy(kernel, 0.05)
    shares = shares / shares.sum(axis=2, keepdims=True)
    second = np.mean(shares**2 - (kernel / kernel.sum()) ** 2)
    assert np.isclose(second, printed[0], rtol=3e-2, atol=0)


def test_a_kernel_that_a_compiled_function_holds():
    kernel, estimates = jnp.array([[1.0, 2.0, 5.0]]), noisy(np.array([[1.0, 2.0, 5.0]]), 0.05)
    for error in (attention_rows.row_error, formulas.attention_error):
        found, expected = jax.jit(lambda e, error=error: error(e, kernel))(estimates), error(estimates, kernel)
        assert np.allclose(jnp.hstack(found), jnp.hstack(expected), rtol=rounding(100), atol=0)


def test_with_equal_means_all_orders_add_up_to_equation_8():
    kernel = np.full((1, 3), 2.0)
    estimates = noisy(kernel, 0.05)
    error = attention_rows.row_error(estimates, kernel)
    assert np.isclose(error.first_order[0], error.equal_means[0], rtol=rounding(100), atol=0)
    assert np.isclose(formulas.attention_error(estimates, kernel)[0], error.equal_means[0], rtol=rounding(100), atol=0)
    mean_of_products = np.einsum("rnj,rnl->", estimates - kernel, estimates - kernel) / len(estimates) / 9
    assert np.isclose(error.covariance[0], mean_of_products, rtol=rounding(1000), atol=0)
    assert np.isclose(error.equal_means[0], (error.variance[0] - error.covariance[0]) / 36, rtol=rounding(10), atol=0)
    scaled = attention_rows.row_error(7 * estimates, 7 * kernel)
    assert np.allclose([scaled.measured, scaled.equal_means], [error.measured, error.equal_means], rtol=rounding(100), atol=0)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: attention.softmax(np.ones((2, 3)), np.ones((4, 3)), np.ones((4, 1)), True), r"q has shape \(2, 3\); causal"),
        (lambda: attention.linear(np.ones((2, 3)), np.ones((0, 3)), np.ones((0, 1))), "phi_k has shape .* at least one key"),
        (lambda: attention.linear_of_logs(np.ones((2, 3)), np.ones((2, 3)), np.ones((3, 1))), "v has shape"),
    ],
)
def test_bad_input(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("way", ["softmax", "linear_of_logs"])
def test_gradients_do_not_meet_what_is_hidden(way, causal):
    """Inside jax.jit, where values are not looked at, hidden keys and values may be NaN."""
    log_q, log_k, v = drawn()
    mask = np.random.default_rng(2).random(LENGTH) < 0.5
    wild = [np.where(mask[:, None], x, np.nan) for x in (log_k, v)]
    _, found = with_gradients(lambda *inputs: WAYS[way](*inputs, causal, mask=mask), log_q, *wild, rows=mask)
    _, alone = with_gradients(lambda *inputs: WAYS[way](*inputs, causal), log_q[mask], log_k[mask], v[mask])
    for here, there in zip(found, alone, strict=True):
        assert np.allclose(here[mask], there, rtol=0, atol=rounding(1000, v))
        assert np.all(here[~mask] == 0)
