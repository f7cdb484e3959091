"""The book as readers use it, in a browser without a network: searched, on a phone, on paper, by keyboard, by ear."""

import importlib
import importlib.util
import json
import re
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from book_site import AT_ONCE, CHROMIUM, DESKTOP, DRAWING, FLAGS, PHONE, ROOT, in_a_browser
from contrast import contrast
from playwright.sync_api import sync_playwright

from companion import citations

AXE = Path(next(iter(importlib.util.find_spec("axe_playwright_python").submodule_search_locations))) / "axe.min.js"
CHOOSING = "notebooks/couplings/11_choosing.html"
VIEW = "notebooks/ugrf/13_meshes.html"
SAMPLE = [  # the landing page, one page of each kind and folder
    "book/index.html", "book/simplex.html", "book/deviations.html", "book/api/walks.html", "book/glossary.html", VIEW, CHOOSING,
    "notebooks/start/01_primer.html", "notebooks/simplex/03_best_arrangement.html", "notebooks/favor/02_unbiased_features.html",
    "notebooks/equivalence/01_optimal_law.html", "notebooks/beyond/01_in_a_pipeline.html", "search.html?q=attention",
]  # fmt: skip
# A query, and the page that belongs among the first two.
FOUND = {
    "which coupling": CHOOSING,
    "Table 3": "notebooks/simplex/12_fast_variants.html",
    "attention": "notebooks/road/08_attention.html",
    "why": "notebooks/couplings/07_common_scale.html",
    "which features": "notebooks/start/02_which_features.html",
    "traffic": "notebooks/couplings/22_traffic.html",
    "gpu": "book/benchmarks.html",
    "flax": "book/in_your_own_work.html",
    "pytorch": "book/in_your_own_work.html",
    "install": "book/in_your_own_work.html",
    "which features for 64 dimensions": "notebooks/start/02_which_features.html",
    "graph 100000 nodes": "notebooks/start/02_which_features.html",
    "gaussian process tutorial": "notebooks/road/12_a_town.html",
    "speed": "book/benchmarks.html",
    "bandwidth": "notebooks/start/02_which_features.html",
    "nystrom": "notebooks/start/02_which_features.html",
    "cite": "book/how_to_cite.html",
    "causal attention": "notebooks/beyond/09_learn_and_generate.html",
    "orthogonal vs simplex": "notebooks/road/01_directions.html",
    "random walk": "notebooks/road/10_walks.html",
    "walk_features": "book/api/features.html#rfcore.features.walk_features",
}
HEAVIEST = 1_500_000  # bytes of a page with what it loads, without MathJax, plotly and the numbers of meshes


@pytest.fixture(scope="module")
def chromium():
    assert CHROMIUM, "no Chromium: .ci/run installs it"
    with sync_playwright() as playwright:
        yield playwright.chromium


@pytest.fixture(scope="module")
def browser(chromium):
    browser = chromium.launch(executable_path=CHROMIUM, args=FLAGS)
    yield browser
    browser.close()


def opened(browser, address, viewport=DESKTOP, theme="light"):
    """A tab on a page, and what went wrong on it so far: a list that goes on growing."""
    tab, faults = browser.new_page(viewport=viewport, color_scheme=theme), []
    tab.on("console", lambda message: message.type == "error" and faults.append(message.text))
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.goto(address, wait_until="load")
    tab.evaluate("window.MathJax?.startup?.promise")
    return tab, faults


@in_a_browser("nothing was searched for")
def test_a_search_puts_first_what_its_titles_say_in_a_book_that_is_opened_from_a_disk(browser, built, pages):
    for query, page in FOUND.items():
        if page.split("#")[0] not in pages:
            assert page == FOUND["which features"], page  # the guide, which is being written
            continue
        tab, faults = opened(browser, f"{(built[1] / 'search.html').as_uri()}?q={query}")
        tab.wait_for_function("document.querySelectorAll('#search-results li a').length > 0")
        first = tab.evaluate("[...document.querySelectorAll('#search-results li a')].slice(0, 2).map(link => link.getAttribute('href'))")
        assert page in first, (query, first)
        assert faults == []
        tab.close()


@in_a_browser("nothing was searched for")
def test_a_search_quotes_the_words_of_the_pages(browser, built):
    tab, faults = opened(browser, f"{(built[1] / 'search.html').as_uri()}?q=antithetic")
    # Excerpts come one by one, and not every one holds the word: the page may have matched by its title.
    excerpts = "[...document.querySelectorAll('#search-results p.context')]"
    tab.wait_for_function(f"{excerpts}.filter(p => /antithetic/i.test(p.textContent)).length > 4")
    assert faults == []
    tab.close()


