"""Exponential features, positive ones among them: each is the exp of its logarithm."""

import math
from functools import partial

import jax
import jax.numpy as jnp

from rfcore import checks
from rfcore.features.euclidean import checked
from rfcore.features.parameters import ExponentialParameters, of


def positive(x, omega, kernel="gaussian"):
    """Positive random features.

    ::

        phi(x)_i = m^(-1/2) exp(omega_i . x - |x|^2)        gaussian
        phi(x)_i = m^(-1/2) exp(omega_i . x - |x|^2 / 2)    softmax

    times exp(w_i / 2) where frequency i has a log weight w_i: one exp of :func:`log_positive`, and :func:`exponential`
    with A = 0 and B = I. E[phi(x) . phi(y)] = k(x, y), and no feature is ever negative. They are not even in the frequency, so that
    the law of omega must be symmetric to the last bit: see :func:`rfcore.couplings.directions.haar`. Far from the origin
    all features of a point underflow to 0 (in float32 where |x|^2 is a few hundred): :func:`log_positive` does not.

    Parameters
    ----------
    x : array, shape (n, d)
        Points. A lengthscale only scales them.
    omega : array, shape (m, d), or :class:`rfcore.couplings.frequencies.Projectable`
        Frequencies whose rows are marginally N(0, I_d), from :mod:`rfcore.couplings`; or fast ones, whose matrix is
        never formed; or frequencies of another law with their log weights.
    kernel : "gaussian" or "softmax"

    Returns
    -------
    array, shape (n, m)

    Raises
    ------
    ValueError
        If a shape or the kernel's name is wrong, or a value is not finite.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, kernels
    >>> x = jnp.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]])
    >>> phi = features.positive(x, couplings.orthogonal(jax.random.key(0), 3000, 3), kernel="softmax")
    >>> bool(jnp.all(phi > 0)), bool(jnp.allclose(phi @ phi.T, kernels.softmax(x, x), rtol=0.1))
    (True, True)

    Notes
    -----
    Choromanski et al., "Rethinking attention with Performers" (2020); Simplex Random Features, Eq. 7.
    """
    return _exponential(*checked(x, omega, kernel), _POSITIVE, kernel)


def log_positive(x, omega, kernel="gaussian"):
    """Logarithms of positive random features, which neither overflow nor underflow.

    ::

        log phi(x)_i = omega_i . x - |x|^2 - log(m) / 2        gaussian
        log phi(x)_i = omega_i . x - |x|^2 / 2 - log(m) / 2    softmax

    plus w_i / 2 where frequency i has a log weight w_i.
    :func:`stabilised` keeps them in range when they are exponentiated, where attention or a vote divides a factor out;
    :func:`log_gram` sums their products in logs.

    Parameters
    ----------
    x : array, shape (n, d)
        Points. A lengthscale only scales them.
    omega : array, shape (m, d), or :class:`rfcore.couplings.frequencies.Projectable`
        As for :func:`positive`.
    kernel : "gaussian" or "softmax"

    Returns
    -------
    array, shape (n, m)

    Raises
    ------
    ValueError
        If a shape or the kernel's name is wrong, or a value is not finite.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features
    >>> omega = couplings.simplex(jax.random.key(0), 8, 3)
    >>> log_phi = features.log_positive(30 * jnp.eye(3), omega, kernel="softmax")
    >>> bool(jnp.any(jnp.exp(log_phi) > 0)), bool(jnp.all(jnp.isfinite(log_phi)))
    (False, True)

    Notes
    -----
    Simplex Random Features, Eq. 7.
    """
    return _log_exponential(*checked(x, omega, kernel), _POSITIVE, kernel)


