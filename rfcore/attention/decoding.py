"""Attention from features, token by token: what a model needs to generate, in memory that does not grow.

::

    S <- S + phi(k) v^T,   s <- s + phi(k),   out = phi(q) . S / phi(q) . s

for each new token, where exact attention keeps all keys and values. Outputs are those of the causal
:func:`rfcore.attention.linear` at each position, up to rounding. From logarithms of features, sums carry the
greatest exponent of each feature over the keys so far, as in :func:`rfcore.attention.linear_of_logs`.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from rfcore import checks
from rfcore.attention.causal import hidden
from rfcore.attention.logs import finite
from rfcore.attention.quotients import quotient, with_ones
from rfcore.precision import at_least_single, product


class State(eqx.Module):
    """Sums over the keys and values so far: a pytree of fixed size, to be carried by ``jax.lax.scan``."""

    sums: Float[Array, "*b m c+1"]
    """sum_j phi(k_j) (v_j, 1)^T, in float32 at least; of logarithms divided by e^exponents, feature by feature."""
    exponents: Float[Array, "*b m"] | None
    """Greatest logarithm of each feature, -inf before the first key; None where features are no logarithms."""


def linear_state(
    phi_k: Float[ArrayLike, "*b l m"], v: Float[ArrayLike, "*b l c"], mask: Bool[Array | np.ndarray, "*#b l"] | None = None
) -> State:
    """Sums over the keys and values of a prompt, for :func:`linear_step`; no rows (l = 0) to begin with none.

    Args:
        phi_k: features of keys.
        v: values.
        mask: False for padding; None for none.

    Source: Katharopoulos et al., "Transformers are RNNs" (2020), Section 3.4.

    >>> import jax.numpy as jnp
    >>> from rfcore import attention
    >>> attention.linear_state(jnp.ones((0, 4)), jnp.ones((0, 2))).sums.shape  # before the first token
    (4, 3)
    """
    phi_k, v, seen = _prompt(phi_k, "phi_k", v, mask)
    return State(product(hidden(phi_k, seen).mT, with_ones(v)), None)


def linear_state_of_logs(
    log_k: Float[ArrayLike, "*b l m"], v: Float[ArrayLike, "*b l c"], mask: Bool[Array | np.ndarray, "*#b l"] | None = None
) -> State:
    """As :func:`linear_state`, from logarithms of features, for :func:`linear_step_of_logs`.

    Args:
        log_k: logarithms of features of keys.
        v, mask: as there.
    """
    log_k, v, seen = _prompt(log_k, "log_k", v, mask)
    log_k = hidden(log_k, seen, -jnp.inf)
    exponents = jax.lax.stop_gradient(jnp.max(log_k, axis=-2, initial=-jnp.inf))  # cancels
    return State(product(jnp.exp(log_k - finite(exponents)[..., None, :]).mT, with_ones(v)), exponents)


def linear_step(
    state: State, phi_q: Float[ArrayLike, "*b m"], phi_k: Float[ArrayLike, "*b m"], v: Float[ArrayLike, "*b c"]
) -> tuple[Float[Array, "*b c"], State]:
    """Output of one more token, which attends to all before it and to itself; and the new sums.

    Args:
        state: from :func:`linear_state`, or of the token before.
        phi_q, phi_k: features of the token's query and key, of the same frequencies as those before.
        v: its value.

    Source: Katharopoulos et al., "Transformers are RNNs" (2020), Section 3.4.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import attention
    >>> phi_q, phi_k, v = jax.random.uniform(jax.random.key(0), (3, 5, 4))
    >>> state, outs = attention.linear_state(phi_k[:2], v[:2]), []
    >>> for token in zip(phi_q[2:], phi_k[2:], v[2:]):
    ...     out, state = attention.linear_step(state, *token)
    ...     outs.append(out)
    >>> bool(jnp.allclose(jnp.stack(outs), attention.linear(phi_q, phi_k, v, causal=True)[2:], atol=1e-5))
    True
    """
    if state.exponents is not None:
        raise ValueError("state comes from logarithms of features; give them to linear_step_of_logs")
    (phi_q, phi_k, v), dtype = _token(state, phi_q, phi_k, v, ("phi_q", "phi_k"))
    state = State(state.sums + phi_k[..., :, None] * with_ones(v)[..., None, :], None)
    return _read(phi_q, state).astype(dtype), state


def linear_step_of_logs(
    state: State, log_q: Float[ArrayLike, "*b m"], log_k: Float[ArrayLike, "*b m"], v: Float[ArrayLike, "*b c"]
) -> tuple[Float[Array, "*b c"], State]:
    """As :func:`linear_step`, from logarithms of positive features: safe at any scale.

    Args:
        state: from :func:`linear_state_of_logs`, or of the token before.
        log_q, log_k: logarithms of features of the token's query and key.
        v: its value.
    """
    if state.exponents is None:
        raise ValueError("state comes from features that are no logarithms; give those to linear_step")
    (log_q, log_k, v), dtype = _token(state, log_q, log_k, v, ("log_q", "log_k"))
    exponents = jax.lax.stop_gradient(jnp.maximum(state.exponents, log_k))
    kept, added = (jnp.exp(x - finite(exponents))[..., None] for x in (state.exponents, log_k))
    state = State(kept * state.sums + added * with_ones(v)[..., None, :], exponents)
    read = log_q + exponents
    greatest = jax.lax.stop_gradient(read.max(axis=-1, keepdims=True))
    return _read(jnp.exp(read - finite(greatest)), state).astype(dtype), state


def _read(phi_q: Float[Array, "*b m"], state: State) -> Float[Array, "*b c"]:
    return quotient(product(phi_q[..., None, :], state.sums))[..., 0, :]


def _prompt(
    k: Float[ArrayLike, "*b l m"], name: str, v: Float[ArrayLike, "*b l c"], mask: Bool[Array | np.ndarray, "*#b l"] | None
) -> tuple[Float[Array, "*b l m"], Float[Array, "*b l c"], Bool[Array | np.ndarray, "*#b l"]]:
    """Keys, and values without those that are masked, in float32 at least; and the mask."""
    k, v = checks.floating(k, name, as_it_is=True), checks.floating(v, "v", as_it_is=True)
    if k.ndim < 2 or k.shape[:-1] != v.shape[:-1]:
        raise ValueError(f"{name} has shape {k.shape} and v {v.shape}; give one row per token, (..., l, m) and (..., l, c)")
    seen = np.ones(k.shape[-2], bool) if mask is None else mask if checks.is_traced(mask) else np.asarray(mask)
    fits = 0 < seen.ndim < k.ndim and all(n in (1, wanted) for n, wanted in zip(seen.shape[::-1], k.shape[-2::-1], strict=False))
    if seen.dtype != bool or not fits or seen.shape[-1] != k.shape[-2]:
        raise ValueError(f"mask has shape {seen.shape}, dtype {seen.dtype}; give booleans, one per token, {k.shape[:-1]}")
    wide = at_least_single(k, v)
    return k.astype(wide), hidden(v.astype(wide), seen), seen


def _token(
    state: State, q: ArrayLike, k: ArrayLike, v: ArrayLike, names: tuple[str, str]
) -> tuple[list[Float[Array, "*b _"]], np.dtype]:
    """What belongs to a token, in the dtype of the sums, and the dtype of its output."""
    arrays = [checks.floating(x, name, as_it_is=True) for x, name in zip((q, k, v), (*names, "v"), strict=True)]
    *leading, m, columns = state.sums.shape
    for x, name, size in zip(arrays, (*names, "v"), (m, m, columns - 1), strict=True):
        if x.shape != (*leading, size):
            raise ValueError(f"{name} has shape {x.shape}; give that of one token, {(*leading, size)}, as state has it")
    return [x.astype(state.sums.dtype) for x in arrays], np.dtype(jnp.result_type(*arrays))
