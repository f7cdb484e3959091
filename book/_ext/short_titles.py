"""Titles without the list of what a page covers, which stands in the line below; links to a page say the short one."""

import re

from docutils import nodes

COVERS = re.compile(r"\s*\(((?:Figure|Table|Theorem|Lemma|Corollar|Equation|Algorithm)[^()]*(?:\([^()]*\)[^()]*)*)\)$")


def part(app, doctree):
    """The title of a notebook's page, and below it in small what of a paper it covers."""
    title = next(doctree.findall(nodes.title), None)
    if not app.env.docname.startswith("notebooks/") or title is None or not (found := COVERS.search(title.astext())):
        return
    last = title[-1]
    title[-1] = nodes.Text(COVERS.sub("", last.astext()))
    line = nodes.paragraph("", found[1], classes=["quiet"])
    below = next((k for k, node in enumerate(title.parent) if "strip" in node.get("classes", [])), 0)
    title.parent.insert(below + 1, nodes.container("", line, classes=["covers"]))


def shorten(app, doctree, docname):
    """Of the links that say the title of a page, those whose title lists what it covers."""
    full = {title.astext() for name, title in app.env.titles.items() if name.startswith("notebooks/")}
    for link in doctree.findall(nodes.reference):
        if link.get("internal") and (said := link.astext()) in full and COVERS.search(said):
            inline = next(link.findall(nodes.inline), link)
            inline[:] = [nodes.Text(COVERS.sub("", said))]


def setup(app):
    app.connect("doctree-read", part, priority=900)  # after the collector of titles, by which one searches, and the verdicts' strip
    app.connect("doctree-resolved", shorten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
