"""Whom to cite: sources that docstrings name in plain words, found in the bibliography beside this module."""

import ast
import inspect
import re
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

from equinox import Module

__all__ = ("cite",)
PAPERS = {
    "reid2023simplex": "Simplex Random Features",
    "reid2023universal": "Universal Graph Random Features",
    "reid2025couplings": "Variance-Reducing Couplings",
    "likhosherstov2023favor": "FAVOR#",
    "sernau2024equivalent": "All Random Features Representations are Equivalent",
}


def cite(obj):
    """BibTeX entries of what a public object of rfcore implements, as a string; empty where it is ours.

    Its docstring, or else that of its module, names them under "Source:". Raises ValueError if rfcore does
    not define obj: a function, class, method or module.

    >>> import companion
    >>> from rfcore import couplings
    >>> companion.cite(couplings.simplex).splitlines()[0]
    '@inproceedings{reid2023simplex,'
    """
    module = str(getattr(obj, "__module__", None) or getattr(obj, "__name__", ""))
    if module.split(".")[0] not in ("rfcore", "companion"):
        raise ValueError(f"obj = {obj!r} is none of rfcore's; give a function, class, method or module of it")
    docs = (re.split(r"\n\s*\n", doc or "") for doc in (docstring(obj), sys.modules[module].__doc__))
    words = next(filter(None, (" ".join(p for p in doc if p.lstrip()[:8] == "Source: ") for doc in docs)), "")
    found = {key: where.start() for key, pattern in patterns().items() if (where := pattern.search(words))}
    return "\n\n".join(entries()[key] for key in sorted(found, key=found.get))


def docstring(obj):
    """Docstring of an object; of a record that a module makes, the string below its assignment."""
    if isinstance(obj, Module):
        package = type(obj).__module__.rpartition(".")[0]
        for module in [module for name, module in sys.modules.items() if name.startswith(f"{package}.")]:
            for line, below in pairwise(ast.parse(inspect.getsource(module)).body):
                is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
                if is_text and isinstance(line, ast.Assign) and getattr(module, ast.unparse(line.targets[0]), None) == obj:
                    return below.value.value
    return obj.__doc__


@cache
def entries():
    """The bibliography: each entry's text, by its key."""
    text = Path(__file__).with_name("references.bib").read_text(encoding="utf-8")
    return {found[1]: found[0] for found in re.finditer(r"^@\w+\{(\S+),\n.*?^\}", text, re.M | re.S)}


@cache
def patterns():
    """How a docstring names each entry, by its key: the title, or the first author and the year."""
    found = {}
    for key, text in entries().items():
        author, year = (re.search(rf"^ *{n} = \{{(.*)\}},?$", text, re.M)[1] for n in ("author", "year"))
        first = spaced(re.sub(r"[{}]|\\.\s?", "", author.partition(",")[0]))
        year = "2020" if key == "choromanski2021performers" else year  # of the preprint, by which it is known
        written = rf"(?<!, )(?<!and )(?:\b[A-Z]\.\s+)*\b{first}(?:'s)?(?:\s+et\s+al\.)?(?![\w-])"
        written += rf"[^.;:`\[]{{0,160}}?(?:\({year}\)|\b{year}\b)(?:,\s+\d+-\d+)?"
        found[key] = re.compile(rf'"?\b{spaced(PAPERS[key])}(?!\w)' if key in PAPERS else written)
    return found


def spaced(words):
    """Pattern of words that a line break may part."""
    return r"\s+".join(map(re.escape, words.split()))
