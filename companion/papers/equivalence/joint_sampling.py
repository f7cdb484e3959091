"""What drawing frequencies together can add to the law that is optimal for independent ones.

Estimates of a kernel on one set from m features are sums of products, so that the mean over all pairs of
their squares is a sum over pairs of features,

::

    mean over x, y of k^(x, y)^2 = C^2 / m^2 sum over i, j of overlap_ij
    overlap_ij = (E_x phi_i phi_j)^2 / (E_x phi_i^2 E_x phi_j^2)

under the optimal law ("All Random Features Representations are Equivalent", Theorem 1), where C is the mean
of k(x, x). A coupling lowers the error by making features less alike on the points, and no further than an
overlap of 0.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jax.scipy.special import logsumexp

from companion.papers.favor.trigonometric import squared_distances
from rfcore import checks
from rfcore.theory.sampling_laws import check_covariance, log_difference, optimal_gaussian


def log_joint_variance_floor(X, m, kernel="gaussian"):
    """Logarithm of a floor under the mean squared error of unbiased estimates by m features, over all pairs.

    ::

        (mean k(x, x))^2 / m - mean over all pairs of k(x, y)^2

    It holds for any features and laws: an estimate is positive semidefinite of rank m at most, so that its
    squared Frobenius norm is at least its squared trace over m. From m = (trace K)^2 / trace K^2 on it is
    -inf, and says nothing.
    """
    X = checks.points(X, "X", least=1)
    checks.choice(kernel, "kernel", ("gaussian", "softmax"))
    return _log_floor(X, jnp.asarray(m, X.dtype), kernel)


def optimal_overlaps(omega, covariance, kernel="gaussian"):
    """Overlaps, (m, m), of positive features of Gaussian points, for frequencies moved to the optimal law.

    ::

        overlap_ij = exp(-(w_i - w_j)' S (I + c S)^-1 (w_i - w_j)),   c = 2 (softmax), 4 (gaussian)

    Rows of omega are N(0, I_d), and w = mean + root omega of the law that is optimal for covariance S.
    """
    omega, covariance = checks.points(omega, "omega"), checks.points(covariance, "covariance")
    d = covariance.shape[1]
    if len(covariance) != d:
        raise ValueError(f"covariance has shape {covariance.shape}; give a square matrix")
    check_covariance(covariance, "covariance", 0.5 if kernel == "softmax" else jnp.inf)
    zeros = jnp.zeros(d)
    law = optimal_gaussian(zeros, covariance, zeros, covariance, kernel)
    if omega.shape[1] != d:
        raise ValueError(f"omega has shape {omega.shape}; give frequencies of dimension {d}")
    return _overlaps(omega, covariance, law.covariance, kernel)


def mean_overlap(variance, d, coupling, kernel="gaussian"):
    """Mean overlap of two frequencies of one block, for Gaussian points of variance s per coordinate.

    ::

        iid (1 + 4 t)^(-d/2),   orthogonal (1 + 2 t)^(-d),   t = s (gaussian), s / (1 - 2 s) (softmax)

    With r and rho for the two, the mean squared error of m <= d frequencies is [1 + (m - 1) rho - m
    r] / (1 - r) of the bound that independent ones attain.
    """
    variance = checks.real(variance, "variance", above=0)
    checks.choice(coupling, "coupling", ("iid", "orthogonal"))
    checks.choice(kernel, "kernel", ("gaussian", "softmax"))
    if kernel == "softmax" and variance >= 0.5:
        raise ValueError(f"variance = {variance}; give one below 1/2, where E k(x, x) is finite")
    t = variance if kernel == "gaussian" else variance / (1 - 2 * variance)
    return jnp.exp(-d / 2 * jnp.log1p(4 * t) if coupling == "iid" else -d * jnp.log1p(2 * t))


@partial(jax.jit, static_argnames="kernel")
def _log_floor(X, m, kernel):
    if kernel == "gaussian":
        log_selves, log_squares = jnp.zeros(len(X), X.dtype), -squared_distances(X, X)
    else:
        log_selves, log_squares = jnp.sum(X**2, axis=1), 2 * X @ X.T
    log_mean = logsumexp(log_selves) - jnp.log(len(X))
    return log_difference(2 * log_mean - jnp.log(m), logsumexp(log_squares) - jnp.log(log_squares.size))


@partial(jax.jit, static_argnames="kernel")
def _overlaps(omega, covariance, of_law, kernel):
    values, vectors = jnp.linalg.eigh(covariance)
    values = jnp.maximum(values, 0)
    root = vectors * jnp.sqrt(values / (1 + (2 if kernel == "softmax" else 4) * values))
    moved = omega @ jnp.linalg.cholesky(of_law).T @ root
    return jnp.exp(-squared_distances(moved, moved))
