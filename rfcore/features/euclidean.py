"""Maps from a frequency and a point to a feature, for the Gaussian and the softmax kernel."""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from rfcore import checks
from rfcore.couplings import frequencies
from rfcore.features.cosine import cosine_of_turns

KERNELS = ("gaussian", "softmax")


def fourier(x, omega, kernel="gaussian"):
    """Random Fourier features.

    ::

        phi(x) = m^(-1/2) [sin(omega_1 . x), ..., sin(omega_m . x), cos(omega_1 . x), ..., cos(omega_m . x)]

    for the Gaussian kernel; times exp(|x|^2 / 2) for the softmax kernel. E[phi(x) . phi(y)] = k(x, y). Both features of
    frequency i are multiplied by exp(w_i / 2) where it has a log weight w_i.

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
    array, shape (n, 2 m)

    Raises
    ------
    ValueError
        If a shape or the kernel's name is wrong, or a value is not finite.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, kernels
    >>> x = jnp.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]])
    >>> phi = features.fourier(x, couplings.orthogonal(jax.random.key(0), 3000, 3))
    >>> phi.shape, bool(jnp.allclose(phi @ phi.T, kernels.gaussian(x, x), atol=0.05))
    ((2, 6000), True)

    Notes
    -----
    Those of the softmax kernel overflow where |x|^2 > 177 in float32, 1419 in float64. They have signs, so there is no
    logarithm to take, but all that overflows is a factor of a row: softmax features are Gaussian ones times exp(|x|^2 / 2).
    Where a quotient divides it out (see :func:`stabilised`), take ``kernel="gaussian"`` for the queries, and for the keys
    Gaussian features times exp((|k|^2 - c) / 2), with one c, the greatest |k|^2, for all of them.

    Rahimi and Recht (2007); Simplex Random Features, Eq. 3.
    """
    return _fourier(*_check(x, omega, kernel), kernel)


def positive(x, omega, kernel="gaussian"):
    """Positive random features.

    ::

        phi(x)_i = m^(-1/2) exp(omega_i . x - |x|^2)        gaussian
        phi(x)_i = m^(-1/2) exp(omega_i . x - |x|^2 / 2)    softmax

    times exp(w_i / 2) where frequency i has a log weight w_i: one exp of :func:`log_positive`. E[phi(x) . phi(y)] = k(x, y), and no feature is ever negative. They are not even in the frequency, so that
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
    return _positive(*_check(x, omega, kernel), kernel)


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
    return _log_positive(*_check(x, omega, kernel), kernel)


@partial(jax.jit, static_argnames="kernel")
def _fourier(x, omega, kernel):
    # A sine is a cosine a quarter turn late: all features are cosines of one matrix of angles.
    turns = omega.project(x, unit=math.tau, copies=2)
    phi = cosine_of_turns(turns - np.repeat([0.25, 0.0], omega.m).astype(x.dtype)) / math.sqrt(omega.m)
    exponents = []
    if kernel == "softmax":
        exponents.append(jnp.sum(x**2, axis=1, keepdims=True) / 2)
    if omega.log_weights is not None:
        exponents.append(jnp.tile(omega.log_weights.astype(phi.dtype) / 2, 2))
    return phi * jnp.exp(sum(exponents)) if exponents else phi


@partial(jax.jit, static_argnames="kernel")
def _log_positive(x, omega, kernel):
    half_squares = jnp.sum(x**2, axis=1, keepdims=True) / 2
    shift = half_squares if kernel == "softmax" else 2 * half_squares
    # The factor m^(-1/2) joins the exponent: one pass over the (n, m) array in place of two.
    log_phi = omega.project(x) - (shift + math.log(omega.m) / 2)
    if omega.log_weights is not None:
        log_phi = log_phi + omega.log_weights.astype(log_phi.dtype) / 2
    return log_phi


@partial(jax.jit, static_argnames="kernel")
def _positive(x, omega, kernel):
    return jnp.exp(_log_positive(x, omega, kernel))


def _check(x, omega, kernel):
    checks.choice(kernel, "kernel", KERNELS)
    x = checks.points(x, "x")
    omega = frequencies.of(omega, x.shape[1])
    if omega.m == 0:
        raise ValueError("omega holds 0 frequencies; give at least one")
    return x, omega
