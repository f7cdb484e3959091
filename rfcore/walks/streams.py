"""From a JAX key to independent random streams on the host, and the loop over the chunks that draw from them.

Chunk c draws its numbers for purpose p from an SFC64 generator of its own, seeded with (JAX key, p, c):
results depend on the key alone, not on threads, the order of the chunks or the machine. Streams do not
overlap: one word of SFC64's state counts the numbers drawn, from 1 in every stream, and its step is
invertible. Two streams that met would have equal counts, hence equal seeds, within 2^64 numbers.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext
from enum import IntEnum, unique
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray, UInt32
from numpy.random.bit_generator import ISeedSequence

from rfcore import checks

Key = PRNGKeyArray | UInt32[Array | np.ndarray, "..."]
"""One JAX PRNG key, typed or as a vector of words."""
WALKERS_PER_CHUNK = 2**16  # the arrays of a chunk stay within a few MB of cache; part of what a key means: never change


@unique
class Purpose(IntEnum):
    """What a stream is for. The numbers are part of what a key means: never change one."""

    LENGTHS = 1
    WALKS = 2
    GAUSSIAN_PROJECTION = 3
    SPARSE_PROJECTION = 4
    ANCHORS = 5
    RANDOM_GRAPH = 6
    HOPS = 7
    PROBES = 9
    SAMPLED_NODES = 10
    HIDDEN_NODES = 11
    WEIGHTS = 12


def words(key: Key) -> int:
    """JAX PRNG key as one 64-bit integer: the words of a threefry key, two drawn words of any other."""
    if checks.is_traced(key):
        raise ValueError("key is traced; walks are drawn on the host: call this outside jax.jit and jax.vmap")
    typed = jnp.issubdtype(checks.key(key).dtype, jax.dtypes.prng_key)
    with jax.ensure_compile_time_eval():  # a function that is being compiled may have captured the key
        data = jax.random.key_data(key) if typed else key
        data = np.asarray(data if data.shape == (2,) else jax.random.bits(key, (2,), np.uint32))
    return (int(data[0]) << 32) | int(data[1])


def generator(key_words: int, purpose: int, chunk: int) -> np.random.Generator:
    """NumPy generator (SFC64, Doty-Humphrey's small fast counting generator) of one chunk for one purpose.

    Args:
        key_words: from :func:`words`.
        purpose: a :class:`Purpose`.

    >>> from rfcore.walks import streams
    >>> first, again, other = (streams.generator(7, purpose, 0).random() for purpose in (1, 1, 2))
    >>> first == again, first == other
    (True, False)
    """
    seed: Any = _Seed(key_words, purpose, chunk)
    bits = np.random.SFC64(seed)
    bits.random_raw(8, output=False)  # NumPy mixes 12 rounds, as for words that are hashed; eight more, as ours are not
    return np.random.Generator(bits)


def chunks(n_rows: int, walkers_per_row: int) -> list[slice]:
    """Slices that cut ``n_rows`` rows into chunks of about ``WALKERS_PER_CHUNK`` walkers."""
    size = max(1, WALKERS_PER_CHUNK // walkers_per_row)
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def in_chunks(work: Callable, *items: Sequence, executor: Executor | None = None, together: int = 1) -> Iterator[Any]:
    """Results of ``work(chunk, *item)`` for chunk 0, 1, ..., in this order.

    Args:
        items: one sequence per further argument of ``work``, with one item per chunk.
        executor: of any kind; threads by default, and none for a single job.
        together: chunks per job, which share one copy of ``work`` where memory is not shared.
    """
    todo = list(enumerate(zip(*items, strict=True)))
    jobs = [todo[first : first + together] for first in range(0, len(todo), together)]
    if len(jobs) < 2:
        yield from (result for job in jobs for result in _done(work, job))
        return
    with nullcontext(executor) if executor else ThreadPoolExecutor(os.cpu_count()) as pool:
        for results in pool.map(partial(_done, work), jobs):
            yield from results


def _done(work: Callable, job: list[tuple[int, tuple]]) -> list:
    return [work(chunk, *item) for chunk, item in job]


class _Seed(ISeedSequence):
    """Three words that SFC64 takes as they are.

    ``SeedSequence`` would hash them: three times the time, and different seeds might then give one stream.
    """

    def __init__(self, *words: int) -> None:
        self.words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint64) -> np.ndarray:
        return np.array(self.words, dtype=np.uint64)
