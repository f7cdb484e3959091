"""Scripts of the pages, from installed packages into the built site, so that no page needs a network."""

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

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


def trim_icons(app, exception):
    """The theme brings two thousand icons, 1.5 MB that each page loads; the pages show some twenty."""
    script = Path(app.outdir, "_static", "scripts", "fontawesome.js")
    if exception or not script.exists():
        return
    shown = set()
    for page in Path(app.outdir).rglob("*.html"):
        for classes in re.findall(r'class="([^"]*\bfa-[^"]*)"', page.read_text(encoding="utf-8")):
            shown.update(name.removeprefix("fa-") for name in classes.split())
    text = script.read_text(encoding="utf-8")
    script.write_text(ICON.sub(lambda icon: icon[0] if icon[1] in shown else "", text), encoding="utf-8")


def setup(app):
    app.connect("build-finished", copy_assets)
    app.connect("build-finished", trim_icons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
