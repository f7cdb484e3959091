"""Frequencies from low-discrepancy points: one block of m rows, whose coordinates fill the cube evenly."""

import jax

from rfcore import checks
from rfcore.couplings import copulas


def sobol(key, m, d):
    """Frequencies from Sobol' points with a random digital shift.

    ::

        omega_ij = Phi^-1(u_ij),  u from copulas.sobol

    The points are scipy's with one fixed scramble; the key draws the shift, which makes each row exactly N(0, I_d) up to
    the resolution of the dtype. All m rows are one block. If m is a power of two, each coordinate has one row in each of
    m strata of equal probability.

    Parameters
    ----------
    key : JAX PRNG key
    m, d : int
        Number (at most 2^23) and dimension (at most 21201) of the frequencies.

    Returns
    -------
    array, shape (m, d), rows marginally N(0, I_d), in the default float dtype

    Raises
    ------
    ValueError
        If m < 0 or d < 1, there are no so many points, or the key is no JAX key.

    Examples
    --------
    >>> import jax
    >>> from rfcore import couplings
    >>> omega = couplings.sobol(jax.random.key(0), 8, 3)
    >>> (omega > 0).sum(axis=0).tolist()
    [4, 4, 4]

    Notes
    -----
    Yang, Sindhwani, Avron and Mahoney, "Quasi-Monte Carlo feature maps for shift-invariant kernels" (2014).
    """
    return _normals(copulas.sobol, key, m, d)


def halton(key, m, d):
    """Frequencies from Halton points with a random shift modulo 1.

    ::

        omega_ij = Phi^-1(u_ij),  u from copulas.halton

    The points are scipy's with one fixed scramble; the key draws the shift, which makes each row exactly N(0, I_d) up to
    the resolution of the dtype. All m rows are one block.

    Parameters
    ----------
    key : JAX PRNG key
    m, d : int
        Number (at most 2^23) and dimension (at most 21201) of the frequencies.

    Returns
    -------
    array, shape (m, d), rows marginally N(0, I_d), in the default float dtype

    Raises
    ------
    ValueError
        If m < 0 or d < 1, there are no so many points, or the key is no JAX key.

    Notes
    -----
    Variance-Reducing Couplings, Table 1, which does not say how its Halton points are randomised.

    Examples
    --------
    >>> import jax
    >>> from rfcore import couplings
    >>> couplings.halton(jax.random.key(0), 8, 3).shape
    (8, 3)
    """
    return _normals(copulas.halton, key, m, d)


def _normals(law, key, m, d):
    shape = checks.count(m, "m", least=0), checks.count(d, "d")
    return jax.scipy.special.ndtri(law(copulas.uniforms(key), shape))
