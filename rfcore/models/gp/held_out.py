"""Predictions of observations that were held out, and how far those of an approximate kernel are from exact ones.

Observations and the rows of kernels stand in one order: those that are seen first, then those that are held out.
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
    """Posterior of the rows that are held out, and the root mean squared error of its mean.

    Parameters
    ----------
    K : array, shape (n, n)
        Symmetric, positive semidefinite.
    y : array, shape (n,)
    noise : float
        s^2, above 0.
    n_seen : int
        How many observations, from the first on, are seen; fewer than all.

    Returns
    -------
    Posterior, scalar array

    Raises
    ------
    ValueError
        As :func:`rfcore.models.gp.posterior`, or if nothing is seen or nothing held out.

    Notes
    -----
    Rasmussen and Williams, 2006, Eqs. 2.25 and 2.26.

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore.models.gp.held_out import predicted
    >>> found, error = predicted(np.ones((3, 3)), np.array([1.0, 1.0, 1.0]), 0.5, 2)
    >>> round(float(found.mean[0]), 6), round(float(error), 6)
    (0.8, 0.2)
    """
    n_seen = checks.count(n_seen, "n_seen")
    return _predicted(*_checked(K, y, noise, n_seen), n_seen)


def compared(K, y, noise, exact):
    """Error of an approximate posterior, and its divergences from and of the exact one.

    Parameters
    ----------
    K, y, noise
        As for :func:`predicted`, with an estimate of the kernel.
    exact : Posterior
        Of :func:`predicted`, with the kernel.

    Returns
    -------
    array, shape (3,)
        The root mean squared error; KL(approximate | exact) and KL(exact | approximate) of new observations, by
        :func:`rfcore.models.gp.predictive_kl`.

    Raises
    ------
    ValueError
        As :func:`predicted`, or if exact is no posterior of some of the observations.

    Notes
    -----
    Variance-Reducing Couplings, Figures 4 and 11.

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore.models.gp.held_out import compared, predicted
    >>> y = np.array([1.0, 1.0, 1.0])
    >>> exact, error = predicted(np.ones((3, 3)), y, 0.5, 2)
    >>> [round(abs(float(x)), 4) for x in compared(np.ones((3, 3)), y, 0.5, exact)]
    [0.2, 0.0, 0.0]
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
