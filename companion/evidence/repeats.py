"""Many repeats of an experiment, a compiled batch at a time."""

import jax
import numpy as np
from tqdm import tqdm

from rfcore import checks


def in_batches(function, keys, size, description):
    """Results of a function of a key for many keys, with a progress bar.

    Compiled code runs ``size`` keys at once, so that memory is bounded by a batch and not by the number of
    repeats.

    Args:
        function: from one JAX key to an array or a pytree of arrays.
        keys: array of n JAX keys.
        size: keys a batch. A last batch of another size is compiled once more.
        description: what the progress bar says.

    Returns:
        What ``function`` returns, as NumPy arrays with a leading axis of length n.
    """
    size = checks.count(size, "size")
    batch = jax.jit(jax.vmap(function))
    starts = tqdm(range(0, len(keys), size), desc=description, leave=False)
    parts = [jax.tree.map(np.asarray, batch(keys[start : start + size])) for start in starts]
    return jax.tree.map(lambda *pieces: np.concatenate(pieces), *parts)
