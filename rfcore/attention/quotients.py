"""Softmax attention, and its estimate by random features in linear time.

::

    out_i = sum_j a_ij v_j,   a_ij = k(q_i, k_j) / sum_l k(q_i, k_l)
    k(x, y) = exp(x . y) = E[phi(x) . phi(y)]

Queries (..., n, d), keys (..., l, d) and values (..., l, c) give outputs (..., n, c); leading axes, such as
batch and heads, broadcast. Queries and keys are not scaled: multiply those of a transformer by d^(-1/4)
first. A mask of keys, (..., l), is True for the keys that queries attend to; masked keys and their values may
hold anything. In causal attention (l = n) query i attends to keys 0, ..., i alone. A query without keys gives
zeros. A mask has no more leading axes than queries, keys or values have.

Outputs have the dtype to which queries, keys and values promote. Exponentials and sums are in float32 at
least; where values are bfloat16, weights are rounded to bfloat16 (a relative error of up to 2^-9) before they
multiply the values.
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from rfcore import checks
from rfcore.attention.causal import hidden, of_features, of_logs, product
from rfcore.attention.logs import finite, scaled
from rfcore.precision import at_least_single


def softmax(
    q: Float[ArrayLike, "*#b n d"],
    k: Float[ArrayLike, "*#b l d"],
    v: Float[ArrayLike, "*#b l c"],
    causal: bool = False,
    mask: Bool[Array | np.ndarray, "*#b l"] | None = None,
) -> Float[Array, "*b n c"]:
    """Exact attention, in quadratic time and memory.

    Source: Vaswani et al., "Attention is all you need" (2017), without the scale d^(-1/2).

    >>> import jax.numpy as jnp
    >>> from rfcore import attention
    >>> v = jnp.array([[1.0], [2.0]])
    >>> attention.softmax(jnp.zeros((2, 3)), jnp.eye(2, 3), v, causal=True).tolist()
    [[1.0], [1.5]]
    """
    q, k, v, causal, mask, dtype = _checked(q, k, v, causal, mask, ("q", "k"))
    if mask is not None:
        k, v = hidden(k, mask), hidden(v, mask)  # so that gradients do not depend on what is masked
    # Against overflow of products each query is divided by a power of two, which is restored after the subtraction.
    beyond = jnp.maximum(_exponents(q, -1) + _exponents(k, (-2, -1)) + q.shape[-1].bit_length() + 1 - jnp.finfo(q.dtype).maxexp, 0)
    scores = product(q * _power(q, -beyond), k.mT)
    if mask is not None:
        scores = jnp.where(jnp.asarray(mask)[..., None, :], scores, -jnp.inf)
    if causal:
        scores = jnp.where(jnp.tri(scores.shape[-1], dtype=bool), scores, -jnp.inf)
    greatest = jax.lax.stop_gradient(finite(scores.max(axis=-1, keepdims=True)))
    return quotient(product(jnp.exp((scores - greatest) * _power(scores, beyond)), with_ones(v))).astype(dtype)


def linear(
    phi_q: Float[ArrayLike, "*#b n m"],
    phi_k: Float[ArrayLike, "*#b l m"],
    v: Float[ArrayLike, "*#b l c"],
    causal: bool = False,
    mask: Bool[Array | np.ndarray, "*#b l"] | None = None,
) -> Float[Array, "*b n c"]:
    """Attention from features, in linear time and memory.

    ::

        out_i = phi(q_i) . S / phi(q_i) . s,   S = sum_j phi(k_j) v_j^T,   s = sum_j phi(k_j)

    Memory is O((n + l) (m + c) + m c); causal attention takes m c / 64 more per position, for the sums up to
    each chunk of 64 positions (128 on accelerators). A factor common to all queries, or to all keys, cancels;
    in causal attention, only while products of features neither overflow nor underflow. Where features
    overflow or underflow, or span the range of floats, use :func:`linear_of_logs`.

    Args:
        phi_q, phi_k: features of the same frequencies; positive, or phi(q_i) . s may be near 0. Add no
            constant to them: it gives weight to keys that should have none.

    Source: Choromanski et al., "Rethinking attention with Performers" (2020).

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features
    >>> from rfcore import attention
    >>> q, k, v = 0.5 * jnp.eye(3), 0.3 * jnp.ones((3, 3)), jnp.arange(3.0)[:, None]
    >>> omega = couplings.orthogonal(jax.random.key(0), 300, 3)
    >>> phi_q, phi_k = (features.positive(x, omega, kernel="softmax") for x in (q, k))
    >>> out, exact = attention.linear(phi_q, phi_k, v), attention.softmax(q, k, v)
    >>> bool(jnp.allclose(out, exact, atol=0.1))
    True
    """
    phi_q, phi_k, v, causal, mask, dtype = _checked(phi_q, phi_k, v, causal, mask, ("phi_q", "phi_k"))
    if mask is not None:
        phi_k, v = hidden(phi_k, mask), hidden(v, mask)
    return _linear(phi_q, phi_k, v, causal).astype(dtype)


def linear_of_logs(
    log_q: Float[ArrayLike, "*#b n m"],
    log_k: Float[ArrayLike, "*#b l m"],
    v: Float[ArrayLike, "*#b l c"],
    causal: bool = False,
    mask: Bool[Array | np.ndarray, "*#b l"] | None = None,
) -> Float[Array, "*b n c"]:
    """Attention as in :func:`linear`, from logarithms of positive features: safe at any scale.

    Sums carry exponents: for each feature i the greatest logarithm b_i over the keys that are summed, for
    each query the greatest exponent a of its terms. Both cancel in the quotient
    (:func:`rfcore.attention.stabilised`):

    ::

        S_i = sum_j e^(log phi(k_j)_i - b_i) v_j,   s_i likewise, with 1 in place of v_j
        out_j = sum_i c_i S_i / sum_i c_i s_i,   log c_i = log phi(q_j)_i + b_i - a
        a = max_i (log phi(q_j)_i + b_i)

    so that the denominator is at least 1. In causal attention b_i is a maximum over keys that all queries of
    a chunk may use, so that past outputs are the same to the bit whatever the future holds. (The published
    Performer code subtracts one greatest exponent over all keys, past and future.) Products are formed block
    by block and recomputed for gradients, so that memory per position does not grow with the length.

    Args:
        log_q, log_k: logarithms of features of the same frequencies, such as
            :func:`rfcore.features.log_positive` with ``kernel="softmax"``.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features
    >>> from rfcore import attention
    >>> x, v = 40 * jnp.eye(3), jnp.arange(3.0)[:, None]
    >>> log_phi = features.log_positive(x, couplings.orthogonal(jax.random.key(0), 30, 3), kernel="softmax")
    >>> bool(jnp.all(jnp.isfinite(attention.linear_of_logs(log_phi, log_phi, v, causal=True))))
    True
    """
    return quotient_of_logs(_wide, _wide, log_q, log_k, v, causal, mask, names=("log_q", "log_k"))


def quotient_of_logs(
    of_q: Callable[[Float[Array, "*b n d"]], Float[Array, "*b n m"]],
    of_k: Callable[[Float[Array, "*b l d"]], Float[Array, "*b l m"]],
    q: Float[ArrayLike, "*#b n d"],
    k: Float[ArrayLike, "*#b l d"],
    v: Float[ArrayLike, "*#b l c"],
    causal: bool,
    mask: Bool[Array | np.ndarray, "*#b l"] | None,
    names: tuple[str, str] = ("q", "k"),
) -> Float[Array, "*b n c"]:
    """:func:`linear_of_logs` of ``of_q(q)`` and ``of_k(k)``, computed block by block if attention is causal.

    Args:
        of_q, of_k: logarithms of features of rows, for any axes before those of q and k; pytrees
            (``jax.tree_util.Partial``) if they hold arrays.
        q, k: what they are features of.
        v, causal, mask: as for :func:`linear_of_logs`.
        names: names of q and k in error messages.
    """
    q, k, v, causal, mask, dtype = _checked(q, k, v, causal, mask, names)
    mask = jnp.ones(k.shape[-2], bool) if mask is None else mask
    return _quotient_of_logs(*map(jax.tree_util.Partial, (of_q, of_k)), q, hidden(k, mask), hidden(v, mask), mask, causal).astype(dtype)


@partial(jax.jit, static_argnames="causal")
def _linear(
    phi_q: Float[Array, "*#b n m"], phi_k: Float[Array, "*#b l m"], v: Float[Array, "*#b l c"], causal: bool
) -> Float[Array, "*b n c"]:
    v = with_ones(v)
    if causal:  # not scaled: with a maximum over all keys the past would depend on the future
        return quotient(of_features(phi_q, phi_k, v))
    sums = product(phi_k.mT, v)
    # Unscaled, products with features could underflow or overflow where the features do not.
    return quotient(product(phi_q, sums * _power(sums, -_exponents(sums, (-2, -1))) * _power(sums, -_exponents(phi_q, None))))


@partial(jax.jit, static_argnames="causal")
def _quotient_of_logs(
    of_q: Callable[[Float[Array, "*b n d"]], Float[Array, "*b n m"]],
    of_k: Callable[[Float[Array, "*b l d"]], Float[Array, "*b l m"]],
    q: Float[Array, "*#b n d"],
    k: Float[Array, "*#b l d"],
    v: Float[Array, "*#b l c"],
    mask: Bool[Array, "*#b l"],
    causal: bool,
) -> Float[Array, "*b n c"]:
    v = with_ones(v)
    if causal:
        return quotient(of_logs(of_q, of_k, q, k, v, mask))
    phi_q, phi_k, _ = scaled(of_q(q), hidden(of_k(k), mask, -jnp.inf))
    return quotient(product(phi_q, product(phi_k.mT, v)))


def _exponents(x: Float[Array, "..."], axis: int | tuple[int, ...] | None) -> Int[Array, "..."]:
    """Exponents e of the greatest absolute values along the axes, which are kept: values are below 2^e."""
    greatest = jax.lax.stop_gradient(jnp.max(jnp.abs(x), axis=axis, keepdims=True, initial=0)).astype(at_least_single(x))
    return jnp.frexp(greatest)[1]


def _power(x: Float[Array, "..."], exponents: Int[Array, "*shape"]) -> Float[Array, "*shape"]:
    """2^exponents, exact, in the dtype of x."""
    limit = jnp.finfo(jnp.float32 if x.dtype == jnp.bfloat16 else x.dtype).maxexp - 2
    return jnp.ldexp(jnp.ones((), at_least_single(x)), jnp.clip(exponents, -limit, limit)).astype(x.dtype)


def _wide(x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    return x.astype(at_least_single(x))


def with_ones(v: Float[Array, "*b c"]) -> Float[Array, "*b c+1"]:
    """Values with a column of ones, for the denominators."""
    return jnp.concatenate([v, jnp.ones_like(v[..., :1])], axis=-1)


def quotient(sums: Float[Array, "*b columns"]) -> Float[Array, "*b columns-1"]:
    """Sums of weighted values over those of weights, the last column."""
    below = sums[..., -1:]
    return sums[..., :-1] / jnp.where(below == 0, 1, below)  # 0 for a query without keys


def _checked(
    q: Float[ArrayLike, "..."],
    k: Float[ArrayLike, "..."],
    v: Float[ArrayLike, "..."],
    causal: bool,
    mask: Bool[Array | np.ndarray, "..."] | None,
    names: tuple[str, str],
) -> tuple[
    Float[Array, "*#b n d"],
    Float[Array, "*#b l d"],
    Float[Array, "*#b l c"],
    bool,
    Bool[Array | np.ndarray, "*#b l"] | None,
    np.dtype,
]:
    """The arguments, and the dtype of the outputs."""
    if checks.is_traced(causal):
        raise ValueError("causal is traced; give True or False, known when this is compiled (static_argnames)")
    q, k, v = (_rows(x, name) for x, name in zip((q, k, v), (*names, "v"), strict=True))
    dtype = jnp.result_type(q, k, v)
    q, k, v = (x.astype(jnp.float32) if x.dtype == jnp.float16 else x for x in (q, k, v))
    length = k.shape[-2]
    if k.shape[-1] != q.shape[-1]:
        raise ValueError(f"{names[1]} has shape {k.shape} and {names[0]} {q.shape}; give both the same number of columns")
    if length == 0:
        raise ValueError(f"{names[1]} has shape {k.shape}; give at least one key")
    if v.shape[-2] != length:
        raise ValueError(f"v has shape {v.shape}; give one value per key, {length} rows")
    if causal and q.shape[-2] != length:
        raise ValueError(f"{names[0]} has shape {q.shape}; causal attention takes one query per key: give {length} rows")
    leading = [x.shape[:-2] for x in (q, k, v)]
    if mask is not None:
        mask = mask if checks.is_traced(mask) else np.asarray(mask)
        if mask.dtype != bool:
            raise ValueError(f"mask has dtype {mask.dtype}; give booleans, True where a key is seen")
        if mask.ndim < 1 or mask.shape[-1] != length:
            raise ValueError(f"mask has shape {mask.shape}; give one value per key, shape (..., {length})")
        if mask.ndim - 1 > max(map(len, leading)):
            raise ValueError(f"mask has shape {mask.shape}; give one of keys, ({length},), and causal=True for a causal one")
        leading.append(mask.shape[:-1])
    try:
        jnp.broadcast_shapes(*leading)
    except ValueError:
        shapes = ", ".join(map(str, leading))
        raise ValueError(f"{names[0]}, {names[1]}, v{' and mask' * (mask is not None)} have leading axes {shapes}; give such as broadcast") from None
    return q, k, v, causal, mask, dtype


def _rows(x: Float[ArrayLike, "..."], name: str) -> Float[Array, "*b n d"]:
    x = checks.floating(x, name, as_it_is=True)
    if x.ndim < 2 or x.shape[-1] < 1:
        raise ValueError(f"{name} has shape {x.shape}; give one row per position, shape (..., n, d)")
    return x
