"""Causal attention from features: sums over each query's past, by chunks.

::

    out_i = phi(q_i) . S_i,   S_i = sum over j <= i of phi(k_j) v_j^T = chunks before + pairs within the chunk

There are two programs for the same sums. A CPU takes a block that fits its cache after the other, and chunk
after chunk within it. An accelerator has thousands of processors that would wait: it takes all chunks of
16,384 positions at once, whose sums up to each chunk are prefix sums. Values have a last column of ones, and
outputs the denominators; gradients form products of blocks again, so that memory is linear in the length.

Exponents (of features that are given as logarithms): those of a chunk's sums are of what all its queries may
know, the chunks before and its first key, so that the past is the same to the bit whatever the future holds.
A key that exceeds them by two thirds of what floats hold, e^59 in float32, is added pair by pair.
"""

import math
from functools import partial

import jax
import jax.numpy as jnp

from rfcore.attention.logs import finite

CHUNK, AT_ONCE = 64, 2048  # on a CPU: positions whose pairs are formed; positions of all sequences that are kept together
CHUNK_ELSEWHERE, ROUNDS, LEAST = 128, 16, 16_384  # on an accelerator: at most so many blocks of at least so many positions


def of_features(q, k, v):
    """Sums that queries read, (..., n, c), from features q, k, (..., n, m), and values v, (..., n, c)."""
    return (_features_one_by_one if on_a_cpu() else _features_at_once)(q, k, v)


def of_logs(of_q, of_k, q, k, v, seen):
    """The same from logarithms of features, but for a factor of each query.

    Args:
        of_q, of_k: pytrees that are functions of rows, (..., n, d) -> (..., n, m), for any axes before.
        q, k, v: (..., n, d), (..., n, d), (..., n, c).
        seen: True for keys that are seen, (..., n).
    """
    return (_logs_one_by_one if on_a_cpu() else _logs_at_once)(of_q, of_k, q, k, v, seen)


def on_a_cpu():
    """Whether JAX computes on a CPU unless it is told otherwise."""
    # Not jax.lax.platform_dependent: its gradient keeps arrays of both programs, and XLA (0.10.2) crashes of some of them.
    return jax.default_backend() == "cpu"


def _features_one_by_one(q, k, v):
    def step(state, here):
        q, k, v = here
        return state + product(k.mT, v), product(q, state) + product(jnp.tril(product(q, k.mT)), v)

    *here, start = _in_chunks(q, k, v)
    return _joined(jax.lax.scan(step, start, here)[1], v.shape[-2], leading(q, k, v))


def _features_at_once(q, k, v):
    def of_block(sums, chunks):
        q, k, v = chunks
        sums = jnp.cumsum(jnp.concatenate([sums[None], product(k.mT, v)]), axis=0)
        return sums[-1], product(q, sums[:-1]) + product(jnp.tril(product(q, k.mT)), v)

    sums = jnp.zeros((*leading(q, k, v), k.shape[-1], v.shape[-1]), jnp.result_type(q, k, v, jnp.float32))
    return _by_blocks(of_block, sums, q, k, v)


