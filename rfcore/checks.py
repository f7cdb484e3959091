"""What every public function asks of its arguments; each complaint names the argument, its value and the mend.

Shapes are checked always. Values are checked only where they are known: inside ``jax.jit`` or ``jax.grad``
an array is a tracer, and a NaN passes through as it does everywhere in JAX.
"""

import operator

import jax
import jax.numpy as jnp
import numpy as np


def is_traced(x):
    """Whether the values of ``x`` are unknown, as inside ``jax.jit``."""
    return isinstance(x, jax.core.Tracer)


def finite(x, name):
    """``x`` itself, unless one of its known values is NaN or infinite."""
    if not is_traced(x) and not np.all(np.isfinite(x)):
        count = int(np.sum(~np.isfinite(x)))
        raise ValueError(f"{name} has {count} NaN or infinite values; remove or impute them first")
    return x


def points(x, name, n_columns=None):
    """``x`` as a finite floating-point JAX array of shape (n, d)."""
    x = jnp.asarray(x)
    if x.ndim != 2:
        raise ValueError(f"{name} has shape {x.shape}; give one point a row, shape (n, d) (one point: {name}[None, :])")
    if x.shape[1] < 1:
        raise ValueError(f"{name} has shape {x.shape}; points need at least one coordinate")
    if n_columns is not None and x.shape[1] != n_columns:
        raise ValueError(f"{name} has shape {x.shape}; its points must have {n_columns} coordinates like the others")
    if not jnp.issubdtype(x.dtype, jnp.floating):
        if jnp.issubdtype(x.dtype, jnp.complexfloating):
            raise ValueError(f"{name} has dtype {x.dtype}; give real coordinates")
        x = x.astype(float)
    return finite(x, name)


def count(value, name, least=1):
    """``value`` as an int of at least ``least``."""
    try:
        value = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} = {value!r}; give a whole number") from None
    if value < least:
        raise ValueError(f"{name} = {value}; give a whole number of at least {least}")
    return value


def probability(value, name):
    """``value`` as a float strictly between 0 and 1."""
    value = real(value, name)
    if not 0 < value < 1:
        raise ValueError(f"{name} = {value}; give a probability strictly between 0 and 1")
    return value


def real(value, name, above=None, least=None):
    """``value``, a finite real number; a traced one is returned as it is."""
    if is_traced(value):
        return value
    try:
        value = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} = {value!r}; give one real number") from None
    if not np.isfinite(value):
        raise ValueError(f"{name} = {value}; give a finite number")
    if above is not None and not value > above:
        raise ValueError(f"{name} = {value}; give a number above {above}")
    if least is not None and not value >= least:
        raise ValueError(f"{name} = {value}; give a number of at least {least}")
    return value


def choice(value, name, known):
    """``value``, if it is one of the ``known`` names."""
    if value not in known:
        raise ValueError(f"{name} = {value!r}; choose one of {', '.join(map(repr, known))}")
    return value
