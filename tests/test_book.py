"""The book builds without a warning, from one command, and its pages need nothing from outside."""

import html
import importlib
import json
import math
import os
import posixpath
import re
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import pytest
from book_site import AT_ONCE, CHROMIUM, CUT_OFF, DESKTOP, FLAGS, PHONE, WIDE, in_a_browser
from contrast import INKS
from playwright.sync_api import sync_playwright
from sphinx_codeautolink.parse import parse_names

from companion import evidence
from companion.evidence import Verdict
from companion.evidence.standing import told
from companion.evidence.verdicts import ERRATA
from rfcore import couplings, n_frequencies, theory

ROOT = Path(__file__).parents[1]
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def test_builds_without_a_warning(built):
    log, _ = built
    assert log.endswith("exit status 0\n") and "WARNING" not in log and "ERROR" not in log, log


def test_nothing_is_fetched_from_outside(built, loads):
    outside = [
        (name, address)
        for name, found in loads.items()
        for address in found.addresses
        if re.match(r"(?:[a-z]+:)?//", address)
    ]
    outside += [
        (sheet.name, address)
        for sheet in built[1].rglob("*.css")
        for address in re.findall(r"(?:url\(|@import )\s*[\"']?((?:https?:)?//[^\"')]+)", sheet.read_text(encoding="utf-8"))
    ]
    assert outside == []


def test_no_link_within_the_book_is_dead(built, pages):
    names = {page: set(re.findall(r'\b(?:id|name)="([^"]+)"', text)) for page, text in pages.items()}
    dead = []
    for page, text in pages.items():
        for address in set(re.findall(r'<a\b[^>]*\bhref="([^"]+)"', text)):
            if re.match(r"[a-z]+:", address):
                continue
            path, _, name = address.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
            if target in pages:
                if name and html.unescape(unquote(name)) not in names[target]:
                    dead.append((page, address))
            elif not (built[1] / unquote(target)).exists():
                dead.append((page, address))
    assert sum(map(len, names.values())) > 1000
    assert dead == []


def test_each_page_says_what_it_is_and_notebooks_offer_their_source_and_their_verdicts(built, pages):
    assert "<title>Random features, re-run</title>" in pages["book/index.html"]
    for name in (name for name in pages if name.startswith(("book/", "notebooks/"))):
        described = re.search(r'<meta (?:name="description" )?content="((?!\\[a-z]|[_^]\{)[^"]){40,}"(?: name="description")? ?/>', pages[name])
        assert described or name.startswith("book/api/") or name == "book/references.html", name
    for name in (Path(name).with_suffix("") for name in pages if name.startswith("notebooks/")):
        assert f'_sources/{name}.py"' in pages[f"{name}.html"]
        assert (built[1] / "_sources" / f"{name}.py").read_bytes() == (ROOT / f"{name}.py").read_bytes()
        record = built[1] / "_sources" / "results" / f"{name.relative_to('notebooks')}.json"
        assert record.exists() == bool(evidence.claims_of(str(name.relative_to("notebooks"))))


def test_the_script_of_icons_holds_those_that_are_shown(built):
    script = built[1] / "_static" / "scripts" / "fontawesome.js"
    assert script.stat().st_size < 200_000
    assert "bars:[" in script.read_text(encoding="utf-8")


def test_every_image_of_the_text_has_a_description(loads):
    images = [(name, image.get("alt") or "") for name, found in loads.items() for image in found.images]
    # Without a description of its own, an output's alt text is the name of its file.
    assert [i for i in images if i[1].endswith((".svg", ".png")) or len(i[1]) < 20] == []


def test_scorecard_page_shows_every_entry_with_its_verdict(pages):
    page = pages["book/scorecard.html"]
    rows = evidence.scorecard("paper")
    heads = re.findall(r"<details[^>]*\bentry\b.*?</summary>", page, re.S)
    assert len(rows) > 80
    shown = [re.findall(r'<span class="verdict ([a-z-]+)">', head) for head in heads]
    assert shown == [[slug(v.word(row.entry.extra)) for v in row.verdicts] for row in sorted(rows, key=order_of_the_page())]


