"""Numbers that readers meet first stand in two programs: the book's, and one of NumPy and SciPy in tests/independent.

``numbers()`` of a program returns rows (what, place, pattern, own, error). The place is a file, in whose text the
pattern catches the book's number, or ``claim <id>``, with ``pair0`` or ``pair1`` for one of the two that an order
compares. The book may be four errors off, and half a unit of its last digit.
"""

import ast
import json
import os
import re
import runpy
import sys
from functools import cache
from pathlib import Path

import pytest

from companion import evidence
from companion.datasets import storage

ROOT = Path(__file__).parents[1]
PROGRAMS = sorted((ROOT / "tests" / "independent").glob("*.py"))
each_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
ERRORS = 4  # which one row in 16,000 passes by chance, of some 250


@each_program
def test_a_program_knows_nothing_of_the_library(program):
    tree = ast.parse(program.read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= {"numpy", "scipy", "sklearn"} | set(sys.stdlib_module_names)


@cache
def text(place):
    """A file's words; a notebook's cells and what they show, without tags."""
    words = (ROOT / place).read_text(encoding="utf-8")
    if place.endswith(".ipynb"):
        parts = []
        for cell in json.loads(words)["cells"]:
            shown = [output.get("data", output) for output in cell.get("outputs", [])]
            kinds = ("text/markdown", "text/html", "text/plain", "text")
            parts += [cell["source"], *(out[kind] for out in shown for kind in kinds if kind in out)]
        words = "\n".join("".join(part) for part in parts)
    return " ".join(re.sub(r"</?[a-zA-Z][^<>]*>", " ", words).split())


def printed(place, pattern):
    """The book's number, and half a unit of its last digit."""
    kind, _, name = place.partition(" ")
    if kind == "claim":
        claim, _, which = name.partition(" ")
        decision = evidence.decisions("paper")[claim]
        return (decision.pair[int(which[-1])] if which else decision.ours), 0.0
    found = set(re.findall(pattern, text(place)))
    assert len(found) == 1, f"{place}: {pattern!r} catches {found}"
    (digits,) = found
    digits = digits.replace(",", "").replace("\N{MINUS SIGN}", "-")
    return float(digits), 0.5 * 10.0 ** -len(digits.partition(".")[2])


@pytest.mark.nightly
@each_program
def test_a_second_program_finds_the_numbers_of_the_book(program, monkeypatch):
    if not Path(os.environ.get("RFCORE_DATA_MIRROR", "")).joinpath("MANIFEST.json").exists():
        pytest.skip("programs read a mirror of the data: set RFCORE_DATA_MIRROR")
    monkeypatch.setenv("RFCORE_DATA_CACHE", str(storage.cache()))
    try:
        rows = runpy.run_path(str(program))["numbers"]()
    except FileNotFoundError as missing:  # weights of an encoder, which no mirror holds
        pytest.skip(f"neither mirror nor cache has {missing.filename}")
    off = []
    for what, place, pattern, own, error in rows:
        book, half = printed(place, pattern)
        if not abs(own - book) <= ERRORS * error + half:
            off.append(f"{what}: the book has {book:g}, the second program {own:.6g} ± {error:.2g}")
    assert rows and not off, "\n".join(off)
