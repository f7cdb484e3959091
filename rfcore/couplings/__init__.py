"""Couplings: joint laws of m frequencies whose rows are each N(0, I_d).

Every coupling is a function ``(key, m, d) -> omega`` of shape (m, d). Most are a coupling of *directions*
times a coupling of *norms*, and :func:`compose` multiplies any pair::

    orthogonal = compose(directions.orthogonal, norms.independent)

Rows come in blocks of d. Blocks are independent of each other, and the last is cut when m is no multiple of d.
"""

from rfcore.couplings import directions, norms, walk_lengths
from rfcore.couplings.compose import compose, iid, orthogonal, simplex

__all__ = ["compose", "directions", "iid", "norms", "orthogonal", "simplex", "walk_lengths"]
