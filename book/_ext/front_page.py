"""The front page's figure and findings: numbers from closed forms and from the ledger, none typed in.

The figure is two drawings within the page. A slider moves a line over distances that were computed when the book was built;
without a script it stands at one lengthscale, and the sentence below it says what is left there.
"""

import json
import re
import tomllib
from dataclasses import replace

import jax
import numpy as np
from record_text import ROOT

from companion import evidence, plotting
from companion.evidence.standing import told
from rfcore import couplings, theory

D, M = 16, 512
DISTANCES = np.linspace(0.1, 3.0, 59)  # steps of a twentieth
START = int(np.argmin(np.abs(DISTANCES - 1)))
SHELLS = couplings.compose("orthogonal", "stratified", across="blocks")
SHOWN = {  # of the plane, with four blocks of two
    "independent": ("iid", couplings.iid),
    "at right angles": ("orthogonal", couplings.orthogonal),
    "and on shells": ("orthogonal_pm", SHELLS),
}
SCALE = 20  # of a frequency in the drawings
WIDTH, HEIGHT, LEFT, BOTTOM = 420, 215, 52, 40  # of the curves, and the room for their labels


def curves():
    """What is left of the error of independent frequencies, by the colour of the coupling."""
    both = {"orthogonal": couplings.orthogonal, "orthogonal_pm": SHELLS}
    return {name: np.sqrt(theory.mse_ratio(one, "fourier", DISTANCES.astype(np.float32), m=M, d=D)) for name, one in both.items()}


def said(distance, left):
    """The sentence below the slider; ``page.js`` says the same."""
    times = f"{float(f'{M / left**2:.2g}'):,.0f}"
    return f"At distance {distance:.2f} the error on shells is {100 * left:.0f} % of that with independent frequencies: {M} frequencies do the work of {times}."


def figure():
    """Frequencies in the plane, and curves of what is left over a distance that the reader moves."""
    left = curves()
    shells = left["orthogonal_pm"]
    data = {
        "m": M,
        "distances": [round(float(z), 3) for z in DISTANCES],
        "left": [round(float(ratio), 5) for ratio in shells],
        "x": [round(across(z), 1) for z in DISTANCES],
        "y": [round(down(ratio), 1) for ratio in shells],
    }
    about = f"Closed forms for Fourier features of {D} dimensions; above, eight frequencies of each kind in the plane."
    return "\n".join([
        "```{raw} html",
        f"<figure class=\"front-figure\" data-curve='{json.dumps(data)}'>",
        f'<div class="front-panels">{stars()}{plot(left)}</div>',
        '<label class="front-slider"><span>distance in lengthscales</span>'
        f'<input type="range" min="0" max="{len(DISTANCES) - 1}" value="{START}" disabled></label>',
        f"<figcaption><output>{said(DISTANCES[START], shells[START])}</output> <small>{about}</small></figcaption>",
        "</figure>",
        "```",
    ])  # fmt: skip


def stars():
    """Each kind of frequencies as lines from the origin, blocks in several strengths of ink."""
    parts = []
    for i, (name, (colour, draw)) in enumerate(SHOWN.items()):
        x, y, ink = 70 + 140 * i, 68, plotting.COLOURS[colour]
        omega = np.asarray(draw(jax.random.key(5), 8, 2), dtype=float)
        lengths = np.linalg.norm(omega, axis=1)
        radii = dict.fromkeys(np.round(SCALE * lengths, 1)) if name.endswith("shells") else [60]
        parts += [f'<circle cx="{x}" cy="{y}" r="{r}" fill="none" stroke="currentColor" opacity=".3"/>' for r in radii]
        for k, (a, b) in enumerate(SCALE * omega):
            faded = f'stroke="{ink}" stroke-width="2.2" opacity="{1 - 0.18 * (k // 2):.2f}"'
            parts.append(f'<line x1="{x}" y1="{y}" x2="{x + a:.1f}" y2="{y - b:.1f}" {faded}/>')
            parts.append(f'<circle cx="{x + a:.1f}" cy="{y - b:.1f}" r="3.2" fill="{ink}"/>')
        parts.append(f'<text x="{x}" y="152" text-anchor="middle" fill="currentColor">{name}</text>')
    alt = (
        "Three drawings of eight arrows from one point. Independent ones cluster and leave gaps; at right angles they come in crosses; "
        "on shells the arrows of a cross are equally long, and the crosses have different sizes."
    )
    return f'<svg viewBox="0 0 420 160" role="img" aria-label="{alt}">{"".join(parts)}</svg>'


