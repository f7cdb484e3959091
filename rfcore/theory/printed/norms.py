"""Formulas for coupled norms, attention and posteriors as Variance-Reducing Couplings prints them (Appendices A and B)."""

import jax.numpy as jnp
import numpy as np
from scipy.special import gammaln

from rfcore import checks


def sum_cost(length, v, d, n_terms=200):
    """Cost of a pair by Eq. 33, where the length has the power k.

    ::

        sum_k v^(2k) |omega_1 + omega_2|^k / (2^(2k) k! Gamma(k + d/2)),   times Gamma(d/2)

    Lemma A.1 and Eq. 15 have the power 2k, without which this is no mean of exp(v . (omega_1 + omega_2)). The argument that follows it
    stands: every term is least where the sum vanishes. The right cost is :func:`rfcore.theory.log_conformity_of`.

    Parameters
    ----------
    length : float
        |omega_1 + omega_2|, at least 0.
    v : float
        At least 0.
    d, n_terms : int

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Variance-Reducing Couplings, Eq. 33, proof of Theorem 3.5.

    Examples
    --------
    In the line the mean of exp(v (omega_1 + omega_2)) over the sign of a sum of length 1/4 is cosh(v / 4):

    >>> import math
    >>> from rfcore import theory
    >>> round(theory.printed.sum_cost(0.25, 2.0, 1), 3), round(math.cosh(0.5), 3), theory.printed.sum_cost(0.0, 2.0, 1)
    (1.543, 1.128, 1.0)
    """
    length, v = checks.real(length, "length", least=0), checks.real(v, "v", least=0)
    d, k = checks.count(d, "d"), np.arange(checks.count(n_terms, "n_terms"))
    powers = np.concatenate([[1.0], np.cumprod(np.full(len(k) - 1, v**2 * length / 4))])
    return float(np.sum(powers * np.exp(gammaln(d / 2) - gammaln(k + 1) - gammaln(k + d / 2))))


def chi_square_moment(k, d):
    """k-th moment of the chi square law as it stands below Eq. 29.

    ::

        2^k Gamma(k/2 + d) / Gamma(k/2)

    It should be 2^k Gamma(k + d/2) / Gamma(d/2). The slip goes into g(z) of Lemma A.6; with the right moments its proof goes through
    (:func:`rfcore.theory.fourier_guarantee`).

    Parameters
    ----------
    k, d : int

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If k or d < 1.

    Notes
    -----
    Variance-Reducing Couplings, proof of Lemma A.6.

    Examples
    --------
    The mean of the chi square law with 4 degrees of freedom is 4:

    >>> from rfcore import theory
    >>> round(theory.printed.chi_square_moment(1, 4), 2)
    13.13
    """
    k, d = checks.count(k, "k"), checks.count(d, "d")
    return float(np.exp(k * np.log(2) + gammaln(k / 2 + d) - gammaln(k / 2)))


def correlation_factor(theta):
    """Factor of a correlation matrix by Eq. 34, whose indices are exchanged.

    ::

        L_ij = theta_ij / s_i  for i <= j,  0 otherwise;   s_i = sqrt(sum_{j <= i} theta_ij^2)

    An upper triangle divided by lengths of the lower one: L L^T has no ones on its diagonal. With j <= i it is
    :func:`rfcore.solvers.copula.correlation_factor`.

    Parameters
    ----------
    theta : array, shape (m, m), ones on the diagonal

    Returns
    -------
    array, shape (m, m)

    Raises
    ------
    ValueError
        If theta is no square matrix of finite numbers with ones on its diagonal.

    Notes
    -----
    Variance-Reducing Couplings, Eq. 34.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from rfcore import theory
    >>> factor = theory.printed.correlation_factor(jnp.array([[1.0, 2.0], [2.0, 1.0]]))
    >>> (factor @ factor.T)[0, 0].item()  # of a correlation matrix it would be 1
    5.0
    """
    theta = checks.points(theta, "theta")
    if theta.shape[0] != theta.shape[1] or not jnp.all(jnp.diagonal(theta) == 1):
        raise ValueError(f"theta has shape {theta.shape} and diagonal {jnp.diagonal(theta)}; give a square matrix with ones there")
    return jnp.triu(theta) / jnp.sqrt(jnp.sum(jnp.tril(theta) ** 2, axis=1, keepdims=True))


