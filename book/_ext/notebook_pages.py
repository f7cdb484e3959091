"""What a notebook's page shows beside its cells: words of claims, a picture below the title, how to run it, a door to the next lesson.

Outputs name claims by their ids, and drawings of lessons have no caption: the words come from ``data/claims``,
``book/main_road.toml`` and ``book/search_words.toml`` when the book is built, so that other words need no run. Verdicts and
numbers are those of the page's ledger.
"""

import json
import tomllib

import lead_figures
import main_road
from docutils import nodes
from record_text import ROOT, headed, typeset

from companion import evidence
from companion.evidence.ledger import Decisions
from companion.evidence.pages import claims_shown
from companion.evidence.standing import told

SEARCHED = ROOT / "book" / "search_words.toml"
LESSON = """:::{{dropdown}} Run this page
The buttons at the top download it. Where `pip install .` has put the library of this repository, and `pip install matplotlib networkx
jupyterlab` what lessons draw with, `jupyter lab {name}.ipynb` opens it. Change a number in its first cell, and run all cells.
:::"""
PAGE = """:::{{dropdown}} Run this page
In a checkout, `make quick NOTEBOOK={page}` runs it in miniature, in half a minute at most. `make lab` opens a copy: set `profile =
"quick"` in the first cell, change what you like, and run all cells. Nothing that is committed changes by it.
:::"""


def searched():
    """Words by page, for the search alone."""
    return tomllib.loads(SEARCHED.read_text(encoding="utf-8"))


def prepare(app, docname, source):
    """The notebook with all of it, before it is parsed."""
    if not docname.startswith("notebooks/"):
        return
    name = docname.removeprefix("notebooks/")
    folder, _, page = name.partition("/")
    notebook = main_road.drawn(json.loads(source[0]), name)
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", []) if claims_shown(output)]
    decisions = evidence.decisions("paper") if outputs else {}
    for output in outputs:
        shown = Decisions({claim: headed(told(decisions[claim])) for claim in claims_shown(output)})
        output["data"]["text/markdown"] = typeset(shown.markdown())
    lead_figures.put_first(notebook, name)
    run = (LESSON if folder == "road" else PAGE).format(name=page, page=f"{folder}/{page[:2]}")
    for key, text in {"run": run, "main-road": main_road.ending(name)}.items():
        notebook["cells"] += [{"cell_type": "markdown", "id": key, "metadata": {}, "source": text}] if text else []
    source[0] = json.dumps(notebook)
    words = [ROOT / f"data/results/paper/{name}.json", ROOT / "data/loosely_tested.toml", *ROOT.glob("data/claims/*.toml")]
    for path in (*(words if outputs else []), lead_figures.LEADS, *([main_road.WORDS, ROOT / "_toc.yml"] if folder == "road" else [])):
        app.env.note_dependency(str(path))


def hide(app, doctree):
    """The words are part of the page for the search alone."""
    if words := searched().get(app.env.docname):
        app.env.note_dependency(str(SEARCHED))
        next(doctree.findall(nodes.section)).append(nodes.paragraph("", words, classes=["search-words", "strip"]))


def setup(app):
    app.connect("source-read", prepare)
    app.connect("doctree-read", hide)
    app.connect("build-finished", lead_figures.draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
