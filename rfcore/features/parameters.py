"""Parameters of exponential features: which features there are, and what makes them unbiased."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from rfcore import checks, precision


class ExponentialParameters(NamedTuple):
    """Parameters of a pair of exponential features, f_x of x and f_y of y, for the softmax kernel.

    ::

        f_x(omega, x) = D exp(omega' A omega + omega' B_x x + x' C_x x),   f_y(omega, y) with B_y and C_y

        E[f_x f_y] = exp(x . y)  where  8 A < I,          B_x' (I - 4 A)^-1 B_y = I,
                                        D = det(I - 4 A)^(1/4),  C = -1/2 B' (I - 4 A)^-1 B

    so that A and B hold it all; for an A that is not diagonal see :func:`dense`. With T = (I - 4 A)^(-1/2)
    B_x they are positive features of T x and T^-T y, whose scalar product is that of x and y, with importance
    sampling of the frequencies from N(0, I - 4 A). With centres a and b they are features of x - a and y - b,
    and factors of the points put the difference back exactly:

    ::

        exp(x . y) = exp((x - a) . (y - b)) exp(b . (x - a) + a . b / 2) exp(a . (y - b) + a . b / 2)

    Centres shift the mean of the law of frequencies by (I - 4 A)^(-1/2) (B_x a + B_y b). A pytree of arrays:
    ``jax.vmap`` takes one set of parameters per head.
    """

    A: jax.Array | None = None
    """Diagonal of A, shape (d,), below 1/8; None for zeros."""
    B_x: jax.Array | None = None
    """B of the features of x: a number for its multiple of I, a diagonal (d,), or a matrix (d, d); None for I."""
    B_y: jax.Array | None = None
    """B of the features of y, of the same kind."""
    centre_x: jax.Array | None = None
    """Taken off x, shape (d,); None for no centres."""
    centre_y: jax.Array | None = None
    """Taken off y."""

    @property
    def C_x(self):
        """C of the features of x, -1/2 B_x' (I - 4 A)^-1 B_x, of the kind of B_x or a diagonal."""
        return _c(self.A, self.B_x)

    @property
    def C_y(self):
        """C of the features of y."""
        return _c(self.A, self.B_y)

    @property
    def log_D(self):
        """log det(I - 4 A) / 4, a number."""
        return 0.0 if self.A is None else jnp.sum(jnp.log1p(-4 * self.A)) / 4

    def swapped(self):
        """The same features, with x for y and y for x."""
        return ExponentialParameters(self.A, self.B_y, self.B_x, self.centre_y, self.centre_x)

    def filled(self, d, dtype=None):
        """The same features of points of dimension d, with an array in every field and matrices for B.

        All parameters of one dimension then have one structure, and share what is compiled for it.
        """
        eye, zeros = jnp.eye(d, dtype=dtype), jnp.zeros(d, dtype)

        def matrix(B):
            return eye if B is None else B if jnp.ndim(B) == 2 else eye * jnp.atleast_2d(B)

        A, centre_x, centre_y = (zeros if v is None else v for v in (self.A, self.centre_x, self.centre_y))
        return ExponentialParameters(A, matrix(self.B_x), matrix(self.B_y), centre_x, centre_y)

    def away(self, x):
        """x minus its centre, (n, d)."""
        return x if self.centre_x is None else x - self.centre_x[None]

    def moved(self, x):
        """B_x (x - centre_x) for every row of x, (n, d)."""
        x = self.away(x)
        if self.B_x is None:
            return x
        return x @ self.B_x.T if jnp.ndim(self.B_x) == 2 else x * jnp.atleast_2d(self.B_x)


@precision.full
def dense(A, B):
    """Parameters of the dense-exponential features that have this A and this B_x.

    ::

        B_y = (I - 4 A) B_x^-T

    Every unbiased pair is one of these. A matrix A = Q diag(a) Q' is stored as a and Q' B_x, the features of
    the frequencies Q' omega.

    Raises ValueError if A has an eigenvalue of 1/8 or more, where the variance is infinite, or B is singular.

    Args:
        A: a diagonal, (d,), or a symmetric matrix, (d, d), with eigenvalues below 1/8.
        B: B_x, an invertible matrix, (d, d).

    Returns:
        ExponentialParameters.

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
    return ExponentialParameters(_below_an_eighth(A), B, (1 - 4 * A)[:, None] * inverse.T)


def eigenbasis(M):
    """Eigenvalues of a symmetric matrix, and eigenvectors as columns that rounding does not choose.

    Equal eigenvalues leave the basis of their space open, and every vector its sign: processors take others,
    and the same frequencies then give other features. A slope along the coordinates is diagonal in each such
    space.
    """
    values, vectors = jnp.linalg.eigh(M)
    slope = jnp.arange(1, len(M) + 1, dtype=M.dtype) * (5**0.5 - 1) / 2 % 1
    apart = jnp.diff(values, prepend=values[:1]) > jnp.finfo(M.dtype).eps ** 0.75 * jnp.abs(values).max()
    space = jnp.cumsum(apart)
    within = jnp.where(space[:, None] == space[None], (vectors.T * slope[None]) @ vectors, 0)
    vectors = vectors @ jnp.linalg.eigh(within + 10 * jnp.diag(space).astype(M.dtype))[1]
    return values, vectors * jnp.where(slope @ vectors < 0, -1, 1)[None]


def of(parameters, d):
    """``parameters``, if they are some, for points of dimension d."""
    fields = {name: value for name, value in parameters._asdict().items() if value is not None}
    for name, value in fields.items():
        checks.shaped(value, f"parameters.{name}", *([(), (d,), (d, d)] if name.startswith("B") else [(d,)]))
    for one, other in (("B_x", "B_y"), ("centre_x", "centre_y")):
        if (one in fields) != (other in fields):
            raise ValueError(f"parameters has {one} or {other} = None and the other not; give both or neither")
    if "A" in fields:
        _below_an_eighth(fields["A"])
    return parameters


def _below_an_eighth(A):
    if not checks.is_traced(A) and not np.all(np.asarray(A) < 0.125):
        raise ValueError(f"A = {A} has values of 1/8 or more, where the variance is infinite; give lower ones")
    return A


def _c(A, B):
    scale = -0.5 if A is None else -0.5 / (1 - 4 * A)
    if B is None:
        return scale
    return B.T @ (jnp.reshape(scale, (-1, 1)) * B) if jnp.ndim(B) == 2 else scale * B**2