def test_scorecard_rows_have_an_address_a_link_to_their_section_and_a_count(pages):
    page = pages["book/scorecard.html"]
    for row in evidence.scorecard("paper"):
        name = f"scorecard-{row.entry.id}".replace("/", "-").replace(".", "-").lower()
        head = re.search(rf'<details[^>]*\bid="{name}".*?</summary>', page, re.S)[0]
        if row.notebook:
            lead = re.search(rf'<span class="leads">((?:(?!</p>).)*)</p>\s*<details[^>]*\bid="{name}"', page, re.S)[1]
            target, anchor = re.search(r'href="\.\./([^"#]+)#([^"]+)"', lead).groups()
            assert target == f"notebooks/{row.notebook}.html" and f'id="{anchor}"' in pages[target], row.entry.id
        words = text_of(head)
        same = sum(decision is not None and decision.verdict is row.verdict for _, decision in row.claims)
        assert (f", {same} of {len(row.claims)}" in words) == (0 < same < len(row.claims)), words


def slug(word):
    return word.replace(",", "").replace(" ", "-")


def numbers_in(text):
    return Counter(float(number) for number in re.findall(r"\d+\.?\d*", text.replace(",", "")))


@pytest.mark.parametrize("table", sorted(path.stem for path in (ROOT / "data" / "paper").glob("*.csv")))
def test_every_printed_value_stands_on_the_scorecard_in_the_fold_of_its_table(pages, table):
    paper, number = table.split("_table")
    page = pages["book/scorecard.html"]
    entry = re.search(rf'<details[^>]*\bid="scorecard-{paper}-table-{number}".*?(?=<details[^>]*\bentry\b|\Z)', page, re.S)[0]
    fold = re.search(r'<details class="printed">.*?</details>', entry, re.S)[0]
    ours_too = "<small>paper " in fold
    cell = r"<small>paper (.*?)</small>" if ours_too else r"<td>(.*?)</td>"
    cells, heads = (numbers_in(" ".join(re.findall(part, fold))) for part in (cell, r'<th scope="row">(.*?)</th>'))
    lines = evidence.printed(table)
    sizes = [key for key in ("n_nodes", "mean_v") if key in lines[0]]  # of a row, not of each of its cells
    measured = numbers_in(" ".join(v for line in lines for k, v in line.items() if re.fullmatch(r"[\d.]+", v) and k not in sizes))
    assert len(lines) > 2 and measured - cells == Counter()
    of_rows = numbers_in(" ".join(line[key] for line in lines for key in sizes))
    assert set(of_rows) <= set(cells | heads)
    stands_in = any(word in text_of(entry) for word in ("Planned: ", "Scaled: "))  # on other tasks, with numbers of their own
    assert ours_too or stands_in, "a page has re-run this table, and none of its tables shows the printed values"


def test_names_of_the_library_lead_from_cells_to_the_api_and_back(pages):
    linked = re.compile(r'class="sphinx-codeautolink-a" href="\.\./\.\./(book/api/\w+\.html)#((?:rfcore|companion)\.[^"]+)"')
    uses = Counter()
    for name in (name for name in pages if name.startswith("notebooks/")):
        targets = set(linked.findall(pages[name]))
        assert len(targets) > 1, name
        assert all(f'id="{anchor}"' in pages[page] for page, anchor in targets), name
        uses.update(targets)
    functions = (use for use in uses.most_common() if re.search(rf'<dl class="py function">\s*<dt[^>]*id="{use[0][1]}"', pages[use[0][0]]))
    (page, anchor), count = next(functions)
    entry = re.search(rf'id="{anchor}".*?</details>', pages[page], re.S)[0]
    assert entry.count('href="../../notebooks/') == count
    assert f"Used on {count} pages" in text_of(entry)


