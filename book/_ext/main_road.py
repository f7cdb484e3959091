"""The main road: twelve pages that read as a short course, each ending in two exercises and a door to the next.

Its order stands in ``_toc.yml``, its words in ``book/main_road.toml``, exercises in ``book/exercises``; all are put in
when the book is built, so that no notebook changes for them.
"""

import json
import re
import tomllib
from functools import cache

import yaml
from record_text import ROOT

WORDS, EXERCISES = ROOT / "book" / "main_road.toml", ROOT / "book" / "exercises"


@cache
def contents():
    """Pages of every chapter, by the chapter's name."""
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    chapters = [chapter for part in parts for chapter in part["chapters"]]
    return {
        chapter["file"]: [section["file"] for section in chapter.get("sections", [])] for chapter in chapters
    }


@cache
def road():
    """Pages and their words, in order."""
    words = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    pages = [page.removeprefix("notebooks/") for page in contents()["book/main_road"]]
    if sorted(pages) != sorted(words):
        raise ValueError(f"main_road.toml and _toc.yml name other pages: {sorted(set(pages) ^ set(words))}")
    return [(page, words[page]) for page in pages]


def course():
    """The page that opens the road: what each page teaches."""
    return "\n".join(f"1. {{doc}}`/notebooks/{page}`  \n   {words['learn']}" for page, words in road())


def listing(chapter):
    """Pages of a chapter with the first thing that each has learned."""
    return "\n".join(f"- {{doc}}`/{page}`  \n  {opening(page)}" for page in contents()[f"book/{chapter}"])


def opening(page):
    """The first takeaway of a notebook, without the emphasis and without what explains it."""
    text = (ROOT / f"{page}.py").read_text(encoding="utf-8")
    found = re.search(r"^# \* \*\*(.+?)\*\*", text, re.M | re.S)[1]
    return " ".join(found.replace("\n#", " ").split()).rstrip(".,:") + "."


def ending(page):
    """Exercises and the door to the next page, in Markdown; empty for pages beside the road."""
    pages = [name for name, _ in road()]
    if page not in pages:
        return ""
    at, parts = pages.index(page), []
    exercises = EXERCISES / f"{page.replace('/', '-')}.md"
    if exercises.exists():
        parts.append(exercises.read_text(encoding="utf-8").rstrip())
    target = f"/notebooks/{pages[at + 1]}" if at + 1 < len(pages) else "/notebooks/start/02_which_features"
    head = (
        f"Next on the main road, page {at + 2} of {len(pages)}"
        if at + 1 < len(pages)
        else "The end of the main road"
    )
    parts.append(f":::{{admonition}} {head}\n:class: door\n{road()[at][1]['door']} {{doc}}`{target}`\n:::")
    return "\n\n".join(parts)


def put_in(app, docname, source):
    """At the end of a page of the road, exercises and the door."""
    if text := ending(docname.removeprefix("notebooks/")):
        notebook = json.loads(source[0])
        cell = {"cell_type": "markdown", "metadata": {}, "source": text}
        if notebook.get("nbformat_minor", 0) >= 5:
            cell["id"] = "main-road"
        notebook["cells"].append(cell)
        source[0] = json.dumps(notebook)
        for path in (WORDS, ROOT / "_toc.yml", *EXERCISES.glob("*.md")):
            app.env.note_dependency(str(path))


def setup(app):
    app.connect("source-read", put_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
