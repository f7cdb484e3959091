"""Softmax attention, and its estimate by random features in linear time.

::

    out_i = sum_j a_ij v_j,   a_ij = k(q_i, k_j) / sum_l k(q_i, k_l)
    k(x, y) = exp(x . y) = E[phi(x) . phi(y)]

Queries (..., n, d), keys (..., l, d) and values (..., l, c) give outputs (..., n, c); leading axes, such as
batch and heads, broadcast. Queries and keys are taken as they are: a transformer's are multiplied by d^(-1/4)
before. A mask of keys, (..., l), is True where a key is seen; what it hides may hold anything. Causal
attention (l = n) lets query i see keys 0, ..., i alone. A query that sees no key gets zeros.
"""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from rfcore import checks
from rfcore.features.logs import finite, scaled

CHUNK = 64  # positions whose pairs are formed
AT_ONCE = 2048  # positions of all sequences whose causal products are formed and kept together


def softmax(q, k, v, causal=False, mask=None):
    """Exact attention, in quadratic time and memory.

    Source: Vaswani et al., "Attention is all you need" (2017), without the scale d^(-1/2).

    >>> import jax.numpy as jnp
    >>> from rfcore import attention
    >>> v = jnp.array([[1.0], [2.0]])
    >>> attention.softmax(jnp.zeros((2, 3)), jnp.eye(2, 3), v, causal=True).tolist()
    [[1.0], [1.5]]
    """
    q, k, v, causal, mask = _checked(q, k, v, causal, mask, ("q", "k"))
    if mask is not None:
        k, v = _hidden(k, mask), _hidden(v, mask)  # gradients do not meet what stands there
    scores = q @ k.mT
    if mask is not None:
        scores = jnp.where(mask[..., None, :], scores, -jnp.inf)
    if causal:
        scores = jnp.where(jnp.tri(scores.shape[-1], dtype=bool), scores, -jnp.inf)
    greatest = jax.lax.stop_gradient(finite(scores.max(axis=-1, keepdims=True)))
    return _quotient(jnp.exp(scores - greatest) @ _with_ones(v))


def linear(phi_q, phi_k, v, causal=False, mask=None):
    """Attention from features, in linear time and memory.

    ::

        out_i = phi(q_i) . S / phi(q_i) . s,   S = sum_j phi(k_j) v_j^T,   s = sum_j phi(k_j)

    Memory is O((n + l) (m + c) + m c); causal attention goes through chunks of 64 positions, whose pairs it
    forms, and its gradient keeps S for each chunk. Where features overflow or underflow, take
    :func:`linear_of_logs`.

    Args:
        phi_q, phi_k: features of the same frequencies, (..., n, m) and (..., l, m); positive, or
            phi(q_i) . s may be near 0. Add nothing to them: a constant weighs keys that should not be seen.

    Source: Choromanski et al., "Rethinking attention with Performers" (2020).

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features
    >>> from rfcore import attention
    >>> q, k, v = 0.5 * jnp.eye(3), 0.3 * jnp.ones((3, 3)), jnp.arange(3.0)[:, None]
    >>> omega = couplings.orthogonal(jax.random.key(0), 300, 3)
    >>> phi_q, phi_k = (features.positive(x, omega, kernel="softmax") for x in (q, k))
    >>> out, exact = attention.linear(phi_q, phi_k, v), attention.softmax(q, k, v)
    >>> bool(jnp.allclose(out, exact, atol=0.1))
    True
    """
    phi_q, phi_k, v, causal, mask = _checked(phi_q, phi_k, v, causal, mask, ("phi_q", "phi_k"))
    if mask is not None:
        phi_k, v = _hidden(phi_k, mask), _hidden(v, mask)
    return _linear(phi_q, phi_k, v, causal)


