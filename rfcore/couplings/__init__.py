"""Couplings: joint laws of m frequencies, each N(0, I_d).

Every coupling is a function ``(key, m, d) -> omega``. ``key`` is a JAX PRNG key, m the number of frequencies
(at least 0, not always a multiple of d) and d their dimension; omega is an array (m, d) of the default float
dtype. Most are a coupling of *directions* times a coupling of *norms*, and :func:`compose` multiplies any
pair::

    orthogonal = compose(directions.orthogonal, norms.independent)

Rows come in blocks of d. Blocks are independent, and the last is cut when m is no multiple of d; the rows of
``halton`` and ``sobol`` are one block. Norms, and the lengths and first hops of walks, are coupled by the
same object, a joint law of uniforms: see ``couplings.copulas``. The two couplings that end in ``_fast`` are
approximations that multiply fast: see ``couplings.fast``. Frequencies of another law than N(0, I_d) carry log
weights: see ``couplings.frequencies``.
"""

from rfcore import copulas
from rfcore.couplings import (
    directions,
    fast,
    frequencies,
    low_discrepancy,
    norms,
    quantiles,
    weight_dependent,
)
from rfcore.couplings.choosing import choose
from rfcore.couplings.compose import (
    antithetic,
    compose,
    iid,
    matern,
    orthogonal,
    orthogonal_copula,
    orthogonal_pm,
    orthogonal_pnc,
    simplex,
)
from rfcore.couplings.fast import orthogonal_fast, simplex_fast
from rfcore.couplings.low_discrepancy import halton, sobol
from rfcore.couplings.weight_dependent import simplex_plus
