"""The best directions for one given distance, for norms given or not yet drawn, by L-BFGS. Enable x64.

Benchmarks, not couplings to use: slow, and their answers depend on v = |x + y|, the pair of points. Raises
RuntimeError if the optimiser stops away from a stationary point.
"""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize

from companion.papers.simplex import conformities
from rfcore import checks
from rfcore.couplings import weight_dependent


def optimised(lengths, v, start=None):
    """Vectors (rows) of given lengths (d,) that minimise the RF-conformity at v, d of them in d dimensions.

    ::

        argmin over directions of  sum_{i != j} 0F1(; d/2; v^2 |w_i + w_j|^2 / 4),  |w_i| = lengths_i

    Rotated by a Haar matrix (:func:`rfcore.couplings.directions.haar`) and with chi_d lengths, rows are
    marginally N(0, I_d). v is at most 30. The objective is not convex; other starts than the default, that of
    SimRF+, end at the same value.

    Source: Simplex Random Features, Section 3.2, Eq. 12 and Figure 4.
    """
    lengths, v = np.asarray(checks.vector(lengths, "lengths"), dtype=float), checks.real(v, "v", above=0)
    if len(lengths) < 2 or not lengths.min() > 0:
        raise ValueError(f"lengths = {lengths}; give a vector of at least 2 positive lengths")
    start = weight_dependent.balance(lengths) / lengths[:, None] if start is None else start
    start = np.asarray(checks.points(start, "start"), dtype=float)
    if start.shape != (len(lengths), len(lengths)):
        raise ValueError(f"start has shape {start.shape}; give one direction per length, shape {2 * lengths.shape}")
    if not np.linalg.norm(start, axis=1).min() > 0:
        raise ValueError("start has a row of length 0.0; give directions of length above 0")
    conformities.log_conformity_of(_vectors(start, lengths), v)  # complains about v out of range; below it is traced
    return _vectors(_minimum(_objective, start, lengths, v), lengths)


def weight_independent(start, v):
    """Directions (rows) that minimise the RF-conformity at v if norms are drawn independently of them.

    ::

        argmin over directions of  sum_{i != j} rho_theta(v),  theta the angle between u_i and u_j

    From the given start (m, d) it must, by the theorem, end at the corners of a simplex. v is at most
    30 / sqrt(2).

    Source: Simplex Random Features, Theorem 3.4.
    """
    start, v = np.asarray(checks.points(start, "start"), dtype=float), checks.real(v, "v", above=0)
    if len(start) < 2 or not np.linalg.norm(start, axis=1).min() > 0:
        raise ValueError(f"start has shape {start.shape}; give at least two vectors, of length above 0")
    conformities.log_conformity_of_directions(start, v)  # complains; below, it is traced
    found = _minimum(_objective_of_directions, start, v).reshape(start.shape)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def _minimum(objective, start, *arguments):
    def flat(free):
        value, slope = objective(free.reshape(start.shape), *arguments)
        return value, np.ravel(slope)

    options = {"ftol": 1e-16, "gtol": 1e-9, "maxiter": 10_000}  # to the last digit: the gains to be seen are small
    found = minimize(flat, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    if not np.abs(found.jac).max() < 1e-6 * max(1.0, found.fun):
        raise RuntimeError(f"L-BFGS stopped at slope {np.abs(found.jac).max()} ({found.message}); enable x64")
    return found.x


@jax.jit
@jax.value_and_grad
def _objective(free, lengths, v):
    return conformities.log_conformity_of(_vectors(free, lengths), v)


@jax.jit
@jax.value_and_grad
def _objective_of_directions(free, v):
    return conformities.log_conformity_of_directions(free, v)


def _vectors(free, lengths):
    free = free.reshape(len(lengths), -1)
    return lengths[:, None] * free / jnp.linalg.norm(free, axis=1, keepdims=True)
