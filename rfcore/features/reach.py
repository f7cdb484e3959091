"""Whether walks get to the lengths at which a modulation counts: where few do, features are 0 or chance."""

import warnings

import numpy as np

from rfcore import checks
from rfcore.couplings import walk_lengths

POOR, HOPELESS = 1 / 2, 1 / 20  # shares of the sum of |f| that the walks of a node get to
FAR = 2**12  # where that sum ends, unless walks are longer


def check_walks(f, table, n_walks, p_halt):
    """Warn of an f that is where few walks of a node get on normalised weights, or refuse it.

    ::

        share = sum_k |f(k)| (1 - (1 - (1 - p_halt)^k)^n_walks) / sum_k |f(k)|

    Args:
        f: modulation.
        table: f(0), f(1), ..., as far as it is known.
        n_walks, p_halt: of the walks.
    """
    any_walk = 1 + int(0.25 / p_halt)  # makes so many hops with probability 3/4: an f that is there needs no further look
    if np.abs(table[:any_walk]).sum() > 0.7 * np.abs(table).sum():
        return
    longest = max(len(table) - 1, min(walk_lengths.longest(p_halt), FAR))
    reached = 1 - (1 - (1 - p_halt) ** np.arange(longest + 1)) ** n_walks
    table = np.asarray(checks.modulation(f, longest + 1), dtype=float)
    _check(f, table, reached, f"n_walks = {n_walks}, p_halt = {p_halt}")


def check_deposits(f, longest):
    """The same of a kernel's modulation and given walks; others may have no values beyond them."""
    if getattr(f, "for_normalised", False):
        table = checks.modulation(f, 2 * longest + 1)
        if not checks.is_traced(table):
            made = np.arange(len(table)) <= longest
            _check(f, np.asarray(table), made, f"deposits has walks of {longest} hops at most")


def _check(f, table, reached, given):
    """By the chances that one of a node's walks reaches each length."""
    sizes, is_named = np.abs(table) / (np.abs(table).max() or 1), getattr(f, "for_normalised", False)
    share, known = (sizes @ reached) / (sizes.sum() or 1), sizes.cumsum()
    if share >= POOR or not (known[-1] or is_named):  # only what is no kernel may be 0
        return
    half = known.searchsorted(known[-1] / 2, side="right")
    got = f"{given}: walks of a node get to {share:.2g} of the sum of |f|, half of it at {half} hops or more"
    mend = f"give a p_halt of about {0.5 / half:.1g}, or more walks"
    mend += "" if is_named else ", or an f that ends: modulation.from_values(f(np.arange(n)))"
    if share < HOPELESS:
        raise ValueError(f"{got}; f = {f!r}, whose features would be 0 or chance; {mend}")
    warnings.warn(f"{got}; f = {f!r}, whose features depend on a few lucky walks; {mend}", stacklevel=6)
