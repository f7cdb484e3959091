"""Orthogonal and simplex frequencies whose product with a point costs O(p log p), p the dimension padded.

The rotation of a block is replaced by a product of three Hadamard-Rademacher factors

::

    R~ = H D_1 H D_2 H D_3,  H the normalised p x p Hadamard matrix, D_i diagonal with independent random signs

which is orthogonal and is multiplied by fast Walsh-Hadamard transforms; only signs and norms are stored, O(m) numbers.

R~ is **not** uniform on the orthogonal group, and features of it are **biased**. By enumeration
(:func:`rfcore.theory.fast_bias`) the mean of a positive feature is off by 23 % at p = 4 and v = (1, 1, 1, 1); for
v = (1, ..., 1) 2 / sqrt(p) simulation finds 4 % at p = 8, and nothing above its error of 0.6 % at p = 16. The couplings
built on Haar rotations have no bias.

Padding: Hadamard matrices of this kind exist for p = 2^k, so that points of dimension d are padded by zeros to
p = 2^ceil(log2 d). Blocks then hold p rows, not d, whose lengths are chi_p and whose geometry is that of p dimensions;
what multiplies a point is their first d coordinates, which are not orthogonal any more (nor are they in a cut of a
Haar matrix) and would be N(0, I_d) if the rotation were uniform.

Simplex Random Features, Section 4.2 and Appendix B.2; Choromanski et al. (2017).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import hadamard

from rfcore import checks
from rfcore.couplings import directions, norms

LARGEST_FACTOR = 64  # up to here a matrix product is faster than the butterflies it stands for
CACHED_NUMBERS = 2**20  # points are taken in batches whose intermediate results stay in the cache


class Frequencies(NamedTuple):
    """A draw of m frequencies: signs of shape (n_blocks, 3, p), -1 or 1, and norms of shape (m,)."""

    signs: jax.Array
    norms: jax.Array


def draw(key, m, d):
    """Signs and norms of m frequencies in dimension d, for either product below.

    Parameters
    ----------
    key : JAX PRNG key
    m, d : int
        Number and dimension of the frequencies.

    Returns
    -------
    Frequencies

    Raises
    ------
    ValueError
        If m < 0 or d < 1.
    """
    m, d = checks.count(m, "m", least=0), checks.count(d, "d")
    p = padded(d)
    key_signs, key_norms = jax.random.split(key)
    signs = jax.random.rademacher(key_signs, (-(-m // p), 3, p), dtype=jnp.int8)
    return Frequencies(signs, norms.independent(key_norms, m, p))


def orthogonal_product(frequencies, x):
    """Scalar products of points with fast orthogonal frequencies, in O(p log p) a point and block.

    ::

        x W^T,  W = D R~,  D diagonal with the norms

    Parameters
    ----------
    frequencies : Frequencies
        From :func:`draw` for the dimension of the points.
    x : array, shape (n, d)

    Returns
    -------
    array, shape (n, m), in the dtype of the points; ``x @ couplings.orthogonal_fast(key, m, d).T`` for the same key

    Raises
    ------
    ValueError
        If x is no finite (n, d) array, or its dimension is not that of the frequencies.
    """
    return _project(*frequencies, _padded_points(frequencies, x), simplex=False)


def simplex_product(frequencies, x):
    """Scalar products of points with fast simplex frequencies, in O(p log p) a point and block.

    ::

        x W^T,  W = D S R~,  S the simplex matrix (Eq. 9), D diagonal with the norms

    Parameters
    ----------
    frequencies : Frequencies
        From :func:`draw` for the dimension of the points.
    x : array, shape (n, d)

    Returns
    -------
    array, shape (n, m), in the dtype of the points; ``x @ couplings.simplex_fast(key, m, d).T`` for the same key

    Raises
    ------
    ValueError
        If x is no finite (n, d) array, or its dimension is not that of the frequencies.
    """
    return _project(*frequencies, _padded_points(frequencies, x), simplex=frequencies.signs.shape[-1] > 1)


def orthogonal_fast(key, m, d):
    """Orthogonal frequencies from Hadamard-Rademacher products, as a matrix. They are biased.

    This is ``fast.orthogonal_product`` of the unit vectors, for use where any coupling can stand. To multiply fast, keep
    ``fast.draw`` and never form the matrix.

    Parameters
    ----------
    key : JAX PRNG key
    m, d : int
        Number and dimension of the frequencies; blocks hold p = 2^ceil(log2 d) rows.

    Returns
    -------
    array, shape (m, d), rows approximately N(0, I_d), in the default float dtype

    Raises
    ------
    ValueError
        If m < 0 or d < 1.

    Notes
    -----
    Simplex Random Features, Eqs. 89 and 90, with three factors.
    """
    return orthogonal_product(draw(key, m, d), jnp.eye(checks.count(d, "d"))).T


def simplex_fast(key, m, d):
    """Simplex frequencies from Hadamard-Rademacher products, as a matrix. They are biased.

    This is ``fast.simplex_product`` of the unit vectors, for use where any coupling can stand. To multiply fast, keep
    ``fast.draw`` and never form the matrix.

    Parameters
    ----------
    key : JAX PRNG key
    m, d : int
        Number and dimension of the frequencies; blocks hold p = 2^ceil(log2 d) rows.

    Returns
    -------
    array, shape (m, d), rows approximately N(0, I_d), in the default float dtype

    Raises
    ------
    ValueError
        If m < 0 or d < 1.

    Notes
    -----
    Simplex Random Features, Appendix B.2, with three factors.
    """
    return simplex_product(draw(key, m, d), jnp.eye(checks.count(d, "d"))).T


def walsh_hadamard(x):
    """Normalised Walsh-Hadamard transform along the last axis: H x, an orthogonal and symmetric matrix times x.

    ::

        H_p = H_a (x) H_b (x) ...,  p = a b ...

    a Kronecker product, so that x, folded to a x b x ..., is multiplied along each axis. With factors of up to 64
    each is one matrix product that runs at the speed of the processor; butterflies (factors of 2) need fewer operations
    but several times the passes over memory.

    Parameters
    ----------
    x : array, shape (..., p), p a power of two

    Returns
    -------
    array of the same shape

    Raises
    ------
    ValueError
        If p is no power of two.
    """
    p = x.shape[-1]
    if p < 1 or p & (p - 1):
        raise ValueError(f"x has shape {x.shape}; the last axis must be a power of two (pad with zeros)")
    bits = p.bit_length() - 1
    n_factors = max(1, -(-bits // (LARGEST_FACTOR.bit_length() - 1)))
    factors = [1 << (bits // n_factors + (i < bits % n_factors)) for i in range(n_factors)]
    folded = x.reshape(-1, *factors)
    for factor in factors:  # each product takes the first folded axis away and appends it: in the end all are in place
        folded = jnp.tensordot(folded, jnp.asarray(hadamard(factor) / np.sqrt(factor), x.dtype), axes=(1, 0))
    return folded.reshape(x.shape)


def padded(d):
    """Least power of two that is at least d."""
    return 1 << (d - 1).bit_length()


def _padded_points(frequencies, x):
    x = checks.points(x, "x")
    d, p = x.shape[1], frequencies.signs.shape[-1]
    if padded(d) != p:
        raise ValueError(f"x has shape {x.shape}; these frequencies are for points of {p // 2 + 1} to {p} coordinates")
    return jnp.pad(x, ((0, 0), (0, p - d)))


@jax.jit(static_argnames="simplex")
def _project(signs, norms, x, simplex):
    n_blocks, _, p = signs.shape
    signs, norms = signs.astype(x.dtype), norms.astype(x.dtype)

    def one(point):
        rotated = point
        for factor in (2, 1, 0):
            rotated = walsh_hadamard(rotated * signs[:, factor])
        if simplex:
            rotated = directions.simplex_product(rotated[..., None])[..., 0]
        return rotated.reshape(-1)[: len(norms)] * norms

    return jax.lax.map(one, x, batch_size=max(1, CACHED_NUMBERS // max(1, n_blocks * p)))
