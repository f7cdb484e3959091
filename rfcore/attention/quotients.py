"""Softmax attention, and its estimate by random features in linear time.

::

    out_i = sum_j a_ij v_j,   a_ij = k(q_i, k_j) / sum_l k(q_i, k_l)
    k(x, y) = exp(x . y) = E[phi(x) . phi(y)]

Queries (..., n, d), keys (..., l, d) and values (..., l, c) give outputs (..., n, c); leading axes, such as
batch and heads, broadcast. Queries and keys are taken as they are: a transformer's are multiplied by d^(-1/4)
before. A mask of keys, (..., l), is True where a key is seen; what it hides may hold anything. Causal
attention (l = n) lets query i see keys 0, ..., i alone. A query that sees no key gets zeros.

Outputs have the dtype that queries, keys and values promote to. Exponentials and sums are in float32 at
least; where values are bfloat16, weights are rounded to it, by 2^-9 of themselves, before they multiply.
"""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from rfcore import checks
from rfcore.features.logs import finite, scaled

CHUNK = 128  # positions whose pairs are formed
CACHED = 1024  # positions of a block, of all sequences, on a CPU
ROUNDS, LEAST = 16, 16_384  # on an accelerator: at most so many blocks, of at least so many positions of each sequence


def softmax(q, k, v, causal=False, mask=None):
    """Exact attention, in quadratic time and memory.

    Source: Vaswani et al., "Attention is all you need" (2017), without the scale d^(-1/2).

    >>> import jax.numpy as jnp
    >>> from rfcore import attention
    >>> v = jnp.array([[1.0], [2.0]])
    >>> attention.softmax(jnp.zeros((2, 3)), jnp.eye(2, 3), v, causal=True).tolist()
    [[1.0], [1.5]]
    """
    q, k, v, causal, mask, dtype = _checked(q, k, v, causal, mask, ("q", "k"))
    if mask is not None:
        k, v = _hidden(k, mask), _hidden(v, mask)  # gradients do not meet what stands there
    scores = _product(q, k.mT)
    if mask is not None:
        scores = jnp.where(mask[..., None, :], scores, -jnp.inf)
    if causal:
        scores = jnp.where(jnp.tri(scores.shape[-1], dtype=bool), scores, -jnp.inf)
    greatest = jax.lax.stop_gradient(finite(scores.max(axis=-1, keepdims=True)))
    return _quotient(_product(jnp.exp(scores - greatest), _with_ones(v))).astype(dtype)


def linear(phi_q, phi_k, v, causal=False, mask=None):
    """Attention from features, in linear time and memory.

    ::

        out_i = phi(q_i) . S / phi(q_i) . s,   S = sum_j phi(k_j) v_j^T,   s = sum_j phi(k_j)

    Memory is O((n + l) (m + c) + m c); causal attention forms pairs within chunks of 128 positions, and sums
    up to each chunk. Where features overflow or underflow, take :func:`linear_of_logs`.

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
    phi_q, phi_k, v, causal, mask, dtype = _checked(phi_q, phi_k, v, causal, mask, ("phi_q", "phi_k"))
    if mask is not None:
        phi_k, v = _hidden(phi_k, mask), _hidden(v, mask)
    return _linear(phi_q, phi_k, v, causal).astype(dtype)


def linear_of_logs(log_q, log_k, v, causal=False, mask=None):
    """Attention as in :func:`linear`, from logarithms of positive features: safe at any scale.

    Sums carry exponents of their own: each feature i the greatest b_i of the keys that it has summed, each
    query the greatest a of what it reads, and both cancel in the quotient
    (:func:`rfcore.features.stabilised`):

    ::

        S_i = sum_j e^(log phi(k_j)_i - b_i) v_j,   s_i likewise, with 1 in place of v_j
        out_j = sum_i c_i S_i / sum_i c_i s_i,   log c_i = log phi(q_j)_i + b_i - a
        a = max_i (log phi(q_j)_i + b_i)

    so that the denominator is at least 1. Causal attention forms pairs within chunks of 128 positions. There
    b_i is of what all the chunk's queries see, the chunks before and its first key; a key that exceeds it by
    two thirds of what floats hold, e^59 in float32, is added pair by pair. So the past is the same to the bit
    whatever the future holds. (The published Performer code subtracts one greatest exponent over all keys,
    past and future.) Sums up to each chunk are prefix sums. Chunks go by blocks, whose products gradients
    make again: of 1,024 positions of all sequences on a CPU, whose cache they fit; on an accelerator of
    16,384 or more of each sequence, at most 16 blocks.

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
    return quotient_of_logs(_wide, _wide, log_q, log_k, v, causal, mask, names=("log_q", "log_k"))


