"""What the theme leaves out: descriptions, sources to take along, excerpts in the search, links of source listings.

Excerpts: the search fetches each page that it finds, which a browser refuses for pages opened from a disk. The words of
all pages therefore lie in one script, which the search page alone loads, and answers from.
"""

import html
import json
import re
import shutil
from itertools import accumulate
from pathlib import Path

from docutils import nodes
from notebook_pages import searched
from record_text import ROOT
from sphinx import addnodes

SPOKEN = (
    (r"\\(?:text|mathrm|mathbf|operatorname|mathbb|mathcal|boldsymbol|widehat|hat|tilde|bar)\*?\{([^{}]*)\}", r"\1"),
    (r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2"),
    (r"\\[dt]?frac\s*(\d)\s*(\d)", r"\1/\2"),
    (r"\\(?:left|right|bigl|bigr|Bigl|Bigr|big|Big|displaystyle)\b|\\[,;:! ]|~", " "),
)
NAMED = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "theta": "θ", "lambda": "λ", "mu": "μ", "nu": "ν",
    "pi": "π", "rho": "ρ", "sigma": "σ", "phi": "φ", "varphi": "φ", "psi": "ψ", "omega": "ω", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
    "Sigma": "Σ", "Gamma": "Γ", "chi": "χ", "times": "×", "cdot": "·", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠",
    "neq": "≠", "approx": "≈", "pm": "±", "in": "∈", "to": "→", "infty": "∞", "sum": "Σ", "top": "T", "ell": "ℓ", "sqrt": "√",
    "dots": "...", "ldots": "...", "cdots": "...", "lVert": "|", "rVert": "|", "Vert": "|", "sim": "~", "quad": " ", "propto": "∝",
    "ll": "≪", "gg": "≫", "langle": "⟨", "rangle": "⟩", "mid": "|", "star": "*", "ast": "*", "partial": "∂", "E": "E",
}  # fmt: skip
LONGEST = 160  # letters of a description that search engines show
EXCERPTS = """const EXCERPTS = %s;
window.WANTED = %s;
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
        if not within_strip and (words := html.unescape(text_of(paragraph)).strip()):
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
        packages = accumulate(module.split("."), "{}.{}".format)
        exported = next((known[f"{package}.{name}"] for package in packages if f"{package}.{name}" in known), None)
        if exported and anchor not in known:
            page, anchor = app.builder.get_relative_uri(pagename, exported.docname), exported.node_id
        return f'id="{name}">\n<a class="viewcode-back" href="{page}#{anchor}"'

    context["body"] = re.sub(r'id="([^"]+)">\n<a class="viewcode-back" href="([^"#]+)#([^"]+)"', mended, context["body"])


def without_builtins(app, env):
    """viewcode lists as a module what a name for a tuple of arrays comes from."""
    env._viewcode_modules.pop("builtins", None)


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
    target, words = Path(app.outdir, "_static", "excerpts.js"), {}
    if target.exists():  # of pages that are not made anew
        words = json.loads(target.read_text(encoding="utf-8").partition(" = ")[2].partition(";\nwindow.WANTED")[0])
    words = {page: text for page, text in (words | app.rfcore_words).items() if page in pages}
    target.write_text(EXCERPTS % (json.dumps(words), json.dumps(searched())), encoding="utf-8")


def remember_words(app, doctree, docname):
    """The text of a page within its sections, by whose ids the search asks for it: links by the words that they show."""
    app.rfcore_words[docname] = f'<div role="main">{text_of(doctree)}</div>'


def text_of(node):
    if isinstance(node, nodes.Text):
        return html.escape(re.sub(r"\s+", " ", node))
    if isinstance(node, nodes.math):
        return html.escape(in_words(node.astext()))
    if isinstance(node, addnodes.desc_signature):
        return html.escape(f"{node.get('fullname') or node.astext()}: ")
    if isinstance(node, nodes.literal_block | nodes.doctest_block | nodes.math_block | nodes.raw | nodes.comment | nodes.Invisible):
        return ""
    if "strip" in node.get("classes", ()) or (isinstance(node, nodes.title) and isinstance(node.parent.parent, nodes.document)):
        return ""  # what stands above the excerpt anyway
    parts = [text for text in map(text_of, node.children) if text]
    within_line = isinstance(node, nodes.TextElement)  # whose spaces stand in its text
    words = re.sub(r"\s+", " ", ("" if within_line else " ").join(parts))
    if isinstance(node, nodes.section):
        for name in node["ids"]:
            words = f'<i id="{name}">{words}</i>'
    return words


def in_words(formula):
    r"""What TeX reads as in a line of plain text: ``p_{\text{halt}}`` is p_halt, ``\sigma^2 \le 1`` is σ^2 ≤ 1."""
    for pattern, plain in SPOKEN:
        formula = re.sub(pattern, plain, formula)
    formula = re.sub(r"\\([a-zA-Z]+)\s*", lambda found: NAMED.get(found[1], f"{found[1]} "), formula)
    return " ".join(re.sub(r"[{}\\]|(?<=[\^_]) ", "", formula).split())


def setup(app):
    app.rfcore_words = {}
    app.connect("doctree-resolved", remember_words)
    app.connect("env-updated", without_builtins)
    app.connect("html-page-context", furnish, priority=600)  # the theme adds its buttons at 501
    app.connect("build-finished", write, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
