"""Frequencies from low-discrepancy points: one block of m rows, whose coordinates fill the cube evenly.

Estimates with :func:`rfcore.couplings.sobol` and :func:`rfcore.couplings.halton`, which are randomised by a key, are
unbiased. Those with the plain points of :func:`unrandomised` are not: the points are the same each time, and their error is a
bias that shrinks as m grows.
"""

import warnings

import jax
import jax.numpy as jnp
from scipy import special

from rfcore import checks
from rfcore.couplings import copulas
from rfcore.couplings.copulas.nets import BITS, MOST_COORDINATES


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


def unrandomised(points, m, d):
    """Frequencies from the plain points of a sequence, without its first, the origin. Not a coupling: nothing is random.

    ::

        omega_ij = Phi^-1(p_i+1,j),  p_0 = 0, p_1, ... the Sobol' or Halton sequence

    Estimates with them are **biased**, by an error that falls faster than m^(-1/2) in low dimensions and may be larger than that of
    independent frequencies where m is about d. The origin would be an infinite frequency.

    Parameters
    ----------
    points : "sobol" or "halton"
    m, d : int
        Number (at most 2^23) and dimension (at most 21201) of the frequencies.

    Returns
    -------
    array, shape (m, d), in the default float dtype

    Raises
    ------
    ValueError
        If there is no such sequence, m < 0 or d < 1, or there are no so many points.

    Notes
    -----
    Variance-Reducing Couplings, Table 1, compares with "a fixed, off-the-shelf" Halton sequence; ``scipy.stats.qmc``, 2021.

    Examples
    --------
    Sobol's first point after the origin is the middle of the cube:

    >>> from rfcore.couplings import low_discrepancy
    >>> low_discrepancy.unrandomised("sobol", 1, 3).tolist()
    [[0.0, 0.0, 0.0]]
    """
    from scipy.stats import qmc

    sequence = {"sobol": qmc.Sobol, "halton": qmc.Halton}[checks.choice(points, "points", ("sobol", "halton"))]
    m, d = checks.count(m, "m", least=0), checks.count(d, "d")
    if m > 2**BITS or d > MOST_COORDINATES:
        raise ValueError(f"m = {m} and d = {d}; give at most {2**BITS} points in at most {MOST_COORDINATES} dimensions")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The balance properties of Sobol'")  # lost with the origin in any case
        drawn = sequence(d, scramble=False).fast_forward(1).random(m)
    return jnp.asarray(special.ndtri(drawn), dtype=float)


def _normals(law, key, m, d):
    shape = checks.count(m, "m", least=0), checks.count(d, "d")
    return jax.scipy.special.ndtri(law(copulas.uniforms(key), shape))
