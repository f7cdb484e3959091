"""Costs of given norms (Variance-Reducing Couplings, Lemma 3.1), and the least of any coupling of norms.

The means over rotations of :mod:`rfcore.theory.norm_costs`, for norms that are arrays (..., m): the distance
v or z is above 0, and t at most 300.
"""

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp

from rfcore import checks
from rfcore.theory.norm_costs import LARGEST_T, coordinate, fourier_at, log_positive_at
from rfcore.theory.series import constant


def log_positive_cost(norms, v, d, excess=False):
    """Logarithm of the mean cost of pairs of norms for positive features; of the excess alone if ``excess``.

    ::

        c = 1 / (m (m - 1)) sum_{i != j} 0F1(; d/2; v^2 (w_i^2 + w_j^2) / 4)
        MSE = exp(-2|x|^2 - 2|y|^2) / m [e^(2 v^2) - e^(v^2) + (m - 1) (E[c] - e^(v^2))]

    Source: Variance-Reducing Couplings, Eqs. 14 and 15.
    """
    t, nodes, log_weights = _arguments(norms, v, "v", d)
    return logsumexp(log_positive_at(t, nodes, log_weights, excess), axis=-1) - np.log(t.shape[-1])


def fourier_cost(norms, z, d, excess=False):
    """Mean cost of pairs of norms for Fourier features; the excess alone if ``excess``.

    ::

        c = 1 / (m (m - 1)) sum_{i != j} 0F1(; d/2; -z^2 (w_i^2 + w_j^2) / 4)
        MSE = 1 / m [(1 - e^(-z^2))^2 / 2 + (m - 1) (E[c] - e^(-z^2))]

    Source: Variance-Reducing Couplings, Eqs. 16 and 19.
    """
    t, nodes, log_weights = _arguments(norms, z, "z", d)
    return jnp.mean(fourier_at(t, nodes, log_weights, excess), axis=-1)


def fourier_floor(d, m):
    """Least :func:`rfcore.theory.mse_ratio` that a coupling of norms can have for Fourier features as z -> 0.

    ::

        1 - sum over blocks b^2 / (m (d + 2)),   b >= 2 the sizes of the blocks;   2 / (d + 2) for m = d

    As z -> 0 a block costs E[sum_{i != j} w_i^2 w_j^2] up to constants, and the variance of the sum of the
    w_i^2 is at least 0. Independent norms have 3 / (d + 2) for m = d, so that norms take at most a third off,
    whatever d. It is reached only if squared norms can have a constant sum, which pairs cannot.
    """
    d, m = checks.count(d, "d"), checks.count(m, "m")
    full, rest = divmod(m, d)
    of_blocks = full * (d**2 if d > 1 else 0) + (rest**2 if rest > 1 else 0)
    return 1 - of_blocks / (m * (d + 2))


def _arguments(norms, distance, name, d):
    """Radii t of all pairs, shape (..., pairs), and the quadrature over u."""
    d, distance = checks.count(d, "d"), checks.real(distance, name, above=0)
    norms = checks.floating(norms, "norms").astype(float)
    if norms.ndim < 1 or norms.shape[-1] < 2:
        raise ValueError(f"norms has shape {norms.shape}; give at least two in the last axis, a pair")
    i, j = np.triu_indices(norms.shape[-1], 1)
    t = distance * jnp.sqrt(norms[..., i] ** 2 + norms[..., j] ** 2)
    if not checks.is_traced(norms) and norms.size and not norms.min() >= 0:
        raise ValueError(f"norms has the value {norms.min()}; give lengths of at least 0")
    if not checks.is_traced(t) and t.size and not t.max() <= LARGEST_T:
        got = f"norms has values for which {name} sqrt(w_i^2 + w_j^2) is {t.max()}"
        raise ValueError(f"{got}; give norms or {name} that keep it to {LARGEST_T:g}")
    return t, *map(constant, coordinate(d))
