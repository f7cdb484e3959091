"""Checks of arguments: each error names the argument, its value and the remedy.

Shapes are always checked, values only where they are known: inside ``jax.jit`` or ``jax.grad`` an array is a
tracer, and a NaN passes through as it does everywhere in JAX. Numbers are float32 or float64: whole numbers,
bools and narrower floats become floats before anything is computed.
"""

import math
import operator
import warnings
from collections.abc import Iterable
from contextlib import nullcontext
from functools import cache
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from jax.core import Tracer
from jaxtyping import Array, Float

FLOATS = (np.float32, np.float64)
NARROW = (jnp.bfloat16, jnp.float16)
Host = np.ndarray | Array
T = TypeVar("T")
Known = TypeVar("Known", bound=Host)


def is_traced(x: object) -> bool:
    """Whether the values of ``x`` are unknown, as inside ``jax.jit``."""
    return isinstance(x, Tracer)


def key(value: T) -> T:
    """``value``, if it is one JAX key, typed or a vector of words, as far as tracing shows."""
    dtype: Any = getattr(value, "dtype", None)
    ndim = getattr(value, "ndim", None)
    if not (jnp.issubdtype(dtype, jax.dtypes.prng_key) and ndim == 0) and not (dtype == np.uint32 and ndim == 1):
        raise ValueError(f"key = {value!r}; give one JAX key, such as jax.random.key(0)")
    return value


def known(x: T, name: str) -> T:
    """``x``, unless it is traced: a computation on the host needs its values."""
    if is_traced(x):
        raise ValueError(f"{name} is traced, and this runs on the host; call it outside jax.jit, jax.grad and jax.vmap")
    return x


def finite(x: Known, name: str) -> Known:
    """``x`` itself, unless one of its known values is NaN or infinite."""
    if is_traced(x):
        return x
    if isinstance(x, jax.Array):
        # On the device: a copy to the host would cost more than the features. Evaluated now, even if x is a constant
        # captured by a function being traced.
        with jax.ensure_compile_time_eval():
            all_finite = bool(_all_finite(x))
    else:
        all_finite = np.isfinite(x).all()
    if not all_finite:
        count = int(np.sum(~np.isfinite(np.asarray(x))))
        raise ValueError(f"{name} has {count} NaN or infinite values; remove or impute them first")
    return x


@jax.jit
def _all_finite(x: Array) -> Array:
    return jnp.isfinite(x).all()


def is_symmetric(x: Any) -> bool:
    """Whether a known square matrix, sparse or dense, is symmetric, up to the rounding of products."""
    x = x if sp.issparse(x) else np.asarray(x)
    with np.errstate(over="ignore"):
        return bool(abs(x - x.T).max() <= 100 * np.finfo(x.dtype).eps * abs(x).max())


def levels(x: Known, name: str) -> Known:
    """``x``, an array, unless one of its known values is outside [0, 1)."""
    if is_traced(x) or not x.size:
        return x
    with jax.ensure_compile_time_eval() if isinstance(x, jax.Array) else nullcontext():
        least, largest = float(x.min()), float(x.max())
    if not (least >= 0 and largest < 1):
        raise ValueError(f"{name} has values in [{least}, {largest}]; give levels of at least 0 and below 1")
    return x


def numbers(x: Any, name: str) -> Any:
    """``x`` in float32 or float64: a JAX array remains one; anything else becomes a float64 NumPy array."""
    x = x if isinstance(x, jax.Array) else _array(x, name)
    _real_dtype(x.dtype, name)
    if isinstance(x, jax.Array) and x.dtype in FLOATS:
        return x
    if not isinstance(x, jax.Array) or is_traced(x):
        return x.astype(float)
    # By NumPy, since XLA cannot widen float16 on every processor; constants captured by a traced function stay known.
    with jax.ensure_compile_time_eval():
        return jnp.asarray(np.asarray(x).astype(float))


def sparse(x: Any, name: str) -> sp.csr_array:
    """A scipy sparse array as a finite CSR array; float64 first, since duplicates are added on the way."""
    _real_dtype(x.dtype, name)
    x = sp.csr_array(x.astype(float, copy=False))
    finite(x.data, name)
    return x


def _real_dtype(dtype: Any, name: str) -> None:
    if jnp.issubdtype(dtype, jnp.complexfloating):
        raise ValueError(f"{name} has dtype {dtype}; give real numbers (its .real, or .imag, or two arrays)")
    if dtype.kind not in "fiub" and not jnp.issubdtype(dtype, jnp.floating):
        raise ValueError(f"{name} has dtype {dtype}; give an array of real numbers")


def indices(x: Any, name: str, n: int, empty: bool = False, several: bool = False) -> Any:
    """``x`` as a vector (``several``: an array) of whole numbers from 0 to n - 1, int64 if not traced."""
    wanted = f"a vector{'' if empty else ', not empty,'} of whole numbers from 0 to {n - 1}"
    x = x if is_traced(x) else _array(x, name, wanted)
    x = x if is_traced(x) or x.size else x.astype(int)  # NumPy takes [] for floats
    if not (x.ndim >= 1 if several else x.ndim == 1) or not (x.size or empty) or x.dtype.kind not in "iu":
        raise ValueError(f"{name} has shape {x.shape}, dtype {x.dtype}; give {wanted}")
    if is_traced(x):
        return x
    if x.size and not (x.min() >= 0 and x.max() < n):
        raise ValueError(f"{name} has values in [{x.min()}, {x.max()}]; give {wanted}")
    return x.astype(np.int64)


