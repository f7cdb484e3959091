"""What the modulations that are named after a kernel share: they are for normalised weights."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np

from rfcore import checks


@dataclass(frozen=True, eq=False, repr=False)
class Named:
    """Modulation of a kernel defined through the normalised Laplacian; walks on other weights refuse it.

    It can be pickled.
    """

    name: str
    values: Callable
    hops: float = 0.0
    """Nine tenths of the sum of the values, or more, are at lengths above this: the mean less three deviations."""
    for_normalised = True

    def __call__(self, k):
        """Values at an integer array of lengths."""
        return self.values(k)

    def __repr__(self):
        return self.name


def lengths(k, of_table=False):
    """``k`` as whole numbers of at least 0; a JAX array stays one, unless it indexes a NumPy table."""
    if checks.is_traced(k):
        if of_table:
            raise ValueError("k is traced; this modulation is computed on the host: call it with NumPy lengths, np.arange(n)")
        return k
    host = np.asarray(k)
    if host.dtype.kind not in "iu" or host.min(initial=0) < 0:
        raise ValueError(f"k = {k!r}; give lengths of walks, whole numbers of at least 0")
    host = host.astype(np.int64, copy=False)
    return k if isinstance(k, jax.Array) and not of_table else host
