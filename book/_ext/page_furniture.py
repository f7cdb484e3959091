"""What the theme leaves out: descriptions, sources to take along, excerpts in the search, links of source listings.

Excerpts: the search fetches each page that it finds, which a browser refuses for pages opened from a disk. The words of
all pages therefore lie in one script, which the search page alone loads, and answers from.
"""

import html
import json
import re
import shutil
from pathlib import Path

from docutils import nodes
from record_text import ROOT

LONGEST = 160  # letters of a description that search engines show
EXCERPTS = """const EXCERPTS = %s;
const fetched = window.fetch;
window.fetch = (address, ...rest) => {
  const root = new URL(document.documentElement.dataset.content_root, location.href).href;
  const page = new URL(address, location.href).href.slice(root.length).replace(/\\.html$/, "");
  const words = EXCERPTS[page];
  return words === undefined ? fetched(address, ...rest) : Promise.resolve(new Response(words));
};
"""


def opening(doctree):
    """The first sentences of a page, cut at a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        within_strip = isinstance(paragraph.parent, nodes.container) or paragraph.get("classes")
        if not within_strip and (words := " ".join(paragraph.astext().split())):
            return words if len(words) <= LONGEST else words[:LONGEST].rsplit(" ", 1)[0] + " ..."
    return ""


def furnish(app, pagename, templatename, context, doctree):
    if context.get("title") == context.get("docstitle"):
        context["docstitle"] = None  # "Random features, re-run - Random features, re-run"
    if doctree is not None and (words := opening(doctree)):
        context["metatags"] = f'{context.get("metatags", "")}\n<meta name="description" content="{html.escape(words)}" />'
    if pagename.startswith("_modules/"):
        mend_backlinks(app, pagename, context)
    if pagename.startswith("notebooks/"):
        offer(pagename, context)
    if pagename == "search":
        app.add_js_file("excerpts.js", priority=100)


def mend_backlinks(app, pagename, context):
    """viewcode takes all objects of a module for exported where the first one is."""
    known, module = app.env.get_domain("py").objects, pagename.removeprefix("_modules/").replace("/", ".")

    def mended(found):
        name, page, anchor = found.groups()
        if f"{module}.{name}" in known and anchor not in known:
            page, anchor = app.builder.get_relative_uri(pagename, known[f"{module}.{name}"].docname), f"{module}.{name}"
        return f'id="{name}">\n<a class="viewcode-back" href="{page}#{anchor}"'

    context["body"] = re.sub(r'id="([^"]+)">\n<a class="viewcode-back" href="([^"#]+)#([^"]+)"', mended, context["body"])


def offer(pagename, context):
    """Beside the notebook its source as a script, which people review, and its verdicts as numbers."""
    name = pagename.removeprefix("notebooks/")
    files = [(f"{pagename}.py", ".py", "The notebook's source", "fas fa-file-code")]
    if (ROOT / "data" / "results" / "paper" / f"{name}.json").exists():
        files.append((f"results/{name}.json", ".json", "Its verdicts and how it ran", "fas fa-table"))
    for group in context.get("header_buttons", []):
        if group.get("label") == "download-buttons":
            group["buttons"][1:1] = [
                {"type": "link", "url": f"{context['pathto']('_sources', 1)}/{path}", "text": text, "tooltip": tooltip,
                 "icon": icon, "label": f"download-{text[1:]}-button"}
                for path, text, tooltip, icon in files
            ]  # fmt: skip


def write(app, exception):
    """The offered files, and the words of all pages."""
    if exception or app.builder.format != "html":
        return
    sources, pages = Path(app.outdir, "_sources"), sorted(app.env.found_docs)
    for path in ROOT.glob("notebooks/*/[0-9][0-9]_*.py"):
        if path.relative_to(ROOT).with_suffix("").as_posix() in pages:
            shutil.copyfile(path, sources / path.relative_to(ROOT))
    for path in ROOT.glob("data/results/paper/*/*.json"):
        target = sources / "results" / path.parent.name / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    words = {page: app.env.rfcore_words[page] for page in pages if page in app.env.rfcore_words}
    Path(app.outdir, "_static", "excerpts.js").write_text(EXCERPTS % json.dumps(words), encoding="utf-8")


def remember_words(app, doctree):
    """The text of a page within its sections, by whose ids the search asks for it; kept from build to build."""
    if not hasattr(app.env, "rfcore_words"):
        app.env.rfcore_words = {}
    app.env.rfcore_words[app.env.docname] = f'<div role="main">{text_of(doctree)}</div>'


def text_of(node):
    if isinstance(node, nodes.Text):
        return html.escape(" ".join(node.split()))
    if isinstance(node, nodes.literal_block | nodes.raw | nodes.comment | nodes.Invisible):
        return ""
    words = " ".join(filter(None, map(text_of, node.children)))
    if isinstance(node, nodes.section):
        for name in node["ids"]:
            words = f'<i id="{name}">{words}</i>'
    return words


def setup(app):
    app.connect("doctree-read", remember_words)
    app.connect("html-page-context", furnish, priority=600)  # the theme adds its buttons at 501
    app.connect("build-finished", write, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
