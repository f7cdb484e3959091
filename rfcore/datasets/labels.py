"""Classes as integers."""

import numpy as np
from numpy.typing import ArrayLike


def encode(labels: ArrayLike) -> tuple[np.ndarray, tuple[str, ...]]:
    """Number the distinct labels, whole numbers by value and other words alphabetically.

    Returns:
        Codes, int64 (n,), and names, of which ``names[codes[i]]`` is the label i.
    """
    names, codes = np.unique(np.asarray(labels, dtype=str), return_inverse=True)
    if all(name.isdigit() for name in names):
        order = np.argsort(names.astype(int))
        names, codes = names[order], np.argsort(order)[codes]
    return codes.astype(np.int64), tuple(names.tolist())
