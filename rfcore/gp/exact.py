"""Gaussian processes whose kernel is a matrix: posteriors, evidence and divergences, by elimination.

Dense matrices by Cholesky, in JAX; sparse ones by SuperLU, on the host. Where neighbours are few, a diffusion
kernel is nearly zero beyond some hops, and the product of walk features is zero for all nodes that no two
walks joined: elimination along a surface keeps both sparse, on 8,700 faces with some hundreds of entries per
row in place of thousands.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from jax.scipy.linalg import cho_solve, solve_triangular
from scipy.sparse.linalg import spilu, splu

from rfcore import checks

_SYMMETRIC = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}


class Posterior(NamedTuple):
    """What is known about h where it was asked for."""

    mean: jax.Array
    """Shape (n,)."""
    covariance: jax.Array
    """Shape (n, n), of h; observations of it vary by s^2 more. None where it was not asked for."""

    @property
    def variance(self):
        """Diagonal of the covariance, (n,)."""
        return jnp.diagonal(self.covariance)


class FactoredPosterior(NamedTuple):
    """What is known about h where it was asked for, by few features: a covariance of low rank."""

    mean: jax.Array
    """Shape (n,)."""
    factor: jax.Array
    """Shape (n, m): the covariance of h is factor factor^T."""


def factored_posterior(phi, y, noise, seen, asked=None):
    """:func:`posterior` of the kernel phi phi^T in the weights of the features, with a factor.

    ::

        h = phi w,  w ~ N(0, I);   phi_s^T phi_s + s^2 I = L L^T
        mean = phi_a (L L^T)^(-1) phi_s^T y,     factor = s phi_a L^(-T)

    O((n_seen + n_asked) m^2): for fewer features than points. No rounding makes the covariance indefinite. It
    is that of h: add s^2 I for observations. (Of the printed formulas, Eq. 39 lacks the factor 1 / s^2, and
    Eq. 41 has the variance of observations where Eq. 42, of the exact process, has that of h.)

    Args:
        phi: features of seen and asked points, times the root of the variance of the kernel, (n, m).
        y, noise, seen, asked: as for :func:`posterior`, with rows of phi.

    Returns:
        FactoredPosterior.

    Source: Lazaro-Gredilla et al. (2010); Variance-Reducing Couplings, Eqs. 39 and 41.
    """
    phi, y, noise = checks.points(phi, "phi"), vector(y), checks.real(noise, "noise", above=0)
    seen, asked = rows(seen, asked, len(phi), len(y))
    phi_s, phi_a = phi[seen], phi[asked]
    L = cholesky(phi_s.T @ phi_s + noise * jnp.eye(phi.shape[1], dtype=phi.dtype), "phi^T phi, with the noise,")
    half = solve_triangular(L, phi_a.T, lower=True)
    return FactoredPosterior(phi_a @ cho_solve((L, True), phi_s.T @ y), jnp.sqrt(noise) * half.T)


def posterior_of_matrix(K, y, noise, seen, asked):
    """Posterior by Cholesky, in O(n_seen^3); arguments are checked."""
    L = cholesky(K[seen][:, seen] + noise * jnp.eye(len(seen)), "K, with the noise,")
    between = K[asked][:, seen]
    half = solve_triangular(L, between.T, lower=True)
    return Posterior(between @ cho_solve((L, True), y), K[asked][:, asked] - half.T @ half)


def evidence_of_matrix(K, y, noise):
    """Log evidence by Cholesky; arguments are checked."""
    L = cholesky(K + noise * jnp.eye(len(y)), "K, with the noise,")
    return -jnp.sum(solve_triangular(L, y, lower=True) ** 2) / 2 - log_det(L) / 2 - len(y) * jnp.log(2 * jnp.pi) / 2


def posterior_of_sparse(K, y, noise, seen, asked):
    """Posterior by SuperLU with a symmetric order of least degree, without pivots; arguments are checked.

    Rows that are asked for are eliminated last, so that the covariance is what elimination leaves of them:
    solving for them one by one takes several times as long.
    """
    first = _least_degree(K[seen][:, seen])
    order, given = np.concatenate([seen[first], asked]), np.asarray(y, dtype=float)[first]
    factors = _positive_factors(sp.csc_array(K[order][:, order] + noise * sp.eye_array(len(order))))
    last = factors.perm_c[len(seen) :]  # where SuperLU put them: it may exchange what does not depend on each other
    left = factors.L[:, last].tocsr()[last].toarray() @ factors.U[:, last].tocsr()[last].toarray()
    # (y, 0) = system (u, v) makes v = -left^-1 K_asked,seen (K_seen,seen + noise)^-1 y
    mean = -left @ factors.solve(np.concatenate([given, np.zeros(len(asked))]))[len(seen) :]
    covariance = left - noise * np.eye(len(asked))
    return Posterior(jnp.asarray(mean), jnp.asarray((covariance + covariance.T) / 2))


def evidence_of_sparse(K, y, noise):
    """Log evidence by the same elimination; arguments are checked."""
    first, y = _least_degree(K), np.asarray(y, dtype=float)
    factors = _positive_factors(sp.csc_array(K[first][:, first] + noise * sp.eye_array(len(y))))
    square = y[first] @ factors.solve(y[first])
    return -jnp.asarray(square + np.sum(np.log(factors.U.diagonal())) + len(y) * np.log(2 * np.pi)) / 2


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
    """``K``, if it is a symmetric dense matrix."""
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


def _positive_factors(system):
    """SuperLU's factors without pivots, whose diagonal has the signs of the eigenvalues."""
    try:
        factors = splu(system, permc_spec="NATURAL", **_SYMMETRIC)
        is_positive = np.array_equal(factors.perm_r, factors.perm_c) and np.all(factors.U.diagonal() > 0)
    except RuntimeError:  # a pivot of 0
        is_positive = False
    if not is_positive:
        raise ValueError(
            "K, with the noise, has eigenvalues that are not positive; give a positive definite matrix, or more noise"
        )
    return factors


def _least_degree(K):
    """SuperLU's symmetric order of least degree of the rows of K, which depends on its pattern alone."""
    pattern = sp.csc_array(K + sp.eye_array(K.shape[0]))
    rows, columns = pattern.nonzero()
    pattern = sp.csc_array(((rows == columns).astype(float), (rows, columns)), shape=K.shape)
    return np.argsort(spilu(pattern, permc_spec="MMD_AT_PLUS_A", drop_tol=1.0, fill_factor=1.0, **_SYMMETRIC).perm_c)
