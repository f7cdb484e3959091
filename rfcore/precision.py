"""Matrix products in full precision on every platform.

On accelerators products of float32 keep 10 bits of a number (TF32) or 8 (bfloat16) unless they are told not
to. An error in an exponent or an angle is a relative error of the feature: 4e-3 at d = 64, where it is 3e-6
on a CPU. ``jax_default_matmul_precision``, where it is set, prevails.
"""

from functools import wraps

import jax
import jax.numpy as jnp


def full(function):
    """``function``, whose products are in full precision."""

    @wraps(function)
    def precise(*arguments, **options):
        if jax.config.jax_default_matmul_precision is not None:
            return function(*arguments, **options)
        with jax.default_matmul_precision("highest"):
            return function(*arguments, **options)

    return precise


product = full(jnp.matmul)