def quotient_of_logs(of_q, of_k, q, k, v, causal, mask, names=("q", "k")):
    """:func:`linear_of_logs` of ``of_q(q)`` and ``of_k(k)``, made block by block where attention is causal.

    Args:
        of_q, of_k: functions of rows, (..., n, d) -> (..., n, m), for any axes before those of q and k;
            pytrees (``jax.tree_util.Partial``) where they hold arrays.
        q, k: (..., n, d), (..., l, d).
        v, causal, mask: as for :func:`linear_of_logs`.
        names: what q and k are called in complaints.
    """
    q, k, v, causal, mask, dtype = _checked(q, k, v, causal, mask, names)
    mask = jnp.ones(k.shape[-2], bool) if mask is None else mask
    return _quotient_of_logs(*map(jax.tree_util.Partial, (of_q, of_k)), q, _hidden(k, mask), _hidden(v, mask), mask, causal).astype(dtype)


@partial(jax.jit, static_argnames="causal")
def _linear(phi_q, phi_k, v, causal):
    v = _with_ones(v)
    if not causal:
        return _quotient(_product(phi_q, _product(phi_k.mT, v)))

    def of_block(sums, chunks):
        q, k, v = chunks
        sums = jnp.cumsum(jnp.concatenate([sums[None], _product(k.mT, v)]), axis=0)
        return sums[-1], _product(q, sums[:-1]) + _product(jnp.tril(_product(q, k.mT)), v)

    sums = jnp.zeros((*_leading(phi_q, phi_k, v), phi_k.shape[-1], v.shape[-1]), _wide(phi_k).dtype)
    return _quotient(_by_blocks(of_block, sums, phi_q, phi_k, v))


@partial(jax.jit, static_argnames="causal")
def _quotient_of_logs(of_q, of_k, q, k, v, mask, causal):
    v = _with_ones(v)

    def logs(q, k, mask):
        return of_q(q), _hidden(of_k(k), mask, -jnp.inf)

    if not causal:
        phi_q, phi_k, _ = scaled(*logs(q, k, mask))
        return _quotient(_product(phi_q, _product(phi_k.mT, v)))
    mask = jnp.broadcast_to(mask, (*mask.shape[:-1], k.shape[-2]))[..., None]
    log_k = jax.eval_shape(of_k, k)
    exponents = jnp.full((*_leading(q, k, v, mask), log_k.shape[-1]), -jnp.inf, log_k.dtype)
    sums = jnp.zeros((*exponents.shape, v.shape[-1]), jnp.result_type(log_k, v))
    return _quotient(_by_blocks(partial(_of_block, logs), (sums, exponents), q, k, v, mask))


