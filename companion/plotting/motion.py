"""What moves: figures of which a slider shows one at a time, and walkers that hop from node to node.

Both are drawn when the page is run, and need nothing but the page, in JupyterLab as in the book. Without
script the slider is missing and the first figure stands there; the walkers are a style sheet's, stop when
asked to, and stand where readers have asked their system for less motion.
"""

import html
import json
import re

import numpy as np

from companion.plotting.figures import FLOW, as_html, check_words, deliver, with_maths
from companion.plotting.style import COLOURS
from rfcore import checks

SECONDS = 1.6  # from one hop to the next
WIDTH, EDGE, RADIUS = 260, 34, 11  # pixels: of a drawing, around its nodes, of a node
HIDDEN = "visibility: hidden; position: absolute; "
SLIDER = """<script>{
  const figure = document.currentScript.closest("figure"), drawn = figure.querySelectorAll(".rfcore-panels > svg");
  const { slider, labels } = JSON.parse(figure.dataset.frames);
  const [label, input, said] = ["label", "input", "output"].map(name => document.createElement(name));
  Object.assign(input, { type: "range", min: 0, max: labels.length - 1, value: 0 });
  const show = () => {
    drawn.forEach((one, k) => {
      const [visibility, position] = k === input.valueAsNumber ? ["", ""] : ["hidden", "absolute"];
      Object.assign(one.style, { visibility, position });
    });
    said.textContent = labels[input.value];
    input.setAttribute("aria-valuetext", labels[input.value]);
  };
  input.addEventListener("input", show);
  label.append(`${slider} `, input, " ", said);
  figure.querySelector(".rfcore-panels").after(label);
  show();
}</script>"""
GOLDEN = 2.39996  # the angle, by which walkers on one node stand apart


def frames(figures, labels, *, slider, caption, alt):
    """Display figures of one size of which a slider shows one at a time.

    Args:
        figures: matplotlib figures, at least two.
        labels: what the slider says at each, a text.
        slider: what it changes, a text.
        caption, alt: as for :func:`companion.plotting.show`; ``alt`` describes all of them.
    """
    if len(figures) != len(labels) or len(labels) < 2:
        raise ValueError(f"labels has {len(labels)} texts for {len(figures)} figures; give one each, at least two")
    page = as_html(*figures, caption=caption, alt=alt)
    told = html.escape(json.dumps({"slider": slider, "labels": labels}))
    page = page.replace('class="rfcore-figure"', f'class="rfcore-figure rfcore-frames" data-frames="{told}"', 1)
    page = page.replace(FLOW, f"{FLOW}; position: relative", 1)
    count = iter(range(len(labels)))
    page = re.sub(r'(<svg viewBox="[^"]*" style=")', lambda f: f[1] + ("" if next(count) == 0 else HIDDEN), page)
    page = f"{page.removesuffix('</figure>')}{SLIDER}\n</figure>"
    deliver(page, f"{caption} [{alt}]")


def walkers(place, edges, paths, *, colours, caption, alt):
    """Display walkers that hop along the edges of a graph, all at once and over again, a drawing per name.

    Args:
        place: coordinates of the nodes, shape (n, 2).
        edges: numbers of the two ends, int array, (n_edges, 2).
        paths: dict of a title to the nodes that its walkers visit, int array, (n_walkers, n_hops + 1).
        colours: the colour of each title's, names in ``COLOURS``.
        caption, alt: as for :func:`companion.plotting.show`.
    """
    check_words(caption, alt)
    place = np.asarray(checks.points(place, "place", 2, least=2), dtype=float)
    edges = checks.indices(edges, "edges", len(place), several=True)
    names = [checks.choice(name, "colours", COLOURS) for name in colours]
    if edges.ndim != 2 or edges.shape[1] != 2 or len(names) != len(paths):
        got = f"edges has shape {edges.shape}, paths {len(paths)} titles, colours {len(names)}"
        raise ValueError(f"{got}; give pairs of nodes, and a colour per title")
    place = (place - place.min(axis=0)) / np.ptp(place, axis=0).max()
    place = EDGE + (WIDTH - 2 * EDGE) * place * [1, -1] + [0, (WIDTH - 2 * EDGE) * np.ptp(place[:, 1])]
    drawn = [
        _walked(place, edges, title, checks.indices(nodes, f"paths[{title!r}]", len(place), several=True), f"walkers-{i}", colour)
        for i, ((title, nodes), colour) in enumerate(zip(paths.items(), names, strict=True))
    ]
    page = "\n".join([
        '<figure class="rfcore-figure rfcore-walkers" style="margin: 1rem 0">',
        "<style>.rfcore-walkers:has(input:checked) .walker {animation-play-state: paused !important}",
        "@media (prefers-reduced-motion: reduce), print {.rfcore-walkers .walker {animation: none !important}}</style>",
        f'<div class="rfcore-panels" role="img" aria-label="{html.escape(alt)}" style="{FLOW}">',
        *drawn,
        "</div>",
        '<label><input type="checkbox"> Stop the walkers</label>',
        f"<figcaption>{with_maths(caption)}</figcaption>",
        "</figure>",
    ])  # fmt: skip
    deliver(page, f"{caption} [{alt}]")


def _walked(place, edges, title, nodes, name, colour):
    """The graph, and a circle per walker, which stands where its first hop leads if nothing moves."""
    height = place[:, 1].max() + EDGE
    lines = [f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}"/>' for a, b in place[edges]]
    rings = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}"/>' for x, y in place]
    rules, circles = [], []
    for k, walk in enumerate(nodes):
        apart = 1.9 * RADIUS * np.sqrt((k + 0.5) / len(nodes)) * np.array([np.cos(k * GOLDEN), np.sin(k * GOLDEN)])
        at = [f"translate({x:.1f}px,{y:.1f}px)" for x, y in place[walk] + apart]
        rules.append(_keyframes(f"{name}-{k}", at))
        moved = f"transform: {at[min(1, len(at) - 1)]}; animation: {name}-{k} {SECONDS * len(at):.1f}s ease-in-out infinite"
        circles.append(f'<circle class="walker" r="4" style="{moved}"/>')
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" style="width: {WIDTH}px; max-width: 100%; height: auto" aria-hidden="true">'
        f"<style>{''.join(rules)}</style>"
        f'<g stroke="currentColor" fill="none" opacity=".55">{"".join(lines + rings)}</g>'
        f'<g fill="{COLOURS[colour]}">{"".join(circles)}</g>'
        f'<text x="2" y="14" fill="currentColor" font-size="14">{html.escape(title)}</text></svg>'
    )


def _keyframes(name, at):
    """A walker rests at each node for half of the time, hops for the other half, and begins anew."""
    share = 100 / len(at)
    rests = [f"{k * share:.1f}%,{(k + (0.5 if k < len(at) - 1 else 1)) * share:.1f}%{{transform:{one}}}" for k, one in enumerate(at)]
    return f"@keyframes {name}{{{''.join(rests)}}}"
