"""Maps: a tile for each pair of settings, whose colour says what is best there, and how good it is."""

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from rfcore import checks
from rfcore.plotting.style import COLOURS, STYLE, colours_of


def tiles(best, numbers, *, names, rows, columns, x_label, y_label, title=""):
    """Tiles in the colour of what is best at each place, with a number on each: one figure for :func:`show`.

    Args:
        best: int array, (n_rows, n_columns): which of ``names``; below 0 for a place without a tile.
        numbers: shape (n_rows, n_columns), written as whole numbers.
        names: as the ``lines`` of :func:`panels`. Those that are best somewhere stand above the map.
        rows, columns: what to write from below upwards, and from the left, where every other column is named.
        x_label, y_label, title: texts.
    """
    colours, shape = colours_of(names), (len(rows), len(columns))
    best, numbers = (
        np.asarray(checks.numbers(best, "best"), dtype=int),
        np.asarray(checks.numbers(numbers, "numbers"), dtype=float),
    )
    if best.shape != shape or numbers.shape != shape or not np.any(best >= 0):
        got = f"best has shape {best.shape}, numbers {numbers.shape}"
        raise ValueError(
            f"{got}; give {shape}, a row per row and a column per column, with one tile at least"
        )
    if best.max() >= len(colours) or not np.all(np.isfinite(numbers[best >= 0])):
        raise ValueError(
            f"best has the value {best.max()}; give the places of {len(colours)} names, and a finite number on each tile"
        )
    labels = list(colours)
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(4.3, 0.9 + 0.26 * shape[0]))
        ax = fig.subplots()
        for i, k in zip(*np.nonzero(best >= 0), strict=True):
            colour = COLOURS[colours[labels[best[i, k]]]]
            ax.add_patch(
                Rectangle((k - 0.48, i - 0.48), 0.96, 0.96, facecolor=(colour, 0.55), edgecolor="none")
            )
            ax.text(k, i, f"{numbers[i, k]:.0f}", ha="center", va="center", fontsize=9)
        ax.set_xticks(range(shape[1]), [str(x) if (shape[1] - k) % 2 else "" for k, x in enumerate(columns)])
        ax.set_yticks(range(shape[0]), [str(x) for x in rows])
        ax.set(
            xlim=(-0.5, shape[1] - 0.5),
            ylim=(-0.5, shape[0] - 0.5),
            xlabel=x_label,
            ylabel=y_label,
            title=title,
        )
        ax.grid(visible=False)
        ax.tick_params(length=0)
        handles = [
            Patch(color=COLOURS[colours[labels[n]]], label=labels[n]) for n in np.unique(best[best >= 0])
        ]
        fig.legend(
            handles=handles, loc="outside upper left", ncols=3, fontsize=9, handlelength=1, columnspacing=1.2
        )
    return fig
