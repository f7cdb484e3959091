"""Exponential features, positive ones among them: each is the exp of its logarithm."""

import math
from functools import partial

import jax
import jax.numpy as jnp

from rfcore import checks, precision
from rfcore.features.fourier import as_narrow, checked
from rfcore.features.parameters import ExponentialParameters, of


def positive(x, omega, kernel="gaussian"):
    """Positive random features: unbiased like Fourier features, and never negative.

    ::

        phi(x)_i = m^(-1/2) exp(omega_i . x - |x|^2)        gaussian
        phi(x)_i = m^(-1/2) exp(omega_i . x - |x|^2 / 2)    softmax

    They are not even in the frequency: a law of omega that is not exactly symmetric biases them, as that of
    Haar matrices without the sign fix does (:func:`rfcore.couplings.directions.haar`). Far from the origin
    all features of a point underflow to 0, in float32 where ``|x|^2`` is a few hundred; :func:`log_positive`
    stays finite.

    Args:
        x, omega: points, (n, d), and frequencies, (m, d): see :mod:`rfcore.features`.
        kernel: "gaussian" or "softmax".

    Returns:
        Array, (n, m).

    Source: Choromanski et al., "Rethinking attention with Performers" (2020); Simplex Random Features, Eq. 7.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, kernels
    >>> x = jnp.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]])
    >>> phi = features.positive(x, couplings.orthogonal(jax.random.key(0), 3000, 3), kernel="softmax")
    >>> bool(jnp.all(phi > 0)), bool(jnp.allclose(phi @ phi.T, kernels.softmax(x, x), rtol=0.1))
    (True, True)
    """
    return as_narrow(_exponential(*checked(x, omega, kernel), _POSITIVE, kernel), x)


def log_positive(x, omega, kernel="gaussian"):
    """Logarithms of :func:`positive` features, which neither overflow nor underflow.

    ::

        log phi(x)_i = omega_i . x - |x|^2 - log(m) / 2        gaussian
        log phi(x)_i = omega_i . x - |x|^2 / 2 - log(m) / 2    softmax

    :func:`rfcore.attention.stabilised` exponentiates them where attention or a vote divides a factor out. Parameters and shape
    are those of :func:`positive`; logarithms of bfloat16 points are float32.

    Source: Simplex Random Features, Eq. 7.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features
    >>> log_phi = features.log_positive(30 * jnp.eye(3), couplings.simplex(jax.random.key(0), 8, 3))
    >>> bool(jnp.any(jnp.exp(log_phi) > 0)), bool(jnp.all(jnp.isfinite(log_phi)))
    (False, True)
    """
    return _log_exponential(*checked(x, omega, kernel), _POSITIVE, kernel)


def exponential(x, omega, parameters, side="x", kernel="gaussian"):
    """Dense-exponential random features: GERF, ADERF, SDERF, SADERF and all others of their form.

    ::

        phi(x)_i = m^(-1/2) D exp(omega_i' A omega_i + omega_i' B x + x' C x)                softmax
        phi(x)_i = m^(-1/2) D exp(omega_i' A omega_i + omega_i' B x + x' C x - |x|^2 / 2)    gaussian

    with B and C of the side. E[phi(x) . psi(y)] = k(x, y) for phi with ``side="x"`` and psi with ``side="y"``
    on the same frequencies, whatever the parameters: they change the variance alone
    (:func:`rfcore.theory.log_relative_variance`). No feature is ever negative.

    Args:
        x, omega: points of one side, (n, d), and frequencies, (m, d): see :mod:`rfcore.features`.
        parameters: ExponentialParameters, from :mod:`rfcore.solvers.exponential` or :func:`dense`.
        side: "x" (queries) or "y" (keys); the same for symmetric parameters (GERF, SDERF without centres).
        kernel: "gaussian" or "softmax".

    Returns:
        Array, (n, m).

    Source: FAVOR#, Theorem 4.1, for the softmax kernel; Section 2.3 for K^(alpha).

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, kernels, solvers
    >>> q, k = jnp.array([[1.5, -1.2], [1.0, 1.4]]), jnp.array([[0.1, 0.2], [-0.2, 0.1], [0.3, 0.1]])
    >>> fitted, omega = solvers.exponential.aderf(q, k), couplings.iid(jax.random.key(0), 20_000, 2)
    >>> phi = features.exponential(q, omega, fitted, "x", "softmax")
    >>> psi = features.exponential(k, omega, fitted, "y", "softmax")
    >>> bool(jnp.allclose(phi @ psi.T, kernels.softmax(q, k), rtol=0.05))
    True
    """
    return as_narrow(_exponential(*_checked(x, omega, parameters, side, kernel), kernel), x)


def log_exponential(x, omega, parameters, side="x", kernel="gaussian"):
    """Logarithms of :func:`exponential` features, with its parameters: see :func:`log_positive`.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, solvers
    >>> x, y = jax.random.normal(jax.random.key(0), (2, 5, 4))
    >>> omega, parameters = couplings.simplex(jax.random.key(1), 8, 4), solvers.exponential.aderf(x, y)
    >>> log_phi = features.log_exponential(x, omega, parameters)
    >>> bool(jnp.allclose(jnp.exp(log_phi), features.exponential(x, omega, parameters), rtol=1e-5))
    True
    """
    return _log_exponential(*_checked(x, omega, parameters, side, kernel), kernel)


_POSITIVE = ExponentialParameters()


@partial(jax.jit, static_argnames="kernel")
@precision.full
def _log_exponential(x, omega, parameters, kernel):
    A, centre, other = parameters.A, parameters.centre_x, parameters.centre_y
    away, moved = parameters.away(x), parameters.moved(x)
    # x' C x = -|(I - 4 A)^(-1/2) B x|^2 / 2: from B x, with the rounding of B x.
    shift = jnp.sum(moved**2 if A is None else moved**2 / (1 - 4 * A)[None], axis=1, keepdims=True) / 2
    if kernel == "gaussian":
        shift = shift + jnp.sum(away**2, axis=1, keepdims=True) / 2
    if centre is not None:
        # Half of the constant on either side. For the Gaussian kernel only the difference of the centres enters, so that the
        # features of a cloud that is moved are the same.
        slope, half = (other, centre / 2) if kernel == "softmax" else (other - centre, (centre - other) / 4)
        shift = shift - ((away + half[None]) @ slope)[:, None]
    # All factors of a point, and m^(-1/2), join the exponent: one pass over the (n, m) array in place of two.
    log_phi = omega.project(moved) - (shift + (math.log(omega.m) / 2 - parameters.log_D))
    if A is not None:
        log_phi = log_phi + (A @ omega.project(jnp.eye(omega.d, dtype=log_phi.dtype)) ** 2)[None]
    if omega.log_weights is not None:
        log_phi = log_phi + omega.log_weights.astype(log_phi.dtype)[None] / 2
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
