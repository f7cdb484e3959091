"""Causal attention from features: sums over each query's past, by chunks.

::

    out_i = phi(q_i) . S_i,   S_i = sum over j <= i of phi(k_j) v_j^T = chunks before + pairs within the chunk

Blocks of chunks are taken one after the other, the chunks of a block at once: their sums up to each chunk are
prefix sums. On a CPU a block fits the cache; on an accelerator, which needs parallel work, blocks are at least
16,384 positions and at most 16. Values have a last column of ones, and outputs the denominators. Gradients
recompute each block, so that memory is linear in the length.

Exponents (of features that are given as logarithms): those of a chunk's sums depend only on what all its
queries may know, the chunks before and its first key, so that the past is the same to the bit whatever the
future holds. A key that exceeds them by two thirds of what floats hold, e^59 in float32, is added pair by pair.
"""

import math
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from rfcore.attention.logs import finite

CHUNK, AT_ONCE = 64, 2048  # on a CPU: positions whose pairs are formed; positions of all sequences in a block
CHUNK_ELSEWHERE, ROUNDS, LEAST = 128, 16, 16_384  # on an accelerator: at most so many blocks of at least so many positions


def of_features(q: Float[Array, "*#b n m"], k: Float[Array, "*#b n m"], v: Float[Array, "*#b n c"]) -> Float[Array, "*b n c"]:
    """Sums that queries read, from features of queries and keys, and values."""

    def of_block(sums, q, k, v):
        last, sums = _prefixes(jnp.add, sums, product(k.mT, v))
        return last, product(q, sums) + product(jnp.tril(product(q, k.mT)), v)

    return _by_blocks(of_block, lambda q, k, v: jnp.zeros_like(product(k.mT, v)), q, k, v)


def of_logs(of_q: Callable, of_k: Callable, q, k, v, seen):
    """The same from logarithms of features, up to a factor for each query.

    Args:
        of_q, of_k: pytrees that are functions of rows, (..., n, d) -> (..., n, m), for any axes before.
        q, k, v: (..., n, d), (..., n, d), (..., n, c).
        seen: True for keys that are seen, (..., n).
    """
    seen = jnp.broadcast_to(seen, (*seen.shape[:-1], k.shape[-2]))

    def logs(q, k, seen):
        return of_q(q), hidden(of_k(k), seen[..., 0], -jnp.inf)

    rows = q, k, seen[..., None]
    if on_a_cpu():  # which has memory for all logarithms, and would form them again for the gradient
        logs, rows = lambda *logs: logs, logs(*rows)

    def nothing(*chunks):
        log_k, v = logs(*chunks[:-1])[1], chunks[-1]
        return jnp.zeros_like(product(log_k.mT, v)), jnp.full_like(log_k[..., 0, :], -jnp.inf)

    return _by_blocks(partial(_of_logs, logs), nothing, *rows, v)


def _of_logs(logs, state, *chunks):
    (sums, exponents), (*rows, v) = state, chunks
    log_q, log_k = logs(*rows)
    # Exponents of the sums before each chunk and after it; and those that all queries of a chunk may know: with its first key.
    greatest_keys, first_keys = jax.lax.stop_gradient((log_k.max(axis=-2), log_k[..., 0, :]))
    last, (before, known, after) = _prefixes(_greater, (exponents, exponents), (greatest_keys, first_keys), _of_chunk)
    limit = known[..., None, :] + 2 / 3 * math.log(jnp.finfo(log_k.dtype).max)

    read = log_q + known[..., None, :]
    greatest = jax.lax.stop_gradient(read.max(axis=-1, keepdims=True))
    q = jnp.exp(read - finite(greatest))
    k = jnp.exp(jnp.where(log_k > limit, -jnp.inf, log_k - finite(known)[..., None, :]))
    # Given rows, not their logarithms: the gradient of a branch that is not taken is an array of zeros for each of its inputs.
    beyond = jax.checkpoint(partial(_beyond, logs))
    added, *far = jax.lax.cond((log_k > limit).any(), beyond, partial(_nothing, logs), limit, after, v, *rows)
    own = jnp.exp(known - finite(after))[..., None] * product(k.mT, v) + added
    steps = jnp.exp(before - finite(after))[..., None]
    (_, sums), (_, read_by_all) = _prefixes(_decayed, (jnp.ones_like(steps[0]), sums), (steps, own))
    read_by_all = jnp.exp(before - finite(known))[..., None] * read_by_all
    near = product(q, read_by_all) + product(jnp.tril(product(q, k.mT)), v), greatest
    top = finite(jnp.maximum(greatest, far[1]))
    return (sums, last[0]), sum(jnp.exp(exponents - top) * read for read, exponents in (near, far))


def _prefixes(combine, first, others, read=lambda so_far, other: so_far):
    """``first`` combined with all others, and what each reads of those before it: one by one on a CPU, else in few rounds."""
    if on_a_cpu():
        return jax.lax.scan(lambda so_far, other: (combine(so_far, other), read(so_far, other)), first, others)
    all_of_them = jax.tree.map(lambda one, more: jnp.concatenate([one[None], more]), first, others)
    found = jax.lax.associative_scan(combine, all_of_them)
    return jax.tree.map(lambda x: x[-1], found), read(jax.tree.map(lambda x: x[:-1], found), others)


