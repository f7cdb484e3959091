"""Formulas for Fourier features as Simplex Random Features prints them."""

import jax.numpy as jnp
import numpy as np

from rfcore import checks
from rfcore.theory.fourier import fourier_mse_ratio as right_fourier_mse_ratio
from rfcore.theory.printed.positive import orthogonal_terms
from rfcore.theory.series import pair, radius


def fourier_gap(x, y, m, n_terms=200):
    """Orthogonality gap of Fourier features by an oscillating series: right on paper, useless for far points.

    ::

        (m - 1)/m (e^(-z^2) - Gamma(d/2) / Gamma(d) sum_k (-z^2)^k / (2^k k!) Gamma(k + d) / Gamma(k + d/2))

    For m <= d and z = |x - y| <= 15. Terms up to about e^(z^2/2) cancel, so that in float64 nothing is left
    beyond z = 8; ``n_terms`` must be several times z^2. :func:`rfcore.theory.fourier_gap` is the same without
    cancellation.

    Source: Simplex Random Features, Theorem 4.5, Eq. 26.
    """
    x, y = pair(x, y)
    m, d, n_terms = checks.count(m, "m"), x.shape[0], checks.count(n_terms, "n_terms")
    if m > d:
        raise ValueError(f"m = {m}; the formula is for one block, m <= d = {d}")
    square = float(np.sum((np.asarray(x) - np.asarray(y)) ** 2))
    if square > 15**2:
        raise ValueError(f"|x - y| = {np.sqrt(square)}; the sum overflows beyond 15, use theory.fourier_gap")
    signs = (-1.0) ** np.arange(n_terms)
    return float((m - 1) / m * (np.exp(-square) - np.sum(signs * orthogonal_terms(square, d, n_terms))))


def fourier_mse_ratio(z, d, m):
    """Error of orthogonal over that of independent Fourier features by Eq. 77, where a sign is wrong.

    ::

        1 + 2 (m - 1) (rho(z) - e^(-z^2)) / (1 + e^(-z^2))^2,  rho(z) = E[cos(omega_1 . z) cos(omega_2 . z)]

    Independent features have (1 - e^(-z^2))^2, as in Eqs. 74 and 86, so that the gain looks smaller
    than it is. Right is :func:`rfcore.theory.fourier_mse_ratio`, whose arguments these are.

    Source: Simplex Random Features, Appendix A.9, Eq. 77.
    """
    square = radius(z, "z") ** 2
    return 1 + (right_fourier_mse_ratio(z, d, m, "orthogonal") - 1) * jnp.tanh(square / 2) ** 2
