"""Independent host random streams from one JAX key, so that host work depends on the key alone.

Walks are drawn by NumPy in chunks. Chunk c for purpose p owns the Philox stream with key (JAX key, p) and a counter
that starts at c 2^192: streams never overlap, and the numbers do not depend on threads, on the order of the chunks
or on the machine.
"""

import jax
import numpy as np
from numpy.random.bit_generator import ISeedSequence

from rfcore import checks

WALKERS_PER_CHUNK = 2**16  # the arrays of a chunk stay within a few MB of cache; part of what a key means: never change


def words(key):
    """JAX PRNG key as one 64-bit integer.

    Raises
    ------
    ValueError
        If ``key`` is no single JAX key, or is traced.
    """
    if checks.is_traced(key):
        raise ValueError("key is traced; walks are drawn on the host: call this outside jax.jit and jax.vmap")
    try:
        typed = jax.dtypes.issubdtype(key.dtype, jax.dtypes.prng_key)
        data = np.asarray(jax.random.key_data(key) if typed else key)
    except (AttributeError, TypeError):
        data = None
    if data is None or data.dtype != np.uint32 or data.shape != (2,):
        raise ValueError(f"key = {key!r}; give one JAX key, such as jax.random.key(0)")
    return (int(data[0]) << 32) | int(data[1])


def generator(key_words, purpose, chunk):
    """NumPy generator of one chunk for one purpose.

    Parameters
    ----------
    key_words : int
        From :func:`words`.
    purpose : int
        What the numbers are for; different purposes give independent streams.
    chunk : int
        Index of the chunk.
    """
    return np.random.Generator(np.random.Philox(_Key(key_words, purpose), counter=[0, 0, 0, chunk]))


def chunks(n_rows, walkers_per_row):
    """Slices that cut ``n_rows`` rows into chunks of about ``WALKERS_PER_CHUNK`` walkers."""
    size = max(1, WALKERS_PER_CHUNK // walkers_per_row)
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


class _Key(ISeedSequence):
    """The key of a Philox stream, handed over as a seed.

    ``Philox(key=...)`` is the same stream, but asks the operating system for entropy that it then does not use: five
    times the time.
    """

    def __init__(self, *words):
        self.words = words

    def generate_state(self, n_words, dtype):
        return np.array(self.words, dtype=np.uint64)
