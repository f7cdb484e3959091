"""Curves and maps that a page keeps beside its decisions, for others to draw: small arrays with named axes.

A record is text, an array a line of it: numbers to four digits, of which a standard error kept beside them
says how many mean something.
"""

from typing import NamedTuple

import numpy as np

from companion import repository
from companion.evidence import pages
from companion.evidence.claims import PROFILES
from rfcore import checks

BYTES = 24_000  # of what one page keeps, some 4,000 numbers: results are committed
DIGITS = 4


class Kept(NamedTuple):
    """An array that a page kept."""

    array: np.ndarray
    """Of the shape that the axes have, NaN where nothing was measured."""
    axes: dict[str, list]
    """Dict of the name of an axis to its labels or numbers, one for each entry along it."""


def kept(page, name):
    """An array that a page kept at "paper" (:meth:`companion.evidence.ledger.Ledger.keep`).

    It is read from what is committed, so that the page need not be run. Raises ValueError if the page keeps
    none of that name.

    Args:
        page: its place, ``"beyond/05_leaderboard"``.
        name: of the array.

    Returns:
        :class:`Kept`.

    >>> from companion import evidence
    >>> evidence.kept("beyond/05_leaderboard", "error over independent").axes["number"]
    ['mean', 'low', 'high']
    """
    record = pages.read(repository.folder("data") / "results" / PROFILES[1] / f"{page}.json")
    found = record.get("kept", {})
    if not found:
        raise ValueError(f"page = {page!r} keeps no array; give one that does, such as 'beyond/05_leaderboard'")
    checks.choice(name, "name", sorted(found))
    axes = dict(found[name]["axes"])
    numbers = np.array(found[name]["numbers"].split(), dtype=float)
    return Kept(numbers.reshape([len(labels) for labels in axes.values()]), axes)


def added(found, name, array, axes):
    """The records of a page and one more: a dict of name to axes, in their order, and a line of numbers.

    Args:
        found: those that it has; left as they are.
        name, array, axes: of :meth:`companion.evidence.ledger.Ledger.keep`.
    """
    numbers, axes = np.asarray(checks.numbers(array, "array"), dtype=float), _axes(axes)
    shape = tuple(len(labels) for labels in axes.values())
    if numbers.shape != shape or np.any(np.isinf(numbers)):
        got = f"axes has the shape {shape}, array has {numbers.shape}"
        raise ValueError(f"{got}; give an axis per dimension, a label per entry, numbers that are finite or NaN")
    if name in found:
        raise ValueError(f"name = {name!r} is kept already; give each array a name of its own")
    line = " ".join(f"{number:.{DIGITS}g}" for number in numbers.reshape(-1))
    size = len(line) + sum(len(one["numbers"]) for one in found.values())
    if size > BYTES:
        raise ValueError(f"array has {numbers.size} numbers, with which the page keeps {size} bytes; give a coarser one, {BYTES} in all")
    return found | {name: {"axes": [list(axis) for axis in axes.items()], "numbers": line}}


def _axes(axes):
    named = {}
    for name, labels in axes.items():
        given = labels.tolist() if isinstance(labels, np.ndarray) else list(labels) if np.iterable(labels) else []
        if not given or isinstance(labels, str):
            raise ValueError(f"axes[{name!r}] = {labels!r}; give one label or number for each entry")
        numbers = [one if isinstance(one, str | int) else checks.real(one, f"axes[{name!r}]") for one in given]
        named[name] = [float(f"{one:.{DIGITS}g}") if isinstance(one, float) else one for one in numbers]
    return named
