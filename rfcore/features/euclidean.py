"""Maps from a frequency and a point to a feature, for the Gaussian and the softmax kernel."""

import jax.numpy as jnp

from rfcore import checks

KERNELS = ("gaussian", "softmax")


def fourier(x, omega, kernel="gaussian"):
    """Random Fourier features.

    ::

        phi(x) = m^(-1/2) [sin(omega_1 . x), ..., sin(omega_m . x), cos(omega_1 . x), ..., cos(omega_m . x)]

    for the Gaussian kernel; times exp(|x|^2 / 2) for the softmax kernel. E[phi(x) . phi(y)] = k(x, y).

    Parameters
    ----------
    x : array, shape (n, d)
        Points. A lengthscale only scales them.
    omega : array, shape (m, d)
        Frequencies whose rows are marginally N(0, I_d), from :mod:`rfcore.couplings`.
    kernel : "gaussian" or "softmax"

    Returns
    -------
    array, shape (n, 2 m)

    Raises
    ------
    ValueError
        If a shape or the kernel's name is wrong, or a value is not finite.

    Notes
    -----
    Rahimi and Recht (2007); Simplex Random Features, Eq. 3.
    """
    x, omega = _check(x, omega, kernel)
    angles = x @ omega.T
    phi = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=1) / jnp.sqrt(omega.shape[0])
    if kernel == "softmax":
        phi = phi * jnp.exp(jnp.sum(x**2, axis=1, keepdims=True) / 2)
    return phi


def positive(x, omega, kernel="gaussian"):
    """Positive random features.

    ::

        phi(x)_i = m^(-1/2) exp(omega_i . x - |x|^2)        gaussian
        phi(x)_i = m^(-1/2) exp(omega_i . x - |x|^2 / 2)    softmax

    E[phi(x) . phi(y)] = k(x, y), and no feature is ever negative. They are not even in the frequency, so that
    the law of omega must be symmetric to the last bit: see :func:`rfcore.couplings.directions.haar`.

    Parameters
    ----------
    x : array, shape (n, d)
        Points. A lengthscale only scales them.
    omega : array, shape (m, d)
        Frequencies whose rows are marginally N(0, I_d), from :mod:`rfcore.couplings`.
    kernel : "gaussian" or "softmax"

    Returns
    -------
    array, shape (n, m)

    Raises
    ------
    ValueError
        If a shape or the kernel's name is wrong, or a value is not finite.

    Notes
    -----
    Choromanski et al., "Rethinking attention with Performers" (2020); Simplex Random Features, Eq. 7.
    """
    x, omega = _check(x, omega, kernel)
    half_squares = jnp.sum(x**2, axis=1, keepdims=True) / 2
    shift = half_squares if kernel == "softmax" else 2 * half_squares
    # The factor m^(-1/2) joins the exponent: one pass over the (n, m) array in place of two.
    return jnp.exp(x @ omega.T - (shift + jnp.log(omega.shape[0]) / 2))


def _check(x, omega, kernel):
    checks.choice(kernel, "kernel", KERNELS)
    x = checks.points(x, "x")
    omega = checks.points(omega, "omega", n_columns=x.shape[1])
    if omega.shape[0] == 0:
        raise ValueError(f"omega has shape {omega.shape}; give at least one frequency")
    return x, omega
