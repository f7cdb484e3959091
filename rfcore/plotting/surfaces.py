"""Triangle meshes whose faces carry numbers: to turn by hand, and drawn from one side.

This module is imported by its own name, ``rfcore.plotting.surfaces``.
"""

import html
import json

import matplotlib as mpl
import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from rfcore import checks
from rfcore.plotting.figures import check_words, deliver, with_maths
from rfcore.plotting.style import COLOURS, INK, PANEL, STYLE

LOW_TO_HIGH = COLOURS["orthogonal"], COLOURS["fault"]
SCRIPT = "../../_static/vendor/plotly.min.js"  # the book keeps it beside its pages


def turntable(vertices, faces, layers, *, element, caption, alt):
    """Display a mesh that the reader can turn, coloured by one layer of numbers at a time, from a menu.

    It needs the script of plotly that the book keeps beside its pages; where that is not found, the figure
    says so.

    Args:
        vertices, faces: arrays of shape (n_vertices, 3) and, of int, (n_faces, 3).
        layers: dict of what the menu says to a triple: numbers, shape (n_faces,), and those of the two ends
            of the colour scale. The first is shown at first.
        element: name of the figure within its page, letters and hyphens.
        caption, alt: as for :func:`rfcore.plotting.show`.
    """
    check_words(caption, alt)
    vertices, faces, layers = _checked(vertices, faces, layers)
    painted = [
        {"intensity": _short(values), "cmin": low, "cmax": high} for values, low, high in layers.values()
    ]
    trace = dict(zip("xyzijk", [*map(_short, vertices.T), *faces.T.tolist()], strict=True)) | painted[0]
    trace |= {"type": "mesh3d", "intensitymode": "cell", "flatshading": True, "lighting": {"ambient": 0.75}}
    trace |= {"colorscale": list(enumerate(LOW_TO_HIGH)), "colorbar": {"thickness": 12, "len": 0.6}}
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
    """The faces that look towards an eye far away, one figure per layer, for :func:`rfcore.plotting.show`.

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
            drawn.set(
                array=values[front],
                cmap=LinearSegmentedColormap.from_list("values", LOW_TO_HIGH),
                clim=(low, high),
            )
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


def _short(values):
    return [float(f"{value:.4g}") for value in values]
