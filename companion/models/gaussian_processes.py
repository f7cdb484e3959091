"""Gaussian processes of experiments: fits of GPJax, and posteriors of matrices and of few features.

GPJax does the rest on the pages. What it has not is here: a kernel that is a matrix, and a posterior whose
covariance is a product of few columns.
"""

from functools import partial
from typing import NamedTuple

import gpjax as gpx
import jax
import jax.numpy as jnp
import numpy as np
import paramax
from gpjax.parameters import PositiveReal, val
from jax.scipy.linalg import cho_solve, solve_triangular


class Fit(NamedTuple):
    """Of the Gaussian kernel, at the greatest marginal likelihood that was found."""

    lengthscale: float
    variance: float
    noise: float
    """s^2, the variance of the noise."""
    log_marginal_likelihood: float


class Posterior(NamedTuple):
    """Of h where it was not seen, by the names that GPJax's predictions have."""

    mean: jax.Array
    covariance_matrix: jax.Array

    @property
    def variance(self):
        """Diagonal of the covariance."""
        return jnp.diagonal(self.covariance_matrix)


class LowRank(NamedTuple):
    """Of h where it was not seen: the covariance is factor factor^T."""

    mean: jax.Array
    factor: jax.Array
    """Shape (n, m)."""


def process(kernel, noise):
    """Zero mean, a kernel and Gaussian noise of variance s^2 as a model of GPJax, without jitter."""
    likelihood = gpx.likelihoods.Gaussian(obs_stddev=jnp.sqrt(jnp.asarray(noise, dtype=float)))
    return gpx.gps.Prior(mean_function=gpx.mean_functions.Zero(), kernel=kernel, jitter=0.0) * likelihood


def data(X, y):
    """What a process of GPJax is conditioned on."""
    return gpx.Dataset(X=jnp.asarray(X, dtype=float), y=jnp.asarray(y, dtype=float)[:, None])


@jax.jit
def fit_process(model, observed):
    """The model at the greatest marginal likelihood, and that; compiled once for all data of one shape."""
    # By default it goes on to the last digit, in ten times the evaluations; the gradient is of a log likelihood.
    model, loss = gpx.fit_lbfgs(
        model=model, objective=_minus_likelihood, train_data=observed, safe=False, gtol=1e-3, max_linesearch_steps=8
    )
    return model, -loss


def _minus_likelihood(model, observed):
    return -gpx.objectives.conjugate_mll(model, observed)


@jax.jit
def predict(model, X, observed):
    """What GPJax predicts at X, as arrays, which a compiled function can return: :class:`Posterior`."""
    found = model.predict(X, train_data=observed)
    return Posterior(found.mean, found.covariance_matrix)


def fit_gaussian(X, y, lengthscale=None):
    """Lengthscale, variance and noise of the Gaussian kernel by GPJax's L-BFGS (the paper has Adam).

    From the root of half the mean squared distance, the mean of y^2 and a tenth of it, in float64.

    Args:
        X, y: points, (n, d), and values, (n,), of mean 0, as the model has it.
        lengthscale: keeps it fixed.

    Source: Variance-Reducing Couplings, Appendix B.1.
    """
    with jax.enable_x64(True):
        X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        size = float(np.mean(y**2)) or 1.0
        start = float(np.sqrt(np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1)))) or 1.0
        scale = start if lengthscale is None else paramax.non_trainable(PositiveReal(jnp.asarray(float(lengthscale))))
        model, likelihood = fit_process(process(gpx.kernels.RBF(lengthscale=scale, variance=size), size / 10), data(X, y))
        kernel, deviation = model.prior.kernel, val(model.likelihood.obs_stddev)
        return Fit(*map(float, (val(kernel.lengthscale), val(kernel.variance), deviation**2, likelihood)))


@partial(jax.jit, static_argnames="n_seen")
def posterior(K, y, noise, n_seen):
    """Of the rows of a matrix after the first n_seen, by Cholesky.

    ::

        mean = K_as (K_ss + s^2 I)^(-1) y,     covariance = K_aa - K_as (K_ss + s^2 I)^(-1) K_sa
    """
    K, y = jnp.asarray(K), jnp.asarray(y)
    L = jnp.linalg.cholesky(K[:n_seen, :n_seen] + noise * jnp.eye(n_seen, dtype=K.dtype))
    between = K[n_seen:, :n_seen]
    half = solve_triangular(L, between.T, lower=True)
    return Posterior(between @ cho_solve((L, True), y), K[n_seen:, n_seen:] - half.T @ half)


@partial(jax.jit, static_argnames="n_seen")
def low_rank_posterior(phi, y, noise, n_seen):
    """Of the kernel phi phi^T, at the rows after the first n_seen, in the weights of the features.

    ::

        h = phi w,  w ~ N(0, I);   phi_s^T phi_s + s^2 I = L L^T
        mean = phi_a (L L^T)^(-1) phi_s^T y,     factor = s phi_a L^(-T)

    No rounding makes the covariance indefinite. It is that of h: add s^2 I for observations. (Of the printed
    formulas, Eq. 39 lacks the factor 1 / s^2, and Eq. 41 has the variance of observations where Eq. 42, of
    the exact process, has that of h.)

    Source: Lazaro-Gredilla et al. (2010); Variance-Reducing Couplings, Eqs. 39 and 41.
    """
    seen, asked = phi[:n_seen], phi[n_seen:]
    L = jnp.linalg.cholesky(seen.T @ seen + noise * jnp.eye(phi.shape[1], dtype=phi.dtype))
    half = solve_triangular(L, asked.T, lower=True)
    return LowRank(asked @ cho_solve((L, True), seen.T @ y), jnp.sqrt(noise) * half.T)


@jax.jit
def kl(mean_1, covariance_1, mean_2, covariance_2):
    """Kullback-Leibler divergence KL(1 | 2) between two Gaussians, such as two predictions.

    ::

        (sum_i (l_i - 1 - log l_i) + |L^(-1) (mean_2 - mean_1)|^2) / 2,    covariance_2 = L L^T
        l_i the eigenvalues of L^(-1) covariance_1 L^(-T)

    A sum of terms of which none is negative, where GPJax's ``kl_divergence`` has a difference of traces and
    determinants. Infinite if the first covariance is singular.

    Source: Rasmussen and Williams (2006), Eq. A.23.
    """
    L = jnp.linalg.cholesky(covariance_2)
    half = solve_triangular(L, covariance_1, lower=True)
    eigenvalues = jnp.linalg.eigvalsh(solve_triangular(L, half.T, lower=True))
    positive = eigenvalues > 0
    away = jnp.where(positive, eigenvalues - 1, 0.0)
    terms = jnp.where(positive, away - jnp.log1p(away), jnp.inf)
    return (jnp.sum(terms) + jnp.sum(solve_triangular(L, mean_2 - mean_1, lower=True) ** 2)) / 2
