"""Orthogonal and simplex frequencies whose product with a point costs O(p log p), p the dimension padded.

The rotation of a block is replaced by a product of three Hadamard-Rademacher factors

::

    R~ = H D_1 H D_2 H D_3,  H the normalised p x p Hadamard matrix, D_i diagonal with random signs

which is orthogonal and is multiplied by fast Walsh-Hadamard transforms; only signs and norms are drawn and
stored, O(m) numbers.

R~ is **not** uniform on the orthogonal group, and features of it are **biased**. By enumeration (the
book's page on fast variants) the mean of a positive feature is off by 33 % at p = 2
and by 23 % at p = 4 for v = (1, ..., 1) 2 / sqrt(p); simulation finds 4 % at p = 8, and nothing above its
error of 0.6 % at p = 16. Over uniform directions of v the bias averages out, as R~ is orthogonal: a random
rotation of the data removes it. The couplings built on Haar rotations have no bias.

Padding: Hadamard matrices of this kind exist for p = 2^k, so that points of dimension d are padded by zeros
to p = 2^ceil(log2 d). Blocks then hold p rows, not d, whose lengths are chi_p and whose geometry is that of p
dimensions; what multiplies a point is their first d coordinates, which are no longer orthogonal (nor are
those of a truncated Haar matrix) and would be N(0, I_d) if the rotation were uniform.

Source: Simplex Random Features, Section 4.2 and Appendix B.2; Choromanski et al., 2017.
"""

from functools import partial
from typing import Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int, PRNGKeyArray
from scipy.linalg import hadamard

from rfcore import checks, copulas, precision
from rfcore.couplings import directions, norms
from rfcore.couplings.products import Coupling

Geometry = Literal["orthogonal", "simplex"]
COUPLINGS = get_args(Geometry)
LARGEST_FACTOR = 64  # up to this size a matrix product is faster than the butterflies it replaces
CACHED_NUMBERS = 2**20  # points are processed in batches whose intermediate results stay in the cache


class Frequencies(eqx.Module):
    """A draw of m frequencies, kept as O(m) numbers in place of their matrix; from :func:`draw`.

    Feature maps take it where they take a matrix.
    """

    signs: Int[Array, "n_blocks 3 p"]
    """-1 or 1."""
    norms: Float[Array, " m"]
    d: int = eqx.field(static=True)
    """Dimension of the points, at most p."""
    coupling: Geometry = eqx.field(static=True)
    log_weights: Float[Array, " m"] | None = None
    """Log importance weights w, if any: features are multiplied by exp(w / 2)."""

    @property
    def m(self) -> int:
        """Number of frequencies."""
        return len(self.norms)

    def project(self, x: Float[ArrayLike, "n d"]) -> Float[Array, "n m"]:
        """Scalar products of points with the frequencies, in O(p log p) operations per point and block.

        ::

            x W^T,  W = D R~  or  D S R~,  D diagonal with the norms, S the simplex matrix (Eq. 9)
        """
        return _project(checks.points(x, "x", n_columns=self.d), self)

    @property
    def matrix(self) -> Float[Array, "m d"]:
        """The frequencies as rows, from the fewer of d products and m products of the transpose."""
        if self.m >= self.d:
            return self.project(jnp.eye(self.d)).T
        return jax.jacrev(lambda x: self.project(x[None])[0])(jnp.zeros(self.d))


