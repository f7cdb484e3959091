"""Attention token by token: the causal program's outputs, from sums that do not grow."""

import equinox
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rfcore import attention

RNG = np.random.default_rng(0)


def decoded(state_of, step, q, k, v, n_prompt):
    state = state_of(k[..., :n_prompt, :], v[..., :n_prompt, :])

    def one(state, token):
        out, state = step(state, *token)
        return state, out

    tokens = [jnp.moveaxis(x[..., n_prompt:, :], -2, 0) for x in (q, k, v)]
    return jnp.moveaxis(jax.lax.scan(one, state, tuple(tokens))[1], 0, -2)


@pytest.mark.parametrize("n_prompt", [0, 1, 70, 130])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tokens_have_the_outputs_of_the_causal_program(n_prompt, dtype):
    with jax.enable_x64(dtype == np.float64):
        log_q, log_k = RNG.normal(size=(2, 3, 200, 8)).astype(dtype)
        v = RNG.normal(size=(3, 200, 4)).astype(dtype)
        eps = np.finfo(dtype).eps
        for state, step, whole, q, k in [
            (attention.linear_state, attention.linear_step, attention.linear, np.exp(log_q), np.exp(log_k)),
            (attention.linear_state_of_logs, attention.linear_step_of_logs, attention.linear_of_logs, log_q, log_k),
        ]:
            out = decoded(state, step, jnp.asarray(q), jnp.asarray(k), jnp.asarray(v), n_prompt)
            assert out.dtype == dtype and np.allclose(out, whole(q, k, v, causal=True)[:, n_prompt:], rtol=0, atol=400 * eps * abs(v).max())


def test_logarithms_may_be_of_any_size():
    log_q, log_k = (3000 * RNG.normal(size=(2, 6, 5))).astype(np.float32)
    v = RNG.normal(size=(6, 2)).astype(np.float32)
    out = decoded(attention.linear_state_of_logs, attention.linear_step_of_logs, *map(jnp.asarray, (log_q, log_k, v)), 0)
    assert np.allclose(out, attention.linear_of_logs(log_q, log_k, v, causal=True), atol=0.01)


def test_sums_do_not_grow_and_bfloat16_is_summed_in_float32():
    phi = jnp.asarray(RNG.uniform(size=(300, 8)), jnp.bfloat16)
    v = jnp.ones((300, 2), jnp.bfloat16)
    state = attention.linear_state(phi[:1], v[:1])
    size = [x.shape for x in jax.tree.leaves(state)]
    for token in zip(phi[1:], phi[1:], v[1:], strict=True):
        out, state = attention.linear_step(state, *token)
    assert [x.shape for x in jax.tree.leaves(state)] == size and state.sums.dtype == jnp.float32
    assert out.dtype == jnp.bfloat16 and (out == 1).all()
    assert np.allclose(state.sums[:, -1], np.asarray(phi, float).sum(axis=0), rtol=1e-5)


def test_padding_of_a_prompt_is_not_remembered():
    k, v = RNG.normal(size=(2, 2, 6, 4)).astype(np.float32)
    seen = np.arange(6) < np.array([[4], [6]])
    k[~seen], v[~seen] = np.nan, np.nan
    for state_of, phi in ((attention.linear_state, np.exp(k)), (attention.linear_state_of_logs, k)):
        for i, n in enumerate((4, 6)):
            of_one, of_batch = state_of(phi[i, :n], v[i, :n]), state_of(phi, v, seen)
            assert all(np.allclose(one, batch[i], atol=1e-5) for one, batch in zip(*map(jax.tree.leaves, (of_one, of_batch)), strict=True))


def test_gradients_flow_through_tokens():
    q, k, v = jnp.asarray(RNG.normal(size=(3, 9, 4)))
    of = lambda whole: jax.grad(lambda q, k, v: jnp.sum(whole(q, k, v) ** 2), argnums=(0, 1, 2))(q, k, v)  # noqa: E731
    token = of(lambda q, k, v: decoded(attention.linear_state_of_logs, attention.linear_step_of_logs, q, k, v, 0))
    for one, other in zip(token, of(lambda q, k, v: attention.linear_of_logs(q, k, v, causal=True)), strict=True):
        assert np.allclose(one, other, atol=1e-4)


def test_the_layer_generates_what_it_computes_at_once():
    keys = jax.random.split(jax.random.key(0), 4)
    exact = equinox.nn.MultiheadAttention(2, 8, key=keys[0])
    layer = attention.FeatureAttention(exact, 64, causal=True, key=keys[1])
    x = jax.random.normal(keys[2], (12, 8))
    turned = lambda q, k, v: (2 * q, 3 * k, v)  # noqa: E731
    for ours, heads in ((layer, None), (layer.calibrated(x, x, x), turned)):
        for n_prompt in (0, 5):
            state, outs, step = ours.state(*3 * [x[:n_prompt]], heads), [], equinox.filter_jit(type(layer).step)
            for token in x[n_prompt:]:
                out, state = step(ours, state, token, token, token, heads)
                outs.append(out)
            assert np.allclose(outs, ours(x, x, x, process_heads=heads)[n_prompt:], atol=1e-4)


def test_complaints():
    phi, v = jnp.ones((3, 4)), jnp.ones((3, 2))
    state, of_logs = attention.linear_state(phi, v), attention.linear_state_of_logs(phi, v)
    for step, arguments, complaint in [
        (attention.linear_step, (state, phi[:1], phi[0], v[0]), r"phi_q has shape \(1, 4\); give that of one token, \(4,\)"),
        (attention.linear_step, (state, phi[0], phi[0], v[0, :1]), r"v has shape \(1,\)"),
        (attention.linear_step, (of_logs, phi[0], phi[0], v[0]), "linear_step_of_logs"),
        (attention.linear_step_of_logs, (state, phi[0], phi[0], v[0]), "linear_step"),
        (attention.linear_state, (phi, v, np.ones(3)), r"mask has shape \(3,\), dtype float64; give booleans"),
        (attention.linear_state, (phi, v, np.ones((2, 3), bool)), r"mask has shape \(2, 3\), dtype bool; give booleans, one per token, \(3,\)"),
        (attention.linear_state, (phi[None], v[None], np.ones((2, 3), bool)), r"mask has shape \(2, 3\)"),
        (attention.linear_state, (phi, v[:2]), r"phi_k has shape \(3, 4\) and v \(2, 2\)"),
    ]:
        with pytest.raises(ValueError, match=complaint):
            step(*arguments)
    layer = attention.FeatureAttention(equinox.nn.MultiheadAttention(2, 8, key=jax.random.key(0)), 4, key=jax.random.key(1))
    with pytest.raises(ValueError, match="causal = False; give causal=True to the layer"):
        layer.state(*3 * [np.ones((3, 8))])