def test_what_a_search_quotes_is_no_markup(built):
    script = (built[1] / "_static" / "excerpts.js").read_text(encoding="utf-8")
    quoted = json.loads(script.partition(" = ")[2].partition(";\nwindow.WANTED")[0])
    assert len(quoted) > 80 and sum(map(len, quoted.values())) > 500_000
    words = {page: re.sub(r"<[^>]*>", " ", text) for page, text in quoted.items()}
    raw = re.compile(r"\\[a-zA-Z]+|\$\$|" + "|".join(rf"\b{key}\b" for key in citations.entries()))
    assert [(page, raw.findall(text)[0]) for page, text in words.items() if raw.search(text)] == []
    tex = [page for page, text in words.items() if re.search(r"[_^]\{", text)]
    assert [page for page in tex if not page.startswith("book/api/")] == []  # docstrings write sums so
    slug = re.compile(r"\( ?\d\d_[a-z_]+ ?\)")
    assert [(page, slug.findall(text)[0]) for page, text in words.items() if slug.search(text)] == []


def test_no_page_loads_much(built, pages, loads):
    """Itself, style sheets, scripts and the fonts of icons; the index is for its own page, and a gallery is lazy."""
    fonts = sum(path.stat().st_size for path in (built[1] / "_static" / "vendor" / "fontawesome").rglob("*.ttf"))
    assert fonts < 40_000
    for name, page in pages.items():
        if name == "search.html":
            continue
        folder = (built[1] / name).parent
        sources = {address.partition("?")[0] for address in loads[name].addresses if not address.startswith("data:")}
        sources |= {address.partition("?")[0] for address in re.findall(r'<script[^>]*\bsrc="([^"]+)"', page)}
        assert not any(source.endswith("searchindex.js") for source in sources), name
        loaded = {(folder / source).resolve() for source in sources if not re.search("tex-svg-full|plotly|gallery/", source)}
        meshes = sum(map(len, re.findall(r"Plotly\.newPlot\((.*?)\)</script>", page, re.S)))
        total = len(page.encode()) - meshes + fonts + sum(path.stat().st_size for path in loaded)
        assert total < HEAVIEST, f"{name}: {total / 1e6:.2f} MB"