def draw(key: PRNGKeyArray, m: int, d: int, coupling: Geometry) -> Frequencies:
    """Signs and norms of m "orthogonal" or "simplex" frequencies, in O(m + d) operations.

    >>> import jax
    >>> from rfcore import couplings, features
    >>> frequencies = couplings.fast.draw(jax.random.key(0), 8, 3, "simplex")
    >>> phi = features.positive(jax.numpy.ones((2, 3)), frequencies)  # no matrix is formed
    """
    m, d = checks.count(m, "m", least=0), checks.count(d, "d")
    checks.choice(coupling, "coupling", COUPLINGS)
    p = padded(d)
    key_signs, key_norms = jax.random.split(checks.key(key))
    signs = jax.random.rademacher(key_signs, (-(-m // p), 3, p), dtype=jnp.int8)
    # One uniform each: norms.independent draws p normals per norm, which is cheap beside a dense rotation, not here.
    return Frequencies(signs, norms.chi(copulas.uniforms(key_norms)((m,)), p), d, coupling)


class Fast(Coupling):
    """Frequencies from Hadamard-Rademacher products, as a matrix. They are biased.

    For fast products pass ``fast.draw(key, m, d, geometry)`` to the features instead: no matrix is formed.
    Blocks hold 2^ceil(log2 d) rows, which are approximately N(0, I_d).
    """

    geometry: Geometry = eqx.field(static=True)

    def __call__(self, key: PRNGKeyArray, m: int, d: int) -> Float[Array, "m d"]:
        return draw(key, m, d, self.geometry).matrix


orthogonal_fast = Fast("orthogonal")
"""Orthogonal frequencies from Hadamard-Rademacher products (:class:`Fast`). They are biased.

Source: Simplex Random Features, Eqs. 89 and 90, with three factors.

>>> import jax, jax.numpy as jnp
>>> from rfcore import couplings
>>> omega = couplings.orthogonal_fast(jax.random.key(0), 4, 4)
>>> gram = omega @ omega.T
>>> bool(jnp.allclose(gram, jnp.diag(jnp.diag(gram)), atol=1e-5))
True
"""
simplex_fast = Fast("simplex")
"""Simplex frequencies from Hadamard-Rademacher products (:class:`Fast`). They are biased.

Source: Simplex Random Features, Appendix B.2, with three factors.

>>> import jax, jax.numpy as jnp
>>> from rfcore import couplings
>>> omega = couplings.simplex_fast(jax.random.key(0), 4, 4)
>>> units = omega / jnp.linalg.norm(omega, axis=1, keepdims=True)
>>> bool(jnp.allclose(units.sum(axis=0), 0, atol=1e-5))
True
"""


def walsh_hadamard(x: Float[ArrayLike, "*rows p"]) -> Float[Array, "*rows p"]:
    """Normalised Walsh-Hadamard transform H x along the last axis; H is orthogonal and symmetric.

    ::

        H_p = H_a (x) H_b (x) ...,  p = a b ...

    a Kronecker product, so that x, folded to a x b x ..., is multiplied along each axis. With factors of up
    to 64 each is one matrix product that runs at the speed of the processor; butterflies (factors of 2) need
    fewer operations but several times the passes over memory.

    Raises ValueError if the last axis of x is no power of two.

    Source: Fino and Algazi, "Unified matrix treatment of the fast Walsh-Hadamard transform", 1976.
    """
    x = checks.floating(x, "x")
    p = x.shape[-1] if x.ndim else 0
    if p < 1 or p & (p - 1):
        raise ValueError(f"x has shape {x.shape}; give a last axis that is a power of two (pad with zeros)")
    bits = p.bit_length() - 1
    n_factors = max(1, -(-bits // (LARGEST_FACTOR.bit_length() - 1)))
    factors = [1 << (bits // n_factors + (i < bits % n_factors)) for i in range(n_factors)]
    folded = x.reshape(-1, *factors)
    product = precision.full(partial(jnp.tensordot, axes=(1, 0)))
    for factor in factors:  # each product moves the first folded axis to the end, so that after all of them the order is restored
        folded = product(folded, jnp.asarray(hadamard(factor) / np.sqrt(factor), x.dtype))
    return folded.reshape(x.shape)


def padded(d: int) -> int:
    """Least power of two that is at least d."""
    return 1 << (int(d) - 1).bit_length()


@jax.jit
@precision.full
def _project(x: Float[Array, "n d"], frequencies: Frequencies) -> Float[Array, "n m"]:
    n_blocks, _, p = frequencies.signs.shape
    x = jnp.pad(x, ((0, 0), (0, p - frequencies.d)))
    signs, norms = frequencies.signs.astype(x.dtype), frequencies.norms.astype(x.dtype)

    def one(point: Float[Array, " p"]) -> Float[Array, " m"]:
        rotated = point[None]
        for factor in (2, 1, 0):
            rotated = walsh_hadamard(rotated * signs[:, factor])
        if frequencies.coupling == "simplex" and p > 1:
            rotated = directions.simplex_product(rotated[..., None])[..., 0]
        return rotated.reshape(-1)[: len(norms)] * norms

    return jax.lax.map(one, x, batch_size=max(1, CACHED_NUMBERS // max(1, n_blocks * p)))
