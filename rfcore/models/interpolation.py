"""Values of nodes that have none, such as normals of a mesh: kernel-weighted sums of the known ones.

JAX throughout: the error is differentiable in the modulation behind the kernel.

Source: Universal Graph Random Features, Section 3.5.
"""

import jax
import jax.numpy as jnp
import numpy as np

from rfcore import checks


def weighted_sums(kernel, values, known):
    """Sums v_i = sum over known j of K_ij v_j for every node i, not normalised, (N, c).

    The kernel is a matrix or the product ``v -> K v``: ``lambda v: phi_1 @ (phi_2.T @ v)`` with features,
    which are ``deposits.with_modulation(f)`` where gradients of f are wanted. ``known`` is a bool array,
    (N,).
    """
    values = jnp.asarray(checks.numbers(values, "values"))
    known = known if isinstance(known, jax.Array) else np.asarray(known)
    if values.ndim != 2:
        raise ValueError(f"values has shape {values.shape}; give one row per node, shape (N, c)")
    if known.shape != values.shape[:1] or known.dtype != bool:
        got = f"known has shape {known.shape} and dtype {known.dtype}"
        raise ValueError(f"{got}; give one bool per row of values, shape {values.shape[:1]}")
    masked = checks.finite(jnp.where(known[:, None], values, 0.0), "values, where known,")
    if not callable(kernel):
        kernel = jnp.asarray(checks.finite(checks.numbers(kernel, "kernel"), "kernel"))
        if kernel.shape != (len(values), len(values)):
            raise ValueError(f"kernel has shape {kernel.shape}, values {values.shape}; give one row and column per node")
        return kernel @ masked
    sums = jnp.asarray(kernel(masked))
    if sums.shape != values.shape:
        raise ValueError(f"kernel(v) has shape {sums.shape} for v of shape {values.shape}; give K v")
    return sums


def angular_error(predicted, truth):
    """Mean of 1 - cos(angle) between rows; a row of zeros points nowhere, and its cosine counts as 0."""
    predicted, truth = checks.points(predicted, "predicted"), checks.points(truth, "truth")
    if predicted.shape != truth.shape or len(truth) == 0:
        raise ValueError(f"predicted has shape {predicted.shape}, truth {truth.shape}; give equal shapes, with rows")
    return 1 - jnp.mean(jnp.sum(_directions(predicted) * _directions(truth), axis=1))


def _directions(rows):
    # Of entries below 4 squares neither under- nor overflow. By a power of two, which rounds nothing.
    largest = jax.lax.stop_gradient(jnp.max(jnp.abs(rows), axis=1, keepdims=True))
    largest = jnp.where(largest > 0, largest, 2.0)  # makes 1
    rows = rows / jnp.maximum(largest / (4 * jnp.frexp(largest)[0]), jnp.finfo(rows.dtype).tiny)
    square = jnp.sum(rows**2, axis=1, keepdims=True)
    return rows / jnp.sqrt(jnp.where(square > 0, square, 1.0))
