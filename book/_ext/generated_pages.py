"""Pages made from records, so that text cannot drift from results: ``book/_generated``, made before a build.

Scorecard, front page and deviations come from ``rfcore.evidence``, the data page from ``rfcore.datasets``,
the environment page from the committed ledgers and the lock. Links to notebook sections are ordinary
references: a broken one is a warning, and warnings fail the build.
"""

import json
import re
from collections import Counter
from itertools import groupby
from pathlib import Path

from rfcore import datasets, evidence
from rfcore.evidence import Verdict
from rfcore.evidence.claims import PAPERS, results_folder
from rfcore.evidence.verdicts import with_error

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "book" / "_generated"

TITLES = {
    "simplex": "Simplex Random Features",
    "ugrf": "Universal Graph Random Features",
    "couplings": "Variance-Reducing Couplings for Random Features",
    "favor": "FAVOR#",
    "equivalence": "All Random Features Representations are Equivalent",
}
CITATIONS = {
    "simplex": "reid2023simplex",
    "ugrf": "reid2023universal",
    "couplings": "reid2025couplings",
    "favor": "likhosherstov2023favor",
    "equivalence": "sernau2024equivalent",
}
WHAT_OURS_IS = {  # where it is not the quantity that the paper prints
    "identity": "largest error",
    "unbiased": "mean error, worst entry",
    "order": "gain, weakest case",
}
SHOWN_PINS = ("jax", "numpy", "scipy", "networkx", "gpjax", "matplotlib", "papermill", "jupyter-book")


def glance():
    """Front page: a bar and the counts for each paper."""
    lines = ["| paper | verdicts on its figures, tables and theorems |", "|---|---|"]
    for paper, counts in evidence.headline("paper").items():
        lines.append(f"| [{TITLES[paper]}](#scorecard-{paper}) | {bar(counts)} {tally(counts)} |")
    return "\n".join(lines)


def scorecard():
    """Every entry of the five papers, with its claims and their verdicts."""
    rows = evidence.scorecard("paper")
    parts = []
    for paper in PAPERS:
        printed = [row for row in rows if row.entry.paper == paper and not row.entry.extra]
        extras = [row for row in rows if row.entry.paper == paper and row.entry.extra]
        counts = Counter(row.verdict for row in printed)
        parts += [
            f"(scorecard-{paper})=",
            f"## {TITLES[paper]}",
            f"{{cite:t}}`{CITATIONS[paper]}`. {bar(counts)} {tally(counts)}",
            *map(entry, printed),
        ]
        if extras:
            parts += ["Found on the way, stated by no paper:", *map(entry, extras)]
    return "\n\n".join(parts)


def entry(row):
    """One entry of the scorecard: a line that opens to its claims."""
    place, _, section = row.entry.place.partition(", ")
    lines = [f"{plain(row.entry.statement)} {quiet(section)}", ""]
    if row.entry.schematic:
        lines.append(f"Nothing to reproduce: {plain(row.entry.schematic)}")
    if row.claims:
        lines += ["| claim, and what decides it | paper | ours | verdict |", "|---|---|---|---|"]
        lines += [claim_row(claim, decision) for claim, decision in row.claims]
        lines += ["", f"Decided in {section_link(row, f'{place}, {row.notebook}')}."]
    head = f"[{plain(place)}]{{.place}} [{plain(row.entry.title)}]{{.title}} {badge(row.verdict)}"
    return dropdown(head, "\n".join(lines))


def claim_row(claim, decision):
    sentence = f"{plain(claim.statement)}<br>{quiet(claim.rule)}"
    if claim.why:
        sentence += f"<br>Expected to fail: {plain(claim.why)}"
    if decision is None:
        return f"| {sentence} | – | – | {badge(Verdict.NOT_YET)} |"
    paper, ours = with_error(decision.paper, decision.paper_se), with_error(decision.ours, decision.se)
    if decision.rule in WHAT_OURS_IS:
        ours += f"<br>{quiet(WHAT_OURS_IS[decision.rule])}"
    return f"| {sentence}<br>{quiet(decision.detail)} | {paper} | {ours} | {badge(decision.verdict)} |"


def deviations():
    """Claims that a notebook has decided to be an erratum, a deviation or a disagreement."""
    parts = []
    for verdict in (Verdict.ERRATUM, Verdict.SCALED, Verdict.IN_DIRECTION, Verdict.NOT_REPRODUCED):
        lines = [
            f"| {section_link(row, f'{TITLES[row.entry.paper]}, {row.entry.place}')} "
            f"| {plain(claim.statement)} | {plain(decision.detail)} |"
            for row in evidence.scorecard("paper")
            for claim, decision in row.claims
            if decision and decision.verdict is verdict
        ]
        if lines:
            table = ["| where | claim | what was found |", "|---|---|---|", *lines]
            parts += [badge(verdict), "\n".join(table)]
    return "\n\n".join(parts) or "No notebook has decided a claim to be one of these so far."


