"""The main road: twelve lessons that read as a short course, and what stands around them.

Its order stands in ``_toc.yml``. What each lesson teaches, what its figures show and the sentence that leads to the next stand in
``book/main_road.toml`` and are put in when the book is built, so that a lesson is matplotlib's and the library's alone.
"""

import re
import tomllib
from functools import cache

import yaml
from record_text import ROOT

from companion.plotting import figures

WORDS = ROOT / "book" / "main_road.toml"
SCALE = 1.3  # of what matplotlib drew: a lesson's drawings are 5.2 inches wide, the column of a page somewhat more


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
    """Lessons and their words, in order."""
    words = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    pages = [page.removeprefix("notebooks/") for page in contents()["book/main_road"]]
    if sorted(pages) != sorted(words):
        raise ValueError(f"main_road.toml and _toc.yml name other pages: {sorted(set(pages) ^ set(words))}")
    return [(page, words[page]) for page in pages]


def course():
    """The page that opens the road: what each lesson teaches."""
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
    """The page of a paper that a lesson draws on, and the door to the next; empty for other pages."""
    pages = [name for name, _ in road()]
    if page not in pages:
        return ""
    at, words = pages.index(page), dict(road())[page]
    target = f"/notebooks/{pages[at + 1]}" if at + 1 < len(pages) else "/notebooks/start/02_which_features"
    head = f"Next on the main road, lesson {at + 2} of {len(pages)}" if at + 1 < len(pages) else "The end of the main road"
    audits = " and ".join(f"{{doc}}`/notebooks/{audit}`" for audit in words["audits"])
    return "\n".join([
        f"**Every number checked:** {audits}.", "", f":::{{admonition}} {head}", ":class: door", f"{words['door']} {{doc}}`{target}`", ":::",
    ])  # fmt: skip


def drawn(notebook, name):
    """The notebook with each SVG of a lesson's outputs as a figure of the book, in the ink of the page; the same object."""
    words = iter(dict(road()).get(name, {}).get("figures", ()))
    for output in (output for cell in notebook["cells"] for output in cell.get("outputs", ())):
        if svg := output.get("data", {}).get("image/svg+xml"):
            said = next(words, None)
            if said is None:
                raise ValueError(f"{name} draws more figures than main_road.toml describes")
            page = figures.of_drawings([figures.in_page("".join(svg), SCALE)], said["caption"], said["alt"])
            output["data"] = {"text/html": page, "text/plain": said["alt"]}
    if next(words, None):
        raise ValueError(f"main_road.toml describes more figures than {name} draws")
    return notebook
