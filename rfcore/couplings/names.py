"""Couplings by name, for users' strings."""

from collections.abc import Callable

from rfcore import checks
from rfcore.couplings.fast import orthogonal_fast, simplex_fast
from rfcore.couplings.frames import tight, tight_antithetic, tight_balanced
from rfcore.couplings.low_discrepancy import halton, sobol
from rfcore.couplings.products import iid, orthogonal, orthogonal_pm, orthogonal_pnc, simplex
from rfcore.couplings.weight_dependent import simplex_plus

COUPLINGS = {
    "iid": iid,
    "orthogonal": orthogonal,
    "simplex": simplex,
    "simplex_plus": simplex_plus,
    "halton": halton,
    "sobol": sobol,
    "orthogonal_fast": orthogonal_fast,
    "simplex_fast": simplex_fast,
    "orthogonal_pnc": orthogonal_pnc,
    "orthogonal_pm": orthogonal_pm,
    "tight": tight,
    "tight_balanced": tight_balanced,
    "tight_antithetic": tight_antithetic,
}


def named(coupling: str | Callable, name: str = "coupling") -> Callable:
    """The coupling of a name in ``COUPLINGS``; a record or function is returned as it is.

    Args:
        name: name of the argument, for the error message.
    """
    return coupling if callable(coupling) else COUPLINGS[checks.choice(coupling, name, COUPLINGS)]
