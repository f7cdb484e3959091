"""Curves with bands and their names beside them, one by one and as small multiples."""

import itertools
from fractions import Fraction

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.optimize import isotonic_regression

from companion.plotting.figures import show
from companion.plotting.style import COLOURS, IN_PANELS, INK, LABELS, PANEL, STYLE, WIDE, colours_of
from rfcore import checks


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


HIDDEN = 1.8  # points from the middle of a line within which a band is hidden under it
# Ticks within a decade: the first of these that gives four or more.
TICKS = ((1,), (1, 3), (1, 2, 5), (1, 2, 3, 5, 7), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8))
MOST = 8  # of them; an axis of many decades shows every second or third


def panels(
    x, samples, *, lines, panels=None, x_label, y_label, guide=None, predicted=None, levels=None, log="xy", size=None
):  # fmt: skip
    """Curves against x, one figure per panel, for :func:`show`; :func:`show_panels` does both.

    Each line is the mean over repeats; its band is one standard error of the mean either side, drawn as wide
    as it is. Where no band can be seen beside its line, the label of the x axis says below what all standard
    errors are. All panels share the limits of y. Names stand at the ends of the lines.

    Args:
        x: shape (k,) or (n_panels, k), at least two values that rise.
        samples: shape (n_repeats, n_panels, n_lines, k), or (n_repeats, n_lines, k) without ``panels``; at
            least two repeats. Numbers without noise stand there twice.
        lines: names in ``COLOURS``, written as ``LABELS`` says; or a dict of what is written to the name of
            its colour, ``"first"`` to ``"fourth"`` for what has none of its own.
        panels: titles (the keys of a dict will do).
        x_label, y_label: texts.
        guide: powers of x to compare with, dotted and named, below all curves.
        predicted: what theory says of each line, in the shape of one repeat: dashed, in its colour.
        levels: dict of a name in ``COLOURS``, or what to write, to the height of a horizontal line, one or
            one per panel.
        log: which axes are logarithmic: "xy", "x", "y" or "".
        size: inches of a figure; ``PANEL``, or ``WIDE`` for one that stands alone.

    Returns:
        List of matplotlib figures, one per panel.

    >>> import numpy as np
    >>> from companion import plotting
    >>> m, labels = np.array([2, 4, 8, 16]), {"x_label": "walkers", "y_label": "error"}
    >>> samples = np.random.default_rng(0).lognormal(size=(10, 2, 4)) * m**-0.5  # repeats, lines, places
    >>> (figure,) = plotting.panels(m, samples, lines=("iid", "sobol"), guide=-0.5, **labels)
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['IID', "Sobol'", 'slope −1/2']
    """
    colours, titles = colours_of(lines), [""] if panels is None else [str(title) for title in panels]
    x, samples = _curves(x, samples, len(colours), None if panels is None else len(titles), log)
    shape = samples.shape[1:]
    if predicted is not None:
        predicted = _fits(predicted, "predicted", shape, shape[1:] if panels is None else shape)
    levels = {
        name: _fits(values, f"levels[{name!r}]", shape[:1], shape[:1] if np.ndim(values) else ())
        for name, values in (levels or {}).items()
    }
    guides = [checks.real(power, "guide") for power in np.ravel([] if guide is None else guide)]
    with mpl.rc_context(STYLE if panels is None else IN_PANELS):
        drawn = []
        for p, title in enumerate(titles):
            ax = Figure(figsize=size or (WIDE if panels is None else PANEL)).subplots()
            ax.set(xscale="log" if "x" in log else "linear", yscale="log" if "y" in log else "linear")
            ax.set(xlabel=x_label, ylabel=y_label, title=title)
            ends = _lines(ax, x[p], samples[:, p], colours, None if predicted is None else predicted[p])
            ends |= _levels(ax, x[p], {name: values[p] for name, values in levels.items()})
            ends |= _guides(ax, x[p], samples[:, p].mean(axis=0), guides)
            drawn.append((ax, ends))
        limits = np.array([ax.get_ylim() for ax, _ in drawn])
        for p, (ax, _) in enumerate(drawn):
            ax.set_ylim(limits[:, 0].min(), limits[:, 1].max())
            _ticks(ax, x[p], log)
            ax.figure.draw_without_rendering()  # the layout, on which heights in points hang
        mean, error = samples.mean(axis=0), samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
        if error.any() and not any(_shows(ax, mean[p], error[p]) for p, (ax, _) in enumerate(drawn)):
            largest = f"{_up(100 * np.max(error / mean)):g} %" if "y" in log else f"{_up(np.max(error)):g}"
            for ax, _ in drawn:
                ax.set_xlabel(f"{x_label}\n(standard errors below {largest})")
                ax.figure.draw_without_rendering()
        for ax, ends in drawn:
            label_ends(ax, ends, gap=1.25 * mpl.rcParams["font.size"])
            _thin_out(ax)
    return [ax.figure for ax, _ in drawn]


def show_panels(x, samples, *, caption, alt, **drawn):
    """Draw curves against x and display them: :func:`show` of :func:`panels`.

    Args:
        x, samples, **drawn: of :func:`panels`.
        caption, alt: of :func:`show`.
    """
    show(*panels(x, samples, **drawn), caption=caption, alt=alt)


