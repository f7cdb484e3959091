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

D, M = 16, 500
DISTANCES = np.linspace(0.1, 3.0, 59)  # steps of a twentieth
START = int(np.argmin(np.abs(DISTANCES - 1)))
SHOWN = {  # of the plane
    "independent": ("iid", couplings.iid),
    "at right angles": ("orthogonal", couplings.orthogonal),
    "a tight frame": ("tight", couplings.tight),
}
N_SHOWN, SCALE = 15, 20  # frequencies in the drawings, and their scale
AROUND = np.array([np.cos(np.linspace(0, 2 * np.pi, 121)), np.sin(np.linspace(0, 2 * np.pi, 121))])
WIDTH, HEIGHT, LEFT, BOTTOM = 420, 215, 52, 40  # of the curves, and the room for their labels


def curves():
    """What is left of the error of independent frequencies, by the colour of the coupling."""
    both = {"orthogonal": couplings.orthogonal, "tight": couplings.tight}
    return {name: np.sqrt(theory.mse_ratio(one, "fourier", DISTANCES.astype(np.float32), m=M, d=D)) for name, one in both.items()}


def said(distance, left):
    """The sentence below the slider; ``page.js`` says the same."""
    times = f"{float(f'{M / left**2:.2g}'):,.0f}"
    return f"At distance {distance:.2f} the error of a tight frame is {100 * left:.0f} % of that with independent frequencies: {M} frequencies do the work of {times}."


def figure():
    """Frequencies in the plane, and curves of what is left over a distance that the reader moves."""
    left = curves()
    frame = left["tight"]
    data = {
        "m": M,
        "distances": [round(float(z), 3) for z in DISTANCES],
        "left": [round(float(ratio), 5) for ratio in frame],
        "x": [round(across(z), 1) for z in DISTANCES],
        "y": [round(down(ratio), 1) for ratio in frame],
    }
    about = f"{D} dimensions. Drawn: fifteen frequencies in the plane, their mean square in each direction."
    return "\n".join([
        "```{raw} html",
        f"<figure class=\"front-figure\" data-curve='{json.dumps(data)}'>",
        f'<div class="front-panels">{stars()}{plot(left)}</div>',
        '<label class="front-slider"><span>distance in lengthscales</span>'
        f'<input type="range" min="0" max="{len(DISTANCES) - 1}" value="{START}" disabled></label>',
        f"<figcaption><output>{said(DISTANCES[START], frame[START])}</output> <small>{about}</small></figcaption>",
        "</figure>",
        "```",
    ])  # fmt: skip


def stars():
    """Each kind of frequencies as lines from the origin, blocks in several strengths of ink."""
    parts = []
    for i, (name, (colour, draw)) in enumerate(SHOWN.items()):
        x, y, ink = 70 + 140 * i, 68, plotting.COLOURS[colour]
        omega = np.asarray(draw(jax.random.key(5), N_SHOWN, 2), dtype=float)
        for a, b in SCALE * omega:
            parts.append(f'<line x1="{x}" y1="{y}" x2="{x + a:.1f}" y2="{y - b:.1f}" stroke="{ink}" stroke-width="1.6" opacity=".55"/>')
            parts.append(f'<circle cx="{x + a:.1f}" cy="{y - b:.1f}" r="2.6" fill="{ink}"/>')
        curve = 1.5 * SCALE * np.mean((omega @ AROUND) ** 2, axis=0) * AROUND
        points = " ".join(f"{x + a:.1f},{y - b:.1f}" for a, b in curve.T)
        parts.append(f'<polygon points="{points}" fill="none" stroke="currentColor" stroke-width="1.8"/>')
        parts.append(f'<text x="{x}" y="152" text-anchor="middle" fill="currentColor">{name}</text>')
    alt = (
        "Three drawings of fifteen arrows from one point, each with a closed curve. Around independent ones and crosses it is longer than "
        "wide, around a tight frame nearly a circle."
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
    parts.append(f'<text x="{LEFT}" y="13" fill="currentColor">error, as a share of that with independent frequencies</text>')
    shown = {"iid": np.ones(len(DISTANCES)), **left}
    names = {"iid": "independent (iid)", "orthogonal": "orthogonal", "tight": "tight frame (tight)"}
    for i, (name, ratios) in enumerate(shown.items()):
        path = " ".join(f"{across(z):.1f},{down(r):.1f}" for z, r in zip(DISTANCES, ratios, strict=True))
        colour = plotting.COLOURS[name]
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.4"/>')
        parts.append(
            f'<text x="{WIDTH - 14}" y="{down(0.36) + 18 * i:.1f}" text-anchor="end" fill="{colour}" font-weight="600">{names[name]}</text>'
        )
    at, ratio = across(DISTANCES[START]), left["tight"][START]
    parts.append(
        f'<line class="marker" x1="{at:.1f}" x2="{at:.1f}" y1="12" y2="{HEIGHT - BOTTOM}" stroke="currentColor" stroke-dasharray="3 3"/>'
    )
    parts.append(
        f'<circle class="marker" cx="{at:.1f}" cy="{down(ratio):.1f}" r="5" fill="{plotting.COLOURS["tight"]}"/>'
    )
    first = f"{100 * left['tight'][0]:.0f} and {100 * left['orthogonal'][0]:.0f} per cent"
    alt = (
        f"Share of the error of independent frequencies against distance: with a tight frame and at right angles it starts at {first}, "
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
