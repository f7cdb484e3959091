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


# name: [width, height, [aliases], code, path or two paths]
ICON = re.compile(r'"?([a-z0-9-]+)"?:\[\d+,\d+,\[[^\]]*\],"[0-9a-f]+",(?:"[^"]*"|\["[^"]*","[^"]*"\])\],?')
# The same icons as letters of a font, whose compressed form fontTools cannot cut down without another package.
LETTER = re.compile(r'(?:\.fa-[\w-]+:before,?)+\{content:"[^"]*"\}')
COMPRESSED = re.compile(r'url\([^)]*\.woff2\) format\("woff2"\),')
PRIVATE = re.compile(r"\\(f[0-9a-f]{3})\b|([\uf000-\uf8ff])")  # where a font keeps its icons: as a code or as itself


def trim_icons(app, exception):
    """The theme brings two thousand icons three times, 2 MB that each page loads; the pages show some twenty."""
    static = Path(app.outdir, "_static")
    script, sheet = static / "scripts" / "fontawesome.js", static / "styles" / "pydata-sphinx-theme.css"
    if exception or not script.exists():
        return
    shown = set()
    for page in Path(app.outdir).rglob("*.html"):
        for classes in re.findall(r'class="([^"]*\bfa-[^"]*)"', page.read_text(encoding="utf-8")):
            shown.update(name.removeprefix("fa-") for name in classes.split())
    text = script.read_text(encoding="utf-8")
    script.write_text(ICON.sub(lambda icon: icon[0] if icon[1] in shown else "", text), encoding="utf-8")
    rules = COMPRESSED.sub("", LETTER.sub("", sheet.read_text(encoding="utf-8")))
    sheet.write_text(rules, encoding="utf-8")
    found = [letter for path in static.rglob("*.css") for letter in PRIVATE.findall(path.read_text(encoding="utf-8"))]
    letters = {int(code, 16) if code else ord(itself) for code, itself in found}
    for path in (static / "vendor" / "fontawesome" / "webfonts").glob("*.ttf"):
        with TTFont(path) as font:
            cut = subset.Subsetter()
            cut.populate(unicodes=letters)
            cut.subset(font)
            font.save(path)


def setup(app):
    app.connect("build-finished", copy_assets)
    app.connect("build-finished", trim_icons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
