"""Joint laws of unit vectors, each uniform on the sphere: ``(key, m, d) -> (m, d)``."""

import jax
import jax.numpy as jnp

from rfcore import checks


def haar(key, d, n_blocks=1):
    """Rotations and reflections drawn uniformly (from Haar measure) on the orthogonal group O(d).

    ::

        G = Q R,  G with independent N(0, 1) entries;   the draw is Q sign(diag R)

    The signs matter. QR fixes the signs of diag R by a rule of its own, so that Q alone is not uniform,
    and features that are not even in the frequency (positive features) become biased: by -19 % at d = 4.

    Parameters
    ----------
    key : JAX PRNG key
    d : int
    n_blocks : int
        How many independent matrices.

    Returns
    -------
    array, shape (n_blocks, d, d)

    Raises
    ------
    ValueError
        If d < 1 or n_blocks < 0, or the key is no JAX key.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings
    >>> q = couplings.directions.haar(jax.random.key(0), 3)[0]
    >>> bool(jnp.allclose(q @ q.T, jnp.eye(3), atol=1e-5))
    True

    Notes
    -----
    Mezzadri, "How to generate random matrices from the classical compact groups", Notices of the AMS 54 (2007).
    """
    d, n_blocks = checks.count(d, "d"), checks.count(n_blocks, "n_blocks", least=0)
    # A matrix of normals as norms.independent draws it too: one program to compile for both, the longest of a first draw.
    gaussian = jax.random.normal(checks.key(key), (n_blocks * d, d)).reshape(n_blocks, d, d)
    return _with_signs(*jnp.linalg.qr(gaussian))


@jax.jit
def _with_signs(q, r):
    signs = jnp.where(jnp.diagonal(r, axis1=-2, axis2=-1) < 0, -1.0, 1.0)
    return q * signs[:, None, :]


def independent(key, m, d):
    """Independent uniform directions.

    Parameters
    ----------
    key : JAX PRNG key
    m, d : int

    Returns
    -------
    array, shape (m, d), rows of length 1

    Raises
    ------
    ValueError
        If m < 0 or d < 1, or the key is no JAX key.

    Notes
    -----
    Muller, A note on a method for generating points uniformly on n-dimensional spheres, 1959.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore.couplings import directions
    >>> bool(jnp.allclose(jnp.linalg.norm(directions.independent(jax.random.key(0), 8, 4), axis=1), 1))
    True
    """
    m, d = checks.count(m, "m", least=0), checks.count(d, "d")
    gaussian = jax.random.normal(checks.key(key), (m, d))
    return gaussian / jnp.linalg.norm(gaussian, axis=1, keepdims=True)


def orthogonal(key, m, d):
    """Uniform directions, pairwise orthogonal within each block of d.

    Parameters
    ----------
    key : JAX PRNG key
    m, d : int

    Returns
    -------
    array, shape (m, d), rows of length 1

    Raises
    ------
    ValueError
        If m < 0 or d < 1, or the key is no JAX key.

    Notes
    -----
    Yu et al., "Orthogonal random features" (2016).

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore.couplings import directions
    >>> u = directions.orthogonal(jax.random.key(0), 4, 4)
    >>> bool(jnp.allclose(u @ u.T, jnp.eye(4), atol=1e-5))
    True
    """
    m, d = checks.count(m, "m", least=0), checks.count(d, "d")
    return _cut(haar(key, d, _n_blocks(m, d)), m)


def simplex(key, m, d):
    """Uniform directions that point to the corners of a regular simplex within each block of d.

    ::

        rows of S R,  R from Haar measure;   cos(angle between two rows) = -1 / (d - 1)

    For d = 1 a block holds one vector, and for d = 2 a vector and its opposite.

    Parameters
    ----------
    key : JAX PRNG key
    m, d : int

    Returns
    -------
    array, shape (m, d), rows of length 1

    Raises
    ------
    ValueError
        If m < 0 or d < 1, or the key is no JAX key.

    Examples
    --------
    In two dimensions a vector and its opposite:

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings
    >>> first, second = couplings.directions.simplex(jax.random.key(0), 2, 2)
    >>> bool(jnp.allclose(first, -second, atol=1e-5))
    True

    Notes
    -----
    Simplex Random Features, Eqs. 8 and 9.
    """
    m, d = checks.count(m, "m", least=0), checks.count(d, "d")
    rotations = haar(key, d, _n_blocks(m, d))
    return _cut(rotations if d == 1 else simplex_product(rotations), m)


