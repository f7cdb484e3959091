"""Couplings: joint distributions of m frequencies, each N(0, I_d).

Every coupling is called as ``coupling(key, m, d) -> omega``. ``key`` is a JAX PRNG key, m the number of
frequencies (at least 0, not always a multiple of d) and d their dimension; omega is an array (m, d) of the
default float dtype. Most couplings are a coupling of *directions* times a coupling of *norms*::

    orthogonal = Product(directions.orthogonal)
    orthogonal_pnc = Product(directions.orthogonal, copulas.antithetic)

``tight`` moves the directions of such a product until second moments are exactly those of N(0, I_d), for any
m > d: see :mod:`rfcore.couplings.frames`.

They are records: they have a readable repr, can be pickled and compared, and are pytrees. Rows come in blocks
of d. Blocks are independent, and the last is cut when m is not a multiple of d; the rows of ``halton`` and
``sobol`` are one block. Norms, and the lengths and hops of walks, are coupled by the same records,
:mod:`rfcore.copulas`. The two couplings whose names end in ``_fast`` are approximations with fast products:
see ``couplings.fast``. Frequencies with a distribution other than N(0, I_d) carry log weights: see
``features.frequencies``.
"""

from typing import Any

from rfcore import copulas
from rfcore.couplings import (
    directions,
    fast,
    frames,
    low_discrepancy,
    norms,
    weight_dependent,
)
from rfcore.couplings.fast import Fast, orthogonal_fast, simplex_fast
from rfcore.couplings.frames import Tightened, tight, tight_antithetic, tight_balanced, tighten
from rfcore.couplings.low_discrepancy import LowDiscrepancy, halton, sobol
from rfcore.couplings.names import COUPLINGS, named
from rfcore.couplings.products import (
    Coupling,
    Independent,
    Product,
    Turned,
    WithOpposites,
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
from rfcore.couplings.weight_dependent import SimplexPlus, simplex_plus


def __getattr__(name: str) -> Any:
    if name == "choose":  # imported on first use: it depends on theory, which depends on couplings
        from rfcore.choosing import choose

        return choose
    raise AttributeError(f"module 'rfcore.couplings' has no attribute {name!r}")