@pytest.mark.parametrize("name", ["start/01_primer", "couplings/01_norm_coupling"])
def test_code_that_is_parsed_cell_by_cell_shows_the_names_of_code_that_is_parsed_whole(name, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    code_links = importlib.import_module("code_links")
    continued, block, before, n_names = code_links.Continued(), SimpleNamespace(document=name), "", 0
    for cell in json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            source = before + "".join(cell["source"])
            n_before = before.count("\n")
            whole = [found for found in parse_names(source, block) if found.lineno > n_before]
            assert continued(source, block) == whole
            before, n_names = f"{source}\n", n_names + len(whole)
    assert n_names > 50


def test_the_navigation_is_open_at_the_page_that_is_shown(pages):
    entry = re.compile(r'<li class="toctree-l(\d)( current active)?[^"]*"><a class="(current )?reference internal" href="([^"]*)"')
    for name, page in pages.items():
        found = entry.findall(page)
        way = [(level, bool(here), address) for level, marked, here, address in found if marked]
        if name.startswith("notebooks/"):
            *chapters, here = way
            assert here == (str(len(way)), True, "#"), name
            assert page.count('<details open="open">') == len(chapters) == (not name.startswith(("notebooks/start/01", "notebooks/start/02"))), name
            for _, _, address in chapters:
                assert posixpath.normpath(posixpath.join(posixpath.dirname(name), address)) in pages, name
        elif name.startswith("_modules/"):
            assert len(found) > 90 and way == [] and '<details open="open">' not in page


def test_sources_of_docstrings_lead_to_chapters_places_and_references(pages):
    api = "".join(page for name, page in pages.items() if name.startswith("book/api/"))
    found = re.findall(r"<p>Source: (.*?)</p>", api, re.S)
    assert len(found) > 60
    papers = ("Simplex Random Features", "Universal Graph Random Features", "Variance-Reducing Couplings", "FAVOR#")
    unlinked = text_without_links(" ".join(found))
    assert [title for title in papers if title in unlinked] == []
    assert len(re.findall(r'href="\.\./references\.html#', api)) > 60
    assert len(re.findall(r'class="std std-ref">(?:Table|Theorem|Eqs?\.?|Figure|Lemma|Algorithm|Corollary) ', api)) > 60


def text_without_links(page):
    """The words of a page but those of its links."""
    return text_of(re.sub(r"<a\b.*?</a>", " ", page, flags=re.S))


def test_each_notebook_page_counts_its_verdicts_below_its_title(pages):
    found = evidence.decisions("paper")
    for name in {entry.notebook for entry in evidence.entries() if entry.notebook}:
        page = pages[f"notebooks/{name}.html"]
        strip = re.search(r'</h1>\s*<div class="strip[^>]*>(.*?)</div>', page, re.S)[1]
        shown = re.findall(r'class="[^"]*\bverdict ([\w-]+)[^"]*"[^>]*>(\d+) ', strip)
        verdicts = [(found[c.id].verdict if c.id in found else Verdict.NOT_YET, c.extra) for c in evidence.claims_of(name).values()]
        expected = Counter(slug(verdict.word(extra)) for verdict, extra in verdicts)
        assert {word: int(count) for word, count in shown} == expected
        assert all(f'id="{target}"' in page for target in re.findall(r'href="#([^"]+)"', strip))


def test_each_page_that_has_a_figure_has_one_below_its_title(pages):
    for name in {entry.notebook for entry in evidence.entries() if entry.notebook}:
        page = pages[f"notebooks/{name}.html"].partition("<article")[2].partition("</h1>")[2]
        first = re.search(r'<figure class="rfcore-(?:figure|view)( lead)?', page)
        assert first is None or first[1], name
        assert first is None or not re.search(r"<(li|h2|table)", page[: first.start()]), name


def test_a_lead_figure_stands_once_on_its_page(pages):
    """But for one of which the page begins with some panels, or that is another page's."""
    chosen = tomllib.loads((ROOT / "book" / "lead_figures.toml").read_text(encoding="utf-8"))
    for page in [name for name in pages if name.startswith("notebooks/")]:
        name = page.removeprefix("notebooks/").removesuffix(".html")
        if 'id="lead-figure"' in pages[page]:
            again = {"panels", "page"} & chosen.get(name, {}).keys()
            assert again or pages[page].count('href="#lead-figure"') == 1, name


def test_less_than_a_fifth_of_the_words_that_are_seen_on_pages_with_verdicts_are_verdicts(pages):
    found, seen = 0, 0
    for name in {entry.notebook for entry in evidence.entries() if entry.notebook}:
        article = pages[f"notebooks/{name}.html"].partition("<article")[2].partition("</article>")[0]
        article = re.sub(r"<svg.*?</svg>|<pre>.*?</pre>", "", article, flags=re.S)
        article = re.sub(r"(<summary[^>]*>.*?</summary>).*?</details>", r"\1", article, flags=re.S)
        found += sum(len(text_of(block).split()) for block in re.findall(r'<div class="decision">.*?</div>', article, re.S))
        seen += len(text_of(article).split())
    assert 0 < found < seen / 5


def order_of_the_page():
    papers = list(evidence.headline("paper"))
    return lambda row: (papers.index(row.entry.paper), row.entry.extra)


def test_front_page_counts_what_the_ledger_holds(pages):
    page = pages["book/index.html"]
    for counts in evidence.headline("paper").values():
        for verdict, count in counts.items():
            if verdict != "nothing to reproduce":
                assert f">{verdict.counted(count)}</span>" in page


def text_of(page):
    """The words of a page, as read: no tags, no typographic quotes, one space between words."""
    words = html.unescape(re.sub(r"<[^>]*>", " ", page)).translate(str.maketrans("‘’“”", "''\"\""))
    return " ".join(words.replace("…", "...").split())


@pytest.fixture(scope="module")
def typeset():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "book" / "_ext")
        import record_text

        yield record_text.typeset


