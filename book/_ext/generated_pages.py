"""Pages made from records, so that text cannot drift from results: ``book/_generated``, made before a build.

Scorecard, front page and deviations come from ``companion.evidence``, the data page from ``companion.datasets``,
the environment page from the committed ledgers and the lock, the benchmarks from what `make bench` kept. Links to notebook sections are ordinary
references: a broken one is a warning, and warnings fail the build.
"""

import json
import re
from itertools import groupby

import front_page
import landscape
import lead_figures
import main_road
import matplotlib as mpl
import verdict_pages
from matplotlib.figure import Figure
from record_text import ROOT, TITLES, dropdown, plain, quiet, terms

from companion import datasets, plotting
from companion.evidence.standing import results_folder

GENERATED = ROOT / "book" / "_generated"

VERDICT_PAGES = (
    verdict_pages.glance,
    verdict_pages.scorecard,
    verdict_pages.errata,
    verdict_pages.disagreements,
    verdict_pages.refuted,
    verdict_pages.unprinted,
    verdict_pages.to_ask,
    verdict_pages.changes,
    verdict_pages.error_rates,
    landscape.landscape,
)
SHOWN_PINS = ("jax", "numpy", "scipy", "networkx", "gpjax", "matplotlib", "papermill", "jupyter-book")


def data():
    """Data sets, a section per family."""
    parts = []
    for family, members in groupby(datasets.entries(), key=lambda member: member.family):
        parts += [f"## {family.capitalize()}", *map(data_set, members)]
    return "\n\n".join(parts)


def data_set(s):
    fields = {
        "Shape": ", ".join(f"{count:,} {what}" for what, count in s.shape.items()),
        "Origin": f"<{s.origin}>" if s.origin.startswith("https:") else f"a file in the published {s.origin}",
        "Licence": plain(s.licence),
        "Cite as": plain(s.citation),
        "Preparation": plain(s.preprocessing or "none beyond reading the file"),
        "Used by": ", ".join(TITLES[paper] for paper in s.papers) or "none of the five papers",
    }
    head = f"[`{s.name}`]{{.place}} [{plain(s.title)}]{{.title}} {quiet(size(s.bytes))}"
    return dropdown(head, terms(fields))


def environment():
    """Where and when the committed outputs were made, and what the lock pins."""
    paths = sorted(results_folder("paper").glob("*/*.json"))
    ledgers = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    rows = [run_row(ledger["notebook"], ledger["provenance"]) for ledger in ledgers]
    runs = [machines([ledger["provenance"] for ledger in ledgers]), "", dropdown("[Page by page]{.title}", "\n".join(["| notebook | run |", "|---|---|", *rows]))]
    pins = {}
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    for name, version in re.findall(r"^([a-z0-9-]+)==(\S+)", lock, re.M):
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


def machines(provenances):
    """What ran how many pages, when, and for how long."""
    by_machine = {}
    for p in provenances:
        where = f"{p['device']['platform']}, {p['device']['cores']} cores, {p['device']['cpu']}; Python {p['versions']['python']}, JAX {p['versions']['jax']}"
        by_machine.setdefault(where, []).append(p)
    lines = [
        f"| {plain(where)} | {len(of)} | {min(p['date'] for p in of)[:10]} to {max(p['date'] for p in of)[:10]} | {sum(p['seconds'] for p in of) / 3600:.1f} |"
        for where, of in by_machine.items()
    ]
    return "\n".join(["| machine | pages | run from | hours |", "|---|---:|---|---:|", *lines])


def run_row(notebook, p):
    commit = f"`{(p['commit'] or 'none')[:10]}`" + (" with uncommitted changes" if p["dirty"] else "")
    versions = ", ".join(f"{name} {number}" for name, number in p["versions"].items() if number)
    made = quiet(f"{p['device']['cores']} cores, {p['device']['cpu']}; {versions}{', float64' if p['x64'] else ''}")
    return f"| {{doc}}`/notebooks/{notebook}` | {p['date'][:10]}, {p['seconds']:,.0f} s, commit {commit}<br>{made} |"


def benchmarks(kept=ROOT / "data" / "results" / "bench.json"):
    """What `make bench` has printed, and where it ran."""
    if not kept.exists():
        return "Nothing has been kept yet: run `make bench` on a machine that does nothing else, and build the book again."
    record = json.loads(kept.read_text(encoding="utf-8"))
    p = record["provenance"]
    commit = f"`{(p['commit'] or 'none')[:10]}`" + (" with uncommitted changes" if p["dirty"] else "")
    parts = [f"Run on {p['date'][:10]} on {p['device']['cores']} cores ({plain(p['device']['cpu'])}), commit {commit}."]
    for one in record["benchmarks"]:
        heading, met = one["title"].partition(" against ")[0], "all goals met" if one["goals_met"] else "a goal was missed"
        printed = "\n".join(one["printed"])
        parts += [f"## {heading}", f"{plain(one['title'])} **{met.capitalize()}.**"]
        parts += [on_a_cpu(printed)] if heading == "Attention by features" else []
        parts += [dropdown("[How, and what it printed]{.title}", f"{plain(one['about'])}\n\n```text\n{printed}\n```")]
    return "\n\n".join([*parts, *accelerator()])


