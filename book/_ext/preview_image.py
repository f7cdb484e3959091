"""The picture that messengers show beside a link to a page: the book's name, what it is about, and its verdicts so far."""

import re
import textwrap
from collections import Counter
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from record_text import ROOT, shown, slug

from companion import evidence

SIZE = (1200, 630)  # pixels, as messengers ask for
SAID = "Choose random frequencies together, and the same number of features errs less: by how much, when, and which printed results hold."


def inks():
    """The verdicts' colours on a light ground, from the style sheet."""
    sheet = (ROOT / "book" / "_static" / "custom.css").read_text(encoding="utf-8")
    light = re.search(r'html\[data-theme="light"\] \{(.*?)\}', sheet, re.S)[1]
    of_variable = dict(re.findall(r"(--v-[\w-]+): (#[0-9a-f]{6})", light))
    classes = re.findall(r"^((?:\.[\w-]+(?:, )?)+) \{ --ink: var\((--v-[\w-]+)\)", sheet, re.M)
    return {name.strip(" ."): of_variable[variable] for names, variable in classes for name in names.split(",")}


def draw(path):
    counts, colours = Counter(), inks()
    for of_paper in evidence.headline("paper").values():
        counts.update(of_paper)
    pieces = [(verdict.counted(counts[verdict]), counts[verdict], colours[slug(verdict.value)]) for verdict in shown(counts)]
    with mpl.rc_context({"font.family": "DejaVu Sans"}):
        figure = Figure(figsize=(SIZE[0] / 100, SIZE[1] / 100), dpi=100, facecolor="white")
        figure.text(0.06, 0.80, "Random features, re-run", fontsize=42, weight="bold", color="#222832")
        figure.text(0.06, 0.72, textwrap.fill(SAID, 52), fontsize=24, color="#48566b", va="top", linespacing=1.35)
        axes = figure.add_axes((0.06, 0.25, 0.88, 0.055))
        axes.axis("off")
        start, total = 0, sum(count for _, count, _ in pieces)
        for _, count, colour in pieces:
            axes.barh(0, count - 0.004 * total, left=start, color=colour)
            start += count
        axes.set_xlim(0, total)
        for i, (words, _, colour) in enumerate(pieces):
            figure.text(0.06 + 0.31 * (i % 3), 0.17 - 0.055 * (i // 3), words, fontsize=15, color=colour)
        figure.savefig(path, metadata={"Software": None})


def write(app, exception):
    if not exception and app.builder.format == "html":
        draw(Path(app.outdir, "_static", "preview.png"))


def setup(app):
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
