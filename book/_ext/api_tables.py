"""A table below the title of every page of the API: what is on it, in one line each, functions first."""

from docutils import nodes
from sphinx import addnodes


def rows(doctree):
    """Signature and first paragraph of each function and class, functions first; methods stand with their class."""
    described = [(desc, desc[0]) for desc in doctree.findall(addnodes.desc) if desc["objtype"] in ("function", "class")]
    for desc, signature in sorted(described, key=lambda pair: pair[0]["objtype"] == "class"):
        paragraph = next(desc[-1].findall(nodes.paragraph), None)
        if signature.get("ids") and paragraph is not None:
            name = f"{signature['module'].removeprefix('rfcore.').removeprefix('companion.')}.{signature['fullname']}"
            yield name, signature["ids"][0], paragraph.deepcopy()


def put_first(app, doctree):
    if not app.env.docname.startswith("book/api/") or not (lines := list(rows(doctree))):
        return
    body = nodes.tbody()
    for name, place, said in lines:
        link = nodes.reference("", "", nodes.literal(name, name), refid=place, internal=True)
        body += nodes.row("", nodes.entry("", nodes.paragraph("", "", link)), nodes.entry("", said))
    group = nodes.tgroup("", nodes.colspec(colwidth=35), nodes.colspec(colwidth=65), body, cols=2)
    title = next(doctree.findall(nodes.title))
    title.parent.insert(title.parent.index(title) + 1, nodes.table("", group, classes=["one-liners"]))


def setup(app):
    app.connect("doctree-read", put_first)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