def letters(words):
    """Words without spaces, carets, underscores and brackets: pages set powers above the line and indices below it."""
    return re.sub(r"[\s^_()]", "", text_of(words))


def decided():
    """Claim and decision of everything that a notebook has decided."""
    return [(decision.claim, decision) for decision in evidence.decisions("paper").values()]


def disagrees(claim, decision):
    """Whether a decision must stand on the page of deviations and errata."""
    undecided = decision.verdict is Verdict.INCONCLUSIVE and claim.unprinted and not claim.extra
    return undecided or decision.verdict in (*ERRATA, Verdict.NOT_REPRODUCED) or (
        decision.verdict in (Verdict.IN_DIRECTION, Verdict.SCALED) and not claim.extra
    )  # fmt: skip


def test_deviations_page_says_what_was_found_and_not_only_the_rule(pages, typeset):
    page = pages["book/deviations.html"]
    cards = [text_of(card) for card in re.findall(r'<details class="[^"]*\bfinding\b[^"]*">(.*?)</dl>', page, re.S)]
    wanted = [(claim, decision) for claim, decision in decided() if disagrees(claim, decision)]
    assert len(cards) == len(wanted) > 0
    for claim, decision in wanted:
        (card,) = (card for card in cards if letters(typeset(html.escape(claim.statement))) in letters(card))
        found = told(decision).finding.partition("; ")[0]
        assert f"Found{letters(typeset(html.escape(found)))}" in letters(card)
        assert re.search(r"The paper(, in our words)? \S+.* Found \S+.* Threshold \S", card), card


def test_words_for_what_is_wrong_as_printed_are_of_claims_that_found_it_so():
    words = tomllib.loads((ROOT / "book" / "wrong_as_printed.toml").read_text(encoding="utf-8"))
    found = {claim.id for claim, decision in decided() if claim.expected in ERRATA and not decision.verdict.green}
    assert {f"{paper}/{place}" for paper, places in words.items() for place in places} == found


@pytest.mark.parametrize("verdict", ERRATA)
def test_errata_are_counted_the_same_on_the_front_page_in_chapters_on_the_scorecard_and_on_deviations(pages, verdict):
    """Places with a claim of this verdict, counted here from the ledgers and the words of the claims alone."""
    found = {claim.id.rpartition("/")[0] for claim, decision in decided() if claim.expected == verdict and not decision.verdict.green}
    counts = Counter(place.split("/")[0] for place in found)
    badge = re.compile(rf'<span class="verdict {slug(verdict)}">(\d+) ')
    assert counts.total() > 1

    def of_papers(page, row, end):
        parts = {p: re.search(row.format(p) + rf".*?(?={end}|\Z)", pages[page], re.S)[0] for p in evidence.headline("paper")}
        return Counter({paper: sum(map(int, badge.findall(part))) for paper, part in parts.items()}) + Counter()

    assert of_papers("book/index.html", r'<td><p><a class="reference internal" href="{}\.html">', "</tr>") == counts
    assert of_papers("book/scorecard.html", r'id="scorecard-{}"', "<details") == counts
    assert Counter({p: sum(map(int, badge.findall(pages[f"book/{p}.html"]))) for p in evidence.headline("paper")}) + Counter() == counts
    words = text_of(pages["book/deviations.html"])
    sentence = re.search(rf"{verdict.value.capitalize()} # Figures, tables and numbered statements of this kind so far: (.*?)\.", words)[1]
    numbers = [NUMBERS.index(n) if n in NUMBERS else int(n) for n in re.findall(rf"\b(?:{'|'.join(NUMBERS[1:])}|\d+)\b", sentence)]
    assert numbers == [counts[paper] for paper in evidence.headline("paper") if counts[paper]]


def test_front_page_promises_as_many_verdicts_as_there_are(pages):
    rows = [row for row in evidence.scorecard("paper") if not row.entry.extra and not row.entry.schematic]
    have = sum(row.verdict is not Verdict.NOT_YET for row in rows)
    words = text_of(pages["book/index.html"])
    said = "All" if have == len(rows) else f"{have} of the"
    assert f"{said} {len(rows)} figures, tables and numbered statements of the papers have one." in words
    assert have == len(rows) or "every figure" not in words


