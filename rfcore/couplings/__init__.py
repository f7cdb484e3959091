"""Couplings: joint laws of m frequencies whose rows are each N(0, I_d).

Every coupling is a function ``(key, m, d) -> omega`` of shape (m, d). Most are a coupling of *directions*
times a coupling of *norms*, and :func:`compose` multiplies any pair::

    orthogonal = compose(directions.orthogonal, norms.independent)

Rows come in blocks of d. Blocks are independent of each other, and the last is cut when m is no multiple of d.
The two that end in ``_fast`` are approximations that multiply fast: see ``couplings.fast``. Frequencies of another law
than N(0, I_d) carry log weights: see ``couplings.frequencies``.
"""

from rfcore.couplings import directions, fast, frequencies, norms, walk_lengths, weight_dependent
from rfcore.couplings.compose import compose, iid, orthogonal, simplex
from rfcore.couplings.fast import orthogonal_fast, simplex_fast
from rfcore.couplings.weight_dependent import simplex_plus

__all__ = [
    "compose",
    "directions",
    "fast",
    "frequencies",
    "iid",
    "norms",
    "orthogonal",
    "orthogonal_fast",
    "simplex",
    "simplex_fast",
    "simplex_plus",
    "walk_lengths",
    "weight_dependent",
]