def _lines(ax, x, samples, colours, predicted):
    ends = {}
    for i, (label, colour) in enumerate(colours.items()):
        ends[label] = band(ax, x, samples[:, i], colour, marker="o")
        if predicted is not None:
            ax.plot(x, predicted[i], "--", color=COLOURS[colour], linewidth=1.2)
    return ends


def _levels(ax, x, levels):
    ends = {}
    for (name, value), dashes in zip(levels.items(), itertools.cycle(("--", ":", "-."))):
        style = {"color": COLOURS.get(name, INK), "linewidth": 1.2, "linestyle": dashes}
        (ends[LABELS.get(name, name)],) = ax.plot(x[[0, -1]], [value, value], **style)
    return ends


def _guides(ax, x, mean, powers):
    ends = {}
    for power in powers:
        below = 0.8 * (mean / x**power).min()
        (ends[f"slope {_ratio(power)}"],) = ax.plot(x, below * x**power, ":", color=INK, linewidth=1.2)
    return ends


def _curves(x, samples, n_lines, n_panels, log):
    checks.choice(log, "log", ("xy", "x", "y", ""))
    samples = np.asarray(checks.finite(checks.numbers(samples, "samples"), "samples"))
    wanted = "(n_repeats, n_lines, k)" if n_panels is None else "(n_repeats, n_panels, n_lines, k)"
    if samples.ndim != 4 - (n_panels is None) or len(samples) < 2:
        raise ValueError(f"samples has shape {samples.shape}; give at least two repeats, shape {wanted}")
    samples = samples[:, None] if n_panels is None else samples
    if samples.shape[1:3] != (n_panels or 1, n_lines):
        got = f"samples has shape {samples.shape} for {n_panels or 1} panels and {n_lines} lines"
        raise ValueError(f"{got}; give shape {wanted}")
    x = np.asarray(checks.finite(checks.numbers(x, "x"), "x"))
    if x.shape not in (samples.shape[3:], samples.shape[1::2]) or x.shape[-1] < 2 or np.any(np.diff(x) <= 0):
        raise ValueError(f"x has shape {x.shape} and values {x}; give {samples.shape[3]} of them, at least two, that rise")
    for name, values in (("x", x), ("y", samples.mean(axis=0))):
        if name in log and values.min() <= 0:
            raise ValueError(f"log = {log!r}, and {name} has the value {values.min():g}; leave {name!r} out of log")
    return np.broadcast_to(x, samples.shape[1::2]), samples


def _fits(values, name, shape, given):
    values = np.asarray(checks.finite(checks.numbers(values, name), name))
    if values.shape != given:
        raise ValueError(f"{name} has shape {values.shape}; give {given}")
    return np.broadcast_to(values, shape) if values.ndim == 0 else values.reshape(shape)


def _ratio(power):
    return str(Fraction(power).limit_denominator(12)).replace("-", "\N{MINUS SIGN}")


def _ticks(ax, x, log):
    ax.minorticks_off()
    if len(x) <= 8:
        ax.set_xticks(x, [_plain(value) if "e" in f"{value:g}" else f"{value:g}" for value in x])
    elif "x" not in log:
        ax.xaxis.set_major_locator(MaxNLocator(5))
    if "y" in log:
        low, high = np.log10(ax.get_ylim())
        for steps in TICKS:
            values = np.ravel([step * 10.0**power for power in range(int(np.floor(low)), int(np.ceil(high)) + 1) for step in steps])
            values = values[(10**low <= values) & (values <= 10**high)]
            if len(values) >= 4:
                break
        else:  # a narrow range, on which a logarithm is nearly straight
            values = [value for value in MaxNLocator(4).tick_values(10**low, 10**high) if 10**low <= value <= 10**high]
        values = values[:: 1 + (len(values) - 1) // MOST]
        ax.set_yticks(values, [_plain(value) for value in values])


def _thin_out(ax):
    """Take away the number of each x that its right neighbour would touch, in axes of their final width."""
    ax.figure.draw_without_rendering()
    free = np.inf
    for label in reversed(ax.get_xticklabels()):
        box = label.get_window_extent()
        if label.get_text() and box.x1 > free:
            label.set_visible(False)
        else:
            free = box.x0 - 0.4 * box.height


def _plain(value):
    if 1e-4 <= value < 1e5:
        return f"{value:.10f}".rstrip("0").rstrip(".")
    power = int(np.floor(np.log10(value) + 1e-9))
    first = f"{value / 10.0**power:.3g}"
    factor = "" if first == "1" else rf"{first} \cdot "
    return f"${factor}10^{{{power}}}$"


def _shows(ax, mean, error):
    """Whether any band can be seen beside its line."""
    pair = [ax.transData.transform(np.stack([np.ones(y.size), y.ravel()], axis=1))[:, 1] for y in (mean, mean + error)]
    return np.any((pair[1] - pair[0]) * 72 / ax.figure.dpi > HIDDEN)


def _up(value):
    """The least number of one digit that is not below a value."""
    unit = 10.0 ** np.floor(np.log10(value)) if value > 0 else 1.0
    return np.ceil(value / unit) * unit
