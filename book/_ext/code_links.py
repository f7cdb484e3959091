"""Names of rfcore link both ways: from the cells of a page to the API, and from an entry of the API to the pages.

sphinx-codeautolink does the first and knows what the second needs; each entry gets a line of its own here, since the
extension's own tables would be as long as the entries. Two of its functions are replaced by ones that come to the same,
since they took two fifths of the build: it parsed whole pages, drawings included, for the sake of their cells, and each
cell with all cells before it.
"""

import ast
import html
import re
import textwrap
from pathlib import Path

import sphinx_codeautolink.extension as codeautolink
from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging
from sphinx_codeautolink.parse import ImportTrackerVisitor

BLOCK = re.compile(r'(<div class="(?:doctest )?highlight-(?!none)[^"]*"><div class="highlight"><pre>.*?</pre></div>\n</div>)', re.S)
logger = logging.getLogger(__name__)


def link_page(document, out_dir, transforms, inventory, *_, **__):
    """``link_html`` without a parser: the code of a page is found and read by its letters."""
    page = Path(out_dir, f"{document}.html")
    parts = BLOCK.split(page.read_text(encoding="utf-8"))
    waiting = [(i, letters(parts[i]).rstrip()) for i in range(1, len(parts), 2)]
    for transform in transforms:
        source = transform.source.rstrip()
        place = next((place for place in waiting if place[1] == source), None)
        if place is None:
            logger.warning("code to be linked is not on the page:\n%s", source, location=document)
            continue
        waiting.remove(place)
        lines = parts[place[0]].split("\n")
        for name in transform.names:
            span = slice(name.lineno - 1, name.end_lineno)
            lines[span] = linked("\n".join(lines[span]), name, "../" * document.count("/"), inventory, document).split("\n")
        parts[place[0]] = "\n".join(lines)
    page.write_text("".join(parts), encoding="utf-8")


def linked(code, name, root, inventory, document):
    """Highlighted code with a link on the last place of a name."""
    *_, found = None, *re.finditer(codeautolink.block.construct_name_pattern(name), code)
    if found is None:
        logger.warning("%s is not where it was seen in\n%s", name.code_str, code, location=document)
        return code
    start, location = found.start() + len(found[1]), name.resolved_location
    shown = code[start : found.end()]
    title = "" if re.sub(r"\s", "", letters(shown)) == location else f' title="{location}"'
    link = f'<a class="sphinx-codeautolink-a" href="{root}{inventory[location]}"{title}>{shown}</a>'
    return code[:start] + link + code[found.end() :]


def letters(code):
    return html.unescape(re.sub("<[^>]*>", "", code))


class Continued:
    """``parse_names`` that goes on where it stopped: a page's cells come with all cells before them."""

    def __init__(self):
        self.document, self.source, self.visitor = None, "", None

    def __call__(self, source, block):
        """The names in what is new, of which alone the extension makes use: it visits one statement after another."""
        if block.document is not self.document or not source.startswith(self.source):
            self.document, self.source, self.visitor = block.document, "", ImportTrackerVisitor(block)
        tree = ast.parse(source[len(self.source) :])
        ast.increment_lineno(tree, self.source.count("\n"))
        self.source, self.visitor.accessed = f"{source}\n", []
        self.visitor.visit(tree)
        return self.visitor.accessed


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
    for module, name, ours in ((codeautolink, "link_html", link_page), (codeautolink.block, "parse_names", Continued())):
        getattr(module, name)  # fails if the extension works otherwise one day
        setattr(module, name, ours)
    app.connect("doctree-read", at_the_margin, priority=480)  # sphinx-codeautolink's is 490
    app.connect("env-updated", remember_uses, priority=600)  # after its 500
    app.connect("doctree-resolved", show_uses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
