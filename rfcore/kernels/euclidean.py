"""Kernels between points of Euclidean space."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float
from scipy import special

from rfcore import checks
from rfcore.precision import product

Kernel = Literal["gaussian", "softmax"]  # those that features of one frequency each estimate
KERNELS: tuple[Kernel, ...] = ("gaussian", "softmax")
FARTHEST = 1e4  # z = sqrt(2 nu) |X_i - Y_j| of a Matérn kernel: it is 0 there, also in float64


def gaussian(
    X: Float[ArrayLike, "n d"] | Sequence[Sequence[float]], Y: Float[ArrayLike, "l d"] | Sequence[Sequence[float]]
) -> Float[Array, "n l"]:
    """Gaussian kernel matrix of points X and Y.

    ::

        K[i, j] = exp(-|X_i - Y_j|^2 / 2)

    For another lengthscale pass ``X / lengthscale`` and ``Y / lengthscale``. Distances are computed from
    differences, since the expanded square loses half of the digits for close points; memory is therefore
    O(n l d).

    Source: Simplex Random Features, Eq. 4.

    >>> import numpy as np
    >>> from rfcore import kernels
    >>> K = kernels.gaussian(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 0.0]]))
    >>> bool(np.allclose(K, [[1], [np.exp(-0.5)]]))
    True
    """
    X = checks.points(X, "X")
    Y = checks.points(Y, "Y", n_columns=X.shape[1])
    return jnp.exp(-jnp.sum((X[:, None, :] - Y[None, :, :]) ** 2, axis=-1) / 2)


def matern(
    X: Float[ArrayLike, "n d"] | Sequence[Sequence[float]], Y: Float[ArrayLike, "l d"] | Sequence[Sequence[float]], nu: float
) -> Float[Array, "n l"]:
    """Matérn kernel matrix of points X and Y.

    ::

        K[i, j] = 2^(1 - nu) / Gamma(nu) z^nu K_nu(z),   z = sqrt(2 nu) |X_i - Y_j|,   K_nu Bessel's
        nu = 1/2: e^(-z);   3/2: (1 + z) e^(-z);   5/2: (1 + z + z^2 / 3) e^(-z)

    nu = 1/2 is the Laplace kernel; the limit as nu grows is the Gaussian kernel. nu, at most 100, must not be
    traced; nor must the points, except for nu = 1/2, 3/2 and 5/2, since the Bessel function is SciPy's. At
    coincident points, gradients are 0 and the Hessian is -nu / (nu - 1) I for nu = 3/2 and 5/2. For nu = 1/2
    the kernel is not differentiable there, and its derivative is defined as 0.

    Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, Eqs. 4.14 and 4.17.

    >>> import numpy as np
    >>> from rfcore import kernels
    >>> K = kernels.matern(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0]]), nu=0.5)
    >>> bool(np.allclose(K, [[1], [np.exp(-5)]]))
    True
    """
    X = checks.points(X, "X")
    Y = checks.points(Y, "Y", n_columns=X.shape[1])
    if checks.is_traced(nu):
        raise ValueError("nu is traced; give a number that is known when this is compiled")
    nu = checks.real(nu, "nu", above=0)
    if nu > 100:
        raise ValueError(f"nu = {nu}; give at most 100 (above, take the Gaussian kernel)")
    squares = jnp.sum((X[:, None, :] - Y[None, :, :]) ** 2, axis=-1)
    if nu in _FACTORS:
        return _half_integer(nu, nu, squares)
    if checks.is_traced(squares):
        raise ValueError(f"nu = {nu} with points that are traced; give nu = 0.5, 1.5 or 2.5 inside jax.jit and jax.grad")
    host = np.array(jnp.sqrt(2 * nu * squares), dtype=float)
    limits = jnp.finfo(squares.dtype)
    i, j = np.nonzero(~((host > limits.tiny**0.5 / limits.eps) & (host < FARTHEST)))  # where squares may underflow or overflow
    host[i, j] = math.sqrt(2 * nu) * np.hypot.reduce(np.asarray(X, dtype=float)[i] - np.asarray(Y, dtype=float)[j], axis=-1)
    host = np.minimum(host, FARTHEST)
    with np.errstate(all="ignore"):
        log_values = (1 - nu) * math.log(2) - special.gammaln(nu) + nu * np.log(host) + np.log(special.kve(nu, host)) - host
        # K_nu overflows only for nu above 20 or z below 1e-100.
        near = 1.0 if nu < 3 else 1 - host**2 / (4 * (nu - 1)) + host**4 / (32 * (nu - 1) * (nu - 2))
    return jnp.asarray(np.select([host == 0, log_values == np.inf], [1.0, near], np.exp(log_values)), squares.dtype)


_FACTORS = {0.5: lambda z: 1.0, 1.5: lambda z: 1 + z, 2.5: lambda z: 1 + z + z**2 / 3}


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _half_integer(order: float, nu: float, squares: Float[Array, "n l"]) -> Float[Array, "n l"]:
    """2^(1 - order) / Gamma(order) z^order K_order(z) at z = sqrt(2 nu squares)."""
    z = jnp.minimum(jnp.sqrt(2 * nu * squares), FARTHEST)
    return _FACTORS[order](z) * jnp.exp(-z)


@_half_integer.defjvp
def _(
    order: float, nu: float, primals: tuple[Float[Array, "n l"]], tangents: tuple[Float[Array, "n l"]]
) -> tuple[Float[Array, "n l"], Float[Array, "n l"]]:
    # The derivative in the squared distance is the kernel of order - 1, which avoids the 0 / 0 of sqrt at coincident points.
    (squares,), value = primals, _half_integer(order, nu, *primals)
    if order > 1:
        slope = -nu / (2 * (order - 1)) * _half_integer(order - 1, nu, squares)
    else:
        z = jnp.sqrt(2 * nu * jnp.where(squares > 0, squares, 1.0))
        slope = jnp.where(squares > 0, -nu / z * jnp.exp(-z), 0.0)
    return value, slope * tangents[0]


def softmax(
    X: Float[ArrayLike, "n d"] | Sequence[Sequence[float]], Y: Float[ArrayLike, "l d"] | Sequence[Sequence[float]]
) -> Float[Array, "n l"]:
    """Softmax kernel matrix of points X and Y: attention weights before normalisation.

    ::

        K[i, j] = exp(X_i . Y_j) = exp(|X_i|^2 / 2) exp(-|X_i - Y_j|^2 / 2) exp(|Y_j|^2 / 2)

    Raises ValueError if an exponential overflows; inside ``jax.jit``, where values are not known, such
    entries are infinite. The logarithm of K is ``X @ Y.T``.

    Source: Simplex Random Features, Eq. 5.

    >>> import numpy as np
    >>> from rfcore import kernels
    >>> K = kernels.softmax(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[2.0, 1.0]]))
    >>> bool(np.allclose(K, [[1], [np.exp(2)]]))
    True
    """
    X = checks.points(X, "X")
    Y = checks.points(Y, "Y", n_columns=X.shape[1])
    K = jnp.exp(product(X, Y.T))
    if not checks.is_traced(K) and not jnp.isfinite(K).all():
        got = f"X @ Y.T has values up to {jnp.max(X @ Y.T):.4g}, whose exponentials overflow in {K.dtype}"
        raise ValueError(f"{got}; give shorter points, or work with X @ Y.T, the logarithm")
    return K
