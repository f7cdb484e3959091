"""Softmax attention, its estimate by random features in linear time, and the error of normalised rows.

::

    out_i = sum_j a_ij v_j,   a_ij = k(q_i, k_j) / sum_l k(q_i, k_l)
    k(x, y) = exp(x . y) = E[phi(x) . phi(y)]

Queries (n, d), keys (l, d) and values (l, c) give outputs (n, c). Queries and keys are taken as they are: a
transformer's are multiplied by d^(-1/4) before. Causal attention (l = n) lets query i see keys 0, ..., i
alone.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from rfcore import checks
from rfcore.features import stabilised


class RowError(NamedTuple):
    """Mean squared errors of normalised rows, each of shape (n,), measured and explained."""

    measured: jax.Array
    """Mean over columns and repeats of (a^_ij - a_ij)^2."""
    first_order: jax.Array
    """What the delta method predicts from variances and covariances of the estimates."""
    equal_means: jax.Array
    """Eq. 8: the same with all kernel values of a row replaced by their mean, (variance - covariance) / (sum_j k_ij)^2."""
    variance: jax.Array
    """Mean over columns of Var(k^_ij)."""
    covariance: jax.Array
    """Mean over pairs of columns of Cov(k^_ij, k^_il), j = l included."""


def softmax(q, k, v, causal=False):
    """Exact attention, in quadratic time and memory.

    Source: Vaswani et al., "Attention is all you need" (2017), without the scale d^(-1/2).

    >>> import jax.numpy as jnp
    >>> from rfcore.models import attention
    >>> v = jnp.array([[1.0], [2.0]])
    >>> attention.softmax(jnp.zeros((2, 3)), jnp.eye(2, 3), v, causal=True).tolist()
    [[1.0], [1.5]]
    """
    q = checks.points(q, "q")
    k, v = checks.points(k, "k", n_columns=q.shape[1]), checks.points(v, "v")
    causal = _checked(q, k, v, causal, ("q", "k"))
    scores = q @ k.T
    if causal:
        scores = jnp.where(jnp.tri(len(q), dtype=bool), scores, -jnp.inf)
    return jax.nn.softmax(scores, axis=1) @ v


def linear(phi_q, phi_k, v, causal=False):
    """Attention from features, in linear time and memory.

    ::

        out_i = phi(q_i) . S / phi(q_i) . s,   S = sum_j phi(k_j) v_j^T,   s = sum_j phi(k_j)

    Memory is O((n + l) (m + c) + m c), causal or not; the gradient of the causal one keeps S for each place,
    O(n m c). Where features overflow or underflow, take :func:`linear_of_logs`.

    Args:
        phi_q, phi_k: features of the same frequencies, (n, m) and (l, m); positive, or phi(q_i) . s may be
            near 0.

    Source: Choromanski et al., "Rethinking attention with Performers" (2020).

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features
    >>> from rfcore.models import attention
    >>> q, k, v = 0.5 * jnp.eye(3), 0.3 * jnp.ones((3, 3)), jnp.arange(3.0)[:, None]
    >>> omega = couplings.orthogonal(jax.random.key(0), 300, 3)
    >>> phi_q, phi_k = (features.positive(x, omega, kernel="softmax") for x in (q, k))
    >>> out, exact = attention.linear(phi_q, phi_k, v), attention.softmax(q, k, v)
    >>> bool(jnp.allclose(out, exact, atol=0.1))
    True
    """
    phi_q = checks.points(phi_q, "phi_q")
    phi_k, v = checks.points(phi_k, "phi_k", n_columns=phi_q.shape[1]), checks.points(v, "v")
    if not _checked(phi_q, phi_k, v, causal, ("phi_q", "phi_k")):
        return _quotient(phi_q, phi_k.T @ v, phi_k.sum(axis=0))

    def step(sums, here):
        of_q, of_k, of_v = here
        sums = sums[0] + of_k[:, None] * of_v, sums[1] + of_k
        return sums, _quotient(of_q, *sums)

    start = jnp.zeros((phi_k.shape[1], v.shape[1]), jnp.result_type(phi_k, v)), jnp.zeros(phi_k.shape[1], phi_k.dtype)
    return jax.lax.scan(step, start, (phi_q, phi_k, v))[1]


def linear_of_logs(log_q, log_k, v, causal=False):
    """Attention as in :func:`linear`, from logarithms of positive features: safe at any scale.

    Without a causal mask, features are scaled by factors that cancel (:func:`rfcore.features.stabilised`).
    With it, each feature i carries the greatest exponent b_i of the keys so far, and its sums are rescaled
    when b_i grows to b'_i:

    ::

        b'_i = max(b_i, log phi(k_j)_i)
        S_i <- e^(b_i - b'_i) S_i + e^(log phi(k_j)_i - b'_i) v_j,   s_i likewise, with 1 in place of v_j
        out_j = sum_i c_i S_i / sum_i c_i s_i,  log c_i = log phi(q_j)_i + b'_i - max_l(log phi(q_j)_l + b'_l)

    As s_i >= 1 and the greatest c_i is 1, the denominator is at least 1; and nothing of a later key enters.
    (The published Performer code subtracts one greatest exponent over all keys, past and future.)

    Args:
        log_q, log_k: (n, m) and (l, m), such as :func:`rfcore.features.log_positive` with
            ``kernel="softmax"``.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features
    >>> from rfcore.models import attention
    >>> x, v = 40 * jnp.eye(3), jnp.arange(3.0)[:, None]
    >>> log_phi = features.log_positive(x, couplings.orthogonal(jax.random.key(0), 30, 3), kernel="softmax")
    >>> bool(jnp.all(jnp.isfinite(attention.linear_of_logs(log_phi, log_phi, v, causal=True))))
    True
    """
    log_q = checks.points(log_q, "log_q")
    log_k, v = checks.points(log_k, "log_k", n_columns=log_q.shape[1]), checks.points(v, "v")
    if not _checked(log_q, log_k, v, causal, ("log_q", "log_k")):
        return linear(*stabilised(log_q, log_k), v)

    def step(state, here):
        greatest, products, sums = state
        of_q, of_k, of_v = here
        grown = jax.lax.stop_gradient(jnp.maximum(greatest, of_k))  # cancels
        shrink, new = jnp.exp(greatest - grown), jnp.exp(of_k - grown)
        products, sums = shrink[:, None] * products + new[:, None] * of_v, shrink * sums + new
        exponents = of_q + grown
        weights = jnp.exp(exponents - jax.lax.stop_gradient(exponents.max()))
        return (grown, products, sums), _quotient(weights, products, sums)

    start = jnp.full(log_k.shape[1], -jnp.inf, log_k.dtype), jnp.zeros((log_k.shape[1], v.shape[1]), jnp.result_type(log_k, v))
    return jax.lax.scan(step, (*start, jnp.zeros(log_k.shape[1], log_k.dtype)), (log_q, log_k, v))[1]


def row_error(estimates, kernel):
    """Error of rows that are normalised after estimation, and its shares from variances and from covariances.

    With delta_j = k^_j - k_j of one row, S = sum_j k_j and a_j = k_j / S, to first order in delta / S,

    ::

        MSE(a^_j) = [Var(k^_j) - 2 a_j sum_l Cov(k^_j, k^_l) + a_j^2 sum_{l, l'} Cov(k^_l, k^_l')] / S^2
        equal k_j:  mean_j MSE(a^_j) = [mean_j Var(k^_j) - mean_{j, l} Cov(k^_j, k^_l)] / S^2    (Eq. 8)

    What is dropped is a share O(1 / m) of the error for m features, however many columns there are: the
    paper's O(1 / N^3) counts powers of S alone. Its Eq. 45 has -4 and +3 for -2 and +1; with equal means both
    give Eq. 8.

    Args:
        estimates: independent unbiased estimates of the kernel, (repeats, n, N).
        kernel: their mean, (n, N), above 0; each row may have a factor of its own, the same in both.

    Source: Variance-Reducing Couplings, Eqs. 8 and 44 to 46.
    """
    estimates, kernel = checks.floating(estimates, "estimates"), checks.points(kernel, "kernel")
    if estimates.ndim != 3 or estimates.shape[1:] != kernel.shape or 0 in estimates.shape:
        got = f"kernel has shape {kernel.shape} and estimates has shape {estimates.shape}"
        raise ValueError(f"{got}; give repeats of the kernel, shape (repeats, n, N)")
    if not checks.is_traced(kernel) and not np.asarray(kernel).min() > 0:
        raise ValueError(f"kernel has the value {kernel.min()}; give values above 0")
    total = kernel.sum(axis=1)
    weights, deltas = kernel / total[:, None], estimates - kernel
    sums = deltas.sum(axis=2, keepdims=True)
    measured = jnp.mean((estimates / estimates.sum(axis=2, keepdims=True) - weights) ** 2, axis=(0, 2))
    first_order = jnp.mean((deltas - weights * sums) ** 2, axis=(0, 2)) / total**2
    variance, covariance = jnp.mean(deltas**2, axis=(0, 2)), jnp.mean(sums[..., 0] ** 2, axis=0) / kernel.shape[1] ** 2
    return RowError(measured, first_order, (variance - covariance) / total**2, variance, covariance)


def leading_error(kernel, covariance):
    """Leading term of the error of a normalised row whose estimates have a known covariance C.

    ::

        1 / N sum_j [C_jj - 2 a_j sum_l C_jl + a_j^2 sum_{l, l'} C_ll'] / S^2,   S = sum_j k_j,  a_j = k_j / S

    Args:
        kernel, covariance: (..., N), above 0, and (..., N, N), such as of
            :func:`rfcore.papers.couplings.attention_rows.row_covariance`.

    Source: Variance-Reducing Couplings, Eq. 46, and Eq. 8 for equal values.
    """
    kernel, covariance = checks.floating(kernel, "kernel"), checks.floating(covariance, "covariance")
    if not kernel.ndim or not kernel.size or covariance.shape != (*kernel.shape, kernel.shape[-1]):
        got = f"kernel has shape {kernel.shape} and covariance has shape {covariance.shape}"
        raise ValueError(
            f"{got}; give a row or rows, shape (..., N), and their covariances, shape (..., N, N)"
        )
    if not checks.is_traced(kernel) and not np.asarray(kernel).min() > 0:
        raise ValueError(f"kernel has the value {kernel.min()}; give values above 0")
    total = kernel.sum(axis=-1)
    weights, sums = kernel / total[..., None], covariance.sum(axis=-1)
    own = (
        jnp.diagonal(covariance, axis1=-2, axis2=-1)
        - 2 * weights * sums
        + weights**2 * sums.sum(axis=-1)[..., None]
    )
    return own.mean(axis=-1) / total**2


def _quotient(weights, products, sums):
    below = weights @ sums
    return weights @ products / (below[..., None] if weights.ndim == 2 else below)


def _checked(q, k, v, causal, names):
    causal = checks.flag(causal, "causal")
    if len(k) == 0:
        raise ValueError(f"{names[1]} has shape {k.shape}; give at least one key")
    if len(v) != len(k):
        raise ValueError(f"v has shape {v.shape}; give one value per key, {len(k)} rows")
    if causal and len(q) != len(k):
        raise ValueError(f"{names[0]} has shape {q.shape}; causal attention takes one query per key: give {len(k)} rows")
    return causal
