"""Divergences of the predictive laws of Gaussian processes, exact and approximate, with noise in both."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_solve, solve_triangular

from companion.models.gaussian_processes import kl


def predictive_kl(approximate, exact, noise):
    """Divergence KL(approximate | exact) of two posterior laws of new observations, of all together.

    ::

        KL(N(m_1, C_1 + s^2 I) | N(m_2, C_2 + s^2 I)),   1 the approximate, 2 the exact posterior

    Source: Variance-Reducing Couplings, Figures 4 and 11, without the direction or whether noise is in.
    """
    noise = noise * jnp.eye(len(exact.mean))
    (mean_1, C_1), (mean_2, C_2) = ((p.mean, p.covariance_matrix + noise) for p in (approximate, exact))
    return kl(mean_1, C_1, mean_2, C_2)


class Divergences(NamedTuple):
    """Kullback-Leibler divergences of two laws of new observations, in nats, of all points together."""

    of_exact: jax.Array
    """KL(exact | approximate)."""
    of_approximate: jax.Array
    """KL(approximate | exact)."""


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
        exact: of h, with ``mean`` and ``covariance_matrix``, of GPJax or
            :class:`companion.models.gaussian_processes.Posterior`.
        approximate: :class:`companion.models.gaussian_processes.LowRank`, at the same points.
        noise, exact_noise: s^2; what the exact law has in its place, by default the same.

    Returns:
        Divergences, not divided by the number of points.

    Source: Variance-Reducing Couplings, Tables 3 and 4, which do not say which direction they have.
    """
    exact_noise = noise if exact_noise is None else exact_noise
    mean, C, apart, F = exact.mean, exact.covariance_matrix, approximate.mean, approximate.factor
    if not len(mean) == len(C) == len(apart) == len(F):
        got = f"exact has shapes {mean.shape} and {C.shape}, approximate {apart.shape} and {F.shape}"
        raise ValueError(f"{got}; give the same number of points")
    n, apart = len(mean), apart - mean
    C = C + exact_noise * jnp.eye(n, dtype=C.dtype)
    L_exact = jnp.linalg.cholesky(C)
    L = jnp.linalg.cholesky(jnp.eye(F.shape[1], dtype=F.dtype) + F.T @ F / noise)
    G = solve_triangular(L, F.T / jnp.sqrt(noise), lower=True)  # G^T G = I - s^2 (F F^T + s^2 I)^(-1)
    gap = n * jnp.log(noise) + 2 * jnp.sum(jnp.log(jnp.diagonal(L))) - 2 * jnp.sum(jnp.log(jnp.diagonal(L_exact)))
    of_exact = (jnp.trace(C) - jnp.sum((G @ C) * G) + apart @ apart - jnp.sum((G @ apart) ** 2)) / noise
    inverse = cho_solve((L_exact, True), jnp.eye(n, dtype=C.dtype))
    of_approximate = noise * jnp.trace(inverse) + jnp.sum((inverse @ F) * F) + apart @ inverse @ apart
    return Divergences((of_exact - n + gap) / 2, (of_approximate - n - gap) / 2)
