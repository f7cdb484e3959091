"""Frequencies from low-discrepancy points: one block of m rows, whose coordinates fill the cube evenly.

The points of :func:`rfcore.couplings.sobol` and :func:`rfcore.couplings.halton` are SciPy's with one fixed
scramble; the key draws a shift, which makes each row exactly N(0, I_d) up to the resolution of the dtype, and
estimates unbiased. With the plain points of :func:`unrandomised` estimates have a bias, which shrinks as m
grows.
"""

import warnings

import jax
import jax.numpy as jnp
from scipy import special

from rfcore import checks, copulas
from rfcore.copulas import BITS, MOST_COORDINATES


def sobol(key, m, d):
    """Frequencies from Sobol' points with a random digital shift.

    ::

        omega_ij = Phi^-1(u_ij),  u from copulas.sobol

    All rows are one block, of at most 2^23 rows and 21,201 dimensions. If m is a power of two, each
    coordinate has one row in each of m strata of equal probability.

    Source: Yang, Sindhwani, Avron and Mahoney, "Quasi-Monte Carlo feature maps", 2014.

    >>> import jax
    >>> from rfcore import couplings
    >>> omega = couplings.sobol(jax.random.key(0), 8, 3)
    >>> (omega > 0).sum(axis=0).tolist()
    [4, 4, 4]
    """
    return _normals(copulas.sobol, key, m, d)


def halton(key, m, d):
    """Frequencies from Halton points with a random shift modulo 1.

    ::

        omega_ij = Phi^-1(u_ij),  u from copulas.halton

    All rows are one block, of at most 2^23 rows and 21,201 dimensions.

    Source: Variance-Reducing Couplings, Table 1, which does not say how its Halton points are randomised.

    >>> import jax
    >>> from rfcore import couplings
    >>> omega = couplings.halton(jax.random.key(0), 8, 3)
    >>> int((omega[:, 0] > 0).sum())
    4
    """
    return _normals(copulas.halton, key, m, d)


def unrandomised(points, m, d):
    """Frequencies from the plain points of a sequence. Not a coupling: nothing is random.

    ::

        omega_ij = Phi^-1(p_{i+1,j}),  p_0 = 0, p_1, ... the Sobol' or Halton sequence

    The origin, which would be an infinite frequency, is left out. Estimates are **biased**, by an error that
    falls faster than m^(-1/2) in low dimensions and may be larger than that of independent frequencies where
    m is about d.

    Args:
        points: "sobol" or "halton".
        m, d: number and dimension of the frequencies.

    Source: Variance-Reducing Couplings, Table 1, compares with "a fixed, off-the-shelf" Halton sequence.
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
