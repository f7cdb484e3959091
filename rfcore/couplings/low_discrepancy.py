"""Frequencies from low-discrepancy points: one block of m rows, whose coordinates fill the cube evenly.

The points of :func:`rfcore.couplings.sobol` and :func:`rfcore.couplings.halton` are SciPy's with one fixed
scramble; the key draws a shift, which makes each row exactly N(0, I_d) up to the resolution of the dtype, and
estimates unbiased.
"""

import jax

from rfcore import checks, copulas


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


def _normals(law, key, m, d):
    shape = checks.count(m, "m", least=0), checks.count(d, "d")
    return jax.scipy.special.ndtri(law(copulas.uniforms(checks.key(key)), shape))