def attention_error(estimates, kernel):
    """Error of normalised rows by Eq. 45, which takes E[a^^2] - a^2 for the mean squared error.

    ::

        MSE(a^_j) = [delta_j^2 - 4 a_j delta_j sum_l delta_l + 3 a_j^2 (sum_l delta_l)^2] / S^2

    in the notation of :func:`rfcore.models.attention.row_error`. The mean of a^ is not a to this order, so that the two differ:
    -2 and +1 are right. It may be negative. For equal means the mean over j is that of Eq. 8 all the same.

    Parameters
    ----------
    estimates : array, shape (repeats, n, N)
    kernel : array, shape (n, N), above 0

    Returns
    -------
    array, shape (n,)
        Mean over j and repeats.

    Raises
    ------
    ValueError
        If shapes do not fit, a value is not finite, or the kernel not above 0.

    Notes
    -----
    Variance-Reducing Couplings, Eq. 45.

    Examples
    --------
    One estimate off, of two values apart, gives a negative square:

    >>> import jax.numpy as jnp
    >>> from rfcore import theory
    >>> kernel = jnp.array([[1.0, 3.0]])
    >>> bool(theory.printed.attention_error(kernel[None] + jnp.array([0.0, 0.1]), kernel)[0] < 0)
    True
    """
    estimates, kernel = checks.floating(estimates, "estimates"), checks.points(kernel, "kernel")
    if estimates.ndim != 3 or estimates.shape[1:] != kernel.shape or 0 in estimates.shape:
        got = f"kernel has shape {kernel.shape} and estimates has shape {estimates.shape}"
        raise ValueError(f"{got}; give repeats of the kernel, shape (repeats, n, N)")
    if not checks.is_traced(kernel) and not np.asarray(kernel).min() > 0:
        raise ValueError(f"kernel has the value {kernel.min()}; give values above 0")
    total, deltas = kernel.sum(axis=1), estimates - kernel
    sums, weights = deltas.sum(axis=2, keepdims=True), kernel / total[:, None]
    return jnp.mean(deltas**2 - 4 * weights * deltas * sums + 3 * (weights * sums) ** 2, axis=(0, 2)) / total**2


def posterior_by_weights(phi_seen, phi_asked, y, noise):
    """Predictive mean and covariance of a linear model in features by Eqs. 39 and 41.

    ::

        mean = phi_a (phi_s^T phi_s / s^2 + I)^(-1) phi_s^T y
        covariance = phi_a (phi_s^T phi_s / s^2 + I)^(-1) phi_a^T + s^2 I

    with rows of features, whatever the transposes. The mean lacks the factor 1 / s^2. The covariance is that of new observations, where
    Eq. 43, as which both "can be rewritten", has that of h, without the noise. See :func:`rfcore.models.gp.posterior_by_weights`.

    Parameters
    ----------
    phi_seen : array, shape (n_seen, m)
    phi_asked : array, shape (n_asked, m)
    y : array, shape (n_seen,)
    noise : float
        s^2, above 0.

    Returns
    -------
    mean, covariance : array, shape (n_asked,) and (n_asked, n_asked)

    Raises
    ------
    ValueError
        If shapes do not fit, a value is not finite, or noise is not above 0.

    Notes
    -----
    Variance-Reducing Couplings, Eqs. 39 and 41.

    Examples
    --------
    One feature that is 1 everywhere, one value 1 seen with noise 1/2: the mean is 1 / (1 + 1/2).

    >>> from rfcore import theory
    >>> mean, _ = theory.printed.posterior_by_weights([[1.0]], [[1.0]], [1.0], 0.5)
    >>> round(float(mean[0]), 3)
    0.333
    """
    phi_seen, phi_asked = checks.points(phi_seen, "phi_seen"), checks.points(phi_asked, "phi_asked")
    y, noise = checks.vector(y, "y"), checks.real(noise, "noise", above=0)
    if phi_asked.shape[1] != phi_seen.shape[1] or len(y) != len(phi_seen):
        got = f"phi_seen has shape {phi_seen.shape}, phi_asked {phi_asked.shape}, y {y.shape}"
        raise ValueError(f"{got}; give as many columns to both, and one value per row of phi_seen")
    A = phi_seen.T @ phi_seen / noise + jnp.eye(phi_seen.shape[1])
    mean = phi_asked @ jnp.linalg.solve(A, phi_seen.T @ y)
    return mean, phi_asked @ jnp.linalg.solve(A, phi_asked.T) + noise * jnp.eye(len(phi_asked))
