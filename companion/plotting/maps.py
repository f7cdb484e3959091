"""What has a place: tiles for settings, roads coloured by a value, meshes with numbers on their faces."""

import html
import json

import matplotlib as mpl
import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from companion.plotting.figures import check_words, deliver, with_maths
from companion.plotting.style import COLOURS, IN_PANELS, INK, PANEL, STYLE, colours_of
from rfcore import checks


def tiles(best, numbers, *, names, rows, columns, x_label, y_label, title=""):
    """Tiles in the colour of what is best at each place, with a number on each: one figure for :func:`show`.

    Args:
        best: int array, (n_rows, n_columns): which of ``names``; below 0 for a place without a tile.
        numbers: shape (n_rows, n_columns), written as whole numbers.
        names: as the ``lines`` of :func:`panels`. Those that are best somewhere stand above the map.
        rows, columns: what to write from below upwards, and from the left, where every other column is named.
        x_label, y_label, title: texts.
    """
    colours, shape = colours_of(names), (len(rows), len(columns))
    best, numbers = (
        np.asarray(checks.numbers(best, "best"), dtype=int),
        np.asarray(checks.numbers(numbers, "numbers"), dtype=float),
    )
    if best.shape != shape or numbers.shape != shape or not np.any(best >= 0):
        got = f"best has shape {best.shape}, numbers {numbers.shape}"
        raise ValueError(
            f"{got}; give {shape}, a row per row and a column per column, with one tile at least"
        )
    if best.max() >= len(colours) or not np.all(np.isfinite(numbers[best >= 0])):
        raise ValueError(
            f"best has the value {best.max()}; give the places of {len(colours)} names, and a finite number on each tile"
        )
    labels = list(colours)
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(4.3, 0.9 + 0.26 * shape[0]))
        ax = fig.subplots()
        for i, k in zip(*np.nonzero(best >= 0), strict=True):
            colour = COLOURS[colours[labels[best[i, k]]]]
            ax.add_patch(
                Rectangle((k - 0.48, i - 0.48), 0.96, 0.96, facecolor=(colour, 0.55), edgecolor="none")
            )
            ax.text(k, i, f"{numbers[i, k]:.0f}", ha="center", va="center", fontsize=9)
        ax.set_xticks(range(shape[1]), [str(x) if (shape[1] - k) % 2 else "" for k, x in enumerate(columns)])
        ax.set_yticks(range(shape[0]), [str(x) for x in rows])
        ax.set(
            xlim=(-0.5, shape[1] - 0.5),
            ylim=(-0.5, shape[0] - 0.5),
            xlabel=x_label,
            ylabel=y_label,
            title=title,
        )
        ax.grid(visible=False)
        ax.tick_params(length=0)
        handles = [
            Patch(color=COLOURS[colours[labels[n]]], label=labels[n]) for n in np.unique(best[best >= 0])
        ]
        fig.legend(
            handles=handles, loc="outside upper left", ncols=3, fontsize=9, handlelength=1, columnspacing=1.2
        )
    return fig


SIZE = (3.4, 2.8)  # inches
SHADES = {  # from low to high, each with contrast in both themes
    name: LinearSegmentedColormap.from_list(name, [COLOURS[one] for one in of])
    for name, of in {"speeds": ("fault", "second", "third", "first"), "sizes": ("iid", "fourth", "positive")}.items()
}


