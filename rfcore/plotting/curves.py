"""Curves with bands, and their names beside them."""

import numpy as np
from scipy.optimize import isotonic_regression

from rfcore.plotting.style import COLOURS


def band(ax, x, samples, name, label=None, **line):
    """Mean of repeated measurements, with a band of one standard error of the mean either side.

    Args:
        ax: axes to draw on.
        x, samples: shapes (k,) and (n_repeats, k).
        name: mechanism, a key of ``COLOURS``.
        label: for a legend; none by default, since :func:`label_ends` writes names beside the lines.
        **line: passed on to ``ax.plot``.

    Returns:
        The line of the mean.
    """
    samples = np.asarray(samples)
    mean, error = samples.mean(axis=0), samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    ax.fill_between(x, mean - error, mean + error, color=COLOURS[name], alpha=0.25, linewidth=0)
    (drawn,) = ax.plot(x, mean, color=COLOURS[name], label=label, **line)
    return drawn


def label_ends(ax, lines, gap=13):
    """Write each line's name at its right end, in its colour, pushed apart where they would collide.

    Names stay beside the axes, clear of the ticks below and the title above, if there is room for all of
    them.

    Args:
        ax: axes with their final scales.
        lines: dict of the text to write and the line it belongs to.
        gap: least distance between two labels in points.
    """
    ax.autoscale_view()  # matplotlib would set the limits when it draws; the heights are read now
    ends = [(text, line, *_last_finite(line)) for text, line in lines.items()]
    heights = [ax.transData.transform((x, y))[1] * 72 / ax.figure.dpi for _, _, x, y in ends]
    lowest, highest = ax.get_window_extent().intervaly * 72 / ax.figure.dpi
    placed = _spread(np.array(heights), gap, lowest + 0.45 * gap, highest)
    for (text, line, x, y), height, place in zip(ends, heights, placed, strict=True):
        ax.annotate(
            text, (x, y), xytext=(6, place - height), textcoords="offset points", va="center",
            color=line.get_color(), annotation_clip=False,
        )  # fmt: skip


def _last_finite(line):
    x, y = (np.asarray(a, dtype=float) for a in line.get_data())
    last = np.flatnonzero(np.isfinite(y))[-1]
    return x[last], y[last]


def _spread(heights, gap, lowest=-np.inf, highest=np.inf):
    """Nearest heights in the same order, at least ``gap`` apart, and between two bounds if there is room."""
    order, offsets = np.argsort(heights, kind="stable"), gap * np.arange(len(heights))
    placed, highest = np.empty(len(heights)), highest - offsets.max(initial=0)
    fitted = isotonic_regression(heights[order] - offsets).x
    placed[order] = (np.clip(fitted, lowest, highest) if lowest <= highest else fitted) + offsets  # bounds cut a fit off
    return placed
