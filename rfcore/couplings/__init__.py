"""Couplings: joint laws of m frequencies whose rows are each N(0, I_d).

Every coupling is a function ``(key, m, d) -> omega`` of shape (m, d). Most are a coupling of *directions*
times a coupling of *norms*, and :func:`compose` multiplies any pair::

    orthogonal = compose(directions.orthogonal, norms.independent)

Rows come in blocks of d. Blocks are independent of each other, and the last is cut when m is no multiple of d; the rows
of ``halton`` and ``sobol`` are one block. Norms, and the lengths and first hops of walks, are coupled by the same
object, a joint law of uniforms: see ``couplings.copulas``.
The two that end in ``_fast`` are approximations that multiply fast: see ``couplings.fast``. Frequencies of another law
than N(0, I_d) carry log weights: see ``couplings.frequencies``.
"""

from rfcore.couplings import (
    chi,
    copulas,
    directions,
    fast,
    frequencies,
    low_discrepancy,
    norms,
    walk_hops,
    walk_lengths,
    weight_dependent,
)
from rfcore.couplings.compose import antithetic, compose, iid, orthogonal, simplex
from rfcore.couplings.fast import orthogonal_fast, simplex_fast
from rfcore.couplings.low_discrepancy import halton, sobol
from rfcore.couplings.norm_coupled import orthogonal_copula, orthogonal_pm, orthogonal_pnc
from rfcore.couplings.weight_dependent import simplex_plus

__all__ = [
    "antithetic",
    "chi",
    "compose",
    "copulas",
    "directions",
    "fast",
    "frequencies",
    "halton",
    "iid",
    "low_discrepancy",
    "norms",
    "orthogonal",
    "orthogonal_copula",
    "orthogonal_fast",
    "orthogonal_pm",
    "orthogonal_pnc",
    "simplex",
    "simplex_fast",
    "simplex_plus",
    "sobol",
    "walk_hops",
    "walk_lengths",
    "weight_dependent",
]
