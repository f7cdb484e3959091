"""Gaussian copulas: uniforms at the levels of correlated normals."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from rfcore import checks
from rfcore.copulas.copula import Copula, Levels, Uniform
from rfcore.copulas.uniforms import below_one, eps
from rfcore.precision import product


class Gaussian(Copula):
    """Uniforms at the levels of correlated normals: see :func:`gaussian`."""

    factor: Float[Array | np.ndarray, "m r"]
    """L with L L^T the correlation matrix."""

    def __call__(self, uniform: Uniform, shape: tuple[int, ...]) -> Levels:
        *blocks, m, k = shape
        n_rows, rank = self.factor.shape
        if m != n_rows:
            got = f"correlation has shape {(n_rows, n_rows)} and a block has {m} draws"
            raise ValueError(f"{got}; give one row and column per draw of a block")
        v = uniform((*blocks, rank, k))
        xp = v.__array_namespace__()
        special = jax.scipy.special if xp is jnp else scipy.special
        # A GPU would take products in float32 to three digits.
        matmul = product if xp is jnp else np.matmul
        normals = special.ndtri(xp.maximum(v, eps(v) / 4))  # the normal of 0, once in 2^53 rng.random(), is infinite
        factor = xp.asarray(self.factor, dtype=v.dtype)
        return xp.minimum(special.ndtr(matmul(factor, normals)), below_one(v))


def gaussian(correlation: Float[ArrayLike, "m m"]) -> Gaussian:
    """Gaussian copula: the marginal levels of m correlated normals.

    ::

        u = Phi(L Phi^-1(v)),  L L^T = correlation, L lower triangular, v independent uniforms

    Blocks must have m draws. Correlations -1 and 1 are allowed: ``antithetic`` and ``comonotone`` are the
    copulas of such matrices. Values of a traced matrix (``jax.jit``, ``jax.grad``) are not checked, and a
    singular one gives NaN: learn with :func:`gaussian_of_factor`.

    Args:
        correlation: symmetric and positive semidefinite, with ones on its diagonal.

    Source: Variance-Reducing Couplings, Section 3.2 and Appendix A.5.
    """
    matrix = checks.finite(checks.numbers(correlation, "correlation"), "correlation")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ValueError(f"correlation has shape {matrix.shape}; give a square matrix, one row per draw of a block")
    if checks.is_traced(matrix):
        return Gaussian(jnp.linalg.cholesky(matrix))
    return Gaussian(_factor(np.asarray(matrix, dtype=float)))


def gaussian_of_factor(factor: Float[ArrayLike, "m r"]) -> Gaussian:
    """Gaussian copula by a factor of its correlation matrix, differentiable wherever no row is zero.

    ::

        u = Phi(L Phi^-1(v)),  L_i = factor_i / |factor_i|,  correlation L L^T

    Args:
        factor: rows are normalised; the sum of the squares of each row must be finite and not 0.

    Source: Variance-Reducing Couplings, Eq. 34, where the factor is triangular.
    """
    rows: Any = checks.finite(checks.numbers(factor, "factor"), "factor")
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(f"factor has shape {rows.shape}; give a matrix, one row per draw of a block")
    if not checks.is_traced(rows):
        with np.errstate(over="ignore"):
            known = (np.asarray(rows) ** 2).sum(axis=1)
        if not (np.all(np.isfinite(known)) and np.all(known > 0)):
            got = f"factor has rows whose squares sum to {np.min(known)} to {np.max(known)}"
            raise ValueError(f"{got}; give each draw a direction, neither zeros nor beyond the floats when squared")
    return Gaussian(rows / (rows**2).sum(axis=1, keepdims=True) ** 0.5)


def _factor(correlation: Float[np.ndarray, "m m"]) -> Float[np.ndarray, "m m"]:
    """Lower triangular L with L L^T = correlation, for singular correlations too."""
    m, rounding = len(correlation), 1e-6  # smaller errors are accepted, so that float32 matrices pass
    if np.abs(correlation - correlation.T).max() > rounding or np.abs(np.diag(correlation) - 1).max() > rounding:
        got = f"correlation = {correlation!r} is not symmetric with ones on its diagonal"
        raise ValueError(f"{got}; give a correlation matrix")
    values, vectors = np.linalg.eigh((correlation + correlation.T) / 2)
    if values[0] < -m * rounding:
        raise ValueError(f"correlation has the eigenvalue {values[0]}; give a positive semidefinite matrix")
    # Eigenvalues within rounding of zero are set to zero, so that a correlation of -1 gives exact opposites.
    values = np.where(values < 4 * m * eps(values), 0, values)
    _, upper = np.linalg.qr((vectors * np.sqrt(values)).T)
    factor = (upper * np.where(np.diag(upper) < 0, -1, 1)[:, None]).T
    return factor / np.linalg.norm(factor, axis=1, keepdims=True)