def equiangular(cosine):
    """Uniform directions that pairwise subtend one angle within each block of d.

    ::

        rows of C R,  R from Haar measure,  C = sqrt(1 - c) I + (sqrt(1 + (d - 1) c) - sqrt(1 - c)) / d 1 1^T,  c the cosine

    ``orthogonal`` for c = 0 and of the law of ``simplex`` for c = -1 / (d - 1).

    Parameters
    ----------
    cosine : float
        From -1 / (d - 1) to 1. Inside ``jax.jit`` and ``jax.grad`` its value is not checked.

    Returns
    -------
    function (key, m, d) -> (m, d), rows of length 1

    Raises
    ------
    ValueError
        If cosine is no number; and, when the directions are drawn, if it is out of range.

    Notes
    -----
    Ours; C is the symmetric root of the Gram matrix of the directions.

    Examples
    --------
    >>> import jax
    >>> from rfcore.couplings import directions
    >>> u = directions.equiangular(-0.2)(jax.random.key(0), 4, 4)
    >>> round(float(u[0] @ u[3]), 4)
    -0.2
    """
    cosine = checks.real(cosine, "cosine")

    def draw(key, m, d):
        m, d = checks.count(m, "m", least=0), checks.count(d, "d")
        return _cut(equicorrelated_root(cosine, d, "cosine") @ haar(key, d, _n_blocks(m, d)), m)

    return draw


def equicorrelated_root(c, d, name):
    """Symmetric root of the d x d matrix with ones on its diagonal and c elsewhere.

    ::

        R = sqrt(1 - c) I + (sqrt(1 + (d - 1) c) - sqrt(1 - c)) / d  1 1^T,    R^2 = (1 - c) I + c 1 1^T

    Parameters
    ----------
    c : float
        From -1 / (d - 1) to 1; it may be traced.
    d : int
    name : str
        What c is called where it is refused.

    Returns
    -------
    array, shape (d, d)

    Raises
    ------
    ValueError
        If c is outside its range, or d < 1.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> from rfcore.couplings import directions
    >>> root = directions.equicorrelated_root(-0.5, 3, "cosine")
    >>> (root @ root).round(2).tolist()[0]
    [1.0, -0.5, -0.5]
    """
    d, c = checks.count(d, "d"), checks.real(c, name)
    if not checks.is_traced(c) and not (-1 / (d - 1) - 1e-6 <= c <= 1 if d > 1 else True):
        raise ValueError(f"{name} = {c}; give one from -1 / (d - 1) = {-1 / (d - 1):g} to 1")
    other = jnp.sqrt(jnp.maximum(1 - c, 0.0))
    return other * jnp.eye(d) + (jnp.sqrt(jnp.maximum(1 + (d - 1) * c, 0.0)) - other) / d


def simplex_product(x):
    """Product S x with the simplex matrix, in O(d) operations a column and without forming S.

    ::

        t = x_1 + ... + x_{d-1}
        (S x)_i = sqrt(d / (d - 1)) x_i - (sqrt(d) + 1) / (d - 1)^(3/2) t     for i < d
        (S x)_d = t / sqrt(d - 1)

    The rows of S have length 1 and scalar products -1 / (d - 1); its last column is zero.

    Parameters
    ----------
    x : array, shape (..., d, k), with d >= 2

    Returns
    -------
    array of the same shape

    Raises
    ------
    ValueError
        If x is no finite real array, or d < 2.

    Notes
    -----
    Simplex Random Features, Eq. 9 and Algorithm 1 (Appendix B.2.1).

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from rfcore.couplings import directions
    >>> corners = directions.simplex_product(jnp.eye(4))
    >>> bool(jnp.allclose(corners.sum(axis=0), 0, atol=1e-5)), round(float(corners[0] @ corners[1]), 4)
    (True, -0.3333)
    """
    x = checks.floating(x, "x")
    d = x.shape[-2] if x.ndim > 1 else 0
    if d < 2:
        raise ValueError(f"x has shape {x.shape}; give shape (..., d, k) with d >= 2: a simplex needs two corners")
    head = x[..., :-1, :]
    total = head.sum(axis=-2, keepdims=True)
    corners = jnp.sqrt(d / (d - 1)) * head - (jnp.sqrt(d) + 1) / (d - 1) ** 1.5 * total
    return jnp.concatenate([corners, total / jnp.sqrt(d - 1)], axis=-2)


def _n_blocks(m, d):
    return -(-m // d)


def _cut(blocks, m):
    return blocks.reshape(-1, blocks.shape[-1])[:m]