def test_pages_show_their_decisions_in_the_present_words_of_the_claims(pages, typeset):
    for row in evidence.scorecard("paper"):
        page = row.notebook and letters(pages[f"notebooks/{row.notebook}.html"])
        for claim, decision in row.claims:
            because = f"{decision.open_because}:" if decision.open_because else ""
            wrong = {**dict.fromkeys(ERRATA, "As printed:"), Verdict.NOT_REPRODUCED: "We had expected:"}
            line = f"{decision.word} {because} {wrong.get(decision.verdict, '')} {claim.statement}"
            found = told(decision).finding.rstrip(".")
            for words in filter(None, (line, found, claim.rule, claim.printed, claim.changed)):
                assert letters(typeset(html.escape(words))) in page, claim.id


def test_every_changed_rule_and_every_unprinted_setting_is_listed(pages, typeset):
    history, choices, score = (letters(pages[f"book/{name}.html"]) for name in ("history", "choices", "scorecard"))
    papers = evidence.headline("paper")
    for claim, _ in decided():
        of_paper = claim.id.split("/")[0] in papers
        for words, page in ((claim.changed, history), (claim.unprinted, choices)):
            assert not words or letters(typeset(html.escape(words))).rstrip(".") in page, claim.id
            assert not (words and of_paper) or letters(typeset(html.escape(words))).rstrip(".") in score, claim.id


def test_how_to_read_states_the_error_rates_of_the_whole_book(pages):
    rates, page = evidence.error_rates("paper"), text_of(pages["book/how_to_read.html"])
    assert f"Of {rates.decided} decisions {rates.without_noise} compare numbers without noise" in page
    for rule, of_rule in rates.by_rule.items():
        assert f"{rule} {of_rule.decisions} {of_rule.false_red:.2g} {of_rule.false_green:.2g}" in page
    if rates.by_rule:
        assert f"called false would be at most {100 * rates.false_red:.2g} % ." in page
        assert f"{rates.false_green:.2g} of them would on average still be green" in page


RAW_MATHS = r"""() => {
    const text = document.querySelector("article").cloneNode(true);
    text.querySelectorAll("pre, code, script, style, mjx-container").forEach(node => node.remove());
    const raw = text.textContent.match(/\\\(|\\\[|\$\$|\\begin\{/g) || [];
    const set = m => m.querySelector("mjx-container");
    const unset = [...document.querySelectorAll("article .math")].filter(m => !set(m));
    const wrong = document.querySelectorAll("mjx-merror, [data-mml-node=merror], mjx-container [fill=red]");
    return [raw.length, unset.length, wrong.length];
}"""
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


# Folds are opened, so that what they hide is looked at too.
OVERFLOWING = """() => {
    const article = document.querySelector("article");
    article.querySelectorAll("details").forEach(fold => fold.open = true);
    const edge = article.getBoundingClientRect().right;
    const blocks = [...article.querySelectorAll("pre, table, figure, svg[viewBox], img, mjx-container[display]")];
    const cut = node => node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== "inline";
    const inBoxes = node => {
        for (let box = node; box !== article; box = box.parentElement) if (box.clientWidth && cut(box)) return false;
        return node.getBoundingClientRect().right <= edge + 1;
    };
    const drawn = blocks.filter(node => !node.parentElement.closest("svg, mjx-container") && node.getClientRects().length);
    return [drawn.length, drawn.filter(node => !inBoxes(node)).map(node => node.outerHTML.slice(0, 80) + node.textContent.slice(0, 80))];
}"""
# Letters are paths: matplotlib scales a font of 100 points, and the page scales the drawing.
LETTERS = """() => [...document.querySelectorAll(".rfcore-panels > svg")].flatMap(svg => {
    const perPoint = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    return [...svg.querySelectorAll("g[transform*='scale(']")].filter(words => words.querySelector("use")).map(words =>
        100 * parseFloat(words.getAttribute("transform").match(/scale\\(([\\d.]+)/)[1]) * perPoint);
})"""


LINKS_SEEN = """() => [...document.querySelectorAll(".bd-sidebar-primary .bd-links a, .bd-sidebar-primary nav a")]
    .filter(link => link.checkVisibility()).length"""