def data():
    """Data sets, a section a family."""
    parts = []
    for family, members in groupby(datasets.entries(), key=lambda member: member.family):
        parts += [f"## {family.capitalize()}", *map(data_set, members)]
    return "\n\n".join(parts)


def data_set(s):
    terms = {
        "Shape": ", ".join(f"{count:,} {what}" for what, count in s.shape.items()),
        "Origin": f"<{s.url}>",
        "Licence": plain(s.licence),
        "Cite as": plain(s.citation),
        "Preparation": plain(s.preprocessing or "none beyond reading the file"),
        "Used by": ", ".join(TITLES[paper] for paper in s.papers) or "none of the five papers",
    }
    head = f"[`{s.name}`]{{.place}} [{plain(s.title)}]{{.title}} {quiet(size(s.bytes))}"
    return dropdown(head, "\n\n".join(f"{term}\n: {text}" for term, text in terms.items()))


def environment():
    """Where and when the committed outputs were made, and what the lock pins."""
    runs = ["| notebook | date | seconds | commit | device | versions |", "|---|---|--:|---|---|---|"]
    ledgers = [json.loads(path.read_text()) for path in sorted(results_folder("paper").glob("*/*.json"))]
    runs += [run_row(ledger["notebook"], ledger["provenance"]) for ledger in ledgers]
    pins = {}
    for name, version in re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / "requirements.lock").read_text(), re.M):
        pins.setdefault(name, []).append(version)  # several, where the version of Python decides
    return "\n".join([
        "## The runs behind these pages",
        "",
        *(runs if ledgers else ["No notebook has been run at the scale of the papers yet."]),
        "",
        "## What the lock pins",
        "",
        f"{len(pins)} packages, each with its hashes. The ones that matter most (of two, your Python decides):",
        "",
        "| package | version |",
        "|---|---|",
        *(f"| {name} | {' or '.join(pins[name])} |" for name in SHOWN_PINS),
    ])


def run_row(notebook, p):
    commit = f"`{(p['commit'] or 'none')[:10]}`" + (" with changes" if p["dirty"] else "")
    device = f"{p['device']['cores']} cores, {plain(p['device']['cpu'])}"
    versions = ", ".join(f"{name} {number}" for name, number in p["versions"].items() if number)
    return (
        f"| {{doc}}`/notebooks/{notebook}` | {p['date'][:10]} | {p['seconds']:.3g} | {commit} | {device} "
        f"| {versions}{', float64' if p['x64'] else ''} |"
    )


def section_link(row, text):
    """The section of the notebook that decides an entry; before the notebook is written, its name."""
    if (ROOT / "notebooks" / f"{row.notebook}.ipynb").exists():
        return f"{{ref}}`{text} <{row.anchor}>`"
    return f"`{row.notebook}`, to come"


def dropdown(head, body):
    return f":::{{dropdown}} {head}\n:class-container: entry\n{body}\n:::"


def badge(verdict, text=None):
    return f"[{text or verdict.value}]{{.verdict .{slug(verdict)}}}"


def bar(counts):
    """Stacked bar of verdict counts. The words beside it say the same, so that screen readers skip it."""
    pieces = (f'<i class="{slug(v)}" style="flex-grow:{counts[v]}"></i>' for v in shown(counts))
    return f'<span class="bar" aria-hidden="true">{"".join(pieces)}</span>'


def tally(counts):
    return " ".join(badge(verdict, f"{counts[verdict]} {verdict.value}") for verdict in shown(counts))


def shown(counts):
    return [verdict for verdict in Verdict if counts[verdict] and verdict is not Verdict.NOTHING]


def slug(verdict):
    return verdict.value.replace(" ", "-")


def quiet(text):
    return f"[{plain(text)}]{{.quiet}}"


def plain(text):
    """Text of a record as Markdown that shows it unchanged, on one line."""
    return re.sub(r"([\\`*_\[\]<>$|~{}])", r"\\\1", " ".join(text.split()))


def size(n_bytes):
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{max(n_bytes / 1e3, 1):.0f} kB"


def write(app):
    GENERATED.mkdir(exist_ok=True)
    for page in (glance, scorecard, deviations, data, environment):
        path, text = GENERATED / f"{page.__name__}.md", page() + "\n"
        if not path.exists() or path.read_text() != text:  # an untouched page is not read again
            path.write_text(text)


def setup(app):
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