def linear_of_logs(log_q, log_k, v, causal=False, mask=None):
    """Attention as in :func:`linear`, from logarithms of positive features: safe at any scale.

    Sums carry exponents of their own: each feature i the greatest b_i of the keys that it has summed, each
    query the greatest a of what it reads, and both cancel in the quotient
    (:func:`rfcore.features.stabilised`):

    ::

        S_i = sum_j e^(log phi(k_j)_i - b_i) v_j,   s_i likewise, with 1 in place of v_j
        out_j = sum_i c_i S_i / sum_i c_i s_i,   log c_i = log phi(q_j)_i + b_i - a
        a = max_i (log phi(q_j)_i + b_i)

    so that the denominator is at least 1. Causal attention goes through chunks of 64 positions. Within one
    b_i is of what all its queries see, the chunks before and the chunk's first key; a key that exceeds it by
    two thirds of what floats hold, e^59 in float32, is added pair by pair. So the past is the same to the bit
    whatever the future holds. (The published Performer code subtracts one greatest exponent over all keys,
    past and future.) Products of 2,048 positions, of all sequences, are formed at once; beyond, half as many,
    and gradients make them again, so that a position costs the same memory at any length.

    Args:
        log_q, log_k: (..., n, m) and (..., l, m), such as :func:`rfcore.features.log_positive` with
            ``kernel="softmax"``.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features
    >>> from rfcore import attention
    >>> x, v = 40 * jnp.eye(3), jnp.arange(3.0)[:, None]
    >>> log_phi = features.log_positive(x, couplings.orthogonal(jax.random.key(0), 30, 3), kernel="softmax")
    >>> bool(jnp.all(jnp.isfinite(attention.linear_of_logs(log_phi, log_phi, v, causal=True))))
    True
    """
    log_q, log_k, v, causal, mask = _checked(log_q, log_k, v, causal, mask, ("log_q", "log_k"))
    if mask is not None:
        log_k, v = _hidden(log_k, mask, -jnp.inf), _hidden(v, mask)
    return _linear_of_logs(log_q, log_k, v, causal)


@partial(jax.jit, static_argnames="causal")
def _linear(phi_q, phi_k, v, causal):
    v = _with_ones(v)
    if not causal:
        return _quotient(phi_q @ (phi_k.mT @ v))

    def step(state, here):
        q, k, v = here
        return state + k.mT @ v, q @ state + jnp.tril(q @ k.mT) @ v

    *here, start = _in_chunks(phi_q, phi_k, v)
    return _joined(jax.lax.scan(step, start, here)[1], v.shape[-2], _leading(phi_q, phi_k, v))


@partial(jax.jit, static_argnames="causal")
def _linear_of_logs(log_q, log_k, v, causal):
    v = _with_ones(v)
    if not causal:
        phi_q, phi_k, _ = scaled(log_q, log_k)
        return _quotient(phi_q @ (phi_k.mT @ v))

    n, leading = v.shape[-2], _leading(log_q, log_k, v)
    log_q, log_k, v, start = _in_chunks(log_q, log_k, v, hidden=-jnp.inf)
    # Exponents of what is summed before each chunk and after it, and those that all its queries may know: with its first key.
    after = jax.lax.cummax(jax.lax.stop_gradient(log_k.max(axis=2)))
    before = jnp.concatenate([jnp.full_like(after[:1], -jnp.inf), after[:-1]])
    known = jnp.maximum(before, jax.lax.stop_gradient(log_k[:, :, 0]))

    def of_block(sums, chunks):
        log_q, log_k, v, before, known, after = chunks
        far = log_k > known[:, :, None] + 2 / 3 * math.log(jnp.finfo(log_k.dtype).max)
        read = log_q + known[:, :, None]
        greatest = jax.lax.stop_gradient(read.max(axis=-1, keepdims=True))
        q = jnp.exp(read - finite(greatest))
        k = jnp.exp(jnp.where(far, -jnp.inf, log_k - finite(known)[:, :, None]))
        rest, added = jax.lax.cond(far.any(), _beyond, _nothing, far, log_q, log_k, after, v)

        def add(sums, here):
            first, second, own, added = here
            sums = first[..., None] * sums
            return second[..., None] * (sums + own) + added, sums

        factors = jnp.exp(before - finite(known)), jnp.exp(known - finite(after))
        sums, seen = jax.lax.scan(add, sums, (*factors, k.mT @ v, added))
        return sums, _merged((q @ seen + jnp.tril(q @ k.mT) @ v, greatest), rest)

    chunks = (log_q, log_k, v, before, known, after)
    n_chunks, positions = len(v), v.shape[1] * v.shape[2]  # of a chunk of all sequences
    if n_chunks * positions <= AT_ONCE:
        return _joined(of_block(start, chunks)[1], n, leading)
    size = max(1, AT_ONCE // 2 // positions)  # chunks of a block: as fast as all at once, in memory that is used again

    def in_blocks(x, fill):
        x = jnp.pad(x, [(0, -n_chunks % size)] + [(0, 0)] * (x.ndim - 1), constant_values=fill)
        return x.reshape(-1, size, *x.shape[1:])

    no_keys = (0.0, -jnp.inf, 0.0, -jnp.inf, -jnp.inf, -jnp.inf)
    blocks = tuple(map(in_blocks, chunks, no_keys))
    out = jax.lax.scan(jax.checkpoint(of_block), start, blocks)[1]
    return _joined(out.reshape(-1, *out.shape[2:]), n, leading)


def _beyond(far, log_q, log_k, after, v):
    """By chunks: sums over keys up to each query's, over e^exponent, in pairs; and those over all keys."""

    @jax.checkpoint  # or pairs of all chunks would be kept for the gradient
    def of_chunk(chunk):
        log_q, log_k, after, v = chunk

        @jax.checkpoint
        def of_query(i):
            pairs = jnp.where(jnp.arange(v.shape[1])[:, None] <= i, log_q[:, i, None] + log_k, -jnp.inf)
            greatest = jax.lax.stop_gradient(pairs.max(axis=(1, 2))[:, None])
            weights = jnp.exp(pairs - finite(greatest)[..., None]).sum(axis=-1)
            return (weights[:, None] @ v)[:, 0], greatest

        sums, greatest = (jnp.swapaxes(x, 0, 1) for x in jax.lax.map(of_query, jnp.arange(v.shape[1])))
        return (sums, greatest), jnp.exp(log_k - finite(after)[:, None]).mT @ v

    return jax.lax.map(of_chunk, (log_q, jnp.where(far, log_k, -jnp.inf), after, v))


def _nothing(*operands):
    (sums, greatest), added = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(_beyond, *operands))
    return (sums, greatest - jnp.inf), added