# Of badges, in pixels: folds are opened first.
BADGES = """() => {
    document.querySelectorAll("article details").forEach(fold => fold.open = true);
    return [...document.querySelectorAll("article .verdict")].map(badge => badge.getBoundingClientRect().right);
}"""
WITHOUT_FIGURE = "notebooks/beyond/04_many_machines.html"
LEAD_AT = "document.querySelector('figure.lead')?.getBoundingClientRect().top ?? Infinity"
GUIDE = "notebooks/start/02_which_features.html"
WITH_VERDICTS = {f"book/{name}.html" for name in ("index", "how_to_read", "scorecard", "deviations", "choices", "history")}
SHARES = 4  # of the pages, so that both workers look at them


@in_a_browser("maths, scripts, widths, letters and badges of the pages were not looked at")
@pytest.mark.parametrize("share", range(SHARES))
def test_pages_in_a_browser_without_a_network(site, pages, share):
    """Each page at the width of a desktop and of a phone, everything but the pages' own server cut off."""
    assert CHROMIUM, "no Chromium: .ci/run installs it"
    faults, equations, letters = [], 0, 0
    with sync_playwright() as playwright:
        # No name is found and no other address answers. To intercept requests would do it, too, but every page would then fetch
        # and compile each script anew: an interception switches the browser's cache off.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, *CUT_OFF])
        tab = browser.new_context(viewport=WIDE, service_workers="block").new_page()
        tab.on("request", lambda r: r.url.startswith((site, "data:")) or faults.append((tab.url, f"asked for {r.url}")))
        tab.on("console", lambda message: message.type == "error" and faults.append((tab.url, message.text)))
        tab.on("pageerror", lambda error: faults.append((tab.url, str(error))))
        tab.on("response", lambda r: r.status >= 400 and faults.append((tab.url, f"{r.status}: {r.url}")))
        # One listing of source code stands for all.
        shown = [name for name in pages if not re.match("_modules/(rfcore|companion)/(?!theory)", name)]
        for name in shown[share::SHARES]:
            is_notebook = name.startswith("notebooks/")
            tab.set_viewport_size(WIDE)
            tab.goto(site + name, wait_until="load")
            if name == "index.html":  # sends the reader on to the front page
                tab.wait_for_url("**/book/index.html")
                continue
            if tab.query_selector("article") is None:  # search and index pages
                continue
            tab.add_style_tag(content=AT_ONCE)
            tab.evaluate("window.MathJax?.startup?.promise")
            if (raw := tab.evaluate(RAW_MATHS)) != [0, 0, 0]:
                faults.append((name, f"raw, unset, wrong maths: {raw}"))
            equations += tab.locator("mjx-container").count()
            if tab.query_selector("svg.svg-inline--fa animate"):  # what the script draws for an icon that it lacks
                faults.append((name, "an icon is missing"))
            if is_notebook:
                n_blocks, overflowing = tab.evaluate(OVERFLOWING)
                assert n_blocks, name
                faults += [(name, f"too wide for a laptop: {block}") for block in overflowing]
            links = tab.evaluate(LINKS_SEEN)
            if (is_notebook or name in ("book/index.html", "book/main_road.html")) and not 15 < links <= 34:
                faults.append((name, f"{links} links open in the navigation"))
            for size in (WIDE, DESKTOP, PHONE):
                tab.set_viewport_size(size)
                if (pixels := tab.evaluate(SIDEWAYS)) > 0:
                    faults.append((name, f"{pixels} pixels too wide at {size['width']}"))
                screens = 2 if size is PHONE else 1
                if is_notebook and name != WITHOUT_FIGURE and tab.evaluate(LEAD_AT) > screens * size["height"]:
                    faults.append((name, f"no figure in the first {screens} screens at {size['width']}"))
            sizes = tab.evaluate(LETTERS) if is_notebook else []
            letters += len(sizes)
            if (least := min(sizes, default=10)) < 10:
                faults.append((name, f"letters of {least:.1f} pixels on a phone"))
            if is_notebook or name in WITH_VERDICTS:
                ends = tab.evaluate(BADGES)
                assert ends or name == GUIDE, name  # which decides nothing
                faults += [(name, "a verdict is out of sight on a phone")] * (max(ends, default=0) > PHONE["width"])
        browser.close()
    assert not faults, "\n".join(map(str, faults))
    assert equations > 50 and letters > 0


GROUND_AND_INK = """() => {
    const hex = colour => "#" + colour.match(/\\d+/g).slice(0, 3).map(part => (+part).toString(16).padStart(2, "0")).join("");
    return [hex(getComputedStyle(document.body).backgroundColor), hex(getComputedStyle(document.querySelector(".rfcore-panels")).color)];
}"""


