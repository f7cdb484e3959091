"""Formulas for Fourier features as Simplex Random Features prints them (Section 4.1, Appendix A.9)."""

import jax.numpy as jnp
import numpy as np

from rfcore import checks
from rfcore.theory.fourier import fourier_mse_ratio as right_fourier_mse_ratio
from rfcore.theory.printed.positive import orthogonal_terms
from rfcore.theory.series import pair, radius


def fourier_gap(x, y, m, n_terms=200):
    """Orthogonality gap of Fourier features by the oscillating series of Eq. 26, in float64.

    ::

        (m - 1)/m (e^(-z^2) - Gamma(d/2) / Gamma(d) sum_k (-z^2)^k / (2^k k!) Gamma(k + d) / Gamma(k + d/2))

    Right on paper. In floating point terms up to about e^(z^2/2) cancel: beyond z = 8 nothing is left.
    :func:`rfcore.theory.fourier_gap` is the same number without cancellation.

    Parameters
    ----------
    x, y : array, shape (d,)
    m : int
        Number of frequencies, at most d.
    n_terms : int
        Terms of the sum; several times z^2 are needed.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the shapes differ, |x - y| > 15, or m is not in 1, ..., d.

    Notes
    -----
    Simplex Random Features, Theorem 4.5.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from rfcore import theory
    >>> x, y = jnp.array([0.5, 0.0, 0.2]), jnp.array([0.1, 0.4, 0.0])
    >>> bool(jnp.allclose(theory.printed.fourier_gap(x, y, 3), theory.fourier_gap(x, y, 3), rtol=1e-4))
    True
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

    The error of independent features has (1 - e^(-z^2))^2, as Eq. 74 says and as the end of the proof (Eq. 86) has
    it again; the right ratio is :func:`rfcore.theory.fourier_mse_ratio`.

    Parameters
    ----------
    z : array
        |x - y|, between 0 and 30.
    d, m : int
        Dimension; number of frequencies.

    Returns
    -------
    array, the shape of z

    Raises
    ------
    ValueError
        As :func:`rfcore.theory.fourier_mse_ratio`.

    Notes
    -----
    Simplex Random Features, Appendix A.9.

    Examples
    --------
    >>> from rfcore import theory
    >>> right, wrong = theory.fourier_mse_ratio(1.0, 3, 3, "orthogonal"), theory.printed.fourier_mse_ratio(1.0, 3, 3)
    >>> bool(right < wrong < 1)  # the gain looks smaller than it is
    True
    """
    square = radius(z, "z") ** 2
    return 1 + (right_fourier_mse_ratio(z, d, m, "orthogonal") - 1) * jnp.tanh(square / 2) ** 2
