"""One style and one colour per meaning, the same on every page of the book."""

import tomllib
from pathlib import Path

import matplotlib as mpl

from rfcore import checks

INK = "#757b85"  # in a figure that plotting.show displays, the text colour of its page
WIDE, PANEL = (5.2, 3.3), (3.0, 2.4)  # inches: a figure that stands alone, and one of several

_MECHANISMS = tomllib.loads(Path(__file__).with_name("mechanisms.toml").read_text(encoding="utf-8"))
COLOURS, LABELS = _MECHANISMS["colours"], _MECHANISMS["labels"]

STYLE = {
    "figure.figsize": (6.4, 3.8),
    "figure.constrained_layout.use": True,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "savefig.transparent": True,
    "svg.hashsalt": "rfcore",
    "font.size": 10,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "axes.labelsize": "medium",
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "lines.linewidth": 1.8,
    "lines.markersize": 4,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": INK,
    "grid.alpha": 0.18,
    "grid.linewidth": 0.6,
}


IN_PANELS = STYLE | {"font.size": 9, "lines.markersize": 3.5, "lines.linewidth": 1.6}


def use_style():
    """Set the book's style for this process, with vector output in a notebook."""
    mpl.rcParams.update(STYLE)
    try:
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:  # a plain script
        return
    # The date would make every run of the same figure differ.
    set_matplotlib_formats("svg", metadata={"Date": None})


def write(path):
    """Write the style as a file that matplotlib reads at its start, for lessons; returns its name.

    Their first lines are grey for what is independent, blue for right angles, orange for a simplex and green
    for systematic walkers; what they draw in black is in the ink of the page.
    """
    names = ("iid", "orthogonal", "simplex", "systematic", "gerf_centred", "fault")
    cycle = {"axes.prop_cycle": f"cycler(color={[COLOURS[name][1:] for name in names]})"}
    chosen = STYLE | {"figure.figsize": "{}, {}".format(*WIDE)} | cycle
    lines = (f"{key}: {'black' if value == INK else value}" for key, value in chosen.items())
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def colours_of(lines):
    """What is written beside lines, and the names of their colours, from the ``lines`` of :func:`panels`."""
    colours = {str(written): name for written, name in lines.items()} if isinstance(lines, dict) else {}
    if not colours:
        names = [lines] if isinstance(lines, str) else list(lines)
        colours = {LABELS.get(name, name): name for name in names}
        if len(colours) != len(names) or not names:
            raise ValueError(f"lines = {lines!r}; give at least one name, and each once")
    for name in colours.values():
        checks.choice(name, "colour of a line", COLOURS)
    return colours
