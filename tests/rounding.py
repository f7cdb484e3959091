"""How far rounding may carry a result: so many roundings in a row, each relative to the size of the numbers rounded."""

import jax
import numpy as np

EPS = float(np.finfo(np.float64 if jax.config.jax_enable_x64 else np.float32).eps)


def rounding(roundings, *sizes):
    """``roundings`` times eps of JAX's default float times the largest of the numbers or arrays ``sizes``, 1 if none is given."""
    return roundings * EPS * max((float(np.max(np.abs(size), initial=0.0)) for size in sizes), default=1.0)
