"""One style, one colour per meaning, and figures and tables as every page of the book shows them.

Figures are vector graphics on a transparent ground. Their ink is the text colour of the page, and their colours are
mid-tones with a contrast of at least 3 to 1 against white and against the book's dark ground, so that one figure serves both
themes. ``WIDE`` and ``PANEL`` are sizes, in inches, whose text of 10 points can be read on a phone: of a figure that stands
alone, and of one of several.
"""

from rfcore.plotting.curves import band, label_ends
from rfcore.plotting.figures import as_html, show
from rfcore.plotting.maps import tiles
from rfcore.plotting.multiples import panels
from rfcore.plotting.rows import bars
from rfcore.plotting.style import COLOURS, INK, LABELS, PANEL, WIDE, use_style
from rfcore.plotting.tables import table

__all__ = [
    "COLOURS",
    "INK",
    "LABELS",
    "PANEL",
    "WIDE",
    "as_html",
    "band",
    "bars",
    "label_ends",
    "panels",
    "show",
    "table",
    "tiles",
    "use_style",
]
