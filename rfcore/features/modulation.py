"""Modulation functions: how much a walk of length k counts, which decides what kernel graph features estimate.

A modulation is a function ``f(k)`` of an integer array of walk lengths. Features phi_1, phi_2 of two independent
sets of walks on a graph with weights W satisfy

::

    E[phi_1 phi_2^T] = (sum_k f(k) W^k) (sum_k f(k) W^k)^T,   so that f * f = alpha gives sum_k alpha_k W^k

for a symmetric W. The functions below are for W = D^(-1/2) A D^(-1/2), ``g.normalised()``, and hold the
regulariser's powers and the constant: the product estimates the kernel of the same name in :mod:`rfcore.kernels`
itself. Universal Graph Random Features, Theorems 2.1 and 2.2.
"""

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln

from rfcore import checks


def diffusion(sigma):
    """Modulation of the diffusion kernel exp(-sigma^2 L / 2).

    ::

        f(k) = exp(-sigma^2 / 4) (sigma^2 / 4)^k / k!

    Parameters
    ----------
    sigma : float
        Above 0. May be traced: f is differentiable in it.

    Returns
    -------
    function of an integer array

    Raises
    ------
    ValueError
        If sigma <= 0.
    """
    sigma = checks.real(sigma, "sigma", above=0)

    def f(k):
        quarter = sigma**2 / 4
        return jnp.exp(k * jnp.log(quarter) - gammaln(k + 1.0) - quarter)

    return f


def regularised_laplacian(sigma, d):
    """Modulation of the d-regularised Laplacian kernel (I + sigma^2 L)^(-d).

    ::

        f(k) = (1 + sigma^2)^(-d/2) Gamma(k + d/2) / (Gamma(d/2) k!) (sigma^2 / (1 + sigma^2))^k

    Parameters
    ----------
    sigma, d : float
        Above 0. May be traced: f is differentiable in both.

    Returns
    -------
    function of an integer array

    Raises
    ------
    ValueError
        If sigma <= 0 or d <= 0.
    """
    sigma, d = checks.real(sigma, "sigma", above=0), checks.real(d, "d", above=0)

    def f(k):
        log_scale = jnp.log1p(sigma**2)
        log_binomial = gammaln(k + d / 2) - gammaln(d / 2) - gammaln(k + 1.0)
        return jnp.exp(log_binomial + k * (2 * jnp.log(sigma) - log_scale) - d / 2 * log_scale)

    return f


def p_step(alpha, p):
    """Modulation of the p-step random walk kernel (alpha I - L)^p.

    ::

        f(k) = binomial(p/2, k) (alpha - 1)^(p/2 - k)

    For even p walks longer than p/2 count nothing; for odd p some of them count negatively.

    Parameters
    ----------
    alpha : float
        At least 2.
    p : int
        At least 1.

    Returns
    -------
    function of an integer array

    Raises
    ------
    ValueError
        If alpha < 2 or p < 1.
    """
    alpha, p = checks.real(alpha, "alpha", least=2), checks.count(p, "p")

    def f(k):
        steps = np.arange(_longest(k))
        ratios = (p / 2 - steps) / ((steps + 1) * (alpha - 1))
        return (alpha - 1) ** (p / 2) * np.concatenate([[1.0], np.cumprod(ratios)])[k]

    return f


def inverse_cosine():
    """Modulation of the inverse cosine kernel cos(pi L / 4).

    ::

        alpha_k = (pi/4)^k / (sqrt(2) k!) times +, +, -, -, +, +, ...

    There is no closed form; f comes from :func:`from_taylor`. It decays only like k^(-3/2), because
    sqrt(cos x + sin x) has its first singularity at -pi/4, which is where the spectrum of W can end: the estimates
    have the heaviest tails of the four kernels.

    Returns
    -------
    function of an integer array
    """

    def alpha(k):
        signs = np.where(k % 4 < 2, 1.0, -1.0)
        return signs * np.exp(k * np.log(np.pi / 4) - gammaln(k + 1.0)) / np.sqrt(2)

    return from_taylor(alpha)


def from_taylor(alpha):
    """Symmetric modulation of the kernel sum_k alpha_k W^k.

    ::

        f * f = alpha:   f(0) = sqrt(alpha_0),
        f(i + 1) = (alpha_{i+1} - sum_{p=1}^{i} f(p) f(i + 1 - p)) / (2 f(0))

    Parameters
    ----------
    alpha : array, shape (K,), or function of an integer array
        Taylor coefficients, alpha_0 > 0. Those past the end of an array are zero (f goes on all the same).

    Returns
    -------
    function of an integer array; costs O(b^2) for lengths up to b

    Raises
    ------
    ValueError
        If alpha is no vector or function, is not finite, or alpha_0 <= 0.

    Notes
    -----
    Universal Graph Random Features, Eq. 6. Float64 on the host.
    """
    coefficients = alpha if callable(alpha) else _padded(alpha)
    first = float(np.asarray(coefficients(np.arange(1)))[0])
    if not (np.isfinite(first) and first > 0):
        raise ValueError(f"alpha[0] = {first}; give a finite positive constant term (f(0) is its square root)")

    def f(k):
        n = _longest(k) + 1
        target = np.asarray(coefficients(np.arange(n)), dtype=float)
        table = np.zeros(n)
        table[0] = np.sqrt(first)
        for i in range(1, n):
            table[i] = (target[i] - table[1:i] @ table[i - 1 : 0 : -1]) / (2 * table[0])
        return table[k]

    return f


def _padded(alpha):
    values = checks.finite(np.asarray(alpha, dtype=float), "alpha")
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"alpha has shape {values.shape}; give a vector of Taylor coefficients")
    return lambda k: np.where(k < len(values), values[np.minimum(k, len(values) - 1)], 0.0)


def _longest(k):
    return int(np.max(k, initial=0))
