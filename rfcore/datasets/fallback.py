"""Stand-ins for data that cannot be had, and the banner that says so."""

import html
import sys
import warnings
from collections.abc import Callable
from typing import Any

from rfcore import checks
from rfcore.datasets.registry import Entry
from rfcore.datasets.storage import Unavailable

_fallen: dict[str, str] = {}


class FallbackWarning(UserWarning):
    """A stand-in is used in place of a data set."""


def fallbacks() -> tuple[str, ...]:
    """Names of the sets for which this process uses a stand-in, in the order of their first use.

    A claim about a set named here has not been put to the test.
    """
    return tuple(_fallen)


def real_or_stand_in(
    entry: Entry, read: Callable[[], Any], stand_in: Callable[[Entry], tuple[Any, str]], fallback: bool
) -> tuple[Any, str]:
    """Data and where they come from: ``read()`` or, where ``fallback`` allows it, a stand-in.

    The second is "registry" or "fallback: ...". ``stand_in`` returns the data and what they are. Damaged
    files are an error in either case.
    """
    checks.flag(fallback, "fallback")
    try:
        return read(), "registry"
    except Unavailable as error:
        if not fallback:
            raise
        reason = error
    data, what = stand_in(entry)
    _announce(entry, what, reason)
    return data, f"fallback: {what}"


def _announce(entry: Entry, what: str, reason: Unavailable) -> None:
    if entry.name in _fallen:
        return
    _fallen[entry.name] = what
    text = (
        f"STAND-IN DATA for {entry.name} ({entry.title}): {what}. Nothing below speaks of the real data; "
        f"claims about them are not run. {reason}"
    )
    if not _shown_in_notebook(text):
        warnings.warn(text, FallbackWarning, stacklevel=4)


def _shown_in_notebook(text: str) -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or not hasattr(shell, "kernel"):
        return False
    from IPython.display import HTML, display

    style = "border:2px solid #b45309;background:#fef3c7;color:#451a03;padding:.6em 1em;font-weight:600"
    display(HTML(f'<div class="rfcore-stand-in" style="{style}">{html.escape(text)}</div>'))
    return True
