"""Mean squared error of Fourier features (Simplex Random Features, Section 4.1), without oscillating series.

With z = |x - y| the part of the error that a coupling changes is

::

    rho(z) = E[cos(omega_i . (x - y)) cos(omega_j . (x - y))] = (rho_+ + rho_-) / 2
    rho_+- = E[ 0F1(; d/2; -z^2 w^2 / 4) ],  w = |omega_i +- omega_j|

the conformity of positive features at an imaginary v, where its power series alternates with terms up to
exp(z^2). Kummer's transformation 1F1(d; d/2; -s) = e^(-s) 1F1(-d/2; d/2; s) makes a mean of it:

::

    rho = E[c_K],  K ~ Poisson(z^2 (1 +- cosine sin u) / 2),  c_k = prod_{j < k} (j - d/2) / (j + d/2)

with u as in :mod:`rfcore.theory.series` and the cosine of the angle between two directions. A mean of numbers
of at most 1 loses no digits, however large z and d are. The paper leaves out the simplex, where
omega_i + omega_j and omega_i - omega_j have different lengths; the mean of the two is no harder. Here z is at
most 30, m counts frequencies (of which there are 2 m features), couplings are "iid", "orthogonal" and
"simplex", and for m > d the factor m - 1 is that of :func:`partners`.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from rfcore import checks
from rfcore.theory.conformity import partners
from rfcore.theory.series import (
    LOG_FACTORIAL,
    Angles,
    K,
    adds_axes,
    angles,
    angles_in,
    check_range,
    constant,
    pair,
)


def fourier_mse(
    x: Float[ArrayLike, " d"] | Sequence[float], y: Float[ArrayLike, " d"] | Sequence[float], m: int, coupling: str | Callable
) -> Float[Array, ""]:
    """Mean squared error of Fourier features' estimate of the Gaussian kernel of two points.

    ::

        MSE = 1/m [(1 - e^(-z^2))^2 / 2 + (m - 1) (rho(z) - e^(-z^2))],  z = |x - y|    (Eq. 74)
        rho(z) = E[cos(omega_i . (x - y)) cos(omega_j . (x - y))]

    Args:
        x, y: two points, at most 30 apart.
        m: number of frequencies.
        coupling: "iid", "orthogonal" or "simplex", or these couplings themselves; others have a
            :func:`mse_ratio` that multiplies the error of "iid".

    Source: Simplex Random Features, Theorem 4.5 and its proof; "simplex" goes beyond it.

    >>> import jax.numpy as jnp
    >>> from rfcore import theory
    >>> x, y = jnp.array([0.5, 0.0, 0.2]), jnp.array([0.1, 0.4, 0.0])
    >>> bool(theory.fourier_mse(x, y, 3, "orthogonal") < theory.fourier_mse(x, y, 3, "iid"))
    True
    """
    m, square, d, angles = _arguments(x, y, m, coupling)
    return (jnp.expm1(-square) ** 2 / 2 - partners(m, d) * _gap(square, d, angles)) / m


def fourier_gap(
    x: Float[ArrayLike, " d"] | Sequence[float],
    y: Float[ArrayLike, " d"] | Sequence[float],
    m: int,
    coupling: str | Callable = "orthogonal",
) -> Float[Array, ""]:
    """Error that a coupling saves Fourier features; for "orthogonal" the orthogonality gap.

    ::

        MSE(iid) - MSE(coupling) = (m - 1)/m (e^(-z^2) - rho(z)),  z = |x - y|              (Eq. 26)

    It is negative where the coupling harms. The absolute error is about 1e-15 in float64; small z keep their
    digits.

    Source: Simplex Random Features, Theorem 4.5.
    """
    m, square, d, angles = _arguments(x, y, m, coupling)
    return partners(m, d) / m * _gap(square, d, angles)


def fourier_ratio(square: Float[Array, "*shape"], m: int, d: int, angles: Angles) -> Float[Array, "*shape"]:
    """Error over that under independence at z^2 = square.

    ::

        MSE(coupling) / MSE(iid) = 1 - 2 (m - 1) (e^(-z^2) - rho(z)) / (1 - e^(-z^2))^2

    At z = 0, where both errors vanish, it is its limit: 1 - (m - 1) / (d + 2) for "orthogonal" and m <= d,
    and up to z^2 = eps, the rounding of the dtype. Only the value is the limit: derivatives are computed as 0
    there, which is wrong for the second one.

    Source: Simplex Random Features, Section 4.1 (Eq. 77 is printed with 1 + e^(-z^2) for 1 - e^(-z^2)).
    """
    square = jnp.maximum(square, jnp.finfo(square.dtype).eps)  # close enough to the limit: the next order is z^2
    return 1 - 2 * partners(m, d) * _gap(square, d, angles) / jnp.expm1(-square) ** 2


def _gap(square: Float[Array, "*shape"], d: int, angles: Angles) -> Float[Array, "*shape"]:
    """e^(-z^2) - rho(z) at z^2 = square, of order z^4 where z is small and computed so."""
    if angles == "iid":
        return jnp.zeros_like(square)
    tables = (K, LOG_FACTORIAL, _coefficients(d), *_pair_angles(d, angles))
    return _gap_from(*map(constant, tables), square)


@jax.jit
@adds_axes
def _gap_from(
    k: Float[Array, " k"],
    log_factorial: Float[Array, " k"],
    coefficients: Float[Array, " k"],
    stretch: Float[Array, " nodes"],
    weights: Float[Array, " nodes"],
    tilt: Float[Array, " nodes"],
    square: Float[Array, "*shape"],
) -> Float[Array, "*shape"]:
    # Near z = 0 the two terms agree up to z^4. There e^(-2y) = E[(-1)^K] is added to the mean, whose terms then start
    # at k = 2; elsewhere the mean of (-1)^K would lose digits of c_K.
    near = square < 8
    signs = jnp.where(k % 2, -1.0, 1.0)
    mean = square[..., None] / 2 * stretch
    terms = jnp.where(near[..., None, None], signs - coefficients, -coefficients)
    per_angle = jnp.sum(_poisson(mean, k, log_factorial) * terms, axis=-1) + jnp.where(near[..., None], 0.0, jnp.exp(-2 * mean))
    # The remainder is e^(-z^2) - E_u[e^(-2y)] = -e^(-z^2) E_u[cosh(z^2 cosine sin u) - 1], for u and both signs.
    bent = square[..., None] * tilt
    return jnp.sum(weights * (per_angle - jnp.exp(bent - square[..., None]) * jnp.expm1(-bent) ** 2 / 2), axis=-1)


def _poisson(mean: Float[Array, "..."], k: Float[Array, " k"], log_factorial: Float[Array, " k"]) -> Float[Array, "..."]:
    """Poisson probabilities of k = 0, 1, ... for the given means, along a new last axis."""
    mean = mean[..., None]
    positive = mean > 0
    log_mean = jnp.log(jnp.where(positive, mean, 1.0))
    return jnp.where(positive, jnp.exp(k * log_mean - log_factorial - mean), (k == 0).astype(mean.dtype))


@lru_cache
def _coefficients(d: int) -> Float[np.ndarray, " k"]:
    return np.concatenate([[1.0], np.cumprod((K[:-1] - d / 2) / (K[:-1] + d / 2))])


@lru_cache
def _pair_angles(d: int, coupling: Angles) -> tuple[Float[np.ndarray, " nodes"], ...]:
    """1 +- cosine sin u at the nodes and both signs, their weights, and |cosine| sin u."""
    if coupling == "orthogonal":
        return np.ones(1), np.ones(1), np.zeros(1)
    sine, log_weights = angles(d)
    tilt = np.concatenate([sine, sine]) / (d - 1)
    sign = np.repeat([1.0, -1.0], len(sine))
    return 1 + sign * tilt, np.tile(np.exp(log_weights) / 2, 2), tilt


def _arguments(
    x: Float[ArrayLike, " d"] | Sequence[float], y: Float[ArrayLike, " d"] | Sequence[float], m: int, coupling: str | Callable
) -> tuple[int, Float[Array, ""], int, Angles]:
    m = checks.count(m, "m")
    x, y = pair(x, y)
    square = jnp.sum((x - y) ** 2)
    check_range(jnp.sqrt(jax.lax.stop_gradient(square)), "|x - y|")
    return m, square, *angles_in(x.shape[0], coupling)
