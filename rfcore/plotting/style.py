"""One style and one colour per meaning, the same on every page of the book."""

import matplotlib as mpl

INK = "#757b85"  # in a figure that plotting.show displays, the text colour of its page
WIDE, PANEL = (5.2, 3.3), (3.4, 2.7)  # inches: a figure that stands alone, and one of several

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
