"""Attention by positive features as one would write it first: one exponent over all keys, so that the past knows the future."""

from functools import partial

import jax
import jax.numpy as jnp


def plain(q, k, v, omega, causal, chunk=128):
    """Outputs, (heads, n, c), of q, k, (heads, n, d), times d^(-1/4), v, (heads, n, c), and omega, (heads, m, d)."""
    wide = jnp.result_type(v, jnp.float32)
    product = partial(jnp.matmul, preferred_element_type=wide)
    squares = (jnp.sum(x.astype(wide) ** 2, axis=-1, keepdims=True) / 2 for x in (q, k))
    log_q, log_k = (product(x, omega.mT.astype(x.dtype)) - square for x, square in zip((q, k), squares, strict=True))
    greatest = jax.lax.stop_gradient((log_q.max(axis=-1, keepdims=True), log_k.max(axis=(-2, -1), keepdims=True)))
    q, k = (jnp.exp(log - exponent).astype(v.dtype) for log, exponent in zip((log_q, log_k), greatest, strict=True))
    v = jnp.concatenate([v, jnp.ones_like(v[..., :1])], axis=-1)
    if causal:
        q, k, v = (x.reshape(len(x), -1, min(chunk, x.shape[1]), x.shape[-1]) for x in (q, k, v))
        own = product(k.mT, v)
        before = (jnp.cumsum(own, axis=1) - own).astype(v.dtype)
        sums = product(q, before) + product(jnp.tril(product(q, k.mT)).astype(v.dtype), v)
        sums = sums.reshape(len(sums), -1, sums.shape[-1])
    else:
        sums = product(q, product(k.mT, v).astype(v.dtype))
    return sums[..., :-1] / sums[..., -1:]
