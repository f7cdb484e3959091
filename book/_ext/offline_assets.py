"""Scripts of the pages, from installed packages into the built site, so that no page needs a network."""

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


def setup(app):
    app.connect("build-finished", copy_assets)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