def notebook_pages(pages):
    return [name for name in pages if name.startswith("notebooks/")]


@in_a_browser("no colour was looked at")
def test_figures_are_drawn_in_the_quiet_text_of_either_theme(site, pages):
    name = next(name for name in notebook_pages(pages) if "rfcore-panels" in pages[name])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        found = []
        for scheme in ("light", "dark"):
            tab = browser.new_page(color_scheme=scheme)
            tab.goto(site + name, wait_until="load")
            found.append(tab.evaluate(GROUND_AND_INK))
        browser.close()
    assert dict(found) == INKS  # whose contrasts tests/test_plotting.py computes


SHOWN = "[...document.querySelector('.rfcore-frames .rfcore-panels').children].map(one => getComputedStyle(one).visibility)"
COLUMN = "[...document.querySelector('.rfcore-numbers').tBodies[0].rows].map(row => parseFloat(row.cells[1].textContent))"
SAID = "getComputedStyle(document.activeElement, '::after').content"


@pytest.mark.skipif(
    CHROMIUM is None and not os.environ.get("CI"), reason="no Chromium on this machine: nothing that moves was moved"
)
def test_sliders_heads_of_tables_and_dots_answer_the_keyboard(site):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport=PHONE)
        tab.goto(site + "notebooks/start/01_primer.html", wait_until="load")
        slider = tab.locator(".rfcore-frames input").first
        at = int(slider.input_value())
        assert at == 0  # a film begins at its beginning
        slider.press("ArrowRight")
        assert [k for k, one in enumerate(tab.evaluate(SHOWN)) if one == "visible"] == [1]
        assert slider.get_attribute("aria-valuetext") == tab.locator(".rfcore-frames output").first.inner_text()
        tab.goto(site + "notebooks/beyond/05_leaderboard.html", wait_until="load")
        head = tab.locator(".rfcore-numbers th button").nth(1)
        for way in (1, -1):
            head.press("Enter")
            column = [number for number in tab.evaluate(COLUMN) if number is not None]
            assert len(column) > 12 and column == sorted(column)[::way]
        tab.goto(site + "book/landscape.html", wait_until="load")
        dot = tab.locator(".dots .dot").nth(2)
        dot.focus()
        assert dot.get_attribute("aria-label") in tab.evaluate(SAID).replace('\\"', '"')
        dot.press("Enter")
        tab.wait_for_url("**/notebooks/**")
        browser.close()


VIEW = "notebooks/ugrf/13_meshes.html"


def test_3d_view_finds_its_script_in_the_site(built, loads):
    (script,) = (address for address in loads[VIEW].addresses if "plotly" in address)
    assert not re.match(r"(?:[a-z]+:)?/", script)
    assert "newPlot" in (built[1] / VIEW).parent.joinpath(script).read_text(encoding="utf-8")


ENTRY = re.compile(r'<li class="toctree-l\d[^"]*"><a class="[^"]*" href="[^"]*">\s*(.*?)\s*</a>', re.S)



def test_a_verdict_in_prose_names_the_sentence_that_it_is_of_and_leads_to_its_section(pages):
    claims = {claim.id: (entry.anchor, " ".join(claim.statement.split())) for entry in evidence.entries() for claim in entry.claims}
    seen = 0
    for name in (name for name in pages if name.startswith("notebooks/")):
        source, page = ROOT / Path(name).with_suffix(".py"), pages[name]
        links = re.findall(r'<span class="verdict [\w-]+"><a [^>]*href="[^"]*#([^"]+)" title="([^"]*)"', page)
        cited = re.findall(r"\{verdict\}`([^`]+)`", source.read_text(encoding="utf-8"))
        assert {claims[claim] for claim in cited} <= {(anchor, html.unescape(said)) for anchor, said in links}, name
        seen += len(cited)
    assert seen > 20


def test_no_title_in_the_navigation_is_longer_than_six_words(pages):
    titles = [text_of(title) for title in ENTRY.findall(pages["book/index.html"])]
    assert len(titles) > 90
    assert [title for title in titles if len(title.split()) > 6] == []


def road(pages):
    """Pages of the main road, in the order of the navigation."""
    chapter = re.search(r'href="main_road\.html">.*?</details>', pages["book/index.html"], re.S)[0]
    return re.findall(r'href="\.\./(notebooks/[^"]+\.html)"', chapter)