def _array(x: Any, name: str, wanted: str = "an array of real numbers") -> np.ndarray:
    if hasattr(x, "toarray"):  # of SciPy, or walk features: NumPy would make one object of them
        sparse = ", or .to_scipy() where sparse ones are taken" if hasattr(x, "to_scipy") else ""
        got = f"{name} is of type {type(x).__name__}"
        raise ValueError(f"{got}; give {wanted}, such as its .toarray(){sparse}")
    if np.ma.is_masked(x):
        raise ValueError(f"{name} has {np.ma.count_masked(x)} masked values; remove or impute them first")
    try:
        return np.asarray(x)
    except (TypeError, ValueError):  # a list of traced values, or rows of unequal length
        raise ValueError(f"{name} = {x!r}; give {wanted}") from None


def vector(x: Any, name: str, n: int | None = None, of: str = "number") -> Any:
    """``x`` as a finite vector of real numbers, at least one, or ``n`` of them, one per ``of``."""
    x = numbers(x, name)
    if x.ndim != 1 or len(x) == 0 or n not in (None, len(x)):
        wanted = "a vector with at least one entry" if n is None else f"a vector of {n}, one number per {of}"
        raise ValueError(f"{name} has shape {x.shape}; give {wanted}")
    return finite(x, name)


def floating(x: Any, name: str, as_it_is: bool = False) -> Float[Array, "..."]:
    """``x`` as a finite JAX array of any shape, of the default float unless it is float32 or float64.

    ``as_it_is`` keeps bfloat16 and float16, and NaN and infinity, which a mask may hide. With
    ``jax_enable_x64`` off JAX cuts float64 to float32: a warning is given, once, if a NumPy array is cut.
    """
    if as_it_is and getattr(x, "dtype", None) in NARROW:
        return jnp.asarray(x)
    given = _array(x, name) if isinstance(x, np.ndarray) and x.dtype in FLOATS else numbers(x, name)
    found = jnp.asarray(given) if as_it_is else finite(jnp.asarray(given), name)
    if given is x and found.dtype != x.dtype and not is_traced(found):
        _say_that_float64_is_cut()
    return found


@cache
def _say_that_float64_is_cut() -> None:
    """Once per process."""
    mend = 'put jax.config.update("jax_enable_x64", True) before the first array'
    quiet = "for float32 without this warning give x.astype(np.float32)"
    warnings.warn(f"an array is float64, and JAX computes it in float32; for float64 {mend}, {quiet}", stacklevel=4)


def points(
    x: Any, name: str, n_columns: int | None = None, least: int = 0, as_it_is: bool = False
) -> Float[Array, "n d"]:
    """``x`` as :func:`floating` returns it, with at least ``least`` rows, and ``n_columns`` columns."""
    x = floating(x, name, as_it_is)
    if x.ndim != 2:
        raise ValueError(f"{name} has shape {x.shape}; give one point a row, shape (n, d) (one point: {name}[None, :])")
    if x.shape[1] < 1:
        raise ValueError(f"{name} has shape {x.shape}; give points of at least one coordinate")
    if n_columns is not None and x.shape[1] != n_columns:
        raise ValueError(f"{name} has shape {x.shape}; its points must have {n_columns} coordinates like the others")
    if len(x) < least:
        raise ValueError(f"{name} has shape {x.shape}; give at least {'one point' if least == 1 else f'{least} points'}")
    return x


def shaped(x: Any, name: str, *shapes: tuple[int, ...]) -> Float[Array, "..."]:
    """``x`` as :func:`floating` returns it, of one of the shapes."""
    x = floating(x, name)
    if x.shape not in shapes:
        raise ValueError(f"{name} has shape {x.shape}; give shape {' or '.join(map(str, shapes))}")
    return x


def count(value: Any, name: str, least: int = 1) -> int:
    """``value`` as an int of at least ``least``."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        value = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} = {value!r}; give a whole number") from None
    if value < least:
        raise ValueError(f"{name} = {value}; give a whole number of at least {least}")
    return value


def probability(value: Any, name: str) -> Any:
    """``value`` as a float strictly between 0 and 1."""
    value = real(value, name)
    if not is_traced(value) and not 0 < value < 1:
        raise ValueError(f"{name} = {value}; give a probability strictly between 0 and 1")
    return value


def real(value: Any, name: str, above: float | None = None, least: float | None = None) -> Any:
    """``value``, a finite real number, as a float; a traced one stays traced."""
    if is_traced(value):
        return numbers(value, name)
    try:
        wrong = isinstance(value, bool | np.bool_ | str | bytes | np.ma.MaskedArray)
        if not isinstance(value, float) and (wrong or np.iscomplexobj(value) or np.ndim(value)):
            raise TypeError
        value = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} = {value!r}; give one real number") from None
    if not math.isfinite(value):
        raise ValueError(f"{name} = {value}; give a finite number")
    if above is not None and not value > above:
        raise ValueError(f"{name} = {value}; give a number above {above}")
    if least is not None and not value >= least:
        raise ValueError(f"{name} = {value}; give a number of at least {least}")
    return value


def choice(value: T, name: str, known: Iterable[str]) -> T:
    """``value``, if it is one of the ``known`` names."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} = {value!r}; choose one of {', '.join(map(repr, known))}")
    return value
