"""Posterior, evidence and divergence of Gaussian processes whose kernel is a matrix: exact, by Cholesky."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_solve, solve_triangular

from rfcore import checks


class Posterior(NamedTuple):
    """What is known about h where it was asked for."""

    mean: jax.Array
    """Shape (n,)."""
    covariance: jax.Array
    """Shape (n, n), of h; observations of it vary by s^2 more."""

    @property
    def variance(self):
        """Diagonal of the covariance, (n,)."""
        return jnp.diagonal(self.covariance)


def posterior(K, y, noise, seen, asked=None):
    """Mean and covariance of h at the rows that are asked for, exactly, in O(n_seen^3).

    ::

        mean = K_as (K_ss + s^2 I)^(-1) y,     covariance = K_aa - K_as (K_ss + s^2 I)^(-1) K_sa

    Args:
        K: kernel, (n, n), symmetric and positive semidefinite.
        y, noise, seen: observations, (n_seen,); the variance s^2 of their noise; their rows of K.
        asked: rows of K to predict; by default those not seen, in increasing order.

    Returns:
        Posterior, of h; observations of it vary by s^2 more.

    Source: Rasmussen and Williams (2006), Eqs. 2.25 and 2.26 and Algorithm 2.1.

    >>> import numpy as np
    >>> from rfcore import models
    >>> mean, covariance = models.gp.posterior(np.ones((2, 2)), [1.0], 1.0, seen=[0])  # the same h at both
    >>> mean.round(3).tolist(), covariance.round(3).tolist()
    ([0.5], [[0.5]])
    """
    K, y, noise = symmetric(K, "K"), vector(y), checks.real(noise, "noise", above=0)
    seen, asked = rows(seen, asked, len(K), len(y))
    L = cholesky(K[seen][:, seen] + noise * jnp.eye(len(seen)), "K, with the noise,")
    between = K[asked][:, seen]
    half = solve_triangular(L, between.T, lower=True)
    return Posterior(between @ cho_solve((L, True), y), K[asked][:, asked] - half.T @ half)


def log_evidence(K, y, noise):
    """Log of the density of y, exactly; K (n, n) symmetric and positive semidefinite.

    ::

        log N(y; 0, K + s^2 I) = -y^T (K + s^2 I)^(-1) y / 2 - log det(K + s^2 I) / 2 - n log(2 pi) / 2

    Source: Rasmussen and Williams (2006), Eq. 2.30.
    """
    K, y, noise = symmetric(K, "K"), vector(y), checks.real(noise, "noise", above=0)
    if len(K) != len(y):
        raise ValueError(f"y has shape {y.shape}, K {K.shape}; give one value per row of K")
    L = cholesky(K + noise * jnp.eye(len(y)), "K, with the noise,")
    return -jnp.sum(solve_triangular(L, y, lower=True) ** 2) / 2 - log_det(L) / 2 - len(y) * jnp.log(2 * jnp.pi) / 2


def kl(mean_1, covariance_1, mean_2, covariance_2):
    """Kullback-Leibler divergence KL(1 | 2) between two Gaussians, such as two predictives.

    ::

        (sum_i (l_i - 1 - log l_i) + |L^(-1) (mean_2 - mean_1)|^2) / 2,    covariance_2 = L L^T
        l_i the eigenvalues of L^(-1) covariance_1 L^(-T)

    A sum of terms of which none is negative: no difference of traces and determinants, and never below 0.
    Infinite if the first covariance is singular; the second must be positive definite.

    Source: Rasmussen and Williams (2006), Eq. A.23.
    """
    mean_1, mean_2 = vector(mean_1, "mean_1"), vector(mean_2, "mean_2")
    covariance_1, covariance_2 = symmetric(covariance_1, "covariance_1"), symmetric(covariance_2, "covariance_2")
    for name, other in (("mean_1", mean_1), ("covariance_1", covariance_1), ("covariance_2", covariance_2)):
        if len(other) != len(mean_2):
            raise ValueError(f"{name} has shape {other.shape}, mean_2 {mean_2.shape}; give the same number of rows")
    L = cholesky(covariance_2, "covariance_2")
    half = solve_triangular(L, covariance_1, lower=True)
    eigenvalues = jnp.linalg.eigvalsh(solve_triangular(L, half.T, lower=True))
    positive = eigenvalues > 0
    away = jnp.where(positive, eigenvalues - 1, 0.0)
    terms = jnp.where(positive, away - jnp.log1p(away), jnp.inf)
    return (jnp.sum(terms) + jnp.sum(solve_triangular(L, mean_2 - mean_1, lower=True) ** 2)) / 2


def vector(y, name="y"):
    """A vector of floating-point numbers."""
    return jnp.asarray(checks.vector(y, name))


def symmetric(K, name):
    """``K``, if it is a symmetric matrix."""
    K = checks.points(K, name)
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"{name} has shape {K.shape}; give a square matrix")
    if not checks.is_traced(K):
        with jax.ensure_compile_time_eval():  # a function that is being compiled may have captured K
            apart, size = float(jnp.max(jnp.abs(K - K.T))), float(jnp.max(jnp.abs(K)))
        if apart > 1e3 * jnp.finfo(K.dtype).eps * size:
            got = f"{name} is not symmetric: an entry has a distance of {apart:.1e} from its mirror image"
            raise ValueError(f"{got}; give a symmetric one, such as phi @ phi.T of one set of features")
    return K


def rows(seen, asked, n, n_values):
    """Rows that were seen, one per value, and rows that are asked for: by default the others."""
    seen = checks.indices(seen, "seen", n, empty=True)
    if len(seen) != n_values:
        raise ValueError(f"seen has shape {seen.shape}, y has {n_values} values; give one row per value")
    return seen, np.setdiff1d(np.arange(n), seen) if asked is None else checks.indices(asked, "asked", n, empty=True)


def cholesky(A, name):
    """Lower Cholesky factor."""
    L = jnp.linalg.cholesky(A)
    if not checks.is_traced(L) and not jnp.all(jnp.isfinite(L)):
        raise ValueError(f"{name} has eigenvalues that are not positive; give a positive definite matrix, or more noise")
    return L


def log_det(L):
    """Log determinant of L L^T."""
    return 2 * jnp.sum(jnp.log(jnp.diagonal(L)))