def _logs_one_by_one(of_q, of_k, q, k, v, seen):
    log_q, log_k = of_q(q), hidden(of_k(k), seen, -jnp.inf)
    n, before_rows = v.shape[-2], leading(log_q, log_k, v)
    log_q, log_k, v, start = _in_chunks(log_q, log_k, v, -jnp.inf)
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
        rest, added = jax.lax.cond(far.any(), _pair_by_pair, _nothing, far, log_q, log_k, after, v)

        def add(sums, here):
            first, second, own, added = here
            sums = first[..., None] * sums
            return second[..., None] * (sums + own) + added, sums

        factors = jnp.exp(before - finite(known)), jnp.exp(known - finite(after))
        sums, read_by_all = jax.lax.scan(add, sums, (*factors, product(k.mT, v), added))
        return sums, _merged((product(q, read_by_all) + product(jnp.tril(product(q, k.mT)), v), greatest), rest)

    chunks = (log_q, log_k, v, before, known, after)
    n_chunks, positions = len(v), v.shape[1] * v.shape[2]  # of a chunk of all sequences
    if n_chunks * positions <= AT_ONCE:
        return _joined(of_block(start, chunks)[1], n, before_rows)
    size = max(1, AT_ONCE // 2 // positions)  # chunks of a block: as fast as all at once, in memory that is used again

    def in_blocks(x, fill):
        x = jnp.pad(x, [(0, -n_chunks % size)] + [(0, 0)] * (x.ndim - 1), constant_values=fill)
        return x.reshape(-1, size, *x.shape[1:])

    no_keys = (0.0, -jnp.inf, 0.0, -jnp.inf, -jnp.inf, -jnp.inf)
    blocks = tuple(map(in_blocks, chunks, no_keys))
    out = jax.lax.scan(jax.checkpoint(of_block), start, blocks)[1]
    return _joined(out.reshape(-1, *out.shape[2:]), n, before_rows)


def _pair_by_pair(far, log_q, log_k, after, v):
    """By chunks: sums over keys up to each query's, over e^exponent, in pairs; and those over all keys."""

    @jax.checkpoint  # or pairs of all chunks would be kept for the gradient
    def of_chunk(chunk):
        log_q, log_k, after, v = chunk

        @jax.checkpoint
        def of_query(i):
            pairs = jnp.where(jnp.arange(v.shape[1])[:, None] <= i, log_q[:, i, None] + log_k, -jnp.inf)
            greatest = jax.lax.stop_gradient(pairs.max(axis=(1, 2))[:, None])
            weights = jnp.exp(pairs - finite(greatest)[..., None]).sum(axis=-1)
            return product(weights[:, None], v)[:, 0], greatest

        sums, greatest = (jnp.swapaxes(x, 0, 1) for x in jax.lax.map(of_query, jnp.arange(v.shape[1])))
        return (sums, greatest), product(jnp.exp(log_k - finite(after)[:, None]).mT, v)

    return jax.lax.map(of_chunk, (log_q, jnp.where(far, log_k, -jnp.inf), after, v))


def _nothing(*operands):
    (sums, greatest), added = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(_pair_by_pair, *operands))
    return (sums, greatest - jnp.inf), added


