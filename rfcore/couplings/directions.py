"""Joint distributions of unit vectors, each uniform on the sphere."""

import abc
import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

from rfcore import checks, precision


def haar(key: PRNGKeyArray, d: int, n_blocks: int = 1) -> Float[Array, "n_blocks d d"]:
    """Rotations and reflections from Haar measure, the uniform distribution on the orthogonal group O(d).

    ::

        G = Q R,  G with independent N(0, 1) entries;   the draw is Q sign(diag R)

    The signs matter: QR routines fix those of diag R by a convention, so that Q alone is not uniform, and
    features that are not even in the frequency (positive features) become biased, by -19 % at d = 4.

    Source: Mezzadri, Notices of the AMS 54 (2007).

    >>> import jax, jax.numpy as jnp
    >>> from rfcore.couplings import directions
    >>> q = directions.haar(jax.random.key(0), 3)[0]
    >>> bool(jnp.allclose(q @ q.T, jnp.eye(3), atol=1e-5))
    True
    """
    # The same shape of normals as in norms.independent: one compiled program, the slowest to compile, serves both.
    gaussian = jax.random.normal(key, (n_blocks * d, d)).reshape(n_blocks, d, d)
    return _orthonormal(gaussian)


@jax.jit
def _orthonormal(blocks: Float[Array, "b n r"]) -> Float[Array, "b n r"]:
    """Q of blocks = Q R with a positive diagonal of R."""
    return jax.lax.platform_dependent(blocks, cpu=_by_reflections, default=_by_cholesky)


def _by_reflections(blocks: Float[Array, "b n r"]) -> Float[Array, "b n r"]:
    q, r = jnp.linalg.qr(blocks)
    signs = jnp.where(jnp.diagonal(r, axis1=-2, axis2=-1) < 0, -1.0, 1.0)
    return q * signs[:, None, :]


@precision.full
def _by_cholesky(blocks: Float[Array, "b n r"]) -> Float[Array, "b n r"]:
    """By products and triangular systems, on an H100 25 times as fast as by reflections.

    ::

        G^T G + c I = L L^T,   G <- G L^-T,   four times

    c = eps |G|^2 in the first two, so that blocks with singular values down to 1e-7 have factors, and c = 0
    in the last two. L is lower triangular with a positive diagonal, and so is the product of all: R^T.

    Source: Fukaya et al., "Shifted Cholesky QR for ill-conditioned matrices", 2020.
    """
    eye = jnp.eye(blocks.shape[-1], dtype=blocks.dtype)[None]
    for shift in (1.0, 1.0, 0.0, 0.0):
        gram = blocks.mT @ blocks
        square = jnp.trace(gram, axis1=-2, axis2=-1)[:, None, None]
        L = jnp.linalg.cholesky(gram + shift * jnp.finfo(gram.dtype).eps * square * eye)
        blocks = solve_triangular(L, blocks.mT, lower=True).mT
    return blocks


class Directions(eqx.Module):
    """Joint distribution of m unit vectors, each uniform on the sphere, ``(key, m, d) -> (m, d)``."""

    @abc.abstractmethod
    def __call__(self, key: PRNGKeyArray, m: int, d: int) -> Float[Array, "m d"]:
        """A draw of m directions in d dimensions."""


class Independent(Directions):
    """Independent directions."""

    def __call__(self, key: PRNGKeyArray, m: int, d: int) -> Float[Array, "m d"]:
        gaussian = jax.random.normal(key, (m, d))
        return gaussian / jnp.linalg.norm(gaussian, axis=1, keepdims=True)


class Orthogonal(Directions):
    """Directions that are pairwise orthogonal within each block of d.

    For m < d they are the factor Q of m normal vectors, in O(m^2 d) operations.

    Source: Yu et al., "Orthogonal random features", 2016.
    """

    def __call__(self, key: PRNGKeyArray, m: int, d: int) -> Float[Array, "m d"]:
        if m < d:
            return _orthonormal(jax.random.normal(key, (1, m, d)).mT)[0].T
        return _cut(haar(key, d, -(-m // d)), m)


class Simplex(Directions):
    """Directions to the corners of a regular simplex within each block of d.

    ::

        rows of S R,  R from Haar measure;   cos(angle between two rows) = -1 / (d - 1)

    For d = 1 a block holds one vector, and for d = 2 a vector and its opposite. For m < d they are orthogonal
    ones times the symmetric root of their Gram matrix.

    Source: Simplex Random Features, Eqs. 8 and 9.
    """

    def __call__(self, key: PRNGKeyArray, m: int, d: int) -> Float[Array, "m d"]:
        if d == 1:
            return orthogonal(key, m, d)
        if 0 < m < d:
            u, own, of_sum = orthogonal(key, m, d), math.sqrt(d / (d - 1)), math.sqrt(1 - (m - 1) / (d - 1))
            return own * u + (of_sum - own) * u.mean(axis=0, keepdims=True)
        return _cut(simplex_product(haar(key, d, -(-m // d))), m)


independent, orthogonal, simplex = Independent(), Orthogonal(), Simplex()


def simplex_product(x: Float[ArrayLike, "*batch d k"]) -> Float[Array, "*batch d k"]:
    """Product S x with the simplex matrix, in O(d) operations a column and without forming S.

    ::

        t = x_1 + ... + x_{d-1}
        (S x)_i = sqrt(d / (d - 1)) x_i - (sqrt(d) + 1) / (d - 1)^(3/2) t     for i < d
        (S x)_d = t / sqrt(d - 1)

    The rows of S have length 1 and scalar products -1 / (d - 1); its last column is zero.

    Here d is at least 2.

    Source: Simplex Random Features, Eq. 9 and Algorithm 1 (Appendix B.2.1).
    """
    x = checks.floating(x, "x")
    d = x.shape[-2] if x.ndim > 1 else 0
    if d < 2:
        raise ValueError(f"x has shape {x.shape}; give shape (..., d, k) with d >= 2: a simplex needs two corners")
    head = x[..., :-1, :]
    total = head.sum(axis=-2, keepdims=True)
    corners = jnp.sqrt(d / (d - 1)) * head - (jnp.sqrt(d) + 1) / (d - 1) ** 1.5 * total
    return jnp.concatenate([corners, total / jnp.sqrt(d - 1)], axis=-2)


def _cut(blocks: Float[Array, "b d d"], m: int) -> Float[Array, "m d"]:
    return blocks.reshape(-1, blocks.shape[-1])[:m]