def road_map(place, roads, values, label, limits, title="", colours="speeds", at=None):
    """Roads in the colour of the mean value of their ends, one figure for :func:`companion.plotting.show`.

    Args:
        place: longitude and latitude of the nodes in degrees, shape (n, 2).
        roads: numbers of the two ends, int array, (n_roads, 2).
        values: shape (n,), or (len(at),).
        label: what the values are.
        limits: values at the ends of the scale of colours.
        title: of the map.
        colours: "speeds", from red through yellow to blue, or "sizes", from pale to dark.
        at: numbers of the nodes at which values were measured: dots have the colours then, and roads none.
    """
    place, values = np.asarray(checks.points(place, "place", 2)), np.asarray(checks.vector(values, "values"))
    roads = np.asarray(checks.numbers(roads, "roads"), dtype=int)
    if (
        len(values) != len(place if at is None else at)
        or roads.ndim != 2
        or roads.shape[1] != 2
        or roads.min() < 0
        or roads.max() >= len(place)
    ):
        got = f"place has shape {place.shape}, roads {roads.shape}, values {values.shape}"
        raise ValueError(f"{got}; give one value per place, and two places of it per road")
    with mpl.rc_context(IN_PANELS):
        fig = Figure(figsize=SIZE, layout="constrained", dpi=200)
        ax = fig.subplots()
        chosen = {"cmap": SHADES[checks.choice(colours, "colours", SHADES)], "clim": limits}
        if at is None:
            lines = LineCollection(place[roads], linewidths=2.4, capstyle="round", **chosen)
            lines.set_array(values[roads].mean(axis=1))
            ax.add_collection(lines)
            lines.set_rasterized(True)  # a thousand strokes weigh more as paths
        else:
            broken = np.insert(place[roads].astype(float), 2, np.nan, axis=1)  # one line, the pen lifted between roads
            ax.plot(*broken.reshape(-1, 2).T, linewidth=0.8, color=INK, alpha=0.5)
            lines = ax.scatter(*place[np.asarray(at)].T, s=7, c=values, zorder=3, **chosen)
        ax.autoscale_view()
        ax.set_aspect(1 / np.cos(np.radians(place[:, 1].mean())))
        ax.axis("off")
        scale = fig.colorbar(lines, ax=ax, shrink=0.8, extend="both")
        scale.set_label(label)
        ax.set_title(title)
        scale.outline.set_visible(False)
    return fig


LOW_TO_HIGH = LinearSegmentedColormap.from_list("values", [COLOURS["orthogonal"], COLOURS["fault"]])
SCRIPT = "../../_static/vendor/plotly.min.js"  # the book keeps it beside its pages


def turntable(vertices, faces, layers, *, element, caption, alt):
    """Display a mesh that the reader can turn, coloured by one layer of numbers at a time, from a menu.

    It needs the script of plotly that the book keeps beside its pages; where that is not found, the figure
    says so.

    Args:
        vertices, faces: arrays of shape (n_vertices, 3) and, of int, (n_faces, 3).
        layers: dict of what the menu says to a triple: numbers, shape (n_faces,), and those of the two ends
            of the colour scale, which from 0 goes from pale to dark, else from blue to red. The first is
            shown at first.
        element: name of the figure within its page, letters and hyphens.
        caption, alt: as for :func:`companion.plotting.show`.
    """
    check_words(caption, alt)
    vertices, faces, layers = _checked(vertices, faces, layers)
    painted = [
        {"intensity": _short(values), "cmin": low, "cmax": high, "colorscale": _stops(_shades(low))}
        for values, low, high in layers.values()
    ]
    trace = dict(zip("xyzijk", [*map(_short, vertices.T), *faces.T.tolist()], strict=True)) | painted[0]
    trace |= {"type": "mesh3d", "intensitymode": "cell", "flatshading": True, "lighting": {"ambient": 0.75}}
    trace |= {"colorbar": {"thickness": 12, "len": 0.6}}
    buttons = [
        {"label": label, "method": "restyle", "args": [{key: [value] for key, value in layer.items()}]}
        for label, layer in zip(layers, painted, strict=True)
    ]
    layout = {
        "height": 460,
        "margin": {"l": 0, "r": 0, "t": 40, "b": 0},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": INK},
        "scene": {f"{axis}axis": {"visible": False} for axis in "xyz"}
        | {"aspectmode": "data", "camera": {"eye": {"x": 0.4, "y": -1.1, "z": 0.45}}},
        "updatemenus": [{"buttons": buttons, "x": 0, "xanchor": "left", "y": 1.1, "yanchor": "top"}],
    }
    given = ", ".join(
        json.dumps(part, separators=(",", ":")) for part in ([trace], layout, {"displaylogo": False})
    )
    lost = f"document.getElementById('{element}').textContent = 'There is no script beside this page that draws it.'"
    page = "\n".join(
        [
            '<figure class="rfcore-view" style="margin: 1rem 0">',
            f'<div id="{element}" role="img" aria-label="{html.escape(alt)}" style="height: 460px"></div>',
            f'<script src="{SCRIPT}" onerror="{lost}"></script>',
            f'<script>if (window.Plotly) Plotly.newPlot("{element}", {given})</script>',
            f"<figcaption>{with_maths(caption)}</figcaption>",
            "</figure>",
        ]
    )
    deliver(page, f"{caption} [{alt}]")


