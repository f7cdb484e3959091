"""Causal attention from features: sums over each query's past, by chunks.

::

    out_i = phi(q_i) . S_i,   S_i = sum over j <= i of phi(k_j) v_j^T = chunks before + pairs within the chunk

There are two programs for the same sums. On a CPU, blocks that fit the cache are processed in turn, chunk by
chunk within each. On an accelerator, whose thousands of processors would otherwise be idle, all chunks of a
block of at least 16,384 positions are processed at once: their sums are prefix sums over chunks. The last
column of the values is ones, and that of the outputs the denominators. Gradients recompute the products of
each block, so that memory is linear in the length.

Features that are given as logarithms need exponents. Those of a chunk's sums are maxima over the chunks
before it and its own first key, which every query of the chunk may use, so that past outputs are the same to
the bit whatever the future holds. A key that exceeds these exponents by two thirds of the range of floats,
e^59 in float32, is added pair by pair.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree, Shaped

from rfcore.attention.logs import finite
from rfcore.precision import at_least_single
from rfcore.sharding import varying

CHUNK, AT_ONCE = 64, 2048  # on a CPU: positions of a chunk, whose pairs are formed; positions of a block, over all sequences
CHUNK_ELSEWHERE, ROUNDS, LEAST = 128, 16, 16_384  # on an accelerator: positions of a chunk; most blocks; fewest positions of a block


def of_features(
    q: Float[Array, "*#b n m"], k: Float[Array, "*#b n m"], v: Float[Array, "*#b n c"]
) -> Float[Array, "*b n c"]:
    """Causal sums phi(q_i) . S_i, from features and values."""
    return (_features_one_by_one if on_a_cpu() else _features_at_once)(q, k, v)


def of_logs(
    of_q: Callable[[Float[Array, "*b n d"]], Float[Array, "*b n m"]],
    of_k: Callable[[Float[Array, "*b n d"]], Float[Array, "*b n m"]],
    q: Float[Array, "*#b n d"],
    k: Float[Array, "*#b n d"],
    v: Float[Array, "*#b n c"],
    seen: Bool[Array, "*#b n"],
) -> Float[Array, "*b n c"]:
    """Causal sums from logarithms of features, up to a factor for each query.

    Args:
        of_q, of_k: logarithms of features of rows, for any leading axes; pytrees (``jax.tree_util.Partial``).
        q, k: what they are features of.
        v: values.
        seen: True for keys that are not masked.
    """
    return (_logs_one_by_one if on_a_cpu() else _logs_at_once)(of_q, of_k, q, k, v, seen)


def on_a_cpu() -> bool:
    """Whether the default backend of JAX is a CPU."""
    # Not jax.lax.platform_dependent: its gradient keeps arrays of both programs, some of which crash XLA (0.10.2).
    return jax.default_backend() == "cpu"


def _features_one_by_one(
    q: Float[Array, "*#b n m"], k: Float[Array, "*#b n m"], v: Float[Array, "*#b n c"]
) -> Float[Array, "*b n c"]:
    def step(
        state: Float[Array, "s m c"], here: list[Float[Array, "s p _"]]
    ) -> tuple[Float[Array, "s m c"], Float[Array, "s p c"]]:
        q, k, v = here
        return state + product(k.mT, v), product(q, state) + product(jnp.tril(product(q, k.mT)), v)

    *here, start = _in_chunks(q, k, v)
    return _joined(jax.lax.scan(step, start, here)[1], v.shape[-2], leading(q, k, v))


def _features_at_once(
    q: Float[Array, "*#b n m"], k: Float[Array, "*#b n m"], v: Float[Array, "*#b n c"]
) -> Float[Array, "*b n c"]:
    def of_block(
        sums: Float[Array, "*b m c"], chunks: list[Float[Array, "chunks *b p _"]]
    ) -> tuple[Float[Array, "*b m c"], Float[Array, "chunks *b p c"]]:
        q, k, v = chunks
        sums = jnp.cumsum(jnp.concatenate([sums[None], product(k.mT, v)]), axis=0)
        return sums[-1], product(q, sums[:-1]) + product(jnp.tril(product(q, k.mT)), v)

    sums = jnp.zeros((*leading(q, k, v), k.shape[-1], v.shape[-1]), at_least_single(q, k, v))
    return _by_blocks(of_block, varying(sums, q, k, v), q, k, v)


def _logs_one_by_one(
    of_q: Callable[[Float[Array, "*b n d"]], Float[Array, "*b n m"]],
    of_k: Callable[[Float[Array, "*b n d"]], Float[Array, "*b n m"]],
    q: Float[Array, "*#b n d"],
    k: Float[Array, "*#b n d"],
    v: Float[Array, "*#b n c"],
    seen: Bool[Array, "*#b n"],
) -> Float[Array, "*b n c"]:
    log_q, log_k = of_q(q), hidden(of_k(k), seen, -jnp.inf)
    n, before_rows = v.shape[-2], leading(log_q, log_k, v)
    log_q, log_k, v, start = _in_chunks(log_q, log_k, v, -jnp.inf)
    # Exponents of the sums before each chunk and after it, and of those that all its queries may use: with its first key.
    after = jax.lax.cummax(jax.lax.stop_gradient(log_k.max(axis=2)))
    before = jnp.concatenate([jnp.full_like(after[:1], -jnp.inf), after[:-1]])
    known = jnp.maximum(before, jax.lax.stop_gradient(log_k[:, :, 0]))

    def of_block(
        sums: Float[Array, "s m c"],
        chunks: tuple[
            Float[Array, "chunks s p m"],
            Float[Array, "chunks s p m"],
            Float[Array, "chunks s p c"],
            Float[Array, "chunks s m"],
            Float[Array, "chunks s m"],
            Float[Array, "chunks s m"],
        ],
    ) -> tuple[Float[Array, "s m c"], Float[Array, "chunks s p c"]]:
        log_q, log_k, v, before, known, after = chunks
        far = log_k > known[:, :, None] + 2 / 3 * math.log(jnp.finfo(log_k.dtype).max)
        read = log_q + known[:, :, None]
        greatest = jax.lax.stop_gradient(read.max(axis=-1, keepdims=True))
        q = jnp.exp(read - finite(greatest))
        k = jnp.exp(jnp.where(far, -jnp.inf, log_k - finite(known)[:, :, None]))
        rest, added = jax.lax.cond(far.any(), _pair_by_pair, _nothing, far, log_q, log_k, after, v)

        def add(
            sums: Float[Array, "s m c"],
            here: tuple[
                Float[Array, "s m"], Float[Array, "s m"], Float[Array, "s m c"], Float[Array, "s m c"]
            ],
        ) -> tuple[Float[Array, "s m c"], Float[Array, "s m c"]]:
            first, second, own, added = here
            sums = first[..., None] * sums
            return second[..., None] * (sums + own) + added, sums

        factors = jnp.exp(before - finite(known)), jnp.exp(known - finite(after))
        sums, read_by_all = jax.lax.scan(add, sums, (*factors, product(k.mT, v), added))
        return sums, _merged((product(q, read_by_all) + product(jnp.tril(product(q, k.mT)), v), greatest), rest)

    chunks = (log_q, log_k, v, before, known, after)
    n_chunks, positions = len(v), v.shape[1] * v.shape[2]  # of a chunk, over all sequences
    if n_chunks * positions <= AT_ONCE:
        return _joined(of_block(start, chunks)[1], n, before_rows)
    size = max(1, AT_ONCE // 2 // positions)  # chunks of a block: as fast as all at once, in memory that is reused

    def in_blocks(x: Float[Array, "chunks s *shape"], fill: float) -> Float[Array, "blocks size s *shape"]:
        x = jnp.pad(x, [(0, -n_chunks % size)] + [(0, 0)] * (x.ndim - 1), constant_values=fill)
        return x.reshape(-1, size, *x.shape[1:])

    no_keys = (0.0, -jnp.inf, 0.0, -jnp.inf, -jnp.inf, -jnp.inf)
    blocks = tuple(map(in_blocks, chunks, no_keys))
    out = jax.lax.scan(jax.checkpoint(of_block), start, blocks)[1]
    return _joined(out.reshape(-1, *out.shape[2:]), n, before_rows)


def _pair_by_pair(
    far: Bool[Array, "chunks s p m"],
    log_q: Float[Array, "chunks s p m"],
    log_k: Float[Array, "chunks s p m"],
    after: Float[Array, "chunks s m"],
    v: Float[Array, "chunks s p c"],
) -> tuple[tuple[Float[Array, "chunks s p c"], Float[Array, "chunks s p 1"]], Float[Array, "chunks s m c"]]:
    """For each chunk: sums over keys up to each query, and over all keys.

    The former are formed pair by pair, divided by e^exponent, and come with these exponents; the latter are
    divided by e^after.
    """

    @jax.checkpoint  # or pairs of all chunks would be kept for the gradient
    def of_chunk(
        chunk: tuple[Float[Array, "s p m"], Float[Array, "s p m"], Float[Array, "s m"], Float[Array, "s p c"]],
    ) -> tuple[tuple[Float[Array, "s p c"], Float[Array, "s p 1"]], Float[Array, "s m c"]]:
        log_q, log_k, after, v = chunk

        @jax.checkpoint
        def of_query(i: Int[Array, ""]) -> tuple[Float[Array, "s c"], Float[Array, "s 1"]]:
            pairs = jnp.where(jnp.arange(v.shape[1])[:, None] <= i, log_q[:, i, None] + log_k, -jnp.inf)
            greatest = jax.lax.stop_gradient(pairs.max(axis=(1, 2))[:, None])
            weights = jnp.exp(pairs - finite(greatest)[..., None]).sum(axis=-1)
            return product(weights[:, None], v)[:, 0], greatest

        sums, greatest = (jnp.swapaxes(x, 0, 1) for x in jax.lax.map(of_query, jnp.arange(v.shape[1])))
        return (sums, greatest), product(jnp.exp(log_k - finite(after)[:, None]).mT, v)

    return jax.lax.map(of_chunk, (log_q, jnp.where(far, log_k, -jnp.inf), after, v))


def _nothing(*operands: Shaped[Array, "chunks s *_"]) -> tuple[tuple[Float[Array, "chunks s p c"], Float[Array, "chunks s p 1"]], Float[Array, "chunks s m c"]]:
    """What :func:`_pair_by_pair` returns if no key is far."""
    zeros = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(_pair_by_pair, *operands))
    (sums, greatest), added = jax.tree.map(lambda x: varying(x, operands), zeros)
    return (sums, greatest - jnp.inf), added


def _in_chunks(
    q: Float[Array, "*#b n m"], k: Float[Array, "*#b n m"], v: Float[Array, "*#b n c"], fill: float = 0.0
) -> tuple[
    Float[Array, "chunks s p m"], Float[Array, "chunks s p m"], Float[Array, "chunks s p c"], Float[Array, "s m c"]
]:
    """Queries, keys and values by chunks, s the number of all sequences, and zeros for sums over keys."""
    n, axes = v.shape[-2], leading(q, k, v)
    size = min(CHUNK, n)

    def chunked(x: Float[Array, "... n k"], fill: float) -> Float[Array, "chunks s p k"]:
        x = jnp.broadcast_to(x, (*axes, *x.shape[-2:])).reshape(math.prod(axes), *x.shape[-2:])
        x = jnp.pad(x, [(0, 0), (0, -n % size), (0, 0)], constant_values=fill)
        return jnp.swapaxes(x.reshape(len(x), -(-n // size), size, x.shape[-1]), 0, 1)

    sums = jnp.zeros((math.prod(axes), k.shape[-1], v.shape[-1]), at_least_single(q, k, v))
    return chunked(q, 0.0), chunked(k, fill), chunked(v, 0.0), varying(sums, q, k, v)


def _joined(sums: Float[Array, "chunks s p c"], n: int, axes: tuple[int, ...]) -> Float[Array, "*b n c"]:
    sums = jnp.swapaxes(sums, 0, 1).reshape(*axes, len(sums) * sums.shape[2], sums.shape[-1])
    return sums[..., :n, :]


def _logs_at_once(
    of_q: Callable[[Float[Array, "*b n d"]], Float[Array, "*b n m"]],
    of_k: Callable[[Float[Array, "*b n d"]], Float[Array, "*b n m"]],
    q: Float[Array, "*#b n d"],
    k: Float[Array, "*#b n d"],
    v: Float[Array, "*#b n c"],
    seen: Bool[Array, "*#b n"],
) -> Float[Array, "*b n c"]:
    def logs(
        q: Float[Array, "*b n d"], k: Float[Array, "*b n d"], seen: Bool[Array, "*b n"]
    ) -> tuple[Float[Array, "*b n m"], Float[Array, "*b n m"]]:
        return of_q(q), hidden(of_k(k), seen, -jnp.inf)

    seen = jnp.broadcast_to(seen, (*seen.shape[:-1], k.shape[-2]))[..., None]
    log_k = jax.eval_shape(of_k, k)
    exponents = jnp.full((*leading(q, k, v, seen), log_k.shape[-1]), -jnp.inf, log_k.dtype)
    sums = jnp.zeros((*exponents.shape, v.shape[-1]), at_least_single(log_k, v))
    start = varying(sums, of_q, of_k, q, k, v, seen), varying(exponents, of_q, of_k, q, k, v, seen)
    return _by_blocks(partial(_of_block, logs), start, q, k, v, seen)


def _by_blocks(
    of_block: Callable[[Any, list[Shaped[Array, "chunks *b p _"]]], tuple[Any, Float[Array, "chunks *b p c"]]],
    state: PyTree[Float[Array, "..."]],
    *arrays: Shaped[Array, "*#b n _"],
) -> Float[Array, "*b n c"]:
    """Sums for all queries, block by block: ``of_block(state, chunks) -> state, sums``.

    The last chunk is padded with zeros, as is the last block.
    """
    n, axes = arrays[0].shape[-2], leading(*arrays)
    size = min(CHUNK_ELSEWHERE, n)
    n_chunks = -(-n // size)
    per_block = min(n_chunks, max(LEAST // size, -(-n_chunks // ROUNDS)))
    n_blocks = -(-n_chunks // per_block)

    def cut(x: Shaped[Array, "... n k"]) -> Shaped[Array, "blocks chunks ... p k"]:
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


def _of_block(
    logs: Callable[..., tuple[Float[Array, "*b n m"], Float[Array, "*b n m"]]],
    state: tuple[Float[Array, "*b m c"], Float[Array, "*b m"]],
    chunks: list[Shaped[Array, "chunks *b p _"]],
) -> tuple[tuple[Float[Array, "*b m c"], Float[Array, "*b m"]], Float[Array, "chunks *b p c"]]:
    (sums, exponents), (q, k, v, seen) = state, chunks
    rows = q, k, seen[..., 0]
    log_q, log_k = logs(*rows)
    of_chunks, of_first = jax.lax.stop_gradient((log_k.max(axis=-2), log_k[..., 0, :]))
    # Exponents of the sums before each chunk and after the last; and of those that all queries of a chunk may use: with its first key.
    exponents = jax.lax.cummax(jnp.concatenate([exponents[None], of_chunks]))
    known = jnp.maximum(exponents[:-1], of_first)
    limit = known[..., None, :] + 2 / 3 * math.log(jnp.finfo(log_k.dtype).max)
    sums, read_by_all = _prefix_sums(sums, jnp.exp(log_k - finite(exponents[1:])[..., None, :]).astype(_narrow(v)).mT, v, exponents, known)

    read = log_q + known[..., None, :]
    greatest = jax.lax.stop_gradient(read.max(axis=-1, keepdims=True))
    q = jnp.exp(read - finite(greatest)).astype(_narrow(v))
    k = jnp.exp(jnp.where(log_k > limit, -jnp.inf, log_k - finite(known)[..., None, :])).astype(_narrow(v))
    near = product(q, read_by_all) + product(jnp.tril(product(q, k.mT)), v)
    # The arguments are rows, not their logarithms: for a branch that is not taken their gradients are arrays of zeros.
    far = jax.lax.cond((log_k > limit).any(), jax.checkpoint(partial(_in_few_rounds, logs)), _nothing_at_once, limit, rows, v)
    return (sums, exponents[-1]), _merged((near, greatest), far)


def _prefix_sums(
    sums: Float[Array, "*b m c"],
    k: Float[Array, "chunks *b m p"],
    v: Float[Array, "chunks *b p c"],
    exponents: Float[Array, "chunks+1 *b m"],
    known: Float[Array, "chunks *b m"],
) -> tuple[Float[Array, "*b m c"], Float[Array, "chunks *b m c"]]:
    """Sums after all chunks, divided by e^exponents[-1], and before each chunk, divided by e^known."""
    sums = jnp.concatenate([sums[None], product(k, v)])
    steps = jnp.exp(exponents[:-1] - finite(exponents[1:]))
    steps = jnp.concatenate([jnp.ones_like(steps[:1]), steps])[..., None]

    def both(
        one: tuple[Float[Array, "k *b m 1"], Float[Array, "k *b m c"]],
        other: tuple[Float[Array, "k *b m 1"], Float[Array, "k *b m c"]],
    ) -> tuple[Float[Array, "k *b m 1"], Float[Array, "k *b m c"]]:
        return one[0] * other[0], other[0] * one[1] + other[1]

    sums = jax.lax.associative_scan(both, (steps, sums))[1]
    return sums[-1], jnp.exp(exponents[:-1] - finite(known))[..., None] * sums[:-1]


def _in_few_rounds(
    logs: Callable[..., tuple[Float[Array, "*b n m"], Float[Array, "*b n m"]]],
    limit: Float[Array, "*b 1 m"],
    rows: tuple[Float[Array, "*b n d"], Float[Array, "*b n d"], Bool[Array, "*b n"]],
    v: Float[Array, "*b n c"],
) -> tuple[Float[Array, "*b n c"], Float[Array, "*b n 1"]]:
    """Sums over keys beyond the limit up to each query, pair by pair, and the exponents that divide them."""
    (log_q, log_k), n = logs(*rows), v.shape[-2]

    def of_chunk(
        chunk: tuple[Float[Array, "*b n m"], Float[Array, "*b n m"], Float[Array, "*b n c"]],
    ) -> tuple[Float[Array, "*b n c"], Float[Array, "*b n 1"]]:
        log_q, log_k, v = chunk
        greatest = jax.lax.stop_gradient((log_q + jax.lax.cummax(log_k, axis=log_k.ndim - 2)).max(axis=-1, keepdims=True))

        def of_query(
            here: tuple[Int[Array, ""], Float[Array, "*b m"], Float[Array, "*b 1"]],
        ) -> Float[Array, "*b n"]:
            i, log_q, greatest = here
            pairs = jnp.where(jnp.arange(n)[:, None] <= i, log_q[..., None, :] + log_k, -jnp.inf)
            return jnp.exp(pairs - finite(greatest)[..., None]).sum(axis=-1)

        weights = _in_rounds(of_query, (jnp.arange(n), *(jnp.moveaxis(x, -2, 0) for x in (log_q, greatest))))
        return product(jnp.moveaxis(weights, 0, -2), v), greatest

    return _in_rounds(of_chunk, (log_q, jnp.where(log_k > limit, log_k, -jnp.inf), v))


def _in_rounds(
    function: Callable[[Any], PyTree[Float[Array, "..."]]], arrays: tuple[Shaped[Array, "rows ..."], ...]
) -> PyTree[Float[Array, "rows ..."]]:
    """``jax.lax.map`` in few rounds, whose intermediate results are recomputed for the gradient."""
    return jax.lax.map(jax.checkpoint(function), arrays, batch_size=-(-len(arrays[0]) // ROUNDS))


def _nothing_at_once(
    limit: Float[Array, "*b 1 m"],
    rows: tuple[Float[Array, "*b n d"], Float[Array, "*b n d"], Bool[Array, "*b n"]],
    v: Float[Array, "*b n c"],
) -> tuple[Float[Array, "*b n c"], Float[Array, "*b n 1"]]:
    """What :func:`_in_few_rounds` returns if no key is beyond the limit."""
    sums, exponents = jnp.zeros(v.shape, at_least_single(limit, v)), jnp.full((*v.shape[:-1], 1), -jnp.inf, limit.dtype)
    return varying(sums, limit, rows, v), varying(exponents, limit, rows, v)


def _merged(
    one: tuple[Float[Array, "*b n c"], Float[Array, "*b n 1"]],
    other: tuple[Float[Array, "*b n c"], Float[Array, "*b n 1"]],
) -> Float[Array, "*b n c"]:
    """The sum of two sums, each divided by its own e^exponent, up to a factor for each query."""
    greatest = finite(jnp.maximum(one[1], other[1]))
    first, second = (jnp.exp(exponents - greatest) * sums for sums, exponents in (one, other))
    return first + second


def product(a: Float[Array, "*#b n k"], b: Float[Array, "*#b k l"]) -> Float[Array, "*b n l"]:
    """Matrix product with sums in float32 at least; if either factor is bfloat16, both are rounded to it."""
    narrow = jnp.bfloat16 if jnp.bfloat16 in (a.dtype, b.dtype) else at_least_single(a, b)
    return jnp.matmul(a.astype(narrow), b.astype(narrow), preferred_element_type=at_least_single(a, b))


def hidden(
    x: Float[Array, "*#b n k"], seen: Bool[Array | np.ndarray, "*#b n"], fill: float = 0.0
) -> Float[Array, "*b n k"]:
    """``x``, with ``fill`` in the rows that are masked."""
    return jnp.where(seen[..., None], x, fill)


def leading(*arrays: Shaped[Array, "... _ _"]) -> tuple[int, ...]:
    """The axes before rows and columns, broadcast."""
    return jnp.broadcast_shapes(*(x.shape[:-2] for x in arrays))


def _narrow(v: Float[Array, "..."]) -> np.dtype:
    return v.dtype if v.dtype == jnp.bfloat16 else at_least_single(v)
