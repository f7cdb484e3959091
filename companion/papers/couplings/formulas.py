"""Formulas on norms, attention and posteriors as Variance-Reducing Couplings prints them: all have slips."""

import jax.numpy as jnp
import numpy as np
from scipy.special import gammaln

from rfcore import checks


def sum_cost(length, v, d, n_terms=200):
    """Cost of a pair by Eq. 33, where the length has the power k in place of 2k.

    ::

        sum_k v^(2k) |omega_1 + omega_2|^k / (2^(2k) k! Gamma(k + d/2)),   times Gamma(d/2)

    With 2k, as in Lemma A.1 and Eq. 15, it is a mean of exp(v . (omega_1 + omega_2)):
    :func:`companion.papers.simplex.conformities.log_conformity_of`. The argument that follows stands: every
    term is least where the sum vanishes.

    Source: Variance-Reducing Couplings, Eq. 33, proof of Theorem 3.5.
    """
    k = np.arange(n_terms)
    powers = np.concatenate([[1.0], np.cumprod(np.full(len(k) - 1, v**2 * length / 4))])
    return float(np.sum(powers * np.exp(gammaln(d / 2) - gammaln(k + 1) - gammaln(k + d / 2))))


def chi_square_moment(k, d):
    """k-th moment of the chi square law with d degrees of freedom, wrong as it stands below Eq. 29.

    It is printed as 2^k Gamma(k/2 + d) / Gamma(k/2); right is 2^k Gamma(k + d/2) / Gamma(d/2). The slip goes
    into g(z) of Lemma A.6; with the right moments its proof goes through
    (:func:`companion.papers.couplings.close_points.guarantee`).

    Source: Variance-Reducing Couplings, proof of Lemma A.6.
    """
    return float(np.exp(k * np.log(2) + gammaln(k / 2 + d) - gammaln(k / 2)))


def correlation_factor(theta):
    """Factor (m, m) of a correlation matrix by Eq. 34, whose indices are exchanged.

    ::

        L_ij = theta_ij / s_i  for i <= j,  0 otherwise;   theta_ii = 1,   s_i = sqrt(sum_{j <= i} theta_ij^2)

    An upper triangle over lengths of the lower one: L L^T has no ones on its diagonal. With j <= i it is
    :func:`companion.papers.couplings.copula.correlation_factor`.

    Source: Variance-Reducing Couplings, Eq. 34.
    """
    theta = checks.points(theta, "theta")
    if theta.shape[0] != theta.shape[1] or not jnp.all(jnp.diagonal(theta) == 1):
        raise ValueError(f"theta has shape {theta.shape} and diagonal {jnp.diagonal(theta)}; give a square matrix with ones there")
    return jnp.triu(theta) / jnp.sqrt(jnp.sum(jnp.tril(theta) ** 2, axis=1, keepdims=True))


def attention_error(estimates, kernel):
    """Error of normalised rows by Eq. 45, which takes E[b^2] - a^2 for that of an estimate b of a.

    ::

        MSE(b_j) = [delta_j^2 - 4 a_j delta_j sum_l delta_l + 3 a_j^2 (sum_l delta_l)^2] / S^2

    in the notation of :func:`companion.papers.couplings.attention_rows.row_error`; the result, (n,), is the
    mean over j and repeats. To this order the mean of b is not a, and -2 and +1 are right: as printed it may
    be negative. For equal means the mean over j is that of Eq. 8 all the same. Shapes: estimates (repeats, n,
    N), kernel (n, N), above 0.

    Source: Variance-Reducing Couplings, Eq. 45.
    """
    kernel = checks.points(kernel, "kernel")
    estimates = checks.shaped(estimates, "estimates", (len(estimates), *kernel.shape))
    if not checks.is_traced(kernel) and not np.asarray(kernel).min() > 0:
        raise ValueError(f"kernel has the value {kernel.min()}; give values above 0")
    total, deltas = kernel.sum(axis=1), estimates - kernel
    sums, weights = deltas.sum(axis=2, keepdims=True), kernel / total[:, None]
    return jnp.mean(deltas**2 - 4 * weights * deltas * sums + 3 * (weights * sums) ** 2, axis=(0, 2)) / total**2


def posterior_by_weights(phi_seen, phi_asked, y, noise):
    """Posterior mean and covariance by weights of features as in Eqs. 39 and 41, where a factor is missing.

    ::

        mean = phi_a (phi_s^T phi_s / s^2 + I)^(-1) phi_s^T y
        covariance = phi_a (phi_s^T phi_s / s^2 + I)^(-1) phi_a^T + s^2 I,   s^2 the noise

    with rows of features, whatever the transposes. The mean lacks 1 / s^2. The covariance is that of new
    observations, where Eq. 43, as which both "can be rewritten", has no noise. Right is
    :func:`companion.models.gaussian_processes.low_rank_posterior`.

    Source: Variance-Reducing Couplings, Eqs. 39 and 41.
    """
    phi_seen, phi_asked = checks.points(phi_seen, "phi_seen"), checks.points(phi_asked, "phi_asked")
    y, noise = checks.vector(y, "y"), checks.real(noise, "noise", above=0)
    if phi_asked.shape[1] != phi_seen.shape[1] or len(y) != len(phi_seen):
        got = f"phi_seen has shape {phi_seen.shape}, phi_asked {phi_asked.shape}, y {y.shape}"
        raise ValueError(f"{got}; give as many columns to both, and one value per row of phi_seen")
    A = phi_seen.T @ phi_seen / noise + jnp.eye(phi_seen.shape[1])
    mean = phi_asked @ jnp.linalg.solve(A, phi_seen.T @ y)
    return mean, phi_asked @ jnp.linalg.solve(A, phi_asked.T) + noise * jnp.eye(len(phi_asked))
