"""Hyper-parameters of the Gaussian kernel by evidence; posteriors in the weights of features; their error."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_solve, solve_triangular
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from rfcore import checks
from rfcore.models.gp.exact import Posterior, cholesky, log_det, rows, symmetric, vector

LOG_RANGE = 12.0  # how far from its start the logarithm of a parameter may go


class GaussianFit(NamedTuple):
    """Lengthscale and variance of the kernel and the noise at a maximum of the evidence, ``log_evidence``."""

    lengthscale: float
    variance: float
    noise: float
    """s^2, the variance of the noise."""
    log_evidence: float
    slope: float
    """Largest derivative of the log evidence by the logarithm of a parameter at the end; large where a parameter ran to the end of
    its range."""


def fit_gaussian(X, y, lengthscale=None, start=None):
    """Lengthscale, variance and noise that make the evidence of a Gaussian kernel greatest.

    ::

        max log N(y; 0, variance k(X / lengthscale, X / lengthscale) + noise I)
        k(x, x') = exp(-|x - x'|^2 / 2)

    L-BFGS-B on logarithms in float64 (the paper has Adam), compiled once per number of points; the gradient
    is closed: one Cholesky factor and one inverse. GPJax 1.0 and scikit-learn find the same optimum; GPJax
    compiles anew in each fit.

    Args:
        X, y: points, (n, d), and values, (n,), of mean 0, as the model has it.
        lengthscale: keeps the lengthscale fixed.
        start: lengthscale, variance and noise; parameters stay within e^12 of it. By default the root of half
            the mean squared distance, the mean of y^2 and a tenth of it.

    Returns:
        GaussianFit.

    Source: Rasmussen and Williams (2006), Eqs. 5.8 and 5.9; Variance-Reducing Couplings, Appendix B.1.

    >>> import numpy as np
    >>> from rfcore import models
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> fit = models.gp.fit_gaussian(X, np.sin(X[:, 0]) + 0.1 * np.cos(np.arange(40) ** 2))
    >>> 1 < fit.lengthscale < 5, 0 < fit.noise < 0.1 < fit.variance
    (True, True)
    """
    with jax.enable_x64(True):
        X, y = np.asarray(checks.points(X, "X"), dtype=float), np.asarray(checks.vector(y, "y"), dtype=float)
    if len(X) != len(y):
        raise ValueError(f"y has shape {y.shape}, X {X.shape}; give one value per point")
    squares, size = cdist(X, X, "sqeuclidean"), float(np.mean(y**2)) or 1.0
    if start is None:
        start = np.sqrt(squares.mean() / 2) or 1.0, size, size / 10
    start = np.array(checks.vector(start, "start", 3, of="parameter"), dtype=float)
    if not start.min() > 0:
        raise ValueError(f"start = {start}; give a lengthscale, a variance and a noise, above 0")
    free = slice(0, 3)
    if lengthscale is not None:
        start[0], free = checks.real(lengthscale, "lengthscale", above=0), slice(1, 3)
    logs = np.log(start)

    def objective(values):
        value, slope = _objective(np.concatenate([logs[: free.start], values]), squares, y)
        return float(value), np.asarray(slope)[free]

    with jax.enable_x64(True):
        bounds = [(log - LOG_RANGE, log + LOG_RANGE) for log in logs[free]]
        found = minimize(objective, logs[free], jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-12, "gtol": 1e-6})
    values = np.exp(np.concatenate([logs[: free.start], found.x]))
    return GaussianFit(*(float(value) for value in values), -float(found.fun), float(np.abs(found.jac).max()))


class FactoredPosterior(NamedTuple):
    """What is known about h where it was asked for, by few features: a covariance of low rank."""

    mean: jax.Array
    """Shape (n,)."""
    factor: jax.Array
    """Shape (n, m): the covariance of h is factor factor^T."""


class Divergences(NamedTuple):
    """Kullback-Leibler divergences of two laws of new observations, in nats, of all points together."""

    of_exact: jax.Array
    """KL(exact | approximate)."""
    of_approximate: jax.Array
    """KL(approximate | exact)."""


def posterior_by_weights(phi, y, noise, seen, asked=None):
    """Posterior of the kernel phi phi^T in the weights of the features: a sparse-spectrum Gaussian process.

    ::

        h = phi w,  w ~ N(0, I);   A = phi_s^T phi_s + s^2 I
        mean = phi_a A^(-1) phi_s^T y,     covariance = s^2 phi_a A^(-1) phi_a^T

    the same as :func:`posterior` of the matrix phi phi^T, in O((n_seen + n_asked) m^2): for fewer features
    than points. The covariance is a factor times its transpose, so that no rounding makes it indefinite. It
    is that of h: add s^2 I for observations. (Of the printed formulas, Eq. 39 lacks the factor 1 / s^2, and
    Eq. 41 has the variance of observations where Eq. 42, of the exact process, has that of h.)

    Args:
        phi: features of seen and asked points, times the root of the variance of the kernel, (n, m).
        y, noise, seen, asked: as for :func:`posterior`, with rows of phi.

    Returns:
        Posterior.

    Source: Lazaro-Gredilla et al. (2010); Variance-Reducing Couplings, Eqs. 39 and 41.
    """
    mean, factor = factored_posterior(phi, y, noise, seen, asked)
    return Posterior(mean, factor @ factor.T)


def factored_posterior(phi, y, noise, seen, asked=None):
    """The same as :func:`posterior_by_weights`, as a FactoredPosterior with a column per feature.

    ::

        phi_s^T phi_s + s^2 I = L L^T,     factor = s phi_a L^(-T)
    """
    phi, y, noise = checks.points(phi, "phi"), vector(y), checks.real(noise, "noise", above=0)
    seen, asked = rows(seen, asked, len(phi), len(y))
    phi_s, phi_a = phi[seen], phi[asked]
    L = cholesky(phi_s.T @ phi_s + noise * jnp.eye(phi.shape[1], dtype=phi.dtype), "phi^T phi, with the noise,")
    half = solve_triangular(L, phi_a.T, lower=True)
    return FactoredPosterior(phi_a @ cho_solve((L, True), phi_s.T @ y), jnp.sqrt(noise) * half.T)


def divergences(exact, approximate, noise, exact_noise=None):
    """Divergences between the exact law of new observations and one of low rank, in either direction.

    ::

        E = N(m_1, C + s^2 I),   A = N(m_2, F F^T + s^2 I):   KL(E | A)  and  KL(A | E)
        (F F^T + s^2 I)^(-1) = (I - F (s^2 I + F^T F)^(-1) F^T) / s^2

    O(n^2 m) per approximation of n points by m columns, once the exact covariance is factored, where
    :func:`predictive_kl` is O(n^3). A prior of features is a posterior too: of mean 0, with phi as its
    factor. The noise must be above 0: without it the approximate covariance is singular for m < n, and both
    are infinite.

    Args:
        exact, approximate: Posterior and FactoredPosterior of h at the same points.
        noise, exact_noise: s^2; what the exact law has in its place, by default the same.

    Returns:
        Divergences, not divided by the number of points.

    Source: Variance-Reducing Couplings, Tables 3 and 4, which do not say which direction they have.
    """
    checks.instance(exact, Posterior, "exact", "a Posterior, as of models.gp.posterior(...)")
    checks.instance(approximate, FactoredPosterior, "approximate", "a FactoredPosterior, as of models.gp.factored_posterior(...)")
    noise = checks.real(noise, "noise", above=0)
    exact_noise = noise if exact_noise is None else checks.real(exact_noise, "exact_noise", above=0)
    mean, C = vector(exact.mean, "the mean of exact"), symmetric(exact.covariance, "the covariance of exact")
    apart, F = vector(approximate.mean, "the mean of approximate"), checks.points(approximate.factor, "the factor of approximate")
    if not len(mean) == len(C) == len(apart) == len(F):
        got = f"exact has shapes {mean.shape} and {C.shape}, approximate {apart.shape} and {F.shape}"
        raise ValueError(f"{got}; give the same number of points")
    n, apart = len(mean), apart - mean
    C = C + exact_noise * jnp.eye(n, dtype=C.dtype)
    L_exact = cholesky(C, "the covariance of exact, with the noise,")
    L = cholesky(jnp.eye(F.shape[1], dtype=F.dtype) + F.T @ F / noise, "the covariance of approximate, with the noise,")
    G = solve_triangular(L, F.T / jnp.sqrt(noise), lower=True)  # G^T G = I - s^2 (F F^T + s^2 I)^(-1)
    gap = n * jnp.log(noise) + log_det(L) - log_det(L_exact)
    of_exact = (jnp.trace(C) - jnp.sum((G @ C) * G) + apart @ apart - jnp.sum((G @ apart) ** 2)) / noise
    inverse = cho_solve((L_exact, True), jnp.eye(n, dtype=C.dtype))
    of_approximate = noise * jnp.trace(inverse) + jnp.sum((inverse @ F) * F) + apart @ inverse @ apart
    return Divergences((of_exact - n + gap) / 2, (of_approximate - n - gap) / 2)


@jax.jit
def _objective(logs, squares, y):
    """Minus the log evidence, and its gradient by the logarithms of lengthscale, variance and noise."""
    lengthscale, variance, noise = jnp.exp(logs)
    signal = variance * jnp.exp(-squares / (2 * lengthscale**2))
    factor = jnp.linalg.cholesky(signal + noise * jnp.eye(len(y))), True
    weights = cho_solve(factor, y)
    value = y @ weights / 2 + jnp.sum(jnp.log(jnp.diagonal(factor[0]))) + len(y) * jnp.log(2 * jnp.pi) / 2
    by_covariance = (cho_solve(factor, jnp.eye(len(y))) - jnp.outer(weights, weights)) / 2
    by_signal = by_covariance * signal
    return value, jnp.stack([jnp.sum(by_signal * squares) / lengthscale**2, jnp.sum(by_signal), noise * jnp.trace(by_covariance)])
