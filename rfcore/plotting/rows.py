"""Values of a few things, one row each, with their standard errors and what a paper has printed."""

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from rfcore import checks
from rfcore.plotting.style import COLOURS, STYLE, WIDE, colours_of


def bars(values, errors=None, *, rows, columns, x_label, printed=None, log="", size=None):
    """Values with bars of one standard error, a row per thing and a colour per column.

    It is one figure, for :func:`show`.

    Args:
        values, errors: shape (n_rows, n_columns); NaN where there is none.
        rows: names, from the top down.
        columns: as the ``lines`` of :func:`panels`.
        x_label: a text.
        printed: what the paper prints, as crosses, shape (n_rows,) or (n_rows, n_columns); NaN where it
            prints nothing.
        log: "x" for a logarithmic axis.
        size: inches; by default as high as the rows need.
    """
    colours, rows = colours_of(columns), [str(row) for row in rows]
    checks.choice(log, "log", ("x", ""))
    shape = (len(rows), len(colours))
    values = _of_shape(values, "values", shape)
    errors = np.zeros(shape) if errors is None else _of_shape(errors, "errors", shape)
    at, step = np.arange(len(rows)), 0.66 / len(colours)
    offsets = step * (np.arange(len(colours)) - (len(colours) - 1) / 2)
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=size or (WIDE[0], 1.1 + len(rows) * max(0.26, 0.14 * len(colours))))
        ax = fig.subplots()
        for i, (label, colour) in enumerate(colours.items()):
            ax.errorbar(
                values[:, i], at + offsets[i], xerr=errors[:, i], fmt="o", color=COLOURS[colour], linewidth=1.4, label=label
            )
        if printed is not None:
            each = np.ndim(printed) == 2
            crosses = _of_shape(printed, "printed", shape if each else shape[:1]).reshape(len(rows), -1)
            heights = at[:, None] + (offsets if each else np.zeros(1))
            ax.plot(
                crosses.ravel(), heights.ravel(), "x", color=COLOURS["paper"], markersize=6, markeredgewidth=1.6, label="paper"
            )
        ax.set(xscale="log" if log else "linear", xlabel=x_label, ylim=(len(rows) - 0.5, -0.5))
        ax.set_yticks(at, rows)
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=False, axis="y")
        handles = dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))
        handles |= {"paper": handles.pop("paper")} if printed is not None else {}  # ours come first
        if len(handles) > 1:
            _legend(fig, handles)
    return fig


def _legend(fig, handles):
    """Above the axes, on as few lines as hold it."""
    style = {"loc": "outside upper left", "labelcolor": "linecolor", "columnspacing": 1.2, "handletextpad": 0.3}
    for n_columns in range(len(handles), 0, -1):
        legend = fig.legend(handles.values(), handles, ncols=n_columns, **style)
        if fig.get_tightbbox().width <= fig.get_figwidth() or n_columns == 1:
            return
        legend.remove()


def _of_shape(values, name, shape):
    values = np.asarray(checks.numbers(values, name), dtype=float)
    if values.shape != shape or np.all(np.isnan(values)) or np.any(np.isinf(values)):
        raise ValueError(f"{name} has shape {values.shape}; give shape {shape}, with finite numbers, NaN where there is none")
    return values