def test_each_page_of_the_main_road_ends_in_exercises_and_a_door_to_the_next(pages):
    names = road(pages)
    assert len(names) == 12
    for name, following in zip(names, [*names[1:], "notebooks/start/02_which_features.html"], strict=True):
        page = pages[name]
        (door,) = re.findall(r'<div class="door admonition">.*?</div>', page, re.S)
        (target,) = re.findall(r'<a class="reference internal" href="([^"#]+)"', door)
        assert posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) == following
        before = page[: page.index(door)]
        ending = text_of(before[before.rindex("Two exercises") :])
        assert ending.count("Solution") == ending.count("What you should see") == 1
    assert [name for name in pages if "door admonition" in pages[name]] == sorted(names)


def test_the_front_page_tells_findings_with_the_numbers_of_the_ledger(pages):
    told_there = tomllib.loads((ROOT / "book" / "front_page.toml").read_text(encoding="utf-8"))["finding"]
    decisions, words = evidence.decisions("paper"), text_of(pages["book/index.html"])
    assert len(told_there) == 3
    for one in told_there:
        decision = decisions[one["claim"]]
        assert decision.verdict.green and f'notebooks/{one["page"]}.html' in pages["book/index.html"]
        sentence = told(replace(decision, claim=replace(decision.claim, finding=one["sentence"]), se=None)).finding
        unnumbered, *numbers = re.split(r"(\d+\.\d+)", text_of(sentence))
        shown = re.search(r"(\d+\.\d+)".join(map(re.escape, [unnumbered, *numbers[1::2]])), words)
        assert numbers and [float(n) for n in shown.groups()] == pytest.approx([float(n) for n in numbers[::2]], rel=0.05)
        assert f'Price: {one["price"]}' in words


def test_the_lines_of_the_front_page_estimate_their_kernel(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "book" / "index.md").read_text(encoding="utf-8"), re.S)
    assert len(block.splitlines()) <= 7
    exec(compile(block, "index.md", "exec"), {})
    chosen, independent = map(float, capsys.readouterr().out.split())
    assert 0 < chosen < independent < 0.3


@pytest.mark.skipif(CHROMIUM is None and not os.environ.get("CI"), reason="no Chromium on this machine: nothing was moved")
def test_the_guide_says_how_many_frequencies_an_error_takes(site):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        bare = browser.new_page(java_script_enabled=False)
        bare.goto(site + GUIDE, wait_until="load")
        sentence = bare.text_content(".how-many output")
        tab = browser.new_page(viewport=DESKTOP)
        tab.goto(site + GUIDE, wait_until="load")
        assert tab.text_content(".how-many output") == sentence  # what the script says, and what is there without it
        for slider, key in enumerate(("Home", "End", "Home")):
            tab.locator(".how-many input").nth(slider).press(key)
        said = tab.text_content(".how-many output")
        browser.close()
    m = n_frequencies(0.1, d=2, distance=3.0)
    independent = math.ceil(theory.one_frequency_mse(3.0, "fourier") / 0.1**2)
    assert said.startswith(f"In 2 dimensions, at distance 3, an error of 0.1 takes {m} frequencies (")
    assert said.endswith(f"which are {2 * m} columns; independent ones, {independent}.")


@pytest.mark.skipif(CHROMIUM is None and not os.environ.get("CI"), reason="no Chromium on this machine: nothing was moved")
def test_the_figure_of_the_front_page_answers_to_the_keyboard(site):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        bare = browser.new_page(java_script_enabled=False)
        bare.goto(f"{site}book/index.html", wait_until="load")
        sentence = bare.text_content(".front-figure output")
        tab = browser.new_page(viewport=DESKTOP)
        tab.goto(f"{site}book/index.html", wait_until="load")
        assert tab.text_content(".front-figure output") == sentence  # what the script says, and what is there without it
        tab.focus(".front-figure input")
        before = tab.get_attribute(".front-figure circle.marker", "cx")
        for _ in range(20):
            tab.keyboard.press("ArrowRight")
        moved, said = tab.get_attribute(".front-figure circle.marker", "cx"), tab.text_content(".front-figure output")
        assert float(moved) > float(before) and said.startswith("At distance 2.00 the error of a tight frame is ")
        share = int(re.search(r"is (\d+) %", said)[1])
        assert abs(share / 100 - couplings.choose(m=500, d=16).rmse_over_iid[2.0]) < 0.006
        assert tab.evaluate("document.querySelector('.doors').getBoundingClientRect().bottom") < DESKTOP["height"]
        browser.close()
