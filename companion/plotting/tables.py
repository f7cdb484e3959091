"""Numbers with their standard errors and what a paper prints beside ours, as tables and as bars."""

import html

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from companion.plotting.figures import check_words, deliver, with_maths
from companion.plotting.style import COLOURS, STYLE, WIDE, colours_of
from rfcore import checks

BOX = "overflow-x: auto; max-width: 100%"


def table(values, errors=None, *, rows, columns, caption, corner="", unit=None, printed=None):
    """Display numbers as a table that scrolls within its box on a narrow page.

    A number with an error is written with the error to two digits, one without to three digits, or fewer if
    these write it exactly.

    Args:
        values: shape (n_rows, n_columns), NaN where there is none.
        errors: standard errors; 0, up to rounding, or NaN for a number that has none.
        rows, columns: heads; maths stands between dollar signs.
        caption: starts with "Re-run:" or "Ours", as that of :func:`show`.
        corner: what the rows are.
        unit: of all numbers, written into the caption.
        printed: what the paper prints, best as it prints it ("0.0312"); None, NaN or "" where it prints
            nothing.

    >>> from companion import plotting
    >>> heads = {"rows": ["karate"], "columns": ["error", "rank"], "caption": "Ours."}
    >>> plotting.table([[0.12346, 2.0]], [[0.0031, 0.0]], printed=[["0.12", None]], **heads)
    Ours.
            error                         rank
    karate  0.1235 ± 0.0031 (paper 0.12)  2
    """
    check_words(caption)
    rows, columns = [str(row) for row in rows], [str(column) for column in columns]
    shape = (len(rows), len(columns))
    values = _fit(np.asarray(checks.numbers(values, "values"), dtype=float), "values", shape)
    errors = np.zeros(shape) if errors is None else np.asarray(checks.numbers(errors, "errors"), dtype=float)
    errors = _fit(errors, "errors", shape)
    printed = np.full(shape, None) if printed is None else _fit(np.asarray(printed, dtype=object), "printed", shape)
    cells = [[_number(*cell) for cell in zip(*row, strict=True)] for row in zip(values, errors, strict=True)]
    theirs = [["" if value in (None, "") or value != value else str(value) for value in row] for row in printed]
    caption = f"{caption} In {unit}." if unit else caption
    deliver(_html(rows, columns, cells, theirs, corner, caption), _text(rows, columns, cells, theirs, corner, caption))


def _fit(array, name, shape):
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}; give {shape}, one row per head in rows, one column per head in columns")
    return array


def _number(value, error):
    if np.isnan(value):
        return ""
    if not error > 1e-9 * abs(value):  # none, up to rounding
        return _plain(value)
    if not 1e-4 <= max(abs(value), error) < 1e6:
        power = int(np.floor(np.log10(max(abs(value), error))))
        return f"({_number(value / 10.0**power, error / 10.0**power)}) × 10^{power}"
    digits = 1 - int(np.floor(np.log10(error)))
    digits = 1 - int(np.floor(np.log10(round(error, digits))))  # 0.0996 rounds to 0.10
    return f"{round(value, digits):,.{max(digits, 0)}f} ± {round(error, digits):,.{max(digits, 0)}f}"


def _plain(value):
    rounded = float(f"{value:.3g}")
    if 1000 <= abs(rounded) < 1e6:
        return f"{value:,.0f}"
    if value == 0 or 1e-4 <= abs(value) < 1000:
        return f"{value:.3g}" if np.isclose(rounded, value, rtol=1e-9, atol=0) else f"{value:#.3g}".removesuffix(".")
    head, _, power = f"{value:.2e}".partition("e")
    return f"{head} × 10^{int(power)}"


def _html(rows, columns, cells, theirs, corner, caption):
    head = "".join(f'<th scope="col">{with_maths(name)}</th>' for name in (corner, *columns))
    lines = [f"<thead><tr>{head}</tr></thead>", "<tbody>"]
    for name, row, of_paper in zip(rows, cells, theirs, strict=True):
        shown = (
            f"<td>{_power(cell)}{f'<br><small>paper {html.escape(paper)}</small>' if paper else ''}</td>"
            for cell, paper in zip(row, of_paper, strict=True)
        )
        lines.append(f'<tr><th scope="row">{with_maths(name)}</th>{"".join(shown)}</tr>')
    return "\n".join([
        '<figure class="rfcore-table" style="margin: 1rem 0">',
        f"<figcaption>{with_maths(caption)}</figcaption>",
        f'<div style="{BOX}">',
        '<table class="rfcore-numbers">',
        *lines,
        "</tbody>",
        "</table>",
        "</div>",
        "</figure>",
    ])


def _power(cell):
    number, found, power = cell.partition("10^")
    return f"{number}10<sup>{power}</sup>" if found else number


def _text(rows, columns, cells, theirs, corner, caption):
    body = [
        [name, *(f"{cell} (paper {paper})" if paper else cell for cell, paper in zip(row, of_paper, strict=True))]
        for name, row, of_paper in zip(rows, cells, theirs, strict=True)
    ]
    grid = [[corner, *columns], *body]
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in grid]
    return "\n".join([caption, *lines])


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
