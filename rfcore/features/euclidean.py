"""Fourier features: cosines of products of frequencies and points, for the Gaussian and the softmax kernel."""

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
    return _fourier(*checked(x, omega, kernel), kernel)


def trigonometric(x, omega, phases, kernel="gaussian"):
    """Random Fourier features of random phase: one feature per frequency in place of a sine and a cosine.

    ::

        phi(x)_i = (2 / m)^(1/2) cos(omega_i . x + theta_i)

    for the Gaussian kernel; times exp(|x|^2 / 2) for the softmax kernel; times exp(w_i / 2) where frequency i has a log
    weight w_i. E[phi(x) . phi(y)] = k(x, y) for phases that are uniform on [0, 2 pi), independent of the frequencies. At
    equal numbers of features :func:`fourier`, which needs no phases, has the lower variance.

    Parameters
    ----------
    x : array, shape (n, d)
        Points. A lengthscale only scales them.
    omega : array, shape (m, d), or :class:`rfcore.couplings.frequencies.Projectable`
        As for :func:`fourier`.
    phases : array, shape (m,)
        theta, in radians.
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
    >>> x, keys = jnp.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]]), jax.random.split(jax.random.key(0))
    >>> phases = jax.random.uniform(keys[0], (6000,), maxval=2 * jnp.pi)
    >>> phi = features.trigonometric(x, couplings.iid(keys[1], 6000, 3), phases)
    >>> phi.shape, bool(jnp.allclose(phi @ phi.T, kernels.gaussian(x, x), atol=0.1))
    ((2, 6000), True)

    Notes
    -----
    Rahimi and Recht (2007); FAVOR#, Eqs. 5 to 7. The feature of y is that of x: with the minus sign of Eq. 7 a pair estimates
    exp(-x . y) (``theory.printed.trigonometric``). For the range of the softmax kernel's see :func:`fourier`.
    """
    x, omega = checked(x, omega, kernel)
    phases = checks.floating(phases, "phases")
    if phases.shape != (omega.m,):
        raise ValueError(f"phases has shape {phases.shape}; give one number per frequency, shape ({omega.m},)")
    return _trigonometric(x, omega, phases, kernel)


@partial(jax.jit, static_argnames="kernel")
def _fourier(x, omega, kernel):
    # A sine is a cosine a quarter turn late: all features are cosines of one matrix of angles.
    turns = omega.project(x, unit=math.tau, copies=2)
    phi = cosine_of_turns(turns - np.repeat([0.25, 0.0], omega.m).astype(x.dtype)) / math.sqrt(omega.m)
    return _grown(phi, x, omega, kernel)


@partial(jax.jit, static_argnames="kernel")
def _trigonometric(x, omega, phases, kernel):
    turns = omega.project(x, unit=math.tau)
    phi = cosine_of_turns(turns + (phases / math.tau).astype(turns.dtype)) * math.sqrt(2 / omega.m)
    return _grown(phi, x, omega, kernel)


def _grown(phi, x, omega, kernel):
    """Features of the Gaussian kernel times what the softmax kernel and the weights of frequencies ask for."""
    exponents = []
    if kernel == "softmax":
        exponents.append(jnp.sum(x**2, axis=1, keepdims=True) / 2)
    if omega.log_weights is not None:
        exponents.append(jnp.tile(omega.log_weights.astype(phi.dtype) / 2, phi.shape[1] // omega.m))
    return phi * jnp.exp(sum(exponents)) if exponents else phi


def checked(x, omega, kernel):
    """Points and frequencies that fit, at least one frequency, and a kernel that is known."""
    checks.choice(kernel, "kernel", KERNELS)
    x = checks.points(x, "x")
    omega = frequencies.of(omega, x.shape[1])
    if omega.m == 0:
        raise ValueError("omega holds 0 frequencies; give at least one")
    return x, omega
