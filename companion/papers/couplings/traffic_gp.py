"""Gaussian processes as for traffic: parameters by a search on a grid, errors on held-out observations.

Observations and the rows of kernels, (n, n), stand in one order: those seen first, then those held out. The
search, which local maxima cannot catch, takes

::

    y ~ N(0, kappa (B(gamma) + r I)),   B = U diag(lambda) U^T   at lengthscale gamma,   r = s^2 / kappa
    kappa(r) = (1/n) sum_i (U^T y)_i^2 / (lambda_i + r)   maximises the evidence at gamma and r, and leaves
    log evidence = -(n/2) (1 + log(2 pi kappa(r))) - (1/2) sum_i log(lambda_i + r)

One eigendecomposition per lengthscale serves all ratios r and all rows of y, (k, n). Descent:
:func:`rfcore.gp.loss`.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from companion.papers.couplings.predictives import predictive_kl
from rfcore import checks
from rfcore.gp import hyperparameters, posterior
from rfcore.gp.exact import symmetric, vector


def predicted(K, y, noise, n_seen):
    """Posterior of all rows but the first n_seen, and the root mean squared error of its mean."""
    return _predicted(*_checked(K, y, noise, n_seen), n_seen)


def compared(K, y, noise, exact):
    """Error of an approximate posterior, and its divergences from and of the exact one, of :func:`predicted`.

    Returns:
        Array, (3,), of the root mean squared error, KL(approximate | exact) and KL(exact | approximate), by
        :func:`~companion.papers.couplings.predictives.predictive_kl`.

    Source: Variance-Reducing Couplings, Figures 4 and 11.
    """
    y = vector(y)
    return _compared(*_checked(K, y, noise, len(y) - len(exact.mean)), exact)


def _checked(K, y, noise, n_seen):
    K, y = symmetric(K, "K"), vector(y)
    return K, y, noise


@partial(jax.jit, static_argnames="n_seen")
def _predicted(K, y, noise, n_seen):
    found = posterior(K, y[:n_seen], noise, np.arange(n_seen))
    return found, jnp.sqrt(jnp.mean((found.mean - y[n_seen:]) ** 2))


@jax.jit
def _compared(K, y, noise, exact):
    found, error = _predicted(K, y, noise, len(y) - len(exact.mean))
    there, back = (predictive_kl(*pair, noise) for pair in ((found, exact), (exact, found)))
    return jnp.stack([error, there, back])


def profile(B, y, ratios):
    """Log evidence maximised over kappa, and the best kappa: two arrays, (k, number of ratios)."""
    B, y = symmetric(B, "B"), np.asarray(checks.points(y, "y"), dtype=float)
    B = np.asarray(B, dtype=float)
    ratios = np.asarray(checks.vector(ratios, "ratios"), dtype=float)
    eigenvalues, vectors = np.linalg.eigh(B)
    spread = np.maximum(eigenvalues, 0)[:, None] + ratios
    variance = (y @ vectors) ** 2 @ (1 / spread) / len(B)
    fit = -len(B) / 2 * (1 + np.log(2 * np.pi * variance))
    return fit - np.log(spread).sum(axis=0) / 2, variance


def learn_on_grid(gram, y, lengthscales, ratios):
    """Hyperparameters of largest evidence for each row of y; ``gram(lengthscale)`` is B, of variance 1."""
    lengthscales = np.asarray(checks.vector(lengthscales, "lengthscales"), dtype=float)
    found = [profile(gram(lengthscale), y, ratios) for lengthscale in lengthscales]
    log_evidence, variance = (np.stack(part, axis=1) for part in zip(*found, strict=True))  # (k, l, ratios)
    best = [np.unravel_index(np.argmax(each), each.shape) for each in log_evidence]
    return [
        hyperparameters(variance[i, j, r], lengthscales[j], variance[i, j, r] * ratios[r])
        for i, (j, r) in enumerate(best)
    ]
