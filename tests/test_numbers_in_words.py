"""A number in a takeaway, a caption or a description of a figure is one that its page prints, draws, decides or sets, to its digits."""

import ast
import html
import json
import re
import tomllib
from functools import cache
from pathlib import Path

import jupytext
import pytest
from drawn import numbers as drawn_in
from matplotlib.figure import Figure

from companion import evidence
from companion.evidence import runner
from companion.evidence.pages import name_of
from companion.evidence.standing import told
from companion.plotting import WIDE
from companion.plotting.figures import as_html, in_page

ROOT = Path(__file__).parents[1]
SOURCES = {name_of(path): path for path in runner.find(["all"], ROOT)}
ROAD, LEADS = (tomllib.loads((ROOT / "book" / f"{name}.toml").read_text(encoding="utf-8")) for name in ("main_road", "lead_figures"))
ONE = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+"
UNIT = rf"(?:[\s,±]|to|and|or|{ONE})*(?:%|per cent|percentage|points)"
NUMBER = re.compile(rf"(?<![\w.^{{_,])({ONE})(?!\w)(?: ± ({ONE}))?(?=({UNIT})?)")
PLACE = re.compile(r"(?:[FT]ig(?:ure|\.)?s?|Tables?|Theorems?|Eqs?\.?|Lemmas?|Corollar\w+|[Ll]essons?) [\d.]+(?:(?:, | and | to )\d[\d.]*)*")