def accelerator(kept=ROOT / "data" / "results" / "accelerator.json"):
    """What tests/benchmarks/accelerator.py has kept of a run on a GPU."""
    record = json.loads(kept.read_text(encoding="utf-8"))
    where = f"One {record['device']}, JAX {record['jax']}, {record['date']}, commit `{record['commit']}`."
    lines = ["| attention | L | heads | dtype | ms | MiB beside inputs and outputs |", "| --- | ---: | ---: | --- | ---: | ---: |"]
    for row in record["attention"]:
        name = {"exact": "exact (cuDNN)", "ours": "`random_feature_attention`"}.get(row["program"], row["program"])
        way = f"{', causal' * row['causal']}{', gradients' * row['backward']}"
        lines.append(f"| {name}{way} | {row['length']:,} | {row['heads']} | {row['dtype']} | {row['milliseconds']:.2f} | {row['mebibytes']:,.0f} |")
    draws = "\n".join(["| frequencies drawn | ms |", "| --- | ---: |", *(f"| {name} | {ms:.2f} |" for name, ms in record["draws"].items())])
    errors = "\n".join(["| largest error against float64 | |", "| --- | ---: |", *(f"| {name} | {x:.1e} |" for name, x in record["accuracy"].items())])
    table = dropdown("[All numbers]{.title}", "\n\n".join(["\n".join(lines), draws, errors]))
    return ["## On an accelerator", where, on_an_accelerator(record["attention"]), table]


NAMES = {"exact": "exact", "plain": "features, plain JAX", "ours": "random_feature_attention", "published": "published program"}
COLOUR = {"exact": "exact", "plain": "second", "ours": "first", "published": "third"}


def times(panels, caption, alt):
    """Milliseconds against positions: panels are dicts of a program to pairs of both, by title."""
    figures = []
    for title, programs in panels.items():
        with mpl.rc_context(plotting.style.IN_PANELS):
            ax = Figure(figsize=plotting.PANEL, layout="constrained").subplots()
            for name, pairs in programs.items():
                ax.loglog(*zip(*sorted(pairs), strict=True), "o-", base=2, color=plotting.COLOURS[COLOUR[name]], label=NAMES[name])
            ax.set(title=title, xlabel="positions", ylabel="ms")
            ax.set_yscale("log", base=10)
            ax.legend()
        figures.append(ax.figure)
    return f"```{{raw}} html\n{plotting.figures.as_html(*figures, caption=caption, alt=alt)}\n```"


def on_a_cpu(printed):
    """The chart of the console's tables."""
    panels = {}
    for part in re.split(r"\n\n", printed):
        head, *rows = part.split("\n")
        title = head.partition("  ")[0]
        for row in rows:
            if found := re.match(r"\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)", row):
                n, *taken = map(float, found.groups())
                for name, ms in zip(("exact", "published", "ours"), taken, strict=True):
                    panels.setdefault(title, {}).setdefault(name, []).append((n, ms))
            elif found := re.match(r"\s+(\d+)\s+([\d.]+)\s*$", row):
                panels.setdefault(title, {}).setdefault("ours", []).append(tuple(map(float, found.groups())))
    caption = "Ours. One head of dimension 64 with 256 features on two cores, float32: least times."
    alt = "Rising lines of milliseconds against positions. Exact attention rises twice as steeply as the two programs with features, of which ours is the lower."
    return times(panels, caption, alt)


def on_an_accelerator(rows):
    """The chart of the record."""
    panels = {"causal": {}, "causal, forward and backward": {}}
    for row in rows:
        if row["causal"] and row["heads"] == 8 and row["dtype"] == "bfloat16":
            title = list(panels)[row["backward"]]
            panels[title].setdefault(row["program"], []).append((row["length"], row["milliseconds"]))
    caption = "Ours. Eight heads of dimension 64 with 256 features, bfloat16, causal. Exact attention is cuDNN's."
    alt = "Lines of milliseconds against positions. Exact attention is lowest at 4,096 positions and highest at 65,536; features in plain JAX are lowest there."
    return times(panels, caption, alt)


def size(n_bytes):
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{max(n_bytes / 1e3, 1):.0f} kB"


def write(app):
    GENERATED.mkdir(exist_ok=True)
    pages = {page.__name__: page() for page in (*VERDICT_PAGES, data, environment, benchmarks)}
    pages |= {"front_figure": front_page.figure(), "front_findings": front_page.findings(), "course": main_road.course(), "gallery": lead_figures.gallery()}
    for chapter in ("details_vectors", "details_graphs", "beyond"):
        pages[f"listing_{chapter}"] = main_road.listing(chapter)
    for paper in TITLES:
        pages[f"errata_{paper}"] = verdict_pages.errata_of(paper)
        pages[f"places_{paper}"] = verdict_pages.places_of(paper)
    for name, text in pages.items():
        path, text = GENERATED / f"{name}.md", text + "\n"
        # An untouched page is not read again.
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app):
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
