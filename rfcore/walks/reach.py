"""Whether walks reach the lengths at which a modulation is large: where few do, features are 0 or noise."""

import sys
import warnings

import numpy as np
from jaxtyping import Bool, Float

from rfcore import checks
from rfcore.walks import modulation
from rfcore.walks.lengths import longest
from rfcore.walks.modulation import Modulation

POOR, HOPELESS = 1 / 2, 1 / 20  # shares of the sum of |f| that the walks of a node reach
FAR = 2**12  # where that sum ends, unless walks are longer


def check_walks(f: Modulation, table: Float[np.ndarray, " n"], n_walks: int, p_halt: float) -> None:
    """Warn if few walks of a node reach the lengths of f on normalised weights; ValueError if hardly any do.

    ::

        share = sum_k |f(k)| (1 - (1 - (1 - p_halt)^k)^n_walks) / sum_k |f(k)|

    Args:
        table: f(0), f(1), ..., as far as it is known.
    """
    any_walk = 1 + int(0.25 / p_halt)  # hops that a walk makes with probability 3/4: an f concentrated there needs no further check
    if np.abs(table[:any_walk]).sum() > 0.7 * np.abs(table).sum():
        return
    last = max(len(table) - 1, min(longest(p_halt), FAR))
    reached = 1 - (1 - (1 - p_halt) ** np.arange(last + 1)) ** n_walks
    table = modulation.on_host(f, last)
    _check(f, table, reached, f"n_walks = {n_walks}, p_halt = {p_halt}")


def check_deposits(f: Modulation, longest: int) -> None:
    """The same for a kernel on given walks; other modulations may have no values beyond them."""
    if getattr(f, "for_normalised", False):
        table = modulation.values(f, 2 * longest + 1)
        if not checks.is_traced(table):
            made = np.arange(len(table)) <= longest
            _check(f, np.asarray(table), made, f"deposits has walks of {longest} hops at most")


def _check(
    f: Modulation, table: Float[np.ndarray, " n"], reached: Float[np.ndarray, " n"] | Bool[np.ndarray, " n"], given: str
) -> None:
    """From the chances that one of the walks of a node reaches each length."""
    sizes, is_named = np.abs(table) / (np.abs(table).max() or 1), getattr(f, "for_normalised", False)
    share, known = (sizes @ reached) / (sizes.sum() or 1), sizes.cumsum()
    if share >= POOR or not (known[-1] or is_named):  # only modulations that are not of kernels may be 0
        return
    half = known.searchsorted(known[-1] / 2, side="right")
    got = f"{given}: walks of a node get to {share:.2g} of the sum of |f|, half of it at {half} hops or more"
    mend = f"give a p_halt of about {0.5 / half:.1g}, or more walks"
    mend += "" if is_named else ", or an f that ends: modulation.from_values(f(np.arange(n)))"
    if share < HOPELESS:
        raise ValueError(f"{got}; f = {f!r}, whose features would be 0 or chance; {mend}")
    warnings.warn(f"{got}; f = {f!r}, whose features depend on a few lucky walks; {mend}", stacklevel=_callers())


def _callers() -> int:
    """Frames up to the first that is neither the library's nor that of a method of its records."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("rfcore", "equinox"):
        frame, level = frame.f_back, level + 1
    return level
