"""Matrix products in full precision on every platform, and the least precision of sums.

By default accelerators multiply float32 with 10 (TF32) or 8 (bfloat16) bits of precision. An error in an
exponent or an angle is a relative error of the feature: 4e-3 at d = 64, where it is 3e-6 on a CPU.
``jax_default_matmul_precision``, where it is set, prevails.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

P = ParamSpec("P")
R = TypeVar("R")


def full(function: Callable[P, R]) -> Callable[P, R]:
    """``function``, whose products are in full precision."""

    @wraps(function)
    def precise(*arguments: P.args, **options: P.kwargs) -> R:
        if jax.config.jax_default_matmul_precision is not None:  # pyright: ignore[reportAttributeAccessIssue]
            return function(*arguments, **options)
        with jax.default_matmul_precision("highest"):
            return function(*arguments, **options)

    return precise


product = full(jnp.matmul)


def at_least_single(*arrays: Float[Array | np.ndarray, "..."]) -> np.dtype:
    """float64 if an array is float64, else float32, under strict promotion too."""
    return np.dtype(np.float64 if any(x.dtype == np.float64 for x in arrays) else np.float32)
