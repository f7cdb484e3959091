"""Drawings of lessons, which import matplotlib alone: in the ink of the page, with the words of ``book/main_road.toml``."""

import json

from main_road import WORDS, road

from companion.plotting import figures

SCALE = 1.3  # of what matplotlib drew: a lesson's drawings are 5.2 inches wide, the column of a page somewhat more


def drawn(notebook, name):
    """The notebook with each SVG of its outputs as a figure of the book; the same object."""
    words = iter(dict(road()).get(name, {}).get("figures", ()))
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            if svg := output.get("data", {}).get("image/svg+xml"):
                said = next(words, None)
                if said is None:
                    raise ValueError(f"{name} draws more figures than main_road.toml describes")
                page = figures.of_drawings([figures.in_page("".join(svg), SCALE)], said["caption"], said["alt"])
                output["data"] = {"text/html": page, "text/plain": said["alt"]}
    if next(words, None):
        raise ValueError(f"main_road.toml describes more figures than {name} draws")
    return notebook


def put_in(app, docname, source):
    if docname.startswith("notebooks/road/"):
        source[0] = json.dumps(drawn(json.loads(source[0]), docname.removeprefix("notebooks/")))
        app.env.note_dependency(str(WORDS))


def setup(app):
    app.connect("source-read", put_in, priority=400)  # before one of them is put below the title
    return {"parallel_read_safe": True, "parallel_write_safe": True}
