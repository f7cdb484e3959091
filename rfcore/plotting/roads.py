"""A map of roads whose colour says a value along them."""

import matplotlib as mpl
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from rfcore import checks
from rfcore.plotting.style import COLOURS, IN_PANELS, INK

__all__ = ["road_map"]

SIZE = (3.3, 2.7)  # inches
SHADES = ("fault", "second", "third", "first")  # from low to high, each with contrast in both themes


def road_map(place, roads, values, label, marks=None):
    """Roads in the colour of the mean value of their ends, one figure for :func:`rfcore.plotting.show`.

    The scale of colours holds nine tenths of the roads; arrows at its ends say that it leaves out others.

    Args:
        place: longitude and latitude of the nodes in degrees, shape (n, 2).
        roads: numbers of the two ends, int array, (n_roads, 2).
        values: shape (n,).
        label: what the values are.
        marks: numbers of the nodes to mark with a dot.
    """
    place, values = np.asarray(checks.points(place, "place", 2)), np.asarray(checks.vector(values, "values"))
    roads = np.asarray(checks.numbers(roads, "roads"), dtype=int)
    if (
        len(values) != len(place)
        or roads.ndim != 2
        or roads.shape[1] != 2
        or roads.min() < 0
        or roads.max() >= len(place)
    ):
        got = f"place has shape {place.shape}, roads {roads.shape}, values {values.shape}"
        raise ValueError(f"{got}; give one value per place, and two places of it per road")
    with mpl.rc_context(IN_PANELS):
        fig = Figure(figsize=SIZE, layout="constrained")
        ax = fig.subplots()
        lines = LineCollection(place[roads], linewidths=2.2, capstyle="round")
        shades = LinearSegmentedColormap.from_list("roads", [COLOURS[name] for name in SHADES])
        along = values[roads].mean(axis=1)
        lines.set(array=along, cmap=shades, clim=np.quantile(along, (0.05, 0.95)))
        ax.add_collection(lines)
        if marks is not None:
            ax.plot(*place[np.asarray(marks)].T, ".", color=INK, markersize=1.5)
        ax.autoscale_view()
        ax.set_aspect(1 / np.cos(np.radians(place[:, 1].mean())))
        ax.axis("off")
        scale = fig.colorbar(lines, ax=ax, shrink=0.8, extend="both")
        scale.set_label(label)
        scale.outline.set_visible(False)
    return fig
