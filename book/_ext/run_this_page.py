"""At the end of every page of a notebook how to run it; out of sight, the words of ``book/search_words.toml``."""

import json
import tomllib

from docutils import nodes
from record_text import ROOT

WORDS = ROOT / "book" / "search_words.toml"
LESSON = """:::{{dropdown}} Run this page
The buttons at the top download it. Where `pip install .` has put the library of this repository, and `pip install matplotlib networkx
jupyterlab` what lessons draw with, `jupyter lab {name}.ipynb` opens it. Change a number in its first cell, and run all cells.
:::"""
PAGE = """:::{{dropdown}} Run this page
In a checkout, `make quick NOTEBOOK={page}` runs it in miniature, in half a minute at most. `make lab` opens a copy: set `profile =
"quick"` in the first cell, change what you like, and run all cells. Nothing that is committed changes by it.
:::"""


def searched():
    """Words by page."""
    return tomllib.loads(WORDS.read_text(encoding="utf-8"))


def put_last(app, docname, source):
    """Before the door of a lesson, which comes after."""
    if not docname.startswith("notebooks/"):
        return
    notebook, (folder, _, name) = json.loads(source[0]), docname.removeprefix("notebooks/").partition("/")
    text = LESSON if folder == "road" else PAGE
    cell = {"cell_type": "markdown", "id": "run", "metadata": {}, "source": text.format(name=name, page=f"{folder}/{name[:2]}")}
    notebook["cells"].append(cell)
    source[0] = json.dumps(notebook)


def hide(app, doctree):
    """The words are part of the page for the search alone."""
    if words := searched().get(app.env.docname):
        app.env.note_dependency(str(WORDS))
        next(doctree.findall(nodes.section)).append(nodes.paragraph("", words, classes=["search-words", "strip"]))


def setup(app):
    app.connect("source-read", put_last, priority=450)
    app.connect("doctree-read", hide)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
