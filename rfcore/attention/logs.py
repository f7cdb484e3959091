"""Quotients of sums of positive features that overflow or underflow, from their logarithms.

Logarithms of features come from :func:`rfcore.features.log_positive` or
:func:`rfcore.features.log_exponential`, those of queries and keys with the same frequencies.
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from rfcore import checks


def stabilised(log_q: Float[ArrayLike, "n m"], log_k: Float[ArrayLike, "k m"]) -> tuple[Float[Array, "n m"], Float[Array, "k m"]]:
    """Positive features of queries q and keys k for a quotient, scaled by factors that cancel in it.

    ::

        out(q) = sum_k [phi(q) . phi(k)] v_k / sum_k [phi(q) . phi(k)]      attention; a vote for one-hot v_k

        b_i = max_k log phi(k)_i,   a(q) = max_i (log phi(q)_i + b_i)
        phi'(q)_i = exp(log phi(q)_i + b_i - a(q)),   phi'(k)_i = exp(log phi(k)_i - b_i)         are returned

    **They cancel.** phi'(q)_i phi'(k)_i = e^(-a(q)) phi(q)_i phi(k)_i, and e^(-a(q)), the same for all keys
    and all features, divides out. A factor for each *key* would not: it changes the weights of the keys.

    **Nothing overflows, and no query is lost.** All exponents are at most 0. For each query some phi'(q)_i is
    1, and for each feature some key has phi'(k)_i = 1, so the denominator is at least 1, and underflow
    changes it by less than keys times features times the smallest positive float. The usual choice, one
    factor for all keys in place of the b_i, gives 0 / 0 for queries whose large features are those that
    underflow for every key.

    **Not for causal attention.** b_i is a maximum over all keys, so a future key that is large enough makes
    the past underflow, and changes it. Call this for each query with its past, or use
    :func:`rfcore.attention.linear_of_logs`.

    Args:
        log_q, log_k: logarithms of features, of at least one key.

    Returns:
        phi_q and phi_k, in [0, 1], for quotients and for the key of greatest score; not estimates of kernels.

    Source: Choromanski et al. (2020), published code, with one exponent per query and one over all keys.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import attention, couplings, features
    >>> omega = couplings.simplex(jax.random.key(0), 8, 3)
    >>> logs = (features.log_positive(x, omega, kernel="softmax") for x in (30 * jnp.eye(3), jnp.eye(3)))
    >>> phi_q, phi_k = attention.stabilised(*logs)  # positive features of these queries all underflow
    >>> bool(jnp.all(phi_q @ phi_k.sum(axis=0) >= 1))
    True
    """
    log_q, log_k = checks.points(log_q, "log_q"), checks.points(log_k, "log_k")
    if log_q.shape[1] != log_k.shape[1]:
        got = f"log_k has {log_k.shape[1]} columns and log_q {log_q.shape[1]}"
        raise ValueError(f"{got}; give features of the same frequencies")
    if len(log_k) == 0:
        raise ValueError(f"log_k has shape {log_k.shape}; give at least one key")
    return scaled(log_q, log_k)[:2]


@jax.jit
def scaled(
    log_q: Float[Array, "*#b n m"], log_k: Float[Array, "*#b k m"]
) -> tuple[Float[Array, "*b n m"], Float[Array, "*#b k m"], Float[Array, "*b n 1"]]:
    """phi'(q), phi'(k), a(q) of :func:`stabilised`, for any leading axes; -inf for masked keys."""
    of_features = jax.lax.stop_gradient(log_k.max(axis=-2, keepdims=True))  # cancels
    read = log_q + of_features
    of_queries = jax.lax.stop_gradient(read.max(axis=-1, keepdims=True))
    return jnp.exp(read - finite(of_queries)), jnp.exp(log_k - finite(of_features)), of_queries


def finite(exponents: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Exponents to subtract: 0 in place of -inf, the exponent of an empty sum."""
    return jnp.where(exponents == -jnp.inf, 0, exponents)
