"""Predictions of held-out observations, and how far those of an approximate kernel are from exact ones.

Observations and the rows of kernels, (n, n), stand in one order: those seen first, then those held out.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from rfcore import checks
from rfcore.models.gp.exact import Posterior, posterior, symmetric, vector
from rfcore.models.gp.graph import predictive_kl

__all__ = ["compared", "predicted"]


def predicted(K, y, noise, n_seen):
    """Posterior of all rows but the first n_seen, and the root mean squared error of its mean."""
    n_seen = checks.count(n_seen, "n_seen")
    return _predicted(*_checked(K, y, noise, n_seen), n_seen)


def compared(K, y, noise, exact):
    """Error of an approximate posterior, and its divergences from and of the exact one, of :func:`predicted`.

    Returns:
        Array, (3,), of the root mean squared error, KL(approximate | exact) and KL(exact | approximate), by
        :func:`rfcore.models.gp.predictive_kl`.

    Source: Variance-Reducing Couplings, Figures 4 and 11.
    """
    checks.instance(exact, Posterior, "exact", "the Posterior of predicted(...)")
    y = vector(y)
    return _compared(*_checked(K, y, noise, len(y) - len(exact.mean)), exact)


def _checked(K, y, noise, n_seen):
    K, y = symmetric(K, "K"), vector(y)
    if len(y) != len(K):
        raise ValueError(f"y has shape {y.shape}, K {K.shape}; give one observation per row of K")
    if not 0 < n_seen < len(y):
        raise ValueError(f"n_seen = {n_seen} of {len(y)} observations; give fewer than all, and at least one")
    return K, y, checks.real(noise, "noise", above=0)


@partial(jax.jit, static_argnames="n_seen")
def _predicted(K, y, noise, n_seen):
    found = posterior(K, y[:n_seen], noise, np.arange(n_seen))
    return found, jnp.sqrt(jnp.mean((found.mean - y[n_seen:]) ** 2))


@jax.jit
def _compared(K, y, noise, exact):
    found, error = _predicted(K, y, noise, len(y) - len(exact.mean))
    there, back = (predictive_kl(*pair, noise) for pair in ((found, exact), (exact, found)))
    return jnp.stack([error, there, back])