def from_one_side(vertices, faces, layers, eye=(0.25, -1.0, 0.35)):
    """The faces that look towards an eye far away, one figure per layer, for :func:`companion.plotting.show`.

    Args:
        vertices, faces, layers: as for :func:`turntable`.
        eye: where from, not straight from above; the z axis points up.
    """
    vertices, faces, layers = _checked(vertices, faces, layers)
    eye = np.asarray(checks.vector(eye, "eye", 3, of="axis"), dtype=float)
    eye = eye / np.linalg.norm(eye)
    right = np.cross([0, 0, 1], eye)
    screen = np.stack([right / np.linalg.norm(right), np.cross(eye, right / np.linalg.norm(right))], axis=1)
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    front = np.flatnonzero(normals @ eye > 0)
    front = front[np.argsort(corners[front].mean(axis=1) @ eye)]
    figures = []
    with mpl.rc_context(STYLE):
        for label, (values, low, high) in layers.items():
            fig = Figure(figsize=PANEL)
            ax = fig.subplots()
            drawn = PolyCollection(corners[front] @ screen, linewidths=0.3, edgecolor="face")
            drawn.set(array=values[front], cmap=_shades(low), clim=(low, high))
            ax.add_collection(drawn)
            ax.set(title=label, aspect="equal")
            ax.autoscale_view()
            ax.axis("off")
            fig.colorbar(drawn, ax=ax, shrink=0.7)
            figures.append(fig)
    return figures


def _checked(vertices, faces, layers):
    vertices, faces = np.asarray(checks.points(vertices, "vertices"), dtype=float), np.asarray(faces)
    if (
        vertices.shape[1] != 3
        or faces.ndim != 2
        or faces.shape[1] != 3
        or not (0 <= faces.min() <= faces.max() < len(vertices))
    ):
        got = f"vertices has shape {vertices.shape}, faces {faces.shape}"
        raise ValueError(f"{got}; give rows of three coordinates, and of three numbers of vertices")
    if not isinstance(layers, dict) or not layers:
        raise ValueError(f"layers = {layers!r}; give at least one, as a dict")
    kept = {}
    for label, (values, low, high) in layers.items():
        values = np.asarray(checks.vector(values, f"layers[{label!r}]"), dtype=float)
        if len(values) != len(faces):
            raise ValueError(
                f"layers[{label!r}] has shape {values.shape}; give one number per face, {len(faces)}"
            )
        kept[label] = values, float(low), float(high)
    return vertices, faces, kept


def _shades(low):
    """Errors and other sizes begin at zero, and go from pale to dark; other values from blue to red."""
    return SHADES["sizes"] if low == 0 else LOW_TO_HIGH


def _stops(shades):
    return [[x, mpl.colors.to_hex(shades(x))] for x in (0.0, 0.25, 0.5, 0.75, 1.0)]


def _short(values):
    return [float(f"{value:.4g}") for value in values]
