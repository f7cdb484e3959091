"""Mean squared error of positive features (Simplex Random Features, Theorem 3.2, Corollary 4.4).

Throughout v = |x + y|, between 0 and 30, couplings are "iid", "orthogonal" and "simplex", and for m > d the
factor m - 1 is that of :func:`partners`, since only pairs within a block of d count.
"""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from rfcore import checks
from rfcore.precision import product
from rfcore.theory.conformity import log_gap_coefficients, partners
from rfcore.theory.series import Angles, angles_in, check_range, pair, scaled_series


def positive_mse(
    x: Float[ArrayLike, " d"] | Sequence[float], y: Float[ArrayLike, " d"] | Sequence[float], m: int, coupling: str | Callable
) -> Float[Array, ""]:
    """Mean squared error of positive features' estimate of the Gaussian kernel of two points.

    ::

        MSE = 1/m exp(-2|x|^2 - 2|y|^2) [(e^(2 v^2) - e^(v^2)) + (m - 1) (rho(v) - e^(v^2))]   (Eq. 11)
            = 1/m exp(4 x.y) [1 - e^(-v^2) - (m - 1) (e^(v^2) - rho(v)) e^(-2 v^2)]

    The second form is evaluated: its bracket is between 0 and 1. Raises ValueError where the error overflows.

    Args:
        x, y: two points, with |x + y| at most 30.
        m: number of frequencies.
        coupling: "iid", "orthogonal" or "simplex", or these couplings themselves; others have a
            :func:`mse_ratio` that multiplies the error of "iid".

    Source: Simplex Random Features, Theorem 3.2.

    >>> import jax.numpy as jnp
    >>> from rfcore import theory
    >>> x, y = jnp.array([0.5, 0.0, 0.2]), jnp.array([0.1, 0.4, 0.0])
    >>> bool(theory.positive_mse(x, y, 3, "orthogonal") < theory.positive_mse(x, y, 3, "iid"))
    True
    """
    x, y, m, square, d, angles = _arguments(x, y, m, coupling)
    bracket = -jnp.expm1(-square) - square * _saving(square, m, d, angles)
    error = jnp.exp(4 * product(x, y)) / m * bracket
    if not checks.is_traced(error) and not jnp.isfinite(error):
        raise ValueError(f"x . y = {product(x, y)}: the error, about exp(4 x . y), overflows in {error.dtype}; take theory.mse_ratio")
    return error


def positive_gap(
    x: Float[ArrayLike, " d"] | Sequence[float],
    y: Float[ArrayLike, " d"] | Sequence[float],
    m: int,
    coupling: str | Callable = "orthogonal",
) -> Float[Array, ""]:
    """Error that a coupling saves positive features; for "orthogonal" the orthogonality gap.

    ::

        MSE(iid) - MSE(coupling) = (m - 1)/m exp(-2|x|^2 - 2|y|^2) (e^(v^2) - rho(v))
        orthogonal:  e^(v^2) - rho(v)
                     = sum_k v^2k / k! (1 - Gamma(d/2) Gamma(k + d) / (2^k Gamma(d) Gamma(k + d/2)))

    No term of the sum is negative, so that the gap loses no digits however small it is. Eq. 25 is printed
    without the 2^-k that its proof (Eq. 69) has.

    Source: Simplex Random Features, Corollary 4.4.
    """
    x, y, m, square, d, angles = _arguments(x, y, m, coupling)
    # With 4 x . y - v^2 = -|x - y|^2 nothing overflows.
    return jnp.exp(-jnp.sum(jnp.subtract(x, y) ** 2)) / m * square * _saving(square, m, d, angles, rate=1.0)


def positive_ratio(square: Float[Array, "*shape"], m: int, d: int, angles: Angles) -> Float[Array, "*shape"]:
    """Error over that under independence at v^2 = square, a function of v alone; its limit at 0.

    Source: Simplex Random Features, Section 5.1 and Figure 6.
    """
    close = square < 1e-3
    safe = jnp.where(close, 1.0, square)
    over_iid = jnp.where(close, 1 + square / 2 + square**2 / 12, safe / -jnp.expm1(-safe))
    return 1 - _saving(square, m, d, angles) * over_iid


def _saving(square: Float[Array, "*shape"], m: int, d: int, angles: Angles, rate: float = 2.0) -> Float[Array, "*shape"]:
    """partners (exp(v^2) - rho(v)) exp(-rate v^2) / v^2: the coupling's gain over v^2, up to a factor."""
    if angles == "iid":
        return jnp.zeros_like(square)
    return partners(m, d) * scaled_series(log_gap_coefficients(d, angles), square, rate)


def _arguments(
    x: Float[ArrayLike, " d"] | Sequence[float], y: Float[ArrayLike, " d"] | Sequence[float], m: int, coupling: str | Callable
) -> tuple[Float[Array, " d"], Float[Array, " d"], int, Float[Array, ""], int, Angles]:
    m, (x, y) = checks.count(m, "m"), pair(x, y)
    square = jnp.sum((x + y) ** 2)
    check_range(jnp.sqrt(jax.lax.stop_gradient(square)), "|x + y|")
    return x, y, m, square, *angles_in(x.shape[0], coupling)
