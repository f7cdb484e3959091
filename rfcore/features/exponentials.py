"""Exponential features and their parameters: positive features of affinely transformed points."""

import math
from dataclasses import fields
from functools import partial
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike, DTypeLike
from jaxtyping import Array, Float

from rfcore import checks, precision
from rfcore.features.frequencies import Frequencies, as_narrow, checked
from rfcore.kernels.euclidean import Kernel

Side = Literal["x", "y"]
Vector = Float[Array, "*heads d"] | Float[np.ndarray, "*heads d"]
Factor = Float[Array, "..."] | Float[np.ndarray, "..."] | float


class ExponentialParameters(eqx.Module):
    """Parameters of a pair of exponential features, f_x of x and f_y of y, for the softmax kernel.

    ::

        f_x(omega, x) = D exp(omega' A omega + omega' B_x x + x' C_x x),   f_y(omega, y) with B_y and C_y

        E[f_x f_y] = exp(x . y)  where  8 A < I,          B_x' (I - 4 A)^-1 B_y = I,
                                        D = det(I - 4 A)^(1/4),  C = -1/2 B' (I - 4 A)^-1 B

    so A and B determine everything; for an A that is not diagonal see :func:`dense`. With
    T = (I - 4 A)^(-1/2) B_x they are positive features of T x and T^-T y, whose scalar product is that of x
    and y, with importance sampling of the frequencies from N(0, I - 4 A). With centres a and b they are
    features of x - a and y - b, and factors of the points restore the difference exactly:

    ::

        exp(x . y) = exp((x - a) . (y - b)) exp(b . (x - a) + a . b / 2) exp(a . (y - b) + a . b / 2)

    Centres shift the mean of the proposal by (I - 4 A)^(-1/2) (B_x a + B_y b). A pytree of arrays:
    ``jax.vmap`` maps over one set of parameters per head.
    """

    A: Vector | None = None
    """Diagonal of A, shape (d,), below 1/8; None for zeros."""
    B_x: Factor | None = None
    """B of the features of x: a number, for that multiple of I, a diagonal, or a matrix (d, d); None for I."""
    B_y: Factor | None = None
    """B of the features of y, of the same kind."""
    centre_x: Vector | None = None
    """Subtracted from x, shape (d,); None for no centres."""
    centre_y: Vector | None = None
    """Subtracted from y."""

    @property
    def C_x(self) -> Factor:
        """C of the features of x, -1/2 B_x' (I - 4 A)^-1 B_x, of the kind of B_x or a diagonal."""
        scale = -0.5 if self.A is None else -0.5 / (1 - 4 * self.A)
        if self.B_x is None:
            return scale
        if jnp.ndim(self.B_x) < 2:
            return scale * self.B_x**2
        return jnp.transpose(self.B_x) @ (jnp.reshape(scale, (-1, 1)) * self.B_x)

    @property
    def C_y(self) -> Factor:
        """C of the features of y."""
        return self.swapped().C_x

    @property
    def log_D(self) -> Factor:
        """log det(I - 4 A) / 4."""
        return 0.0 if self.A is None else jnp.sum(jnp.log1p(-4 * self.A)) / 4

    def swapped(self) -> "ExponentialParameters":
        """The same features, with x for y and y for x."""
        return ExponentialParameters(self.A, self.B_y, self.B_x, self.centre_y, self.centre_x)

    def filled(self, d: int, dtype: DTypeLike | None = None) -> "ExponentialParameters":
        """The same features of points of dimension d, with an array in every field and matrices for B.

        All parameters of one dimension then have the same structure and share compiled functions.
        """
        eye, zeros = jnp.eye(d, dtype=dtype), jnp.zeros(d, dtype)

        def matrix(B: Factor | None) -> Factor:
            return eye if B is None else B if jnp.ndim(B) == 2 else eye * jnp.atleast_2d(B)

        A, centre_x, centre_y = (zeros if v is None else v for v in (self.A, self.centre_x, self.centre_y))
        return ExponentialParameters(A, matrix(self.B_x), matrix(self.B_y), centre_x, centre_y)

    def away(self, x: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """x - centre_x for every row of x."""
        return x if self.centre_x is None else x - self.centre_x[None]

    def moved(self, x: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """B_x (x - centre_x) for every row of x."""
        x = self.away(x)
        if self.B_x is None:
            return x
        return x @ jnp.transpose(self.B_x) if jnp.ndim(self.B_x) == 2 else x * jnp.atleast_2d(self.B_x)


def exponential(
    x: Float[ArrayLike, "n d"],
    omega: Frequencies | Float[ArrayLike, "m d"],
    parameters: ExponentialParameters,
    side: Side = "x",
    kernel: Kernel = "gaussian",
) -> Float[Array, "n m"]:
    """Dense-exponential random features: GERF, ADERF, SDERF, SADERF and all others of their form.

    ::

        phi(x)_i = m^(-1/2) D exp(omega_i' A omega_i + omega_i' B x + x' C x)                softmax
        phi(x)_i = m^(-1/2) D exp(omega_i' A omega_i + omega_i' B x + x' C x - |x|^2 / 2)    gaussian

    with B and C of the side. E[phi(x) . psi(y)] = k(x, y) for phi with ``side="x"`` and psi with ``side="y"``
    on the same frequencies, whatever the parameters, which only change the variance
    (:func:`rfcore.theory.log_relative_variance`). No feature is ever negative.

    Args:
        parameters: from :mod:`rfcore.solvers.exponential` or :func:`dense`.
        side: "x" (queries) or "y" (keys); the same for symmetric parameters (GERF, SDERF without centres).

    Source: FAVOR#, Theorem 4.1, for the softmax kernel; Section 2.3 for K^(alpha).

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, kernels, solvers
    >>> q, k = jnp.array([[1.5, -1.2], [1.0, 1.4]]), jnp.array([[0.1, 0.2], [-0.2, 0.1], [0.3, 0.1]])
    >>> fitted, omega = solvers.exponential.aderf(q, k), couplings.iid(jax.random.key(0), 20_000, 2)
    >>> phi = features.exponential(q, omega, fitted, "x", "softmax")
    >>> psi = features.exponential(k, omega, fitted, "y", "softmax")
    >>> bool(jnp.allclose(phi @ psi.T, kernels.softmax(q, k), rtol=0.05))
    True
    """
    return as_narrow(_exponential(*_checked(x, omega, parameters, side, kernel), kernel), x)


def log_exponential(
    x: Float[ArrayLike, "n d"],
    omega: Frequencies | Float[ArrayLike, "m d"],
    parameters: ExponentialParameters,
    side: Side = "x",
    kernel: Kernel = "gaussian",
) -> Float[Array, "n m"]:
    """Logarithms of :func:`exponential` features, with its parameters: see :func:`log_positive`.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, solvers
    >>> x, y = jax.random.normal(jax.random.key(0), (2, 5, 4))
    >>> omega, parameters = couplings.simplex(jax.random.key(1), 8, 4), solvers.exponential.aderf(x, y)
    >>> log_phi = features.log_exponential(x, omega, parameters)
    >>> bool(jnp.allclose(jnp.exp(log_phi), features.exponential(x, omega, parameters), rtol=1e-5))
    True
    """
    return _log_exponential(*_checked(x, omega, parameters, side, kernel), kernel)


@partial(jax.jit, static_argnames="kernel")
@precision.full
def _log_exponential(
    x: Float[Array, "n d"], omega: Frequencies, parameters: ExponentialParameters, kernel: Kernel
) -> Float[Array, "n m"]:
    A, centre, other = parameters.A, parameters.centre_x, parameters.centre_y
    away, moved = parameters.away(x), parameters.moved(x)
    # x' C x = -|(I - 4 A)^(-1/2) B x|^2 / 2, computed from B x so that both have the same rounding errors.
    shift = jnp.sum(moved**2 if A is None else moved**2 / (1 - 4 * A)[None], axis=1, keepdims=True) / 2
    if kernel == "gaussian":
        shift = shift + jnp.sum(away**2, axis=1, keepdims=True) / 2
    if centre is not None and other is not None:
        # Half of the constant on either side. For the Gaussian kernel only the difference of the centres enters, so that
        # features are invariant to translations of all points.
        slope, half = (other, centre / 2) if kernel == "softmax" else (other - centre, (centre - other) / 4)
        shift = shift - ((away + half[None]) @ slope)[:, None]
    # All factors of a point, and m^(-1/2), are part of the exponent: one pass over the (n, m) array in place of two.
    log_phi = omega.project(moved) - (shift + (math.log(omega.m) / 2 - parameters.log_D))
    if A is not None:
        log_phi = log_phi + (A @ omega.project(jnp.eye(omega.d, dtype=log_phi.dtype)) ** 2)[None]
    if omega.log_weights is not None:
        log_phi = log_phi + omega.log_weights.astype(log_phi.dtype)[None] / 2
    return log_phi


@partial(jax.jit, static_argnames="kernel")
def _exponential(
    x: Float[Array, "n d"], omega: Frequencies, parameters: ExponentialParameters, kernel: Kernel
) -> Float[Array, "n m"]:
    return jnp.exp(_log_exponential(x, omega, parameters, kernel))


def _checked(
    x: Float[ArrayLike, "n d"],
    omega: Frequencies | Float[ArrayLike, "m d"],
    parameters: ExponentialParameters,
    side: Side,
    kernel: Kernel,
) -> tuple[Float[Array, "n d"], Frequencies, ExponentialParameters]:
    x, omega = checked(x, omega, kernel)
    checks.choice(side, "side", ("x", "y"))
    d, given = x.shape[1], {f.name for f in fields(parameters) if getattr(parameters, f.name) is not None}
    for name in given:
        shapes = [(), (d,), (d, d)] if name.startswith("B") else [(d,)]
        checks.shaped(getattr(parameters, name), f"parameters.{name}", *shapes)
    for one, other in (("B_x", "B_y"), ("centre_x", "centre_y")):
        if (one in given) != (other in given):
            raise ValueError(f"parameters has {one} or {other} = None and the other not; give both or neither")
    if parameters.A is not None:
        below_an_eighth(parameters.A)
    # One compiled function for both sides.
    return x, omega, parameters if side == "x" else parameters.swapped()


@precision.full
def dense(A: Float[ArrayLike, "..."], B: Float[ArrayLike, "d d"]) -> ExponentialParameters:
    """Parameters of the dense-exponential features that have this A and this B_x.

    ::

        B_y = (I - 4 A) B_x^-T

    Every unbiased pair is one of these. A matrix A = Q diag(a) Q' is stored as a and Q' B_x, the features of
    the frequencies Q' omega.

    Raises ValueError if A has an eigenvalue of 1/8 or more, where the variance is infinite, or B is singular.

    Args:
        A: a diagonal, (d,), or a symmetric matrix, (d, d), with eigenvalues below 1/8.
        B: B_x, invertible.

    Source: FAVOR#, Theorem 4.1 and the text after it.
    """
    d = np.shape(B)[-1]
    A, B = checks.shaped(A, "A", (d,), (d, d)), checks.shaped(B, "B", (d, d))
    if A.ndim == 2:
        if not checks.is_traced(A) and not checks.is_symmetric(A):
            raise ValueError(f"A = {A} is not symmetric; give (A + A.T) / 2, which has the same quadratic form")
        A, rotation = eigenbasis(A)
        B = rotation.T @ B
    inverse = jnp.linalg.inv(B)
    if not checks.is_traced(inverse) and not jnp.all(jnp.isfinite(inverse)):
        raise ValueError("B has determinant 0; give an invertible matrix")
    return ExponentialParameters(below_an_eighth(A), B, (1 - 4 * A)[:, None] * inverse.T)


def eigenbasis(M: Float[Array, "d d"]) -> tuple[Float[Array, " d"], Float[Array, "d d"]]:
    """Eigenvalues of a symmetric matrix, and eigenvectors as columns that do not depend on rounding.

    Equal eigenvalues leave the basis of their eigenspace undetermined, and eigenvectors have arbitrary signs:
    different processors would give different features of the same frequencies. Here the basis is the one that
    diagonalises a fixed diagonal matrix within each eigenspace.
    """
    values, vectors = jnp.linalg.eigh(M)
    slope = jnp.arange(1, len(M) + 1, dtype=M.dtype) * (5**0.5 - 1) / 2 % 1
    apart = jnp.diff(values, prepend=values[:1]) > jnp.finfo(M.dtype).eps ** 0.75 * jnp.abs(values).max()
    space = jnp.cumsum(apart)
    within = jnp.where(space[:, None] == space[None], (vectors.T * slope[None]) @ vectors, 0)
    vectors = vectors @ jnp.linalg.eigh(within + 10 * jnp.diag(space).astype(M.dtype))[1]
    return values, vectors * jnp.where(slope @ vectors < 0, -1, 1)[None]


def below_an_eighth(A: Vector) -> Vector:
    """``A``, unless the variance of its features is infinite."""
    if not checks.is_traced(A) and not np.all(np.asarray(A) < 0.125):
        raise ValueError(f"A = {A} has values of 1/8 or more, where the variance is infinite; give lower ones")
    return A