def exponential(x, omega, parameters, side="x", kernel="gaussian"):
    """Dense-exponential random features: GERF, ADERF, SDERF, SADERF and all others of their form.

    ::

        phi(x)_i = m^(-1/2) D exp(omega_i' A omega_i + omega_i' B x + x' C x)                softmax
        phi(x)_i = m^(-1/2) D exp(omega_i' A omega_i + omega_i' B x + x' C x - |x|^2 / 2)    gaussian

    times exp(w_i / 2) where frequency i has a log weight w_i; with B and C of the side. E[phi(x) . psi(y)] = k(x, y)
    for phi with ``side="x"`` and psi with ``side="y"``, whatever the parameters: they change the variance alone
    (:func:`rfcore.theory.log_relative_variance`). No feature is ever negative. One exp of :func:`log_exponential`.

    Parameters
    ----------
    x : array, shape (n, d)
        Points of one side. A lengthscale only scales them.
    omega : array, shape (m, d), or :class:`rfcore.couplings.frequencies.Projectable`
        As for :func:`positive`; the same for both sides.
    parameters : ExponentialParameters
        From :mod:`rfcore.solvers.exponential`, fitted to points of both sides; or from :func:`dense`.
    side : "x" or "y"
        Queries or keys. No matter where the parameters are symmetric (GERF and SDERF without centres).
    kernel : "gaussian" or "softmax"

    Returns
    -------
    array, shape (n, m)

    Raises
    ------
    ValueError
        If a shape or a name is wrong, or a value is not finite.

    Examples
    --------
    Keys whose coordinates are smaller than the queries':

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, kernels, solvers
    >>> q, k = jnp.array([[1.5, -1.2], [1.0, 1.4]]), jnp.array([[0.1, 0.2], [-0.2, 0.1], [0.3, 0.1]])
    >>> parameters = solvers.exponential.aderf(q, k)
    >>> omega = couplings.iid(jax.random.key(0), 20_000, 2)
    >>> phi, psi = (features.exponential(x, omega, parameters, side, "softmax") for x, side in ((q, "x"), (k, "y")))
    >>> bool(jnp.allclose(phi @ psi.T, kernels.softmax(q, k), rtol=0.05))
    True

    Notes
    -----
    FAVOR#, Theorem 4.1, for the softmax kernel; for K^(alpha) see its Section 2.3. With centres: ours.
    """
    return _exponential(*_checked(x, omega, parameters, side, kernel), kernel)


def log_exponential(x, omega, parameters, side="x", kernel="gaussian"):
    """Logarithms of dense-exponential random features, which neither overflow nor underflow.

    Parameters
    ----------
    x, omega, parameters, side, kernel
        As for :func:`exponential`.

    Returns
    -------
    array, shape (n, m)
        For :func:`stabilised` and :func:`log_gram`.

    Raises
    ------
    ValueError
        If a shape or a name is wrong, or a value is not finite.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, solvers
    >>> x = 30 * jnp.eye(3)
    >>> omega = couplings.iid(jax.random.key(0), 8, 3)
    >>> log_phi = features.log_exponential(x, omega, solvers.exponential.gerf(x / 30, x / 30), kernel="softmax")
    >>> bool(jnp.any(jnp.exp(log_phi) > 0)), bool(jnp.all(jnp.isfinite(log_phi)))
    (False, True)

    Notes
    -----
    FAVOR#, Theorem 4.1.
    """
    return _log_exponential(*_checked(x, omega, parameters, side, kernel), kernel)


_POSITIVE = ExponentialParameters()


@partial(jax.jit, static_argnames="kernel")
def _log_exponential(x, omega, parameters, kernel):
    A, centre, other = parameters.A, parameters.centre_x, parameters.centre_y
    away, moved = parameters.away(x), parameters.moved(x)
    # x' C x = -|(I - 4 A)^(-1/2) B x|^2 / 2: from B x, with the rounding of B x.
    shift = jnp.sum(moved**2 if A is None else moved**2 / (1 - 4 * A), axis=1, keepdims=True) / 2
    if kernel == "gaussian":
        shift = shift + jnp.sum(away**2, axis=1, keepdims=True) / 2
    if centre is not None:
        # Of the Gaussian kernel only the difference of the centres: no coordinates are left that a translation changes.
        slope = other if kernel == "softmax" else other - centre
        shift = shift - ((away + centre / 2) @ slope)[:, None]
    # All factors of a point, and m^(-1/2), join the exponent: one pass over the (n, m) array in place of two.
    log_phi = omega.project(moved) - (shift + (math.log(omega.m) / 2 - parameters.log_D))
    if A is not None:
        log_phi = log_phi + A @ omega.project(jnp.eye(omega.d, dtype=log_phi.dtype)) ** 2
    if omega.log_weights is not None:
        log_phi = log_phi + omega.log_weights.astype(log_phi.dtype) / 2
    return log_phi


@partial(jax.jit, static_argnames="kernel")
def _exponential(x, omega, parameters, kernel):
    return jnp.exp(_log_exponential(x, omega, parameters, kernel))


def _checked(x, omega, parameters, side, kernel):
    x, omega = checked(x, omega, kernel)
    checks.choice(side, "side", ("x", "y"))
    parameters = of(parameters, x.shape[1])
    # One compiled function for both sides.
    return x, omega, parameters if side == "x" else parameters.swapped()
