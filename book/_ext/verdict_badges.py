"""Verdicts on notebook pages: those that notebooks print wear the colours of the scorecard, and are counted at the top.

The strip below the title is made from claims and committed results when the book is built: each verdict with how often the
page comes to it, linked to the first of them, and what the run took.
"""

import json
from collections import Counter
from functools import cache

from docutils import nodes
from record_text import ROOT, slug
from sphinx import addnodes
from sphinx.util.docutils import SphinxRole

from companion.evidence import Verdict, claims_of, decisions, entries
from companion.evidence.standing import results_folder

CLASSES = {word: slug(word) for verdict in Verdict for word in (verdict.word(), verdict.word(extra=True))}


def colour(doctree):
    """Give the verdicts that outputs print in bold their classes; the first of each, by its word."""
    first = {}
    for output in doctree.findall(nodes.container):
        if output.get("nb_element") == "cell_code_output":
            for bold in output.findall(nodes.strong):
                if (word := bold.astext()) in CLASSES:
                    bold["classes"] = ["verdict", CLASSES[word]]
                    first.setdefault(word, bold)
    return first


def counted(notebook):
    """Pairs of each verdict that the page comes to and how often, in words: from best to worst, the papers' first."""
    decided = decisions("paper")
    verdicts = [(decided[c.id].verdict if c.id in decided else Verdict.NOT_YET, c.extra) for c in claims_of(notebook).values()]
    words = Counter(verdict.word(extra) for verdict, extra in verdicts)
    return [(w, Verdict(w).counted(words[w]) if w in list(Verdict) else f"{words[w]} {w}") for w in CLASSES if words[w]]


def took(record):
    """``75 s on 2 cores; profile paper, 2026-11-21``."""
    seconds, run = record["provenance"]["seconds"], record["provenance"]
    time = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
    return f"{time} on {run['device']['cores']} cores; profile {record['profile']}, {run['date'][:10]}"


def strip(app, doctree):
    """Colour the verdicts of a page, and put the strip below its title."""
    first, (_, _, notebook) = colour(doctree), app.env.docname.partition("notebooks/")
    if not (notebook and (words := counted(notebook))):
        return
    line, results = nodes.paragraph(), results_folder("paper") / f"{notebook}.json"
    for word, text in words:
        classes = ["verdict", CLASSES[word]]
        if word in first:
            first[word]["ids"].append(f"first-{CLASSES[word]}")
            line += nodes.reference("", text, refid=first[word]["ids"][0], internal=True, classes=classes)
        else:
            line += nodes.inline("", text, classes=classes)
        line += nodes.Text(" ")
    if results.exists():
        line += nodes.inline("", took(json.loads(results.read_text(encoding="utf-8"))), classes=["quiet"])
    title = next(doctree.findall(nodes.title))
    title.parent.insert(title.parent.index(title) + 1, nodes.container("", line, classes=["strip"]))
    for source in (results, *(ROOT / "data" / "claims").glob("*.toml")):  # a page is made anew when these change
        app.env.note_dependency(str(source))


@cache
def page_of(claim):
    """The notebook that decides a claim."""
    return next(entry.notebook for entry in entries() if entry.notebook and claim in claims_of(entry.notebook))


class Cited(SphinxRole):
    """``{verdict}`claim` ``: the word that a claim's page came to, linked to its place there; the claim's sentence shows when one points at it."""

    def run(self):
        """The pill."""
        if self.text not in (decided := decisions("paper")):
            return [], [self.inliner.reporter.error(f"no claim {self.text!r} is decided", line=self.lineno)]
        decision = decided[self.text]
        word = decision.verdict.word(decision.claim.extra)
        page = addnodes.pending_xref(
            "", nodes.inline("", word), refdomain="std", reftype="doc", refexplicit=True, refdoc=self.env.docname,
            reftarget=f"/notebooks/{page_of(self.text)}", refwarn=True,
        )  # fmt: skip
        return [nodes.inline("", "", page, classes=["verdict", CLASSES[word]], claim=self.text)], []


def stand_for(app, doctree, docname):
    """What a verdict in prose is of: its link names the sentence, and leads to the section that decides it."""
    anchors = {claim.id: entry.anchor for entry in entries() for claim in entry.claims}
    for pill in doctree.findall(lambda node: isinstance(node, nodes.inline) and "claim" in node):
        for link in pill.findall(nodes.reference):
            link["reftitle"] = " ".join(decisions("paper")[pill["claim"]].claim.statement.split())
            if anchor := anchors[pill["claim"]]:
                link["refuri"] = f"{link['refuri'].partition('#')[0]}#{anchor}"


def setup(app):
    app.add_role("verdict", Cited())
    app.connect("doctree-read", strip)
    app.connect("doctree-resolved", stand_for)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
