"""Docstrings as Sphinx reads them: those of records, bars of lengths, sentences on properties, bare names, and sources as links.

A source is named in plain words, so that ``help`` reads well: by the title of one of the five papers, which leads to its
chapter and to the section that re-runs the figure or table, or by the first author's name and the year, which leads to the
references. Formulas after ``::`` are shown as they stand.
"""

import inspect
import re

from docutils import nodes
from equinox import Module
from pybtex.plugin import find_plugin, register_plugin
from record_text import CITATIONS, ROOT, TITLES
from sphinx import addnodes

from companion import citations, evidence

KINDS = {"Algorithm": "alg", "Corollary": "cor", "Eq.": "eq", "Eqs.": "eq", "Figure": "fig", "Lemma": "lemma", "Table": "table", "Theorem": "thm"}
PLACE = rf'"?(?:,\s+({"|".join(map(re.escape, KINDS))})\s+([\dA-Z]+(?:\.\d+)?))?'


def records(app, what, name, obj, options, lines):
    """A record that a module makes, such as ``couplings.orthogonal``, has the docstring that stands below its assignment."""
    if what == "data" and isinstance(obj, Module):
        lines[:] = [*inspect.cleandoc(citations.docstring(obj)).splitlines(), ""]


def properties(app, what, name, obj, options, lines):
    """A sentence with a colon on a property is no type: open with an empty comment, in which napoleon looks for one in vain."""
    if what in ("attribute", "data", "property") and lines:
        lines[:0] = ["..", ""]


def lengths(app, what, name, obj, options, lines):
    """``|x + y|`` is a length, no substitution: escape bars outside literal blocks, doctests and ``code``."""
    literal = doctest = None
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        doctest = bool(line.strip()) and (doctest or line.lstrip().startswith(">>>"))
        if doctest or not line.strip() or (literal is not None and indent > literal):
            continue
        literal = indent if line.endswith("::") else None
        parts = re.split(r"(`+[^`]*`+)", line)
        parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
        lines[i] = "".join(parts)


def sources(app, what, name, obj, options, lines):
    """Link what the paragraph that begins with ``Source:`` names; in the docstring of a module, any paragraph."""
    parts = re.split(r"(\n\s*\n)", "\n".join(lines))
    for i in range(0, len(parts), 2):
        literal = i and parts[i - 2].rstrip().endswith("::")
        if (parts[i].startswith("Source:") or what == "module") and not literal and ">>>" not in parts[i]:
            for pattern, link in app.rfcore_sources:
                parts[i] = pattern.sub(link, parts[i])
    lines[:] = "".join(parts).split("\n")


def to_chapter(paper, labels):
    """What replaces the title of a paper, and the place that may follow it."""

    def link(found):
        title, kind, number = found[0].partition(",")[0].strip('"'), *found.groups()
        place = kind and f"{kind} {number}"
        label = kind and labels.get(f"{paper}/{KINDS[kind]}-{number}")
        linked = f", :ref:`{place} <{label}>`" if label else f", {place}" if kind else ""
        return f":doc:`{' '.join(title.split())} </book/{paper}>`{linked}"

    return link


def prepare(app):
    """Patterns of all sources, and what replaces each."""
    decided = [entry for entry in evidence.entries() if entry.notebook and (ROOT / "notebooks" / f"{entry.notebook}.ipynb").exists()]
    labels, patterns = {entry.id: entry.anchor for entry in decided}, citations.patterns()
    titles = {citations.PAPERS[CITATIONS[paper]]: paper for paper in TITLES} | {title: paper for paper, title in TITLES.items()}
    app.rfcore_sources = [
        (re.compile(rf'"?\b{citations.spaced(title)}(?!\w|`| <){PLACE}'), to_chapter(titles[title], labels))
        for title in sorted(titles, key=len, reverse=True)
    ] + [(pattern, f":cite:t:`{key}`") for key, pattern in patterns.items() if key not in CITATIONS.values()]


def exact_first(app, doctree):
    """Of an annotation Sphinx looks among all entries at once, and warns where two have a name: :func:`bare_names` decides."""
    for node in doctree.findall(addnodes.pending_xref):
        if node.get("refspecific") is False:
            del node["refspecific"]


def bare_names(app, env, node, contnode):
    """Look a name up in the whole library, wherever its entry stands; of an annotation only what one entry has."""
    if node.get("refdomain") != "py" or node.get("refspecific"):
        return None
    domain, kind, target = env.get_domain("py"), node["reftype"], node["reftarget"]
    if isinstance(contnode, nodes.Text) and len(domain.find_obj(env, None, None, target, kind, 1)) != 1:
        return contnode
    node["refspecific"] = True
    return domain.resolve_xref(env, node["refdoc"], app.builder, kind, target, node, contnode)


def setup(app):
    # Else sphinxcontrib-bibtex looks through all installed packages for it, at each citation.
    register_plugin("pybtex.backends", "plaintext", find_plugin("pybtex.backends", "plaintext"), force=True)
    app.connect("builder-inited", prepare)
    app.connect("doctree-read", exact_first)
    app.connect("missing-reference", bare_names)
    for listener, priority in ((records, 380), (sources, 390), (lengths, 400), (properties, 400)):  # napoleon's is 500
        app.connect("autodoc-process-docstring", listener, priority=priority)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
