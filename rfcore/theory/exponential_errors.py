"""Variance of exponential features, positive ones among them, in logarithms and without cancellation.

For parameters A, B, independent frequencies and u = B_x x + B_y y (after subtracting the centres),

::

    r(x, y) = log E(phi(x) psi(y))^2 - 2 log k(x, y)
            = sum_l [log1p(16 A_l^2 / (1 - 8 A_l)) / 2 + u_l^2 / ((1 - 4 A_l) (1 - 8 A_l))]
    Var / k(x, y)^2 = e^r - 1

for one frequency; m independent ones have an m-th of this variance. The ratio is the same for the Gaussian
and for the softmax kernel, since factors of the points divide out. This is FAVOR#'s Eq. 15, its quadratic
forms in C written with B, so that every term is positive.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from rfcore import checks, precision
from rfcore.sharding import varying
from rfcore.theory.series import adds_axes


def log_relative_moment(
    X: Float[ArrayLike, "n d"], Y: Float[ArrayLike, "l d"], parameters: Any
) -> Float[Array, "n l"]:
    """Logarithm r of the second moment of exponential features over the squared kernel, for all pairs.

    It is 0 for features without variance. The module's form follows from FAVOR#'s by the conditions on C and
    B,

    ::

        2 x'C_x x + 2 y'C_y y - 2 x.y = -u'(I - 4 A)^-1 u
        2 / (1 - 8 A) - 1 / (1 - 4 A) = 1 / ((1 - 4 A) (1 - 8 A))
        (1 - 4 A)^2 / (1 - 8 A) = 1 + 16 A^2 / (1 - 8 A)

    Memory is O((n + l) d + n l).

    Args:
        parameters: :class:`rfcore.features.ExponentialParameters`; its defaults give positive features,
            r = |x + y|^2.

    Source: FAVOR#, Theorem 4.1.
    """
    return _log_relative_moment(*_checked(X, Y, parameters))


def log_relative_variance(
    X: Float[ArrayLike, "n d"], Y: Float[ArrayLike, "l d"], parameters: Any
) -> Float[Array, "n l"]:
    """Logarithm of the variance of exponential features over the squared kernel, for all pairs of points.

    ::

        log Var(phi(x) psi(y)) / k(x, y)^2 = log(e^r - 1)

    for one frequency; subtract log m for m independent ones. It is -inf where there is no variance.

    Source: FAVOR#, Eq. 15, over K^2; Section 5.1 divides by K, which is no ratio.
    """
    return log_of_expm1(log_relative_moment(X, Y, parameters))


def shifted_log_variance(X: Float[ArrayLike, "n d"], Y: Float[ArrayLike, "l d"], parameters: Any) -> Float[Array, ""]:
    """Mean over pairs of the logarithm of the second moment, for the softmax kernel: what FAVOR# minimises.

    ::

        mean over x, y of log(Var(phi(x) psi(y)) + k(x, y)^2) = mean of r(x, y) + 2 mean x . y

    A differentiable scalar, in O((n + l) d^2). Its minimum, reached without any variance, is 2 mean x . y,
    the mean of log k^2; the text after Eq. 14 has log k.

    Source: FAVOR#, Eq. 14.
    """
    return _shifted_log_variance(*_checked(X, Y, parameters, least=1))


def log_of_expm1(r: Float[Array, "..."]) -> Float[Array, "..."]:
    """log(e^r - 1) for r >= 0, whatever its size; -inf at 0, where slopes are 0."""
    positive = r > 0
    safe = jnp.where(positive, r, 1)
    return jnp.where(positive, safe + jnp.log(-jnp.expm1(-safe)), -jnp.inf)


@jax.jit
@precision.full
def _log_relative_moment(X: Float[Array, "n d"], Y: Float[Array, "l d"], parameters: Any) -> Float[Array, "n l"]:
    u, v = parameters.moved(X), parameters.swapped().moved(Y)
    constant, weights = _terms(parameters)
    return constant + sums_of_squares(u, v, weights)


def sums_of_squares(
    u: Float[Array, "n d"], v: Float[Array, "l d"], weights: float | Float[Array, " d"] = 1.0
) -> Float[Array, "n l"]:
    """sum_k (weights_k (u_ik + v_jk))^2 for all pairs.

    One coordinate at a time, without an array (n, l, d); expanding the squares would cause cancellation.
    """

    def added(total: Float[Array, "n l"], coordinate: tuple[Array, Array, Array]) -> tuple[Float[Array, "n l"], None]:
        a, b, weight = coordinate
        return total + (weight * (a[:, None] + b[None])) ** 2, None

    weights = jnp.broadcast_to(jnp.asarray(weights, u.dtype), u.shape[1:])
    return jax.lax.scan(added, varying(jnp.zeros((len(u), len(v)), u.dtype), u, v, weights), (u.T, v.T, weights))[0]


@jax.jit
@precision.full
@adds_axes
def _shifted_log_variance(X: Float[Array, "n d"], Y: Float[Array, "l d"], parameters: Any) -> Float[Array, ""]:
    u, v = parameters.moved(X), parameters.swapped().moved(Y)
    constant, weights = _terms(parameters)
    means = jnp.mean(u, axis=0) + jnp.mean(v, axis=0)
    squares = (weights * means) ** 2 + jnp.var(weights * u, axis=0) + jnp.var(weights * v, axis=0)
    return constant + jnp.sum(squares) + 2 * jnp.mean(X, axis=0) @ jnp.mean(Y, axis=0)


def _terms(parameters: Any) -> tuple[float | Float[Array, ""], float | Float[Array, " d"]]:
    """r at u = 0, and the roots of the weights of u^2: for far points A is as large as their squares."""
    A = parameters.A
    if A is None:
        return 0.0, 1.0
    return jnp.sum(jnp.log1p(16 * A * (A / (1 - 8 * A)))) / 2, 1 / (jnp.sqrt(1 - 4 * A) * jnp.sqrt(1 - 8 * A))


def _checked(
    X: Float[ArrayLike, "n d"], Y: Float[ArrayLike, "l d"], parameters: Any, least: int = 0
) -> tuple[Float[Array, "n d"], Float[Array, "l d"], Any]:
    X = checks.points(X, "X", least=least)
    Y = checks.points(Y, "Y", n_columns=X.shape[1], least=least)
    if not hasattr(parameters, "moved"):
        got = f"parameters is of type {type(parameters).__name__}"
        raise ValueError(f"{got}; give features.ExponentialParameters, such as solvers.exponential.gerf(X, Y)")
    A = parameters.A
    if A is not None and not checks.is_traced(A) and not np.all(np.asarray(A) < 0.125):
        raise ValueError(f"parameters.A = {A} has values of 1/8 or more, where the variance is infinite; give lower ones")
    return X, Y, parameters