def said(name):
    """Takeaways, captions and descriptions of a page; what is computed in them is left out."""
    text = SOURCES[name].read_text(encoding="utf-8")
    for bullet in re.findall(r"^\* .*(?:\n  .*)*", jupytext.reads(text, fmt="py:percent").cells[0].source, re.M):
        yield "takeaway", " ".join(bullet.split())
    for kind, value in words_of_figures(ast.parse(text)):
        yield kind, "…".join(n.value for n in ast.walk(value) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    for figure in ROAD.get(name, {}).get("figures", ()):
        yield from figure.items()
    yield "caption", LEADS.get(name, {}).get("caption", "")


def words_of_figures(tree):
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [(word.arg, word.value) for call in calls for word in call.keywords if word.arg in ("caption", "alt")]


def plain(text):
    """Text of an output without tags, captions, drawings and the line of provenance; powers of ten as a computer writes them."""
    text = re.sub(r"<svg.*?</svg>|<figcaption>.*?</figcaption>|<Figure.*?>|^\*Profile .*", " ", text, flags=re.S)
    text = re.sub(r" × 10<sup>(.*?)</sup>", lambda power: "e" + power[1].replace("−", "-"), text)
    return html.unescape(re.sub(r"<[^>]*>", " ", text))


def in_text(text):
    return [float(n.replace(",", "")) for n in re.findall(rf"(?:{ONE})(?:e-?\d+)?", text)]


@cache
def known(name):
    """Of a page, the numbers that it prints and decides, what its drawings show, what its code sets, and pairs of value and error."""
    texts, drawn, decided = [], [], []
    for cell in json.loads(SOURCES[name].with_suffix(".ipynb").read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            data = {kind: "".join(value) for kind, value in output.get("data", {}).items() if isinstance(value, (str, list))}
            shown = in_page(data["image/svg+xml"]) if "image/svg+xml" in data else data.get("text/html", "")
            for svg in re.findall(r"<svg.*?</svg>", shown, re.S):
                words, points = drawn_in(svg)
                texts += words
                drawn += points
            texts += map(plain, ["".join(output.get("text", "")), shown, data.get("text/markdown", "")])
            texts += [plain(data.get("text/plain", ""))] if "text/html" not in data else []
    claims, found = evidence.claims_of(name), evidence.decisions("paper")
    texts += [str(getattr(c, part)) for c in claims.values() for part in ("statement", "rule", "printed", "why", "undecided", "unprinted")]
    for decision in (told(found[c]) for c in claims if c in found):
        texts.append(decision.finding)
        decided += [n for n in (decision.ours, decision.paper, decision.limit, *(decision.pair or ())) if n is not None]
    tree, cells = ast.parse(SOURCES[name].read_text(encoding="utf-8")), jupytext.read(SOURCES[name]).cells
    spoken = {id(n) for _, value in words_of_figures(tree) for n in ast.walk(value)}
    constants = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in spoken]
    code = [float(c) for c in constants if isinstance(c, (int, float))] + [n for c in constants if isinstance(c, str) for n in in_text(c)]
    prose = [n for cell in cells if cell.cell_type == "markdown" for n in in_text(cell.source)]
    pairs = [tuple(in_text(a) + in_text(b)) for text in texts for a, b in re.findall(rf"({ONE}) ± ({ONE})", text)]
    pairs += [(found[c].ours, found[c].se) for c in claims if c in found and found[c].ours is not None and found[c].se]
    return [n for text in texts for n in in_text(re.sub(rf"± ({ONE})", " ", text))] + decided, drawn, code, prose, pairs


def rounds(value, shown):
    """Whether a number has the digits that are shown; zeros at the end of a whole number are digits to 5 per cent."""
    shown = shown.replace(",", "")
    zeros = len(shown) - len(shown.rstrip("0")) if "." not in shown and shown.strip("0") else 0
    unit = 10.0 ** (zeros - len(shown.partition(".")[2]))
    return abs(value - float(shown)) <= 1.0001 * (min(unit / 2, max(0.05 * float(shown), 0.5)) if zeros else unit / 2)


def missing(name, kind, text):
    """Numbers of a text that are not found on its page, nor on the pages to which it leads."""
    others = [page.removeprefix("/notebooks/") for page in re.findall(r"\{doc\}`(?:[^`<]*<)?(/notebooks/[^`>]+)", text)]
    others += [LEADS[name]["page"]] if LEADS.get(name, {}).get("page") else []
    sources = [known(page) for page in (name, *others) if page in SOURCES]
    printed, drawn, code, prose, pairs = ([n for source in sources for n in source[i]] for i in range(5))
    bare = re.sub(r"\{\w[^}]*\}`[^`]*`|`[^`]*`", " ", text)
    for number, error, per_cent in NUMBER.findall(PLACE.sub(" ", bare)):
        if error:
            values = pairs + [(100 * value, 100 * of_value) for value, of_value in pairs if per_cent]
            found = any(rounds(value, number) and rounds(of_value, error) for value, of_value in values)
        else:
            values = printed + (drawn + prose if kind != "takeaway" else [])
            values = values + [w for v in values for w in (100 * v, 100 - 100 * v, 100 * v - 100, 100 - v)] if per_cent else values + code
            found = any(rounds(abs(value), number) for value in values)
        if not found:
            yield number, error, per_cent


@pytest.mark.parametrize("name", SOURCES)
def test_every_number_in_words_is_one_of_the_page(name):
    assert [(kind, text, found) for kind, text in said(name) for found in missing(name, kind, text)] == []


def test_numbers_that_no_page_has_are_missed_and_most_pages_say_some():
    name = "couplings/25_trained_performers"
    assert [found[0] for found in missing(name, "takeaway", "It gains 0.1234567 ± 0.1 points, or 87.6 %, in Table 9.87.")] == ["0.1234567", "87.6"]
    assert sum(len(NUMBER.findall(text)) for page in SOURCES for _, text in said(page)) > 600


@pytest.mark.parametrize("log", [False, True])
def test_what_is_drawn_is_read_by_its_ticks(log):
    ax = Figure(figsize=WIDE).subplots()
    ax.plot([1, 2, 3, 4], [12.5, 1.25, 0.5, 3.75], "o-")
    ax.set(title="of 34 nodes", yscale="log" if log else "linear")
    words, shown = drawn_in(re.search(r"<svg.*</svg>", as_html(ax.figure, caption="Ours.", alt="four dots"), re.S)[0])
    assert "of 34 nodes" in words
    for number in (2, 12.5, 1.25, 0.5, 3.75):
        assert min(abs(value - number) for value in shown) < 0.005 * number