def _by_blocks(of_block, state, *arrays):
    """What queries read, (..., n, columns), block by block: ``of_block(state, chunks) -> state, read``.

    Chunks are (chunks, ..., positions, columns), filled up with zeros.
    """
    n, leading = arrays[0].shape[-2], _leading(*arrays)
    size = min(CHUNK, n)
    n_chunks = -(-n // size)

    def run(per_block, state, *arrays):
        n_blocks = -(-n_chunks // per_block)

        def cut(x):
            x = jnp.broadcast_to(x, (*leading, *x.shape[-2:]))
            x = jnp.pad(x, [(0, 0)] * len(leading) + [(0, n_blocks * per_block * size - n), (0, 0)])
            return jnp.moveaxis(x.reshape(*leading, n_blocks * per_block, size, -1), -3, 0)

        chunks = [cut(x) for x in arrays]
        if n_blocks == 1:
            found = of_block(state, chunks)[1]
        else:
            blocks = [x.reshape(n_blocks, per_block, *x.shape[1:]) for x in chunks]
            found = jax.lax.scan(jax.checkpoint(of_block), state, blocks)[1]
            found = found.reshape(-1, *found.shape[2:])
        return jnp.moveaxis(found, 0, -3).reshape(*leading, -1, found.shape[-1])[..., :n, :]

    cached, in_few_rounds = CACHED // (size * math.prod(leading)), max(LEAST // size, -(-n_chunks // ROUNDS))
    on_cpu, elsewhere = (partial(run, min(n_chunks, max(1, n))) for n in (cached, in_few_rounds))
    return jax.lax.platform_dependent(state, *arrays, cpu=on_cpu, default=elsewhere)


def _of_block(logs, state, chunks):
    (sums, exponents), (q, k, v, mask) = state, chunks
    rows = q, k, mask[..., 0]
    log_q, log_k = logs(*rows)
    of_chunks, of_first = jax.lax.stop_gradient((log_k.max(axis=-2), log_k[..., 0, :]))
    # Exponents of the sums before each chunk and after the last; and those that all queries of a chunk may know: with its first key.
    exponents = jax.lax.cummax(jnp.concatenate([exponents[None], of_chunks]))
    known = jnp.maximum(exponents[:-1], of_first)
    limit = known[..., None, :] + 2 / 3 * math.log(jnp.finfo(log_k.dtype).max)
    sums, seen = _sums_up_to(sums, jnp.exp(log_k - finite(exponents[1:])[..., None, :]).astype(_narrow(v)).mT, v, exponents, known)

    read = log_q + known[..., None, :]
    greatest = jax.lax.stop_gradient(read.max(axis=-1, keepdims=True))
    q = jnp.exp(read - finite(greatest)).astype(_narrow(v))
    k = jnp.exp(jnp.where(log_k > limit, -jnp.inf, log_k - finite(known)[..., None, :])).astype(_narrow(v))
    near = _product(q, seen) + _product(jnp.tril(_product(q, k.mT)), v)
    # Given rows, not their logarithms: of a branch that is not taken, gradients are arrays of zeros.
    far = jax.lax.cond((log_k > limit).any(), jax.checkpoint(partial(_beyond, logs)), _nothing, limit, rows, v)
    return (sums, exponents[-1]), _merged((near, greatest), far)


def _sums_up_to(sums, k, v, exponents, known):
    """Sums after all chunks, over e^exponents, and before each, over e^known."""
    sums = jnp.concatenate([sums[None], _product(k, v)])
    steps = jnp.exp(exponents[:-1] - finite(exponents[1:]))
    steps = jnp.concatenate([jnp.ones_like(steps[:1]), steps])[..., None]

    def both(one, other):
        return one[0] * other[0], other[0] * one[1] + other[1]

    sums = jax.lax.associative_scan(both, (steps, sums))[1]
    return sums[-1], jnp.exp(exponents[:-1] - finite(known))[..., None] * sums[:-1]


def _beyond(logs, limit, rows, v):
    """Of keys beyond the limit: sums over those up to each query's, in pairs, and their exponents."""
    (log_q, log_k), n = logs(*rows), v.shape[-2]

    def of_chunk(chunk):
        log_q, log_k, v = chunk
        greatest = jax.lax.stop_gradient((log_q + jax.lax.cummax(log_k, axis=log_k.ndim - 2)).max(axis=-1, keepdims=True))

        def of_query(here):
            i, log_q, greatest = here
            pairs = jnp.where(jnp.arange(n)[:, None] <= i, log_q[..., None, :] + log_k, -jnp.inf)
            return jnp.exp(pairs - finite(greatest)[..., None]).sum(axis=-1)

        weights = _in_rounds(of_query, (jnp.arange(n), *(jnp.moveaxis(x, -2, 0) for x in (log_q, greatest))))
        return _product(jnp.moveaxis(weights, 0, -2), v), greatest

    return _in_rounds(of_chunk, (log_q, jnp.where(log_k > limit, log_k, -jnp.inf), v))


def _in_rounds(function, arrays):
    """A map in few rounds, of which none keeps anything for the gradient."""
    return jax.lax.map(jax.checkpoint(function), arrays, batch_size=-(-len(arrays[0]) // ROUNDS))


def _nothing(limit, rows, v):
    wide = jnp.result_type(limit, v)
    return jnp.zeros(v.shape, wide), jnp.full((*v.shape[:-1], 1), -jnp.inf, limit.dtype)


def _merged(one, other):
    """The sum of two sums that each lack a factor e^exponent, but for a factor."""
    greatest = finite(jnp.maximum(one[1], other[1]))
    return sum(jnp.exp(exponents - greatest) * sums for sums, exponents in (one, other))


def _product(a, b):
    """Sums in float32 at least; in bfloat16, of which no sum is formed, if one of both is."""
    narrow = jnp.bfloat16 if jnp.bfloat16 in (a.dtype, b.dtype) else jnp.result_type(a, b)
    return jnp.matmul(a.astype(narrow), b.astype(narrow), preferred_element_type=jnp.result_type(a, b, jnp.float32))


def _wide(x):
    return x.astype(jnp.promote_types(x.dtype, jnp.float32))


def _narrow(v):
    return v.dtype if v.dtype == jnp.bfloat16 else _wide(v).dtype


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
    dtype = jnp.result_type(q, k, v)
    q, k, v = (x.astype(jnp.float32) if x.dtype == jnp.float16 else x for x in (q, k, v))
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
    return q, k, v, causal, mask, dtype


def _rows(x, name):
    x = checks.floating(x, name, narrow=True)
    if x.ndim < 2 or x.shape[-1] < 1:
        raise ValueError(f"{name} has shape {x.shape}; give one row per position, shape (..., n, d)")
    return x
