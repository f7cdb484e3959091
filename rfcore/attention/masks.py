"""Masks of pairs, as other libraries make them, from masks of queries and keys, which linear attention has.

::

    mask_ij = row_i key_j,    or row_i key_j [j <= i] if attention is causal

Any other mask of pairs, such as a window, needs a sum of its own for each query.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Shaped

from rfcore import checks


class RowsAndKeys(NamedTuple):
    """Masks whose product a mask of pairs is."""

    rows: Bool[Array | np.ndarray, "*b n"]
    keys: Bool[Array | np.ndarray, "*b l"]
    causal: bool
    """Whether the product is cut to a triangle: as was given, or as the mask tells if its values are known."""
    wrong: Bool[Array | np.ndarray, "*b 1 1"] | None
    """Where a mask that is traced is no such product, nor booleans; None if it is known."""


def rows_and_keys(mask: Shaped[Array | np.ndarray, "*b n l"], causal: bool) -> RowsAndKeys:
    """Masks of rows and keys from a mask of pairs, or from one of keys, (..., 1, l).

    Args:
        mask: booleans, or numbers 0 and 1, as flax makes them.
        causal: whether attention is causal anyway.
    """
    traced = checks.is_traced(mask)
    given = mask if traced else np.asarray(mask)
    pairs, below = given != 0, np.tri(*given.shape[-2:], dtype=bool)
    unclear = ((given != 0) & (given != 1)).any(axis=(-2, -1), keepdims=True)
    if given.shape[-2] == 1:
        wrong = unclear
    else:
        pairs = pairs & below if causal else pairs
        if not causal and not traced and given.shape[-2] == given.shape[-1]:
            causal = bool((pairs != _product(pairs)).any())  # or it is no product of either kind
        product = _product(pairs) & below if causal else _product(pairs)
        wrong = unclear | (pairs != product).any(axis=(-2, -1), keepdims=True)
    if not traced and unclear.any():
        raise ValueError(f"mask has dtype {given.dtype}, and values that are not 0 and 1; give booleans, True where a key is seen")
    if not traced and wrong.any():
        got = f"mask has shape {given.shape}, and is no product of rows and keys{' below the diagonal' * causal}"
        raise ValueError(f"{got}; give row[:, None] & key[None, :], perhaps times a triangle, and exact attention for others")
    return RowsAndKeys(pairs.any(axis=-1), pairs.any(axis=-2), causal, wrong if traced else None)


def _product(pairs: Bool[Array | np.ndarray, "*b n l"]) -> Bool[Array | np.ndarray, "*b n l"]:
    return pairs.any(axis=-1, keepdims=True) & pairs.any(axis=-2, keepdims=True)  # pyright: ignore[reportReturnType]  # NumPy's any, of any shape
