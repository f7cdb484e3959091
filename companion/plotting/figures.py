"""Figures as a page shows them: one HTML figure of panels that flow, with a caption and a description."""

import hashlib
import html
import io
import re
import sys

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from companion.plotting.style import INK

PIXELS_PER_POINT = 96 / 72  # of CSS
PHONE = 350  # pixels of a page's text on a phone 390 wide
SMALLEST = 9  # pixels that text must have there

WORD_SHARE = 0.5  # of a colour in the words that wear it; the rest is the ink of the page, for contrast

OWN_SIZE = "flex: none; height: auto; max-width: 100%; overflow: visible"
FLOW = "display: flex; flex-wrap: wrap; align-items: flex-start; gap: 0.75rem 1.25rem"


def show(*figures, caption, alt):
    """Display figures as the panels of one HTML figure, side by side where there is room.

    Panels keep the size at which they were drawn, unless the page is narrower than they are. They are SVG
    within the page, whose ink is the text colour of the page: one drawing serves every theme. In JupyterLab a
    notebook that was made elsewhere must be trusted first (*Trust Notebook*), as for every drawing in SVG.
    The figures are closed. Raises ValueError if text would be less than 9 pixels high on a phone.

    Args:
        *figures: matplotlib figures; how wide they may be depends on their text (``WIDE`` and ``PANEL`` suit
            10 points).
        caption: starts with what of a paper is run again ("Re-run: Figure 7."), or with "Ours". Between
            dollar signs stands maths, typeset where the page loads MathJax, as the book and JupyterLab do.
        alt: what a reader would see, in words, for one who cannot.
    """
    page = as_html(*figures, caption=caption, alt=alt)
    for figure in figures:
        plt.close(figure)
    deliver(page, f"{caption} [{alt}]")


def deliver(page, words):
    """Display HTML in a notebook; elsewhere, print what it says in words."""
    ipython = sys.modules.get("IPython")
    if ipython is None or ipython.get_ipython() is None:  # a plain script
        print(words)
        return
    from IPython.display import display

    display({"text/html": page, "text/plain": words}, raw=True)


def as_html(*figures, caption, alt):
    """The HTML that :func:`show` displays, from the same arguments; no figure is closed.

    The same figures give the same characters in every run.
    """
    check_words(caption, alt)
    if not figures or not all(isinstance(figure, Figure) for figure in figures):
        raise ValueError(f"figures = {figures!r}; give at least one matplotlib Figure, such as plt.subplots() makes")
    drawn = []
    for figure in figures:
        figure.draw_without_rendering()  # the layout, so that all words stand where they will
        whole = Bbox.union([figure.bbox_inches, figure.get_tightbbox()])  # nothing that sticks out is cut off
        _check_text(figure, 96 * whole.width)
        drawn.append(_svg(figure, whole))
    return of_drawings(drawn, caption, alt)


def of_drawings(drawn, caption, alt):
    """The HTML of drawings from :func:`in_page` as the panels of one figure."""
    digest = hashlib.sha256("".join([*drawn, caption]).encode()).hexdigest()[:8]
    described = f'role="img" aria-label="{html.escape(alt)}"'
    return "\n".join([
        '<figure class="rfcore-figure" style="margin: 1rem 0">',
        f'<div class="rfcore-panels" {described} style="{FLOW}">',
        *_named_apart(drawn, f"f{digest}"),
        "</div>",
        f"<figcaption>{with_maths(caption)}</figcaption>",
        "</figure>",
    ])


def check_words(caption, alt="none needed"):
    """Refuse a caption that does not say whose the numbers are, and a description that says nothing."""
    for name, text in (("caption", caption), ("alt", alt)):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{name} = {text!r}; say in words what is shown")
    if not re.match(r"Re-run: |Ours\b", caption):
        raise ValueError(f'caption = {caption!r}; start with "Re-run: Figure 7." (or Table 2, ...), or with "Ours."')


