"""Independent host random streams from one JAX key, so that host work depends on the key alone.

Walks are drawn by NumPy in chunks. Chunk c for purpose p owns the SFC64 stream seeded with (JAX key, p, c):
the numbers do not depend on threads, on the order of the chunks or on the machine. Streams do not overlap: a
word of SFC64's state counts the numbers drawn, from 1 in every stream, and its step can be undone. Two
streams that met would have the same count, so that within 2^64 numbers they would have had the same seed.
"""

import jax
import numpy as np
from numpy.random.bit_generator import ISeedSequence

from rfcore import checks

WALKERS_PER_CHUNK = 2**16  # the arrays of a chunk stay within a few MB of cache; part of what a key means: never change


def words(key):
    """JAX PRNG key as one 64-bit integer: its own words if it is of kind threefry, else two that it draws."""
    if checks.is_traced(key):
        raise ValueError("key is traced; walks are drawn on the host: call this outside jax.jit and jax.vmap")
    typed = jax.dtypes.issubdtype(checks.key(key).dtype, jax.dtypes.prng_key)
    with jax.ensure_compile_time_eval():  # a function that is being compiled may have captured the key
        data = jax.random.key_data(key) if typed else key
        data = np.asarray(data if data.shape == (2,) else jax.random.bits(key, (2,), np.uint32))
    return (int(data[0]) << 32) | int(data[1])


def generator(key_words, purpose, chunk):
    """NumPy generator (SFC64, Doty-Humphrey's small fast counting generator) of one chunk for one purpose.

    Args:
        key_words: from :func:`words`.
        purpose, chunk: whole numbers; others give independent streams.

    >>> from rfcore import streams
    >>> first, again, other = (streams.generator(7, purpose, 0).random() for purpose in (1, 1, 2))
    >>> first == again, first == other
    (True, False)
    """
    bits = np.random.SFC64(_Seed(key_words, purpose, chunk))
    bits.random_raw(8, output=False)  # NumPy mixes 12 rounds, as for words that are hashed; eight more, as ours are not
    return np.random.Generator(bits)


def chunks(n_rows, walkers_per_row):
    """Slices that cut ``n_rows`` rows into chunks of about ``WALKERS_PER_CHUNK`` walkers."""
    size = max(1, WALKERS_PER_CHUNK // walkers_per_row)
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


class _Seed(ISeedSequence):
    """Three words that SFC64 takes as they are.

    ``SeedSequence`` would hash them: three times the time, and different seeds might then give one stream.
    """

    def __init__(self, *words):
        self.words = words

    def generate_state(self, n_words, dtype):
        return np.array(self.words, dtype=np.uint64)