def _merged(one, other):
    """The sum of two sums that each lack a factor e^exponent, but for a factor."""
    greatest = finite(jnp.maximum(one[1], other[1]))
    return sum(jnp.exp(exponents - greatest) * sums for sums, exponents in (one, other))


def _in_chunks(q, k, v, hidden=0.0):
    """Queries, keys and values, (chunks, sequences, positions, columns), and zeros for sums over keys."""
    n, leading = v.shape[-2], _leading(q, k, v)
    size = min(CHUNK, n)

    def chunked(x, fill):
        x = jnp.broadcast_to(x, (*leading, *x.shape[-2:])).reshape(-1, *x.shape[-2:])
        x = jnp.pad(x, [(0, 0), (0, -n % size), (0, 0)], constant_values=fill)
        return jnp.swapaxes(x.reshape(len(x), -1, size, x.shape[-1]), 0, 1)

    sums = jnp.zeros((math.prod(leading), k.shape[-1], v.shape[-1]), jnp.result_type(q, k, v))
    return chunked(q, 0.0), chunked(k, hidden), chunked(v, 0.0), sums


def _joined(sums, n, leading):
    sums = jnp.swapaxes(sums, 0, 1).reshape(*leading, -1, sums.shape[-1])
    return _quotient(sums[..., :n, :])


def _leading(*arrays):
    return jnp.broadcast_shapes(*(x.shape[:-2] for x in arrays))


def _with_ones(v):
    return jnp.concatenate([v, jnp.ones_like(v[..., :1])], axis=-1)


def _quotient(sums):
    below = sums[..., -1:]
    return sums[..., :-1] / jnp.where(below == 0, 1, below)  # 0 for a query that sees no key


def _hidden(x, mask, fill=0.0):
    return jnp.where(mask[..., None], x, fill)


def _checked(q, k, v, causal, mask, names):
    q, k, v = (_rows(x, name) for x, name in zip((q, k, v), (*names, "v"), strict=True))
    causal, length = checks.flag(causal, "causal"), k.shape[-2]
    if k.shape[-1] != q.shape[-1]:
        raise ValueError(f"{names[1]} has shape {k.shape} and {names[0]} {q.shape}; give both the same number of columns")
    if length == 0:
        raise ValueError(f"{names[1]} has shape {k.shape}; give at least one key")
    if v.shape[-2] != length:
        raise ValueError(f"v has shape {v.shape}; give one value per key, {length} rows")
    if causal and q.shape[-2] != length:
        raise ValueError(f"{names[0]} has shape {q.shape}; causal attention takes one query per key: give {length} rows")
    leading = [x.shape[:-2] for x in (q, k, v)]
    if mask is not None:
        mask = mask if checks.is_traced(mask) else np.asarray(mask)
        if mask.dtype != bool:
            raise ValueError(f"mask has dtype {mask.dtype}; give booleans, True where a key is seen")
        if mask.ndim < 1 or mask.shape[-1] != length:
            raise ValueError(f"mask has shape {mask.shape}; give one value per key, shape (..., {length})")
        leading.append(mask.shape[:-1])
    try:
        jnp.broadcast_shapes(*leading)
    except ValueError:
        shapes = ", ".join(map(str, leading))
        raise ValueError(f"{names[0]}, {names[1]}, v{' and mask' * (mask is not None)} have leading axes {shapes}; give such as broadcast") from None
    return q, k, v, causal, mask


def _rows(x, name):
    x = checks.floating(x, name)
    if x.ndim < 2 or x.shape[-1] < 1:
        raise ValueError(f"{name} has shape {x.shape}; give one row per position, shape (..., n, d)")
    return x
