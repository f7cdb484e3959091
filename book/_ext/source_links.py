"""Sources that docstrings name, as links.

``Universal Graph Random Features, Table 1`` leads to the paper's chapter and to the section of the notebook that re-runs
the table; ``Rasmussen and Williams, 2006`` to the references. A source is named in plain words, so that ``help`` reads well:
by the title of one of the five papers, or by the first author's name, whatever follows within the clause, and the year.
"""

import re

from pybtex.plugin import find_plugin, register_plugin
from record_text import CITATIONS, ROOT, TITLES

from companion import citations, evidence
from companion.citations import spaced

KINDS = {
    "Algorithm": "alg", "Corollary": "cor", "Eq.": "eq", "Eqs.": "eq", "Eqs": "eq", "Figure": "fig", "Lemma": "lemma",
    "Table": "table", "Theorem": "thm",
}  # fmt: skip


def places():
    """Labels of the sections that decide an entry, by the entry's id."""
    return {
        entry.id: entry.anchor
        for entry in evidence.entries()
        if entry.notebook and (ROOT / "notebooks" / f"{entry.notebook}.ipynb").exists()
    }


def of_papers():
    """A pattern for the five titles, with the place that may follow, and what replaces it."""
    papers, labels = {title: paper for paper, title in TITLES.items()}, places()
    papers["Variance-Reducing Couplings"] = "couplings"
    titles = "|".join(map(spaced, sorted(papers, key=len, reverse=True)))
    pattern = rf'"?\b({titles})(?!\w)"?(?:,\s+({"|".join(map(re.escape, KINDS))})\s+([\dA-Z]+(?:\.\d+)?))?'

    def link(found):
        title, kind, number = " ".join(found[1].split()), found[2], found[3]
        paper = papers[title]
        chapter = f":doc:`{title} </book/{paper}>`"
        if not kind:
            return chapter
        label = labels.get(f"{paper}/{KINDS[kind]}-{number}")
        return f"{chapter}, :ref:`{kind} {number} <{label}>`" if label else f"{chapter}, {kind} {number}"

    return re.compile(pattern), link


def of_others():
    """For each reference the pattern by which docstrings name it, and what replaces it."""
    for key, pattern in citations.patterns().items():
        if key not in CITATIONS.values():
            yield pattern, f":cite:t:`{key}`"


def linked(text, links):
    for pattern, link in links:
        text = pattern.sub(link, text)
    return text


def sources(app, what, name, obj, options, lines):
    """Link what the paragraph that begins with ``Source:`` names; in the docstring of a module, any paragraph."""
    parts = re.split(r"(\n\s*\n)", "\n".join(lines))
    for i, part in enumerate(parts[::2]):
        after_colons = i and parts[2 * i - 2].rstrip().endswith("::")
        named = part.startswith("Source:") or what == "module"
        if named and not after_colons and ">>>" not in part:
            parts[2 * i] = linked(part, app.rfcore_sources)
    lines[:] = "".join(parts).split("\n")


def prepare(app):
    app.rfcore_sources = [of_papers(), *of_others()]


def setup(app):
    # Else sphinxcontrib-bibtex looks through all installed packages for it, at each citation.
    register_plugin("pybtex.backends", "plaintext", find_plugin("pybtex.backends", "plaintext"), force=True)
    app.connect("builder-inited", prepare)
    app.connect("autodoc-process-docstring", sources, priority=390)  # napoleon's is 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}
