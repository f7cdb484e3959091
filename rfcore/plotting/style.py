"""One style and one colour per meaning, the same on every page of the book."""

import matplotlib as mpl

from rfcore import checks

INK = "#757b85"  # in a figure that plotting.show displays, the text colour of its page
WIDE, PANEL = (5.2, 3.3), (3.0, 2.4)  # inches: a figure that stands alone, and one of several

COLOURS = {
    # couplings
    "iid": "#808691",
    "orthogonal": "#2f80c9",
    "simplex": "#d9622b",
    "simplex_plus": "#c64e8a",
    "orthogonal_pnc": "#a55cb8",
    "orthogonal_pm": "#925d65",
    "orthogonal_copula": "#1c979c",
    "halton": "#7d8a2b",
    "sobol": "#3a9464",
    # copulas of norms, of the lengths of walks and of hops
    "comonotone": "#925d65",
    "reversal": "#a55cb8",
    "stratified": "#af7b1f",
    "systematic": "#508836",
    "permutation": "#6780d7",
    "antithetic": "#2c7c95",
    # fast variants: the colour of what they stand in for, drawn dashed
    "orthogonal_fast": "#2f80c9",
    "simplex_fast": "#d9622b",
    "optimised": "#8a6fd1",
    # feature maps
    "trigonometric": "#8b9a20",
    "positive": "#8a8f80",
    "gerf": "#2070d8",
    "aderf": "#9a50d0",
    "sderf": "#e05018",
    # the same of points less their means
    "gerf_centred": "#10a0a0",
    "sderf_centred": "#d040a0",
    # graph kernels
    "diffusion": "#349bcf",
    "regularised_laplacian": "#a4409a",
    "regularised_laplacian_1": "#c27895",
    "p_step": "#50a248",
    "inverse_cosine": "#685acb",
    "learned": "#257c6c",
    # fewer columns
    "gaussian": "#7c6f1e",
    "sparse": "#be73c3",
    "anchors": "#2d6bbb",
    # roles
    "exact": "#757b85",
    "chebyshev": "#a8564a",
    "fault": "#d73246",
    "paper": "#a69016",
    # what means something on its own page only: schedules, arrangements, two sides
    "first": "#4489ae",
    "second": "#ae6626",
    "third": "#35a383",
    "fourth": "#a081d5",
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
    "trigonometric": "trigonometric",
    "positive": "positive",
    "gerf": "GERF",
    "aderf": "ADERF",
    "sderf": "SDERF",
    "gerf_centred": "GERF, centred",
    "sderf_centred": "SDERF, centred",
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
    mpl.rcParams.update(STYLE)
    try:
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:  # a plain script
        return
    # The date would make every run of the same figure differ.
    set_matplotlib_formats("svg", metadata={"Date": None})


def colours_of(lines):
    """What is written beside lines, and the names of their colours: of names in ``COLOURS``, or of a dict of both."""
    colours = {str(written): name for written, name in lines.items()} if isinstance(lines, dict) else {}
    if not colours:
        names = [lines] if isinstance(lines, str) else list(lines)
        colours = {LABELS.get(name, name): name for name in names}
        if len(colours) != len(names) or not names:
            raise ValueError(f"lines = {lines!r}; give at least one name, and each once")
    for name in colours.values():
        checks.choice(name, "colour of a line", COLOURS)
    return colours