def test_style_sheets_keep_what_pages_and_scripts_use(built, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    offline_assets = importlib.import_module("offline_assets")
    kept = ("a:hover", ".used", "h1, .unused", ".unused, .used a", ".used:not(.unused, .other)", ":is(.unused, .used) p", ".bs-tooltip-top .used")
    gone = (".unused", ".used .unused", ".unused:hover, .used.unused > a", ".used:not(.x) .unused")
    assert all(offline_assets.is_used(selectors, {"used"}) for selectors in kept)
    assert not any(offline_assets.is_used(selectors, {"used"}) for selectors in gone)
    theme = (built[1] / "_static" / "styles" / "pydata-sphinx-theme.css").read_text(encoding="utf-8")
    assert 50_000 < len(theme) < 160_000 and theme.count("{") == theme.count("}")
    assert ".bd-sidebar-primary" in theme and ".fa-solid" in theme and ".fa-github:before" not in theme and "@media" in theme


def test_classes_that_scripts_give_keep_their_styles(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    offline_assets = importlib.import_module("offline_assets")
    static = tmp_path / "_static"
    for path, text in {
        static / "scripts" / "fontawesome.js": "",
        static / "styles" / "pydata-sphinx-theme.css": "",
        static / "own.js": "box.classList.add('by-file')",
        static / "own.css": ".by-file{a:b}.by-page{a:b}@media print{.shown{a:b}.nowhere{a:b}}.nowhere .shown{a:b}",
        tmp_path / "page.html": '<p class="shown">a</p><script>if (1 < 2) p.className = "by-page"</script>',
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    offline_assets.trim(SimpleNamespace(outdir=tmp_path), None)
    assert (static / "own.css").read_text(encoding="utf-8") == ".by-file{a:b}.by-page{a:b}@media print{.shown{a:b}}"


# Every commit looks at each page of the sample in one theme, the night at all of them in both.
IN_ONE_THEME = [pytest.param(theme, SAMPLE[i::2], id=theme) for i, theme in enumerate(("light", "dark"))]
IN_BOTH = [pytest.param(theme, SAMPLE, id=f"{theme}-all", marks=pytest.mark.nightly) for theme in ("light", "dark")]


@in_a_browser("axe did not run")
@pytest.mark.parametrize("theme, sample", IN_ONE_THEME + IN_BOTH)
def test_axe_finds_nothing_serious(browser, site, theme, sample):
    """In the dark colours alone: all else is the same. The scorecard's two hundred folds stay closed.

    What lies outside landmarks is moderate, never serious, and a tenth of the work.
    """
    rules = "runOnly: ['color-contrast']" if theme == "dark" else "rules: {region: {enabled: false}}"
    tab, _ = opened(browser, f"{site}{SAMPLE[0]}", theme=theme)
    serious = []
    for name in [*sample, "book/scorecard.html"]:
        tab.goto(f"{site}{name}", wait_until="load")
        tab.add_style_tag(content=AT_ONCE)
        tab.evaluate("window.MathJax?.startup?.promise")
        if name.startswith("search"):
            tab.wait_for_selector("#search-results p.context")
        elif "scorecard" not in name:
            tab.evaluate("document.querySelectorAll('article details').forEach(fold => { fold.open = true; })")
        tab.evaluate(AXE.read_text(encoding="utf-8"))
        found = tab.evaluate(f"axe.run(document, {{resultTypes: ['violations'], {rules}}})")["violations"]
        serious += [(name, v["id"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in ("serious", "critical")]
    tab.close()
    assert serious == [], serious


@in_a_browser("no colour was looked at")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_sign_beside_a_heading_can_be_seen(browser, site, theme):
    tab, _ = opened(browser, f"{site}{CHOOSING}", theme=theme)
    tab.locator("article h2").first.hover()
    sign, ground = tab.evaluate("""() => {
        const hex = colour => "#" + colour.match(/\\d+/g).slice(0, 3).map(part => (+part).toString(16).padStart(2, "0")).join("");
        const sign = document.querySelector("article h2 a.headerlink");
        if (getComputedStyle(sign).visibility !== "visible" || getComputedStyle(sign).opacity !== "1") return ["#ffffff", "#ffffff"];
        return [hex(getComputedStyle(sign).color), hex(getComputedStyle(document.body).backgroundColor)];
    }""")
    tab.close()
    assert contrast(sign, ground) >= 4.5


@in_a_browser("no box was scrolled")
def test_what_goes_on_beyond_the_edge_of_a_phone_fades_there_and_the_keyboard_reaches_it(browser, site):
    tab, _ = opened(browser, f"{site}{CHOOSING}", PHONE)
    tab.wait_for_function("document.querySelector('article pre.goes-on') && document.querySelector('article .rfcore-table > .goes-on')")
    for kind in ("pre.goes-on", ".rfcore-table > .goes-on"):
        box = tab.locator(f"article {kind}").first.element_handle()
        assert box.evaluate("box => getComputedStyle(box).maskImage").startswith("linear-gradient")
        assert box.evaluate("box => box.tabIndex") == 0
        box.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
        tab.wait_for_function("box => !box.classList.contains('goes-on')", arg=box)
    tab.close()


@in_a_browser("no line was broken")
def test_punctuation_stays_on_the_line_of_its_formula(browser, site):
    tab, _ = opened(browser, f"{site}notebooks/simplex/01_conformity_and_error.html", PHONE)
    tab.evaluate("new Promise(requestAnimationFrame)")
    on_one_line = tab.evaluate("""() => [...document.querySelectorAll("article span.math")].flatMap(formula => {
        const after = formula.nextSibling, sign = document.createRange();
        if (formula.offsetWidth > 200 || after?.nodeType !== Node.TEXT_NODE || !/^[,.;:)]/.test(after.data)) return [];
        sign.setStart(after, 0);
        sign.setEnd(after, 1);
        const [left, right] = [formula, sign].map(drawn => drawn.getBoundingClientRect());
        return [left.right <= right.left + 1];
    })""")
    assert len(on_one_line) > 10 and all(on_one_line)
    tab.close()


@in_a_browser("no line was opened")
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_what_opens_below_a_line_is_seen_to_its_left_edge(browser, site, viewport):
    tab, _ = opened(browser, f"{site}book/deviations.html", viewport)
    seen = tab.evaluate("""() => {
        const fold = document.querySelector(".entry-row > details.entry:not(details details)");
        for (let around = fold; around; around = around.parentElement.closest("details")) around.open = true;
        const word = fold.querySelector("dt"), box = word.getBoundingClientRect();
        scrollBy(0, box.top - 300);
        return word.contains(document.elementFromPoint(box.left + 5, 300 + box.height / 2));
    }""")
    assert seen
    tab.close()


ON_PAPER = """() => {
    const article = document.querySelector("article"), edge = document.documentElement.clientWidth;
    const blocks = [...article.querySelectorAll("table, pre, figure, svg[viewBox], img, mjx-container[display]")];
    const seen = blocks.filter(node => node.getClientRects().length && !node.parentElement.closest("svg, mjx-container"));
    const cut = seen.filter(node => node.getBoundingClientRect().right > edge + 1 || (node.tagName === "PRE" && node.scrollWidth > node.clientWidth + 1));
    const clipped = seen.filter(node => node.tagName === "PRE" && getComputedStyle(node).overflowX !== "visible");
    const folds = [...article.querySelectorAll("details.hide:not([open])")].filter(fold => fold.getClientRects().length);
    const titles = [...document.querySelectorAll("h1")].filter(title => title.getClientRects().length);
    return [seen.length, cut.map(node => node.outerHTML.slice(0, 120)), clipped.length, folds.length, titles.length];
}"""


@in_a_browser("nothing was printed")
def test_on_paper_nothing_is_cut_and_nothing_is_empty(browser, site):
    """A4 less its margins; code that scrolls would be moved to the next page and leave its frame behind."""
    tab = browser.new_page(viewport={"width": 688, "height": 1000})
    tab.emulate_media(media="print")
    for name in ("notebooks/ugrf/11_why_a_tenth.html", CHOOSING, VIEW, "notebooks/simplex/01_conformity_and_error.html", "book/choices.html"):
        tab.goto(f"{site}{name}", wait_until="load")
        tab.evaluate("window.MathJax?.startup?.promise")
        tab.evaluate("document.querySelectorAll('article details.entry').forEach(fold => { fold.open = true; })")
        n_blocks, cut, clipped, folds, titles = tab.evaluate(ON_PAPER)
        assert n_blocks > 3 or name.startswith("book/"), name
        assert (cut, clipped, folds, titles) == ([], 0, 0, 1), name
    tab.close()


@in_a_browser("the 3D view was not drawn")
def test_3d_view_is_drawn_turns_by_mouse_and_keyboard_and_is_printed(chromium, site):
    eye = "document.querySelector('#teapot-normals').layout.scene.camera.eye"
    browser = chromium.launch(executable_path=CHROMIUM, args=DRAWING)
    tab = browser.new_page(viewport=DESKTOP, color_scheme="dark")
    tab.goto(site + VIEW, wait_until="load")
    tab.wait_for_selector("#teapot-normals .gl-container canvas", state="attached")
    assert tab.evaluate("document.querySelector('#teapot-normals').data.length") == 1
    behind = "getComputedStyle(document.querySelector('.rfcore-view').parentElement).backgroundColor"
    assert tab.evaluate(behind) == "rgba(0, 0, 0, 0)"  # no pale box in the dark
    tab.focus("#teapot-normals")
    for key, axis in (("ArrowRight", "x"), ("ArrowUp", "z")):
        before = tab.evaluate(eye)[axis]
        tab.keyboard.press(key)
        tab.wait_for_function(f"Math.abs({eye}.{axis} - {before}) > 0.05")
    before, box = tab.evaluate(eye), tab.locator("#teapot-normals").bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] / 2 + 120, box["y"] + box["height"] / 2, steps=4)
    tab.mouse.up()
    tab.wait_for_function(f"Math.abs({eye}.x - {before['x']}) > 0.05")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    colours = tab.evaluate("""() => {
        const copy = document.querySelector(".rfcore-view canvas.printed");
        const { data } = copy.getContext("2d").getImageData(0, 0, copy.width, copy.height);
        const seen = new Set();
        for (let i = 0; i < data.length; i += 400) seen.add(`${data[i]} ${data[i + 1]} ${data[i + 2]}`);
        return [seen.size, document.documentElement.dataset.theme];
    }""")
    assert colours[0] > 5 and colours[1] == "light"
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.evaluate("[document.querySelectorAll('.printed').length, document.documentElement.dataset.theme]") == [0, "dark"]
    eyes = []
    for size in (DESKTOP, PHONE):
        tab.set_viewport_size(size)
        tab.goto(site + VIEW, wait_until="load")
        tab.wait_for_selector("#teapot-normals .gl-container canvas", state="attached")
        eyes.append(tab.evaluate(f"{eye}.y"))
    assert eyes[1] < 1.5 * eyes[0] < 0  # on a phone the camera steps back, and the mesh keeps its sides
    browser.close()


@in_a_browser("nothing was saved")
def test_a_figure_is_saved_as_it_stands_on_the_page(browser, site, tmp_path):
    tab, faults = opened(browser, f"{site}notebooks/beyond/10_functions.html", theme="dark")
    for i, panels in ((0, 1), (1, 6)):  # of those that a slider shows, the one that is seen
        for kind in ("SVG", "PNG"):
            with tab.expect_download() as download:
                tab.locator(".save-figure").nth(i).get_by_role("button", name=kind).click()
            assert download.value.suggested_filename == f"beyond-10_functions-{i + 1}.{kind.lower()}"
            download.value.save_as(tmp_path / kind)
        drawing = ElementTree.parse(tmp_path / "SVG").getroot()
        assert len(drawing.findall("{*}svg")) == panels and drawing.get("color") == "#222"
        assert (tmp_path / "PNG").read_bytes()[:4] == b"\x89PNG"
    assert faults == []
    tab.close()


@in_a_browser("no slider was moved")
def test_sliders_change_what_they_stand_at_by_keyboard(browser, site, pages):
    with_sliders = [name for name, page in pages.items() if re.search(r'<article.*<input[^>]*type="range"', page, re.S)]
    if not with_sliders:
        pytest.skip("no page has a slider yet")
    for name in with_sliders:
        tab, faults = opened(browser, f"{site}{name}")
        for slider in tab.locator("article input[type=range]").all():
            assert slider.evaluate("input => Boolean(input.labels.length || input.ariaLabel || input.getAttribute('aria-labelledby'))"), name
            around = slider.evaluate_handle("input => input.closest('figure') || input.parentElement.parentElement")
            before = around.evaluate("box => box.innerHTML"), slider.input_value()
            slider.focus()
            tab.keyboard.press("ArrowRight" if before[1] != slider.get_attribute("max") else "ArrowLeft")
            assert slider.input_value() != before[1] and around.evaluate("box => box.innerHTML") != before[0], name
        assert faults == []
        tab.close()


@pytest.fixture
def road(monkeypatch, built):
    monkeypatch.syspath_prepend(ROOT / "book")
    pdf = importlib.import_module("pdf")
    monkeypatch.setattr(pdf, "HTML", built[1])
    return pdf


def test_the_main_road_comes_from_the_contents(road):
    chapters = [{"file": "a", "sections": [{"file": "b"}]}, {"file": "c"}]
    assert road.main_road({"parts": [{"caption": "Start"}, {"caption": "Main road", "chapters": chapters}]}) == ["a", "b", "c"]
    with pytest.raises(SystemExit, match="no part with the caption 'Main road'"):
        road.main_road({"parts": [{"caption": "Start", "chapters": chapters}]})


@in_a_browser("nothing was printed")
def test_pages_are_bound_into_one_whose_links_lead_within_it(browser, built, road, tmp_path):
    pages = ["notebooks/start/01_primer", "notebooks/simplex/01_conformity_and_error"]
    text = road.bound(pages)
    names = re.findall(r'<(?!svg|g|path|use|defs|clipPath|symbol)\w+[^>]*\bid="([^"]+)"', re.sub(r"<svg.*?</svg>", "", text, flags=re.S))
    article = text[text.index("<article") : text.rindex("</article>")]
    targets = set(re.findall(r'href="#([^"]+)"', re.sub(r"<svg.*?</svg>", "", article, flags=re.S)))
    assert len(names) == len(set(names)) and targets <= set(names) and set(pages) <= targets
    assert not re.search(r'<a\b[^>]*\bhref="(?!#|[a-z]+:)', article), "an address that no reader has"
    whole = built[1] / "_static" / "bound" / "main_road.html"  # as deep as a notebook's page
    whole.parent.mkdir(exist_ok=True)
    whole.write_text(text, encoding="utf-8")
    tab, faults = opened(browser, whole.as_uri())
    tab.pdf(path=tmp_path / "road.pdf")
    assert (tmp_path / "road.pdf").read_bytes().startswith(b"%PDF") and faults == []
    tab.close()
