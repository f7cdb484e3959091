"""The best directions for one given distance, for norms that are given or not yet drawn, by numerical optimisation."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize

from rfcore import checks, theory
from rfcore.couplings import weight_dependent


def optimised(lengths, v, start=None):
    """Vectors of given lengths that minimise the RF-conformity at v, one block of d in d dimensions.

    ::

        argmin over directions of  sum_{i != j} 0F1(; d/2; v^2 |w_i + w_j|^2 / 4),  |w_i| = lengths_i     (Eq. 12)

    L-BFGS on the logarithm of the conformity. This is a benchmark, not a coupling to use: it is slow, and its answer
    depends on v and so on the pair of points. Rotated by a Haar matrix (:func:`rfcore.couplings.directions.haar`) and
    with chi_d lengths, its rows are marginally N(0, I_d).

    Parameters
    ----------
    lengths : array, shape (d,)
        Above 0, d at least 2.
    v : float
        |x + y|, above 0 and at most 30.
    start : array, shape (d, d), optional
        Directions to start from, a vector of any length a row; by default those of SimRF+.

    Returns
    -------
    array, shape (d, d), a vector a row

    Raises
    ------
    ValueError
        If lengths is no vector of at least 2 finite positive numbers, start does not fit or has a row of zeros, or v is
        out of range.
    RuntimeError
        If the optimiser stops away from a stationary point.

    Notes
    -----
    Simplex Random Features, Section 3.2 and Figure 4. The objective is not convex in the directions; starts from random
    directions end at the same value (``tests/test_solvers_best_directions.py``). Enable x64.

    Examples
    --------
    >>> import jax, numpy as np
    >>> from rfcore.solvers import best_directions
    >>> with jax.enable_x64(True):
    ...     found = np.asarray(best_directions.optimised(np.array([1.0, 2.0]), 1.0))
    >>> bool(np.allclose(np.linalg.norm(found, axis=1), [1, 2])), bool(found[0] @ found[1] < -1.99)
    (True, True)
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
    theory.log_conformity_of(_vectors(start, lengths), v)  # complains about v out of range; below it is traced
    return _vectors(_minimum(_objective, start, lengths, v), lengths)


def weight_independent(start, v):
    """Directions that minimise the RF-conformity at v if the norms are chi_d and drawn independently of them.

    ::

        argmin over directions of  sum_{i != j} rho_theta(v),  theta the angle between u_i and u_j

    L-BFGS from the given start. Theorem 3.4 says where it must end: at the corners of a simplex.

    Parameters
    ----------
    start : array, shape (m, d)
        At least two vectors of any length above 0 to start from.
    v : float
        |x + y|, above 0 and at most 30 / sqrt(2).

    Returns
    -------
    array, shape (m, d), rows of length 1

    Raises
    ------
    ValueError
        If start is no matrix of at least two finite rows other than 0, or v is out of range.
    RuntimeError
        If the optimiser stops away from a stationary point.

    Notes
    -----
    Simplex Random Features, Theorem 3.4. Enable x64.

    Examples
    --------
    >>> import jax, numpy as np
    >>> from rfcore.solvers import best_directions
    >>> with jax.enable_x64(True):
    ...     found = best_directions.weight_independent(np.array([[1.0, 0.0], [1.0, 1.0]]), 1.0)
    >>> bool(np.allclose(found[0], -found[1], atol=1e-3))  # the corners of a simplex in the plane
    True
    """
    start, v = np.asarray(checks.points(start, "start"), dtype=float), checks.real(v, "v", above=0)
    if len(start) < 2 or not np.linalg.norm(start, axis=1).min() > 0:
        raise ValueError(f"start has shape {start.shape}; give at least two vectors, of length above 0")
    theory.log_conformity_of_directions(start, v)  # complains; below, it is traced
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
    return theory.log_conformity_of(_vectors(free, lengths), v)


@jax.jit
@jax.value_and_grad
def _objective_of_directions(free, v):
    return theory.log_conformity_of_directions(free, v)


def _vectors(free, lengths):
    free = free.reshape(len(lengths), -1)
    return lengths[:, None] * free / jnp.linalg.norm(free, axis=1, keepdims=True)