def with_maths(text):
    """Text as HTML, what stands between dollar signs marked as the book marks maths."""
    return re.sub(r"\$([^$]+)\$", r'<span class="math notranslate nohighlight">\\(\1\\)</span>', html.escape(text))


def _check_text(figure, width):
    for text in figure.findobj(Text):
        pixels = text.get_fontsize() * PIXELS_PER_POINT
        scale = min(1, PHONE / width)
        if text.get_visible() and text.get_text().strip() and pixels * scale < SMALLEST - 0.01:
            got = f"{text.get_text()!r} of {text.get_fontsize():g} points would be {pixels * scale:.1f} pixels high on a phone"
            widest = int(10 * PHONE * pixels / SMALLEST / 96) / 10
            mend = "larger text" if pixels < SMALLEST else f"a figure at most {widest} inches wide, or several"
            raise ValueError(f"figures: {got}; give {mend}")


def _svg(figure, whole):
    """The drawing alone, in the ink of the page, with no more digits than show."""
    stream = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "rfcore", "svg.fonttype": "path", "path.simplify": True}):
        figure.savefig(
            stream, format="svg", transparent=True, bbox_inches=whole,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )  # fmt: skip
    return in_page(stream.getvalue())


def in_page(drawn, scale=1.0):
    """The text of an SVG file of matplotlib's, as it stands in a page, whose ink is its black."""
    svg = re.search(r"<svg.*</svg>", drawn, re.S)[0]
    width = scale * float(re.search(r' width="([\d.]+)pt"', svg)[1]) * PIXELS_PER_POINT
    box = re.search(r'viewBox="[^"]*"', svg)[0]
    drawn = svg[svg.index(">") + 1 :]
    drawn = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", drawn, flags=re.S)
    drawn = drawn.replace('<style type="text/css">*{stroke-linejoin: round; stroke-linecap: butt}</style>', "")
    drawn = re.sub(r">\s+<", "><", drawn)
    drawn = re.sub(f"{INK}|#000000", "currentColor", drawn.replace("<defs></defs>", "").replace("xlink:href", "href"))
    drawn = re.sub(r'<g style="fill: (#\w{6})(?=["; ])', _word_colour, drawn)
    drawn = re.sub(r'\b(?:d|x|y)="[^"]*"|translate\([^)]*\)', _rounded, drawn)
    style = f"width: {width:.0f}px; {OWN_SIZE}; fill: currentColor; stroke-linejoin: round; stroke-linecap: butt"
    return f'<svg {box} style="{style}" aria-hidden="true">{drawn}'


def _word_colour(found):
    """Words wear a colour mixed with the ink of the page, or the pure one where a browser cannot mix."""
    mixed = f"color-mix(in srgb, {found[1]} {100 * WORD_SHARE:.0f}%, currentColor)"
    return f"{found[0]}; fill: {mixed}"


def _rounded(found):
    short = re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), found[0])
    return re.sub(r"\s*\n\s*", " ", short)


def _named_apart(drawings, prefix):
    """Names of its own for what a drawing refers to, none for all else: other figures use the same.

    Letters and markers are drawn once for all panels. Their names say what they are (a letter of a font, a
    hash of the path), so that equal ones are the same; those of clips and patterns are of one panel.
    """
    drawn, seen = [], set()
    for i, svg in enumerate(drawings):
        used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', svg))
        paths = set(re.findall(r'<path id="([^"]*)"', svg)) & used
        names = {name: f"{prefix}-{name}" if name in paths else f"{prefix}-{i}-{name}" for name in used}
        svg = re.sub(
            r'<path id="([^"]*)"[^>]*/>', lambda found, seen=frozenset(seen): "" if found[1] in seen else found[0], svg
        )
        svg = re.sub(r' id="([^"]*)"', lambda found, n=names: f' id="{n[found[1]]}"' if found[1] in n else "", svg)
        drawn.append(re.sub(r'(url\(|href=")#([^)"]+)', lambda found, n=names: f"{found[1]}#{n[found[2]]}", svg))
        seen |= paths
    return drawn
