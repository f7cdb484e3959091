"""One style and one colour a mechanism, the same on every page of the book.

Figures are vector graphics on a transparent ground. Ink and colours are mid-tones with a contrast of at least 3 to 1
against white and against the book's dark ground, so that one figure serves both themes.
"""

import matplotlib as mpl
import numpy as np
from scipy.optimize import isotonic_regression

INK = "#757b85"

COLOURS = {
    # couplings
    "iid": "#808691",
    "orthogonal": "#2f80c9",
    "simplex": "#d9622b",
    "simplex_plus": "#b07d1e",
    "orthogonal_pnc": "#a55cb8",
    "orthogonal_pm": "#a55c6e",
    "orthogonal_copula": "#1c979c",
    "halton": "#7d8a2b",
    "sobol": "#3a9464",
    # copulas of norms, of the lengths of walks and of hops
    "comonotone": "#a55c6e",
    "reversal": "#a55cb8",
    "stratified": "#d9622b",
    "systematic": "#b07d1e",
    "permutation": "#5f7fd6",
    "antithetic": "#1c979c",
    # fast variants: the colour of what they stand in for, drawn dashed
    "orthogonal_fast": "#2f80c9",
    "simplex_fast": "#d9622b",
    "optimised": "#8a6fd1",
    # graph kernels
    "diffusion": "#2f80c9",
    "regularised_laplacian": "#d9622b",
    "regularised_laplacian_1": "#b07d1e",
    "p_step": "#3a9464",
    "inverse_cosine": "#a55cb8",
    "learned": "#1c979c",
    # fewer columns
    "gaussian": "#7d8a2b",
    "sparse": "#c2599a",
    "anchors": "#5f7fd6",
    # roles
    "exact": "#757b85",
    "chebyshev": "#a55c6e",
    "fault": "#c9405a",
    "paper": "#8a8433",
}

LABELS = {
    "iid": "IID",
    "orthogonal": "orthogonal",
    "simplex": "simplex",
    "simplex_plus": "simplex+",
    "orthogonal_pnc": "orthogonal + PNC",
    "orthogonal_pm": "orthogonal + PM",
    "orthogonal_copula": "orthogonal + copula",
    "halton": "Halton",
    "sobol": "Sobol'",
    "comonotone": "comonotone",
    "reversal": "reversal",
    "stratified": "stratified",
    "systematic": "systematic",
    "permutation": "permutation",
    "antithetic": "antithetic termination",
    "orthogonal_fast": "orthogonal, fast",
    "simplex_fast": "simplex, fast",
    "optimised": "optimised",
    "diffusion": "diffusion",
    "regularised_laplacian": "2-reg. Laplacian",
    "regularised_laplacian_1": "1-reg. Laplacian",
    "p_step": "2-step walk",
    "inverse_cosine": "inverse cosine",
    "learned": "learned",
    "gaussian": "Gaussian projection",
    "sparse": "sparse projection",
    "anchors": "anchor points",
    "exact": "exact",
    "chebyshev": "Chebyshev",
}

_STYLE = {
    "figure.figsize": (6.4, 3.8),
    "figure.constrained_layout.use": True,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "savefig.transparent": True,
    "svg.hashsalt": "rfcore",
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
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


def use_style():
    """Set the book's style for this process, with vector output in a notebook.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from rfcore import plotting
    >>> with plt.rc_context():
    ...     plotting.use_style()
    ...     plt.rcParams["axes.grid"]
    True
    """
    mpl.rcParams.update(_STYLE)
    try:
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:  # a plain script
        return
    # The date would make every run of the same figure differ.
    set_matplotlib_formats("svg", metadata={"Date": None})


def band(ax, x, samples, name, label=None, **line):
    """Mean of repeated measurements, with a band of one standard error of the mean either side.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    x : array, shape (k,)
    samples : array, shape (n_repeats, k)
    name : str
        Mechanism, a key of ``COLOURS``.
    label : str, optional
        Legend label; none by default, since :func:`label_ends` writes names beside the lines.
    **line
        Passed on to ``ax.plot``.

    Returns
    -------
    matplotlib.lines.Line2D

    Notes
    -----
    Ours.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rfcore import plotting
    >>> line = plotting.band(Figure().subplots(), [1, 2], [[1.0, 2.0], [3.0, 4.0]], "simplex")
    >>> line.get_ydata().tolist()
    [2.0, 3.0]
    """
    samples = np.asarray(samples)
    mean, error = samples.mean(axis=0), samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    ax.fill_between(x, mean - error, mean + error, color=COLOURS[name], alpha=0.25, linewidth=0)
    (drawn,) = ax.plot(x, mean, color=COLOURS[name], label=label, **line)
    return drawn


def label_ends(ax, lines, gap=13):
    """Write each line's name at its right end, in its colour, pushed apart where they would collide.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        With its final scales and limits.
    lines : dict of str to matplotlib.lines.Line2D
        Text to write and the line it belongs to.
    gap : float
        Least distance between two labels in points.

    Notes
    -----
    Ours; the least squares of :func:`scipy.optimize.isotonic_regression`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rfcore import plotting
    >>> ax = Figure().subplots()
    >>> lines = {name: ax.plot([0, 1], [0, 1])[0] for name in ("one", "two")}
    >>> plotting.label_ends(ax, lines)
    >>> [text.get_text() for text in ax.texts]
    ['one', 'two']
    """
    ends = [(text, line, *_last_finite(line)) for text, line in lines.items()]
    heights = [ax.transData.transform((x, y))[1] * 72 / ax.figure.dpi for _, _, x, y in ends]
    placed = _spread(np.array(heights), gap)
    for (text, line, x, y), height, place in zip(ends, heights, placed, strict=True):
        ax.annotate(
            text, (x, y), xytext=(6, place - height), textcoords="offset points", va="center",
            color=line.get_color(), annotation_clip=False,
        )  # fmt: skip


def _last_finite(line):
    x, y = (np.asarray(a, dtype=float) for a in line.get_data())
    last = np.flatnonzero(np.isfinite(y))[-1]
    return x[last], y[last]


def _spread(heights, gap):
    """Nearest heights in the same order with at least ``gap`` between neighbours."""
    order, offsets = np.argsort(heights, kind="stable"), gap * np.arange(len(heights))
    placed = np.empty(len(heights))
    placed[order] = isotonic_regression(heights[order] - offsets).x + offsets
    return placed
