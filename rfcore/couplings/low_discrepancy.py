"""Frequencies from low-discrepancy points, whose coordinates fill the cube evenly."""

import jax
from jaxtyping import Array, Float, PRNGKeyArray

from rfcore import checks, copulas
from rfcore.couplings.products import Coupling


class LowDiscrepancy(Coupling):
    """Frequencies from the points of a copula, normal in each coordinate.

    ::

        omega_ij = Phi^-1(u_ij)

    All rows are one block, of at most 2^23 rows and 21,201 dimensions. The points are SciPy's with one fixed
    scramble; the key draws a shift, which makes each row exactly N(0, I_d) up to the resolution of the dtype,
    and estimates unbiased.
    """

    points: copulas.Copula

    def __call__(self, key: PRNGKeyArray, m: int, d: int) -> Float[Array, "m d"]:
        shape = checks.count(m, "m", least=0), checks.count(d, "d")
        return jax.scipy.special.ndtri(self.points(copulas.uniforms(checks.key(key)), shape))


sobol = LowDiscrepancy(copulas.sobol)
"""Frequencies from Sobol' points with a random digital shift (:class:`rfcore.copulas.Sobol`).

If m is a power of two, each coordinate has one row in each of m strata of equal probability.

Source: Yang, Sindhwani, Avron and Mahoney, "Quasi-Monte Carlo feature maps", 2014.

>>> import jax
>>> from rfcore import couplings
>>> omega = couplings.sobol(jax.random.key(0), 8, 3)
>>> (omega > 0).sum(axis=0).tolist()
[4, 4, 4]
"""
halton = LowDiscrepancy(copulas.halton)
"""Frequencies from Halton points with a random shift modulo 1 (:class:`rfcore.copulas.Halton`).

Source: Variance-Reducing Couplings, Table 1, which does not say how its Halton points are randomised.

>>> import jax
>>> from rfcore import couplings
>>> omega = couplings.halton(jax.random.key(0), 8, 3)
>>> int((omega[:, 0] > 0).sum())
4
"""