def across(z):
    return float(LEFT + (WIDTH - LEFT - 8) * z / DISTANCES[-1])


def down(ratio):
    return float(12 + (HEIGHT - BOTTOM - 12) * (1 - ratio / 1.1))


def plot(left):
    """The curves with their axes, and the line that the slider moves."""
    ink, parts = 'stroke="currentColor" opacity=".3"', []
    for ratio in (0, 0.25, 0.5, 0.75, 1):
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - 8}" y1="{down(ratio):.1f}" y2="{down(ratio):.1f}" {ink}/>'
        )
        parts.append(
            f'<text x="{LEFT - 6}" y="{down(ratio) + 4:.1f}" text-anchor="end" fill="currentColor">{100 * ratio:.0f} %</text>'
        )
    numbered = f'y="{HEIGHT - BOTTOM + 18}" text-anchor="middle" fill="currentColor"'
    parts += [f'<text x="{across(z):.1f}" {numbered}>{z}</text>' for z in range(4)]
    middle = (LEFT + WIDTH) / 2
    parts.append(
        f'<text x="{middle}" y="{HEIGHT - 4}" text-anchor="middle" fill="currentColor">distance between two points</text>'
    )
    shown = {"iid": np.ones(len(DISTANCES)), **left}
    names = {"iid": "independent", "orthogonal": "at right angles", "orthogonal_pm": "and on shells"}
    for i, (name, ratios) in enumerate(shown.items()):
        path = " ".join(f"{across(z):.1f},{down(r):.1f}" for z, r in zip(DISTANCES, ratios, strict=True))
        colour = plotting.COLOURS[name]
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.4"/>')
        parts.append(
            f'<text x="{WIDTH - 14}" y="{down(0.36) + 18 * i:.1f}" text-anchor="end" fill="{colour}" font-weight="600">{names[name]}</text>'
        )
    at, ratio = across(DISTANCES[START]), left["orthogonal_pm"][START]
    parts.append(
        f'<line class="marker" x1="{at:.1f}" x2="{at:.1f}" y1="12" y2="{HEIGHT - BOTTOM}" stroke="currentColor" stroke-dasharray="3 3"/>'
    )
    parts.append(
        f'<circle class="marker" cx="{at:.1f}" cy="{down(ratio):.1f}" r="5" fill="{plotting.COLOURS["orthogonal_pm"]}"/>'
    )
    first = f"{100 * left['orthogonal_pm'][0]:.0f} and {100 * left['orthogonal'][0]:.0f} per cent"
    alt = (
        f"Share of the error of independent frequencies against distance: on shells and at right angles it starts at {first}, "
        "and comes to nearly all of it at three lengthscales."
    )
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{alt}">{"".join(parts)}</svg>'


def findings():
    """Cards with a finding each: its sentence has the numbers of a claim's decision."""
    decided, cards = evidence.decisions("paper"), []
    for one in tomllib.loads((ROOT / "book" / "front_page.toml").read_text(encoding="utf-8"))["finding"]:
        decision = decided[one["claim"]]
        if not decision.verdict.green or decision.claim.known:
            raise ValueError(f"{one['claim']} is open, or was written when its numbers were known: no headline")
        claim = replace(decision.claim, finding=one["sentence"], undecided=None)
        sentence = told(replace(decision, claim=claim, se=None)).finding  # errors are on its page
        if sentence == decision.finding:
            raise ValueError(f"{one['claim']} has no number for {one['sentence']!r}")
        sentence = re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.2g}", sentence)  # its page has all digits
        cards.append(
            f":::{{grid-item-card}} {one['title']}\n:link: /notebooks/{one['page']}\n:link-type: doc\n\n{sentence}\n\n*Price: {one['price']}*\n:::"
        )
    return "\n".join(["::::{grid} 1 1 3 3", ":gutter: 2", ":class-container: findings", "", *cards, "::::"])
