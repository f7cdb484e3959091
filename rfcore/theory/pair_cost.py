"""What two orthogonal frequencies of given norms add to the error (Variance-Reducing Couplings, Lemma 3.1).

Over all rotations of the pair, exp((omega_1 + omega_2) . v) and cos(omega_1 . z) cos(omega_2 . z) have the
means

::

    0F1(; d/2; t^2 / 4) = E[cosh(t u)],  t = v sqrt(w_1^2 + w_2^2)        positive features, v = |x + y|
    0F1(; d/2; -t^2 / 4) = E[cos(t u)],  t = z sqrt(w_1^2 + w_2^2)        Fourier features, z = |x - y|

with u the first coordinate of a uniform unit vector. The left-hand sides are the series of Lemma 3.1, of
which the second alternates with terms up to e^t; the right-hand sides are sums of numbers of a size, over
nodes of u. Their first two terms, 1 +- t^2 / (2 d), have a mean that no coupling of norms changes. The
*excess* is what is left, and keeps its digits where the distance is small. Norms are arrays (..., m), with v
or z above 0 and t at most 300; Eq. 6 of the paper leaves out a factor Gamma(d/2), and sums over pairs where
costs here are means.
"""

from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from scipy import optimize, special

from rfcore import checks
from rfcore.theory.series import constant

LARGEST_T = 300.0  # 200 nodes resolve the waves of cos(t u) up to here


def log_positive_cost(norms, v, d, excess=False):
    """Logarithm of the mean cost of pairs of norms for positive features; of the excess alone if ``excess``.

    ::

        c = 1 / (m (m - 1)) sum_{i != j} 0F1(; d/2; v^2 (w_i^2 + w_j^2) / 4)
        MSE = exp(-2|x|^2 - 2|y|^2) / m [e^(2 v^2) - e^(v^2) + (m - 1) (E[c] - e^(v^2))]

    Source: Variance-Reducing Couplings, Eqs. 14 and 15.
    """
    t, nodes, log_weights = _arguments(norms, v, "v", d)
    excess = checks.flag(excess, "excess")
    return logsumexp(log_positive_at(t, nodes, log_weights, excess), axis=-1) - np.log(t.shape[-1])


def fourier_cost(norms, z, d, excess=False):
    """Mean cost of pairs of norms for Fourier features; the excess alone if ``excess``.

    ::

        c = 1 / (m (m - 1)) sum_{i != j} 0F1(; d/2; -z^2 (w_i^2 + w_j^2) / 4)
        MSE = 1 / m [(1 - e^(-z^2))^2 / 2 + (m - 1) (E[c] - e^(-z^2))]

    Source: Variance-Reducing Couplings, Eqs. 16 and 19.
    """
    t, nodes, log_weights = _arguments(norms, z, "z", d)
    return jnp.mean(fourier_at(t, nodes, log_weights, checks.flag(excess, "excess")), axis=-1)


def fourier_convex_radius(d):
    """Largest t with a convex cost of a pair for Fourier features, the first zero of ``J_{d/2 + 1}``.

    As a function of w_1^2 + w_2^2 it has the second derivative z^4 / (4 d (d + 2)) 0F1(; d/2 + 2; -t^2 / 4).
    Where it is convex, swapping norms to opposite orders never raises the cost: norms that stay below are
    best coupled negatively monotone, as those for positive features are at any size.

    Source: the "sufficiently small z" of Variance-Reducing Couplings, Theorem 3.2, for bounded norms.
    """
    order = checks.count(d, "d") / 2 + 1
    first = order + 1.8557571 * order ** (1 / 3) + 1.033150 * order ** (-1 / 3)  # DLMF 10.21.40
    return float(optimize.brentq(partial(special.jv, order), first - 0.1, first + 0.5, xtol=1e-13))


def swap_gain(cost):
    """What exchanging partners takes off the cost of pairs (x_i, y_i), for a matrix of c(x_i, y_j).

    ::

        g_ij = c(x_i, y_i) + c(x_j, y_j) - c(x_i, y_j) - c(x_j, y_i);   no entry is above 0 if c-monotone

    Source: Variance-Reducing Couplings, Definition A.4 and Lemma A.5.
    """
    cost = checks.points(cost, "cost")
    if cost.shape[0] != cost.shape[1]:
        raise ValueError(f"cost has shape {cost.shape}; give the cost of each x with each y, a square matrix")
    own = jnp.diagonal(cost)
    return own[:, None] + own - cost - cost.T


@lru_cache
def coordinate(d, n_nodes=200):
    """Nodes of the first coordinate u in (0, 1] of a unit vector in d dimensions, and log weights."""
    if d == 1:
        return np.ones(1), np.zeros(1)
    # u = cos(a) with a of density sin(a)^(d - 2) on [0, pi / 2]: smooth, and even about either end.
    angles, weights = special.roots_legendre(n_nodes)
    angles = np.pi / 4 * (angles + 1)
    log_weights = np.log(weights) + (d - 2) * np.log(np.sin(angles))
    return np.cos(angles), log_weights - np.logaddexp.reduce(log_weights)


@partial(jax.jit, static_argnums=3)
def log_positive_at(t, nodes, log_weights, excess):
    """log E[cosh(t u)], or of its excess, at radii t > 0 of any shape."""
    y = t[..., None] * nodes
    if not excess:
        return logsumexp(log_weights + y + jnp.log1p(jnp.exp(-2 * y)) - jnp.log(2.0), axis=-1)
    safe = jnp.where(y > 1, y, 1.0)
    large = safe + jnp.log((1 + jnp.exp(-2 * safe)) / 2 - (1 + safe**2 / 2) * jnp.exp(-safe))
    small = jnp.where(y > 1, 1.0, y)
    return logsumexp(log_weights + jnp.where(y > 1, large, jnp.log(_tail(small, 1.0))), axis=-1)


@partial(jax.jit, static_argnums=3)
def fourier_at(t, nodes, log_weights, excess):
    """E[cos(t u)], or its excess, at radii t > 0 of any shape."""
    y = t[..., None] * nodes
    small = jnp.where(y > 1, 1.0, y)
    terms = jnp.where(y > 1, jnp.cos(y) - 1 + y**2 / 2, _tail(small, -1.0)) if excess else jnp.cos(y)
    return jnp.sum(jnp.exp(log_weights) * terms, axis=-1)


def _tail(y, sign):
    """sum_{k >= 2} (sign y^2)^k / (2 k)! for y <= 1, the sign being 1 or -1: ten terms leave 1e-24."""
    total = jnp.ones_like(y)
    for k in range(11, 2, -1):
        total = 1 + sign * y**2 / (2 * k * (2 * k - 1)) * total
    return y**4 / 24 * total


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
