"""Names of rfcore link both ways: from the cells of a page to the API, and from an entry of the API to the pages.

sphinx-codeautolink does the first and knows what the second needs; each entry gets a line of its own here, since the
extension's own tables would be as long as the entries.
"""

import textwrap

from docutils import nodes
from sphinx import addnodes


def at_the_margin(app, doctree):
    """Cells may begin with blank lines, which the page leaves out, and code that a page quotes with a margin of its own."""
    for block in doctree.findall(nodes.literal_block):
        code = textwrap.dedent(block.rawsource).lstrip("\n")
        if block.rawsource == block.astext() != code:
            block.rawsource, block.children = code, []
            block += nodes.Text(code)


def remember_uses(app, env):
    """For each notebook the names that it uses, with the section of the first use; kept from build to build."""
    if not hasattr(env, "rfcore_uses"):
        env.rfcore_uses = {}
    for doc, blocks in env.sphinx_codeautolink_transforms.items():
        if doc.startswith("notebooks/"):
            uses = env.rfcore_uses[doc] = {}
            for block in blocks:
                for name in block.names:
                    if name.resolved_location:
                        uses.setdefault(name.resolved_location, block.example.ref_id)
    for doc in env.rfcore_uses.keys() - env.found_docs:
        del env.rfcore_uses[doc]


def show_uses(app, doctree, docname):
    """Below an entry, the pages whose cells use it."""
    if not docname.startswith("book/api"):
        return
    for entry in doctree.findall(addnodes.desc):
        names = {i for signature in entry.findall(addnodes.desc_signature) for i in signature["ids"] if signature.parent is entry}
        pages = [
            (doc, section) for doc, uses in sorted(app.env.rfcore_uses.items()) for name, section in uses.items() if name in names
        ]
        if pages:
            entry[-1] += fold(app, docname, pages)


def fold(app, docname, pages):
    """A line that opens to a list of links."""
    items = nodes.bullet_list()
    for doc, section in pages:
        uri = app.builder.get_relative_uri(docname, doc) + (f"#{section}" if section else "")
        link = nodes.reference(internal=True, refuri=uri, text=app.env.titles[doc].astext())
        items += nodes.list_item("", nodes.paragraph("", "", link))
    counted = f"{len(pages)} page{'s' * (len(pages) > 1)}"
    opening = f'<details class="used-on"><summary>Used on {counted}</summary>'
    return [nodes.raw("", opening, format="html"), items, nodes.raw("", "</details>", format="html")]


def setup(app):
    app.setup_extension("sphinx_codeautolink")
    app.connect("doctree-read", at_the_margin, priority=480)  # sphinx-codeautolink's is 490
    app.connect("env-updated", remember_uses, priority=600)  # after its 500
    app.connect("doctree-resolved", show_uses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
