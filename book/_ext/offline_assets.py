"""Scripts of the pages, from installed packages into the built site, so that no page needs a network."""

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

# package, path inside it
ASSETS = [
    ("mathjax", "static/mathjax/es5/tex-svg-full.js"),
    ("plotly", "package_data/plotly.min.js"),  # notebooks with a 3D view ask for ../../_static/vendor/plotly.min.js
]


def copy_assets(app, exception):
    if exception or app.builder.format != "html":
        return
    target = Path(app.outdir) / "_static" / "vendor"
    target.mkdir(parents=True, exist_ok=True)
    for package, path in ASSETS:
        source = Path(next(iter(find_spec(package).submodule_search_locations))) / path
        shutil.copyfile(source, target / source.name)


def without_formulas(app, pagename, templatename, context, doctree):
    """A page without a formula need not load the 2 MB that set them; Sphinx asks for them where a page below has one."""
    if doctree is not None and not app.env.get_domain("math").data["has_equations"].get(pagename):
        context["script_files"][:] = [one for one in context["script_files"] if "MathJax" not in str(one) and "tex-svg" not in str(one)]


# name: [width, height, [aliases], code, path or two paths]
ICON = re.compile(r'"?([a-z0-9-]+)"?:\[\d+,\d+,\[[^\]]*\],"[0-9a-f]+",(?:"[^"]*"|\["[^"]*","[^"]*"\])\],?')
# The same icons as letters of a font, whose compressed form fontTools cannot cut down without another package.
LETTER = re.compile(r'(?:\.fa-[\w-]+:before,?)+\{content:"[^"]*"\}')
COMPRESSED = re.compile(r'url\([^)]*\.woff2\) format\("woff2"\),')
PRIVATE = re.compile(r"\\(f[0-9a-f]{3})\b|([\uf000-\uf8ff])")  # where a font keeps its icons: as a code or as itself


def trim(app, exception):
    """Of what each page loads, leave out what no page shows: 2 MB of icons, and half of the style sheets."""
    static = Path(app.outdir, "_static")
    if exception or not (static / "scripts" / "fontawesome.js").exists():
        return
    classes, words = set(), set()  # of pages; and what may be a class that a script gives
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        classes.update(*(found.split() for found in re.findall(r'class="([^"]*)"', text)))
        words.update(*(re.findall(r"[\w-]+", script) for script in re.findall(r"<script[^>]*>(.*?)</script>", text, re.S)))
    trim_icons(static, classes)
    for path in static.rglob("*.js"):
        if path.parent.name != "vendor" and path.name != "excerpts.js":
            words.update(re.findall(r"[\w-]+", path.read_text(encoding="utf-8")))
    for path in static.rglob("*.css"):
        sheet = path.read_text(encoding="utf-8")
        path.write_text(RULE.sub(lambda rule: rule[0] if is_used(rule[1], classes | words) else "", sheet), encoding="utf-8")


# A rule and its selectors, within @media or not; and what a selector may hold besides classes that must be there.
RULE = re.compile(r"([^{}@;/]+)\{[^{}]*\}")
OPTIONAL = re.compile(r":(?:not|is|where|has)\([^()]*(?:\([^()]*\)[^()]*)*\)")
PUT_TOGETHER = ("bs-", "tooltip", "popover")  # names that scripts make of parts


def is_used(selectors, used):
    """Whether a page may hold what one of the selectors asks for."""
    for selector in OPTIONAL.sub("", selectors).split(","):
        if all(name in used or name.startswith(PUT_TOGETHER) for name in re.findall(r"\.(-?[a-zA-Z_][\w-]*)", selector)):
            return True
    return False


def trim_icons(static, classes):
    """As drawings and as letters of a font the theme brings two thousand icons; the pages show some twenty."""
    script, sheet = static / "scripts" / "fontawesome.js", static / "styles" / "pydata-sphinx-theme.css"
    text = script.read_text(encoding="utf-8")
    script.write_text(ICON.sub(lambda icon: icon[0] if f"fa-{icon[1]}" in classes else "", text), encoding="utf-8")
    sheet.write_text(COMPRESSED.sub("", LETTER.sub("", sheet.read_text(encoding="utf-8"))), encoding="utf-8")
    found = [letter for path in static.rglob("*.css") for letter in PRIVATE.findall(path.read_text(encoding="utf-8"))]
    letters = {int(code, 16) if code else ord(itself) for code, itself in found}
    for path in (static / "vendor" / "fontawesome" / "webfonts").glob("*.ttf"):
        with TTFont(path) as font:
            cut = subset.Subsetter()
            cut.populate(unicodes=letters)
            cut.subset(font)
            font.save(path)


def setup(app):
    app.connect("html-page-context", without_formulas, priority=600)  # after Sphinx has added the script
    app.connect("build-finished", copy_assets)
    app.connect("build-finished", trim, priority=950)  # after page_furniture.py has written
    return {"parallel_read_safe": True, "parallel_write_safe": True}
