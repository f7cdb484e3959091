"""Couplings whose directions depend on the norms (Simplex Random Features, Section 3.2)."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

from rfcore import checks
from rfcore.couplings import directions, norms
from rfcore.couplings.products import Coupling
from rfcore.precision import product

# The paper speaks of a small number of sweeps. Mean of |w_1 + ... + w_d|^2 above its least value, after 0, 1, 2, 5:
#   d = 3    1.2   7e-2   9e-3   7e-4     one norm often exceeds the sum of the others, and convergence is slow there
#   d = 4    1.9   1e-2   1e-3   9e-5
#   d = 6    2.9   1e-6   3e-12  6e-25    two are enough from d = 6 on, and one from d = 16 on
# A sweep costs O(d^2), far below the rotation.
SWEEPS = 5


class SimplexPlus(Coupling):
    """SimRF+ frequencies: given its norms, each block points so that its rows have the shortest sum.

    ::

        W = D S' R,  R from Haar measure, D diagonal with independent chi_d entries, S' from balance

    Longer rows subtend wider angles (:func:`balance`). This minimises the conformity to first order in
    ``|x + y|^2``; the gain over ``simplex`` is small. Rows are exactly Gaussian however far the sweeps have
    converged: given the norms, the Haar rotation alone makes each direction uniform. For d = 1 this is
    ``iid``, and for d = 2 ``simplex``, which is optimal for any norms. The same key gives the rotations
    and, if d divides m, the norms of ``simplex``.

    Source: Simplex Random Features, Eqs. 16 and 17.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings
    >>> omega = couplings.simplex_plus(jax.random.key(0), 3, 3)
    >>> bool(jnp.linalg.norm(omega.sum(axis=0)) < jnp.linalg.norm(omega, axis=1).min())
    True
    """

    def __call__(self, key: PRNGKeyArray, m: int, d: int) -> Float[Array, "m d"]:
        m, d = checks.count(m, "m", least=0), checks.count(d, "d")
        key_directions, key_norms = jax.random.split(checks.key(key))
        n_blocks = -(-m // d)
        lengths = norms.independent(key_norms, n_blocks * d, d).reshape(n_blocks, d)
        rotations = directions.haar(key_directions, d, n_blocks)
        return product(balance(lengths), rotations).reshape(-1, d)[:m]


simplex_plus = SimplexPlus()


def balance(lengths: Float[ArrayLike, "*batch d"], sweeps: int = SWEEPS) -> Float[Array, "*batch d d"]:
    """Vectors of given lengths, each pointing away from the sum of the others.

    ::

        w_i <- - lengths_i r_i / |r_i|,  r_i = sum_{j != i} w_j,  for i = 1, ..., d, then again

    from the corners of the simplex. At the fixed point the sum of the vectors vanishes, or, where one length
    exceeds the sum of the others, that one points against all of them. With the running sum of all vectors a
    sweep takes O(d^2) operations, not the O(d^3) of Section 4.2.

    Vectors are rows, to be rotated before use as frequencies.

    Args:
        lengths: above 0, with squares that neither underflow nor overflow.
        sweeps: how many times each vector is updated.

    Source: Simplex Random Features, Eq. 17: Gauss-Seidel iteration.
    """
    lengths, sweeps = checks.floating(lengths, "lengths").astype(float), checks.count(sweeps, "sweeps", least=0)
    if lengths.ndim == 0 or lengths.shape[-1] == 0:
        raise ValueError(f"lengths has shape {lengths.shape}; give one length per vector, shape (..., d)")
    if not checks.is_traced(lengths) and not np.asarray(lengths).min(initial=1) > 0:
        raise ValueError(f"lengths has the value {lengths.min()}; give lengths above 0")
    if not checks.is_traced(lengths) and not _squares_are_numbers(np.asarray(lengths)):
        got = f"lengths has values in [{lengths.min()}, {lengths.max()}], whose squares leave the range of {lengths.dtype}"
        raise ValueError(f"{got}; scale them: vectors scale with their lengths")
    d = lengths.shape[-1]
    corners = jnp.eye(d) if d == 1 else directions.simplex_product(jnp.eye(d))
    vectors = lengths[..., None] * jnp.broadcast_to(corners, (*lengths.shape, d))
    if d == 1:
        return vectors
    rows = _swept(jnp.moveaxis(vectors, -2, 0), jnp.moveaxis(lengths, -1, 0)[..., None], sweeps)
    return jnp.moveaxis(rows, 0, -2)


@np.errstate(over="ignore", under="ignore")
def _squares_are_numbers(lengths: Float[np.ndarray, "..."]) -> bool:
    return bool(np.all(lengths**2 > 0) and np.all(np.isfinite(lengths.sum(axis=-1) ** 2)))


@partial(jax.jit, static_argnames="sweeps")
def _swept(rows: Float[Array, "d *batch d"], lengths: Float[Array, "d *batch 1"], sweeps: int) -> Float[Array, "d *batch d"]:
    return jax.lax.fori_loop(0, sweeps, lambda _, rows: _sweep(rows, lengths), rows)


def _sweep(rows: Float[Array, "d *batch d"], lengths: Float[Array, "d *batch 1"]) -> Float[Array, "d *batch d"]:
    def update(total: Float[Array, "*batch d"], row_and_length: tuple) -> tuple:
        row, length = row_and_length
        rest = total - row
        size = jnp.linalg.norm(rest, axis=-1, keepdims=True)
        # The sum of the others may be lost to rounding; then this vector stays as it is.
        row = jnp.where(size > 0, -length * rest / jnp.where(size > 0, size, 1.0), row)
        return rest + row, row

    return jax.lax.scan(update, rows.sum(axis=0), (rows, lengths))[1]
