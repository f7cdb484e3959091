"""A picture below the title of every page of a notebook: the first of its figures, or the one that ``book/lead_figures.toml`` names.

It stands where it is discussed as well. There it is complete; here it may be its first panels, and say in a sentence what to see.
"""

import html
import json
import re
import tomllib

from record_text import ROOT

LEADS = ROOT / "book" / "lead_figures.toml"
FIGURE = '<figure class="rfcore-figure'


def figures(notebook):
    """The HTML of the figures of a notebook, in their order."""
    shown = (output.get("data", {}).get("text/html", "") for cell in notebook["cells"] for output in cell.get("outputs", []))
    return [page for page in map("".join, shown) if page.startswith(FIGURE) and "<svg" in page]


def lead(notebook, figure=0, panels=None, caption=None):
    """A copy of one figure, with names of its own; None where there is no figure."""
    found = figures(notebook)
    if not found:
        return None
    page = re.sub(r'(id="|url\(#|href="#)f(?=[0-9a-f]{8}-)', r"\1l", found[figure]).replace(FIGURE, f"{FIGURE} lead", 1)
    if panels:
        drawings = iter(range(page.count("<svg")))
        page = re.sub(r"<svg.*?</svg>\n?", lambda one: one[0] if next(drawings) < panels else "", page, flags=re.S)
    if caption:
        page = re.sub(r"<figcaption>.*?</figcaption>", lambda _: f"<figcaption>{html.escape(caption)}</figcaption>", page, flags=re.S)
    return page


def put_first(app, docname, source):
    """Between the title and what follows it."""
    if not docname.startswith("notebooks/"):
        return
    notebook = json.loads(source[0])
    chosen = tomllib.loads(LEADS.read_text(encoding="utf-8")).get(docname.removeprefix("notebooks/"), {})
    if page := lead(notebook, **chosen):
        first = notebook["cells"][0]
        title, _, rest = "".join(first["source"]).partition("\n")
        output = {"output_type": "display_data", "data": {"text/html": page}, "metadata": {}}
        cell = {"cell_type": "code", "id": "lead", "metadata": {"tags": ["remove-input"]}, "source": "# lead", "outputs": [output]}
        notebook["cells"][:1] = [first | {"source": title, "id": "title"}, cell | {"execution_count": None}, first | {"source": rest}]
        source[0] = json.dumps(notebook)
        app.env.note_dependency(str(LEADS))


def setup(app):
    app.connect("source-read", put_first)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
