"""A picture below the title of every page of a notebook: the first of its figures, or the one that ``book/lead_figures.toml`` names.

Where it is discussed a link leads up to it. If it is its first panels here, or that of another page, all of it stands there as well.
The gallery has it with all of its panels, as a file: what a browser does not show it does not load.
"""

import html
import json
import math
import re
import tomllib
from pathlib import Path

from main_road import drawn
from record_text import ROOT, TITLES
from short_titles import COVERS

LEADS = ROOT / "book" / "lead_figures.toml"
FIGURE = '<figure class="rfcore-figure'


def figures(notebook):
    """The HTML of the figures of a notebook, in their order."""
    shown = (output.get("data", {}).get("text/html", "") for cell in notebook["cells"] for output in cell.get("outputs", []))
    return [page for page in map("".join, shown) if page.startswith(FIGURE) and "<svg" in page]


def read(name):
    """A committed notebook, with the drawings of lessons as figures of the book."""
    return drawn(json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")), name)


def lead(notebook, figure=0, panels=None, caption=None, page=None, view=False):
    """A copy of one figure, of this notebook or of another page, with names of its own; None where there is none. No ``view`` is one."""
    found = figures(read(page) if page else notebook)
    if not found:
        return None
    page = re.sub(r'(id="|url\(#|href="#)f(?=[0-9a-f]{8}-)', r"\1l", found[figure])
    page = re.sub(rf'{FIGURE}([^"]*)"', rf'{FIGURE} lead\1" id="lead-figure"', page, count=1)
    if panels:
        drawings = iter(range(page.count("<svg")))
        page = re.sub(r"<svg.*?</svg>\n?", lambda one: one[0] if next(drawings) < panels else "", page, flags=re.S)
    return captioned(page, caption)


def captioned(page, caption):
    """The figure under another caption, if one is given."""
    new = f"<figcaption>{html.escape(caption)}</figcaption>" if caption else None
    return re.sub(r"<figcaption>.*?</figcaption>", lambda _: new, page, flags=re.S) if new else page


def turning(notebook, caption=None):
    """The mesh of a page as its lead figure, which is drawn when all else has been read; and its HTML where it stood."""
    shown = (output.get("data", {}).get("text/html", "") for cell in notebook["cells"] for output in cell.get("outputs", []))
    found = next(page for page in map("".join, shown) if page.startswith('<figure class="rfcore-view'))
    page = found.replace('<figure class="rfcore-view"', '<figure class="rfcore-view lead" id="lead-figure"', 1).replace("<script src", "<script defer src", 1)
    page = re.sub(r"<script>(.*?)</script>", r'<script>addEventListener("DOMContentLoaded", () => { \1 })</script>', page, flags=re.S)
    return captioned(page, caption), found


def chosen(name):
    """What the row of a page says."""
    return tomllib.loads(LEADS.read_text(encoding="utf-8")).get(name, {})


def gallery():
    """A card for each page that has a lead figure of its own: its title, and the figure."""
    parts = []
    for folder, title in {"road": "The main road", **TITLES, "beyond": "What no paper tried"}.items():
        parts += [f"## {title}", "", "::::{grid} 2 3 4 4", ":gutter: 2", ":class-container: gallery", ""]
        for path in sorted(ROOT.glob(f"notebooks/{folder}/[0-9][0-9]_*.ipynb")):
            notebook, row = read(f"{folder}/{path.stem}"), chosen(f"{folder}/{path.stem}")
            if "page" not in row and (page := lead(notebook, **row)):
                name, head = path.stem, COVERS.sub("", "".join(notebook["cells"][0]["source"]).partition("\n")[0].lstrip("# "))
                said = re.search(r'aria-label="[^"]*"', page)[0].replace("aria-label", "alt")
                image = f'<img src="../_static/gallery/{folder}_{name}.svg" {said} loading="lazy" width="216" height="173">'
                parts += [f":::{{grid-item-card}} {head}", f":link: /notebooks/{folder}/{name}", ":link-type: doc", "", image, ":::"]
        parts += ["::::", ""]
    return "\n".join(parts)


def together(page):
    """The panels of a figure in one drawing, in rows and columns; of those that a slider shows, the first."""
    panels = [one for one in re.findall(r"<svg.*?</svg>", page, re.S) if "visibility: hidden" not in one.partition(">")[0]]
    sizes = [[float(x) for x in re.search(r'viewBox="0 0 (\S+) (\S+)"', one).groups()] for one in panels]
    wide, high = map(max, zip(*sizes, strict=True))
    across = math.ceil(math.sqrt(len(panels)))
    placed = [
        re.sub(r"<svg[^>]*>", f'<svg x="{k % across * wide}" y="{k // across * high}" width="{w}" height="{h}" viewBox="0 0 {w} {h}">', one, count=1)
        for k, (one, (w, h)) in enumerate(zip(panels, sizes, strict=True))
    ]
    size = f"{across * wide} {math.ceil(len(panels) / across) * high}"
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}">{"".join(placed)}</svg>'


def draw(app, exception):
    """The pictures of the gallery, as files."""
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir, "_static", "gallery")
    folder.mkdir(parents=True, exist_ok=True)
    for path in ROOT.glob("notebooks/*/[0-9][0-9]_*.ipynb"):
        name = f"{path.parent.name}/{path.stem}"
        row = chosen(name)
        if "page" not in row and (page := lead(read(name), **row)):
            (folder / f"{name.replace('/', '_')}.svg").write_text(together(page), encoding="utf-8")


def leave_a_link(notebook, found, own_caption):
    """In the place of a figure that stands at the top; its caption stays if there is another."""
    said = re.search(r"<figcaption>(.*?)</figcaption>", found, re.S)
    rest = f" {said[1]}" if said and own_caption else ""
    link = f'<p class="lead-above"><a href="#lead-figure">The figure at the top of the page.</a>{rest}</p>'
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            if "".join(output.get("data", {}).get("text/html", "")) == found:
                output["data"] = {"text/html": link}
                return


def put_first(notebook, name):
    """Between the title and what follows it."""
    row = chosen(name)
    if page := lead(notebook, **row):
        if row.get("view"):
            page, found = turning(notebook, row.get("caption"))
            leave_a_link(notebook, found, "caption" in row)
        elif not {"panels", "page"} & row.keys():
            leave_a_link(notebook, figures(notebook)[row.get("figure", 0)], "caption" in row)
        first = notebook["cells"][0]
        title, _, rest = "".join(first["source"]).partition("\n")
        output = {"output_type": "display_data", "data": {"text/html": page}, "metadata": {}}
        cell = {"cell_type": "code", "id": "lead", "metadata": {"tags": ["remove-input"]}, "source": "# lead", "outputs": [output]}
        notebook["cells"][:1] = [first | {"source": title, "id": "title"}, cell | {"execution_count": None}, first | {"source": rest}]
