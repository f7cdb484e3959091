"""The main road as one PDF: the pages of that part of _toc.yml, as Chromium prints them from the built book, one after the other.

Links between them lead within the PDF; links to other pages of the book are words.
"""

import os
import re
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote

import yaml
from bs4 import BeautifulSoup
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
HTML, PDF = ROOT / "_build" / "html", ROOT / "_build" / "random-features.pdf"
PART = "Main road"


def main_road(toc):
    """Names of the pages of the part, sections of chapters included."""
    for part in toc.get("parts", ()):
        if part.get("caption") == PART:
            return [page["file"] for chapter in part["chapters"] for page in (chapter, *chapter.get("sections", ()))]
    raise SystemExit(f"_toc.yml has no part with the caption {PART!r}, whose pages are the PDF's")


def article(page, road):
    """A page's article; its names begin with the page's own, so that those of two pages differ."""
    soup = BeautifulSoup((HTML / f"{page}.html").read_text(encoding="utf-8"), "html.parser").article
    for tag in soup.select("[id]"):
        if not tag.find_parent("svg") and not tag.find_parent(class_="rfcore-view"):
            tag["id"] = f"{page}:{tag['id']}"
    for tag in soup.select("[src]"):
        tag["src"] = os.path.relpath((HTML / page).parent / tag["src"], (HTML / road[0]).parent)
    for link in soup("a", href=True):
        if re.match(r"[a-z]+:", link["href"]):
            continue
        path, _, name = unquote(link["href"]).partition("#")
        target = os.path.normpath(Path(page).parent / path).removesuffix(".html") if path else page
        if target in road:
            link["href"] = f"#{target}:{name}" if name else f"#{target}"
        else:
            del link["href"]
    soup["id"], soup["style"] = page, "break-before: page"
    return soup


def bound(road):
    """All pages in one, with the head of the first, in whose folder it stands: style sheets and MathJax are found from there."""
    soup = BeautifulSoup((HTML / f"{road[0]}.html").read_text(encoding="utf-8"), "html.parser")
    pages = [article(page, road) for page in road]
    for script in soup("script"):
        if not re.search("MathJax|tex-svg|page.js", str(script)):
            script.decompose()  # of the furniture, which paper has none of
    soup.html["data-theme"] = "light"
    place = soup.body
    place.clear()
    for name in ("bd-main", "bd-content", "bd-article-container"):
        place.append(inner := soup.new_tag("div", attrs={"class": name}))
        place = inner
    cover = BeautifulSoup('<article class="bd-article"><h1>Random features, re-run: the main road</h1><ol></ol></article>', "html.parser")
    for page in pages:
        entry = BeautifulSoup(f'<li><a href="#{page["id"]}"></a></li>', "html.parser")
        entry.a.string = page.h1.get_text().removesuffix("#")
        cover.ol.append(entry)
    for part in (cover, *pages):
        place.append(part)
    return str(soup)


def main():
    """Print."""
    road = main_road(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8")))
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        raise SystemExit("Chromium prints the PDF, and is not installed: see .ci/run")
    whole = (HTML / road[0]).with_name("main_road.html")
    whole.write_text(bound(road), encoding="utf-8")
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium,
                args=["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
            )
            page = browser.new_page(color_scheme="light")
            page.goto(whole.as_uri(), wait_until="load", timeout=180_000)
            page.evaluate("window.MathJax?.startup?.promise")
            foot = '<div style="width: 100%; font-size: 8px; text-align: center"><span class="pageNumber"></span></div>'
            page.pdf(path=PDF, format="A4", prefer_css_page_size=False, display_header_footer=True, header_template="<i></i>",
                     footer_template=foot, outline=True, tagged=True)  # fmt: skip
            browser.close()
    finally:
        whole.unlink()
    print(f"{len(road)} pages of the book in {PDF.relative_to(ROOT)}, {PDF.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    sys.exit(main())