def _in_chunks(q, k, v, fill=0.0):
    """Queries, keys and values, (chunks, sequences, positions, columns), and zeros for sums over keys."""
    n, axes = v.shape[-2], leading(q, k, v)
    size = min(CHUNK, n)

    def chunked(x, fill):
        x = jnp.broadcast_to(x, (*axes, *x.shape[-2:])).reshape(math.prod(axes), *x.shape[-2:])
        x = jnp.pad(x, [(0, 0), (0, -n % size), (0, 0)], constant_values=fill)
        return jnp.swapaxes(x.reshape(len(x), -(-n // size), size, x.shape[-1]), 0, 1)

    sums = jnp.zeros((math.prod(axes), k.shape[-1], v.shape[-1]), jnp.result_type(q, k, v, jnp.float32))
    return chunked(q, 0.0), chunked(k, fill), chunked(v, 0.0), sums


def _joined(sums, n, axes):
    sums = jnp.swapaxes(sums, 0, 1).reshape(*axes, len(sums) * sums.shape[2], sums.shape[-1])
    return sums[..., :n, :]


def _logs_at_once(of_q, of_k, q, k, v, seen):
    def logs(q, k, seen):
        return of_q(q), hidden(of_k(k), seen, -jnp.inf)

    seen = jnp.broadcast_to(seen, (*seen.shape[:-1], k.shape[-2]))[..., None]
    log_k = jax.eval_shape(of_k, k)
    exponents = jnp.full((*leading(q, k, v, seen), log_k.shape[-1]), -jnp.inf, log_k.dtype)
    sums = jnp.zeros((*exponents.shape, v.shape[-1]), jnp.result_type(log_k, v))
    return _by_blocks(partial(_of_block, logs), (sums, exponents), q, k, v, seen)


def _by_blocks(of_block, state, *arrays):
    """What queries read, (..., n, columns), block by block: ``of_block(state, chunks) -> state, read``.

    Chunks are (chunks, ..., positions, columns), filled up with zeros.
    """
    n, axes = arrays[0].shape[-2], leading(*arrays)
    size = min(CHUNK_ELSEWHERE, n)
    n_chunks = -(-n // size)
    per_block = min(n_chunks, max(LEAST // size, -(-n_chunks // ROUNDS)))
    n_blocks = -(-n_chunks // per_block)

    def cut(x):
        x = jnp.broadcast_to(x, (*axes, *x.shape[-2:]))
        x = jnp.pad(x, [(0, 0)] * len(axes) + [(0, n_blocks * per_block * size - n), (0, 0)])
        x = jnp.moveaxis(x.reshape(*axes, n_blocks * per_block, size, -1), -3, 0)
        return x.reshape(n_blocks, per_block, *x.shape[1:])

    blocks = [cut(x) for x in arrays]
    if n_blocks == 1:
        found = of_block(state, [x[0] for x in blocks])[1]
    else:
        found = jax.lax.scan(jax.checkpoint(of_block), state, blocks)[1]
        found = found.reshape(-1, *found.shape[2:])
    return jnp.moveaxis(found, 0, -3).reshape(*axes, -1, found.shape[-1])[..., :n, :]


def _of_block(logs, state, chunks):
    (sums, exponents), (q, k, v, seen) = state, chunks
    rows = q, k, seen[..., 0]
    log_q, log_k = logs(*rows)
    of_chunks, of_first = jax.lax.stop_gradient((log_k.max(axis=-2), log_k[..., 0, :]))
    # Exponents of the sums before each chunk and after the last; and those that all queries of a chunk may know: with its first key.
    exponents = jax.lax.cummax(jnp.concatenate([exponents[None], of_chunks]))
    known = jnp.maximum(exponents[:-1], of_first)
    limit = known[..., None, :] + 2 / 3 * math.log(jnp.finfo(log_k.dtype).max)
    sums, read_by_all = _prefix_sums(sums, jnp.exp(log_k - finite(exponents[1:])[..., None, :]).astype(_narrow(v)).mT, v, exponents, known)

    read = log_q + known[..., None, :]
    greatest = jax.lax.stop_gradient(read.max(axis=-1, keepdims=True))
    q = jnp.exp(read - finite(greatest)).astype(_narrow(v))
    k = jnp.exp(jnp.where(log_k > limit, -jnp.inf, log_k - finite(known)[..., None, :])).astype(_narrow(v))
    near = product(q, read_by_all) + product(jnp.tril(product(q, k.mT)), v)
    # Given rows, not their logarithms: of a branch that is not taken, gradients are arrays of zeros.
    far = jax.lax.cond((log_k > limit).any(), jax.checkpoint(partial(_in_few_rounds, logs)), _nothing_at_once, limit, rows, v)
    return (sums, exponents[-1]), _merged((near, greatest), far)


def _prefix_sums(sums, k, v, exponents, known):
    """Sums after all chunks, over e^exponents, and before each, over e^known."""
    sums = jnp.concatenate([sums[None], product(k, v)])
    steps = jnp.exp(exponents[:-1] - finite(exponents[1:]))
    steps = jnp.concatenate([jnp.ones_like(steps[:1]), steps])[..., None]

    def both(one, other):
        return one[0] * other[0], other[0] * one[1] + other[1]

    sums = jax.lax.associative_scan(both, (steps, sums))[1]
    return sums[-1], jnp.exp(exponents[:-1] - finite(known))[..., None] * sums[:-1]


def _in_few_rounds(logs, limit, rows, v):
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
        return product(jnp.moveaxis(weights, 0, -2), v), greatest

    return _in_rounds(of_chunk, (log_q, jnp.where(log_k > limit, log_k, -jnp.inf), v))


def _in_rounds(function, arrays):
    """A map in few rounds, of which none keeps anything for the gradient."""
    return jax.lax.map(jax.checkpoint(function), arrays, batch_size=-(-len(arrays[0]) // ROUNDS))


def _nothing_at_once(limit, rows, v):
    wide = jnp.result_type(limit, v)
    return jnp.zeros(v.shape, wide), jnp.full((*v.shape[:-1], 1), -jnp.inf, limit.dtype)


def _merged(one, other):
    """The sum of two sums that each lack a factor e^exponent, but for a factor."""
    greatest = finite(jnp.maximum(one[1], other[1]))
    return sum(jnp.exp(exponents - greatest) * sums for sums, exponents in (one, other))


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


def _narrow(v):
    return v.dtype if v.dtype == jnp.bfloat16 else jnp.promote_types(v.dtype, jnp.float32)
