"""Gaussian copulas of norms, learned from a noisy loss or solved without noise.

::

    norms w_i = F^-1(Phi(g_i)),   g ~ N(0, R),   R = L L^T a correlation matrix,   F the chi_d distribution

Every R gives each norm its chi_d law, so that features stay unbiased whatever is learned.
"""

from math import isqrt
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy import optimize

from companion.models import descent
from rfcore import checks, copulas
from rfcore.couplings import norms
from rfcore.theory.norm_costs import log_excess_series, near, norms_ratio


class Learned(NamedTuple):
    """A learned copula, and the losses on the way."""

    correlation: np.ndarray
    """Shape (d, d): for :func:`rfcore.couplings.orthogonal_copula` or :func:`rfcore.copulas.gaussian`."""
    theta: jax.Array
    """Shape (d (d - 1) / 2,): the parameters, to go on from."""
    losses: np.ndarray
    """Estimated loss before each step, shape (n_steps,)."""


class Optimal(NamedTuple):
    """A Gaussian copula that costs least for a distance, as far as a local search can tell."""

    correlation: np.ndarray
    """Shape (d, d)."""
    ratio: float
    """Error of m = d features over that of independent frequencies: :func:`rfcore.theory.mse_ratio`."""


def correlation_factor(theta):
    """Lower triangular factor L of a correlation matrix, from m (m - 1) / 2 unconstrained numbers.

    ::

        L_ij = theta_ij / s_i  for j <= i,  0 otherwise;   theta_ii = 1,   s_i = sqrt(sum_{j <= i} theta_ij^2)

    Zeros are independence; a correlation of -1 is a limit, theta infinite. Printed for i <= j
    (:func:`companion.papers.couplings.formulas.correlation_factor`) and with positive theta_ij, with which no
    correlation is negative.

    Source: Variance-Reducing Couplings, Eq. 34.
    """
    theta = checks.vector(theta, "theta")
    m = (1 + isqrt(1 + 8 * len(theta))) // 2
    if m * (m - 1) // 2 != len(theta):
        raise ValueError(f"theta has shape {theta.shape}; give m (m - 1) / 2 numbers, 1, 3, 6, ...")
    below = jnp.zeros((m, m), jnp.asarray(theta).dtype).at[np.tril_indices(m, -1)].set(jnp.asarray(theta))
    rows = below + jnp.eye(m, dtype=below.dtype)
    return rows / jnp.sqrt(jnp.sum(rows**2, axis=1, keepdims=True))


def learn(key, loss, d, n_steps=1000, n_draws=16, start=None, optimiser=None):
    """Correlation of the norms of a block that makes the mean of a loss small, by gradient descent.

    Each step draws ``n_draws`` blocks of fresh normals, of which norms are differentiable functions of theta:
    the reparameterised gradient. The loss maps a key, for what else it draws, such as a rotation, and norms
    (d,) to a number. With :func:`~companion.papers.couplings.costs.fourier_cost` rotations are integrated
    out, and the gradient is less noisy. By default theta starts at 0 and the optimiser is
    ``optax.adam(0.01)``. Raises FloatingPointError if a loss or a parameter is not finite.

    Source: Variance-Reducing Couplings, Appendix A.5, Eq. 35, where the loss is the RMSE of the kernel on
    data.
    """
    start = np.zeros(d * (d - 1) // 2) if start is None else checks.vector(start, "start", d * (d - 1) // 2, of="pair of norms")
    learned = descent.learn(_MeanLoss(loss, d, n_draws), start, (), n_steps, optimiser, key)
    factor = np.asarray(correlation_factor(learned.f), dtype=float)
    correlation = factor @ factor.T
    np.fill_diagonal(correlation, 1.0)
    return Learned(correlation, learned.f, learned.losses)


def optimal(key, distance, d, features):
    """Gaussian copula of the norms of d orthogonal features that makes their error least at a distance.

    The cost is a sum over pairs of a function of their correlation
    (:func:`rfcore.theory.norm_costs.log_pair_excess`), so nothing is drawn: L-BFGS on a factor of the
    correlation, singular ones included. The problem is not convex: compare several keys, of random starts.
    The distance is |x + y| for positive, |x - y| for Fourier features, at most 5.

    Source: Variance-Reducing Couplings, Appendix A.5, which learns this from noisy estimates.
    """
    distance = near(distance)
    series = log_excess_series(distance, d, features)
    start = np.asarray(jax.random.normal(key, (d, d)), dtype=float)
    with jax.enable_x64(True):

        def flat(free):
            value, slope = _log_mean_cost(free.reshape(d, d), series)
            return float(value), np.ravel(slope)

        found = optimize.minimize(flat, start.ravel(), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000})
    rows = found.x.reshape(d, d)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    correlation = np.clip(rows @ rows.T, -1, 1)
    np.fill_diagonal(correlation, 1.0)
    return Optimal(correlation, norms_ratio(copulas.gaussian(correlation), distance, features, d, d))


class _MeanLoss(NamedTuple):
    """Mean loss over draws of the copula, as a function of theta; equal ones are compiled once."""

    loss: object
    d: int
    n_draws: int

    def __call__(self, theta, key):
        key_norms, key_loss = jax.random.split(key)
        law = copulas.gaussian_of_factor(correlation_factor(theta))
        levels = law(copulas.uniforms(key_norms), (self.n_draws, self.d, 1))
        losses = jax.vmap(self.loss)(jax.random.split(key_loss, self.n_draws), norms.chi(levels[..., 0], self.d))
        return jnp.mean(losses)


@jax.jit
@jax.value_and_grad
def _log_mean_cost(free, series):
    rows = free / jnp.linalg.norm(free, axis=1, keepdims=True)
    i, j = np.triu_indices(len(free), 1)
    x = jnp.clip(jnp.sum(rows[i] * rows[j], axis=1), -1, 1)

    def clenshaw(state, coefficient):
        last, one_before = state
        return (coefficient + 2 * x * last - one_before, last), None

    (last, one_before), _ = jax.lax.scan(clenshaw, (jnp.zeros_like(x), jnp.zeros_like(x)), series[:0:-1])
    return jax.scipy.special.logsumexp(series[0] + x * last - one_before) - np.log(len(i))