def _greater(one, other):
    return jnp.maximum(one[0], other[0]), other[1]


def _of_chunk(so_far, chunk):
    """Exponents of the sums before it, of what all its queries may know, and of the sums after it."""
    return so_far[0], jnp.maximum(so_far[0], chunk[1]), jnp.maximum(so_far[0], chunk[0])


def _decayed(one, other):
    """Of S <- step S + added, two steps as one."""
    return one[0] * other[0], other[0] * one[1] + other[1]


def _beyond(logs, limit, after, v, *rows):
    """Of keys beyond the limit: sums of each chunk, over e^after; those that its queries read, and their exponents."""
    log_q, log_k = logs(*rows)
    log_k = jnp.where(log_k > limit, log_k, -jnp.inf)
    n = v.shape[-2]

    def of_chunk(chunk):
        log_q, log_k, v = chunk
        greatest = jax.lax.stop_gradient((log_q + jax.lax.cummax(log_k, axis=log_k.ndim - 2)).max(axis=-1, keepdims=True))

        def of_query(here):
            i, log_q, greatest = here
            pairs = jnp.where(jnp.arange(n)[:, None] <= i, log_q[..., None, :] + log_k, -jnp.inf)
            return jnp.exp(pairs - finite(greatest)[..., None]).sum(axis=-1)

        weights = _in_rounds(of_query, (jnp.arange(n), *(jnp.moveaxis(x, -2, 0) for x in (log_q, greatest))))
        return product(jnp.moveaxis(weights, 0, -2), v), greatest

    return product(jnp.exp(log_k - finite(after)[..., None, :]).mT, v), *_in_rounds(of_chunk, (log_q, log_k, v))


def _nothing(logs, limit, after, v, *rows):
    # Of arrays that are not computed: like them, what is made varies over the axes of a mesh that they vary over.
    log_q, log_k = logs(*rows)
    pairs = log_q[..., :1] + log_k[..., :1]
    return jnp.zeros_like(product(log_k.mT, v)), jnp.zeros_like(product(pairs, v[..., :1, :])), jnp.full_like(pairs, -jnp.inf)


def _in_rounds(function, arrays):
    """A map in few rounds, none of which keeps anything for the gradient."""
    return jax.lax.map(jax.checkpoint(function), arrays, batch_size=-(-len(arrays[0]) // ROUNDS))


def _by_blocks(of_block, nothing, *arrays):
    """What queries read, (..., n, columns): ``of_block(state, *chunks) -> state, read`` of one block after the other.

    Chunks are (chunks, ..., positions, columns), padded with the last row, which nothing before it reads. The first state is ``nothing`` of a
    position: made of the inputs, it varies over the same axes of a mesh (``jax.shard_map``).
    """
    n, axes = arrays[0].shape[-2], leading(*arrays)
    size, per_block = _sizes(n, math.prod(axes))
    n_blocks = -(-n // (size * per_block))

    def cut(x):
        x = jnp.broadcast_to(x, (*axes, *x.shape[-2:]))
        x = jnp.pad(x, [(0, 0)] * len(axes) + [(0, n_blocks * per_block * size - n), (0, 0)], mode="edge")
        x = jnp.moveaxis(x.reshape(*axes, n_blocks * per_block, size, -1), -3, 0)
        return x.reshape(n_blocks, per_block, *x.shape[1:])

    blocks = [cut(x) for x in arrays]
    state = nothing(*(x[0, 0, ..., :1, :] for x in blocks))
    if n_blocks == 1:
        read = of_block(state, *(x[0] for x in blocks))[1]
    else:
        read = jax.lax.scan(jax.checkpoint(lambda state, block: of_block(state, *block)), state, blocks)[1]
        read = read.reshape(-1, *read.shape[2:])
    return jnp.moveaxis(read, 0, -3).reshape(*axes, -1, read.shape[-1])[..., :n, :]


def _sizes(n, n_sequences):
    """Positions of a chunk, and chunks of a block."""
    if on_a_cpu():
        size = min(CHUNK, n)
        n_chunks, positions = -(-n // size), size * n_sequences
        return size, n_chunks if n_chunks * positions <= AT_ONCE else max(1, AT_ONCE // 2 // positions)
    size = min(CHUNK_ELSEWHERE, n)
    n_chunks = -(-n // size)
    return size, min(n_chunks, max(LEAST // size, -(-n_chunks // ROUNDS)))


def on_a_cpu() -> bool:
    """Whether JAX computes on a CPU by default."""
    # Not jax.lax.platform_dependent: its gradient keeps residuals of both branches, which crashes XLA in jaxlib 0.10.2.
    return jax.default_backend() == "cpu"


def product(a, b):
    """Sums in float32 at least; in bfloat16, of which no sum is formed, if one of both is."""
    narrow = jnp.bfloat16 if jnp.bfloat16 in (a.dtype, b.dtype) else jnp.result_type(a, b)
    return jnp.matmul(a.astype(narrow), b.astype(narrow), preferred_element_type=jnp.result_type(a, b, jnp.float32))


def hidden(x, seen, fill=0.0):
    """Rows of x, and ``fill`` in those that are not seen."""
    return jnp.where(seen[..., None], x, fill)


def leading(*arrays):
    """Axes before those of rows and columns, broadcast."""
    return jnp.broadcast_shapes(*(x.shape[:-2] for x in arrays))
