"""Masks of pairs, as other libraries make them, by the masks of queries and keys that sums of features can have.

::

    mask_ij = row_i key_j,    or row_i key_j [j <= i] if attention is causal

Any other mask of pairs, such as a window, needs a sum of its own for each query.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Shaped

from rfcore import checks


def of_rows_and_keys(
    mask: Shaped[Array | np.ndarray, "*b n l"], causal: bool
) -> tuple[Bool[Array | np.ndarray, "*b n"], Bool[Array | np.ndarray, "*b l"], bool]:
    """Masks of rows and of keys, and whether attention is causal, which a mask tells if its values are known.

    Where a mask that is traced turns out to be no product, the compiled function raises an error when it
    runs, or gives NaN with ``EQX_ON_ERROR=nan`` in the environment.

    Args:
        mask: as for :func:`boolean`.
        causal: whether attention is causal anyway.
    """
    pairs = boolean(mask)
    below = np.tri(*pairs.shape[-2:], dtype=bool)
    if not causal and not checks.is_traced(pairs) and pairs.shape[-2] == pairs.shape[-1]:
        causal = bool((pairs != _product(pairs)).any())  # or it is no product of either kind
    pairs, product = (x & below if causal else x for x in (pairs, _product(pairs & below if causal else pairs)))
    rows, wrong = pairs.any(axis=-1), (pairs != product).any()
    mend = f"is no product of rows and keys{' below the diagonal' * causal}; give row[:, None] & key[None, :], is_causal=True for a triangle"
    return _unless(wrong, rows, f"mask has shape {mask.shape}, and {mend}, and exact attention for others"), pairs.any(axis=-2), causal


def boolean(mask: Shaped[Array | np.ndarray, "*shape"]) -> Bool[Array | np.ndarray, "*shape"]:
    """A mask of booleans, or of numbers that are 0 and 1, as flax makes them."""
    found = mask if checks.is_traced(mask) else np.asarray(mask)
    if found.dtype == bool:
        return found
    values = f"mask has dtype {found.dtype}, and values that are not 0 and 1; give booleans, True where a key is seen"
    return _unless(((found != 0) & (found != 1)).any(), found != 0, values)


def _product(pairs: Bool[Array | np.ndarray, "*b n l"]) -> Bool[Array | np.ndarray, "*b n l"]:
    return pairs.any(axis=-1)[..., :, None] & pairs.any(axis=-2)[..., None, :]


def _unless(
    wrong: Bool[Array | np.ndarray | np.bool_, ""], found: Bool[Array | np.ndarray, "*shape"], complaint: str
) -> Bool[Array | np.ndarray, "*shape"]:
    if checks.is_traced(wrong):
        return eqx.error_if(jnp.asarray(found), wrong, complaint)
    if wrong:
        raise ValueError(complaint)
    return found
