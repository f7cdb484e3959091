"""The real notebooks: pairs in step, outputs current, claims decided, and every one runs at quick, also offline."""

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import jupytext
import nbformat
import pytest
import yaml
from drift import apart, drift
from forked import IMPORTED, Kernel
from jupyter_client.provisioning import local_provisioner

from companion import datasets, evidence
from companion.evidence import runner
from companion.evidence.ledger import Decisions
from companion.evidence.pages import code_cells, machine_paths, name_of, source_sha256
from companion.evidence.reach import reach_sha256
from companion.evidence.standing import recorded

ROOT = Path(__file__).parents[1]
SOURCES = {name_of(path): path for path in runner.find(["all"], ROOT)}
TEMPLATE = "template/01_one_question"
every_notebook = pytest.mark.parametrize("name", SOURCES)


# Claims whose number is of another thing at quick; their verdicts are compared all the same.
NUMBER_HANGS_ON_SIZE = {
    "ugrf/fig-2/small-with-modest-m": "the error with the most walkers: 32 at quick, 64 at paper",
    "ugrf/fig-2/small-inverse-cosine": "the error with the most walkers: 32 at quick, 64 at paper",
    "ugrf/extra-vacuous/eq-41-above-one": "the bound falls with the size of the sample, which is smaller at quick",
    "ugrf/extra-ode-times/midpoints": "of the closest of three graphs: dolphins at quick, karate at paper",
    **dict.fromkeys(
        [f"favor/fig-2/{regime}" for regime in ("heterogen", "mnist", "cifar10", "mnist-cifar10", "aderf")]
        + [f"favor/extra-centring/{claim}" for claim in ("mostly-the-mean", "gerf-beats-sderf")]
        + ["favor/fig-1/up-to"],
        "means over four sigmas at quick and ten at paper, of parameters fitted to fewer points",
    ),
    **dict.fromkeys(
        ["start/extra-guide/walkers", "start/extra-landmarks/columns", "start/extra-posterior-gain/distance"],
        "of fewer tables, points and columns at quick, or of the closest of several conditions, which is another",
    ),
    "couplings/extra-predictive-gain/orthogonal": "a mean over one table at quick and over six at paper",
    "couplings/fig-9/substantial": "a mean over three p_halt at quick and over nine at paper",
    "couplings/extra-airfoil-mean/kept": "of lengthscales that are fitted to 32 points at quick and to 256 at paper",
    "couplings/extra-attention-objectives/first-order-agrees": "a mean over one row at quick, over eight at paper",
    "couplings/eq-8/unequal-means": "until the mended term passes, which takes more draws than quick has, its distance; then the printed one's",
    **dict.fromkeys(
        [f"couplings/extra-{claim}" for claim in ("hop-rate/faster", "walk-variance/length", "walk-variance/two-hops")]
        + ["couplings/extra-hops/tenth", "couplings/extra-hops-size/nodes", "couplings/extra-hops-size/degree"],
        "of the worst of two graphs at quick, of three at paper; or of larger graphs at paper",
    ),
    **dict.fromkeys(
        [f"ugrf/extra-mesh-noise/{claim}" for claim in ("exact-order-on-four", "torus-is-noise")],
        "of the closest of several conditions, which at quick, with fewer repeats, is another",
    ),
    **dict.fromkeys(
        [f"couplings/extra-walk-floors/{claim}" for claim in ("reached", "kept", "passed")],
        "of the closest of six conditions, which at quick, with fewer repeats, is another",
    ),
    **dict.fromkeys(
        [f"favor/extra-real-queries/{claim}" for claim in ("sharp", "uniform", "dense", "centred", "best", "rate")]
        + [f"favor/extra-real-rivals/{claim}" for claim in ("greatest", "landmarks", "elu-and-relu")]
        + [f"favor/extra-real-couplings/{claim}" for claim in ("gain", "small")]
        + [f"beyond/extra-attention-maps/{claim}" for claim in ("own", "aderf", "clusters", "greatest", "uniform")],
        "of reviews of 128 word pieces at quick, of 512 at paper, with other numbers of features",
    ),
    **dict.fromkeys(
        ["favor/table-1/best", "favor/table-1/favor-plus", "favor/fig-4/few", "favor/fig-4/many"]
        + [f"favor/extra-encoder/{claim}" for claim in ("uniform", "sharp", "best", "blunt")]
        + [f"favor/extra-causal/{claim}" for claim in ("few-learn-nothing", "many-learn", "exact", "swapped")],
        "of models trained for a few steps at quick, with fewer features",
    ),
    **dict.fromkeys(
        ["simplex/fig-9/never-worse", "simplex/fig-9/better", "simplex/extra-vision-room/uniform"]
        + [f"simplex/extra-vision-swap/{claim}" for claim in ("simplex", "orthogonal", "accuracy")]
        + ["couplings/table-2/pm", "couplings/table-2/pnc"]
        + [f"couplings/extra-vision-norms/{claim}" for claim in ("pm", "pnc", "both")],
        "of models trained on 320 images at quick, on thousands at paper",
    ),
    "simplex/fig-10/exact-peaks-elsewhere": "a count of data sets: two at quick, eight at paper",
    "favor/fig-3/most-pairs": "of two data sets at quick, of eight at paper",
    "favor/extra-classification-splits/sderf-beats-gerf": "of two data sets at quick, of six at paper",
    "favor/extra-classification-raw/centred": "of two data sets at quick, of eight at paper",
}


@cache
def page(name):
    return nbformat.read(SOURCES[name].with_suffix(".ipynb"), as_version=4)


def committed_ledger(name):
    path = ROOT / "data" / "results" / "paper" / f"{name}.json"
    assert path.exists(), f"no results: run  python -m companion.evidence.runner --profile paper {name}"
    return json.loads(path.read_text(encoding="utf-8"))


def shown(notebook):
    """All text that the outputs show; images are left out."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            yield output.get("text", "")
            yield from (str(text) for kind, text in output.get("data", {}).items() if not kind.startswith("image/"))


@every_notebook
def test_the_pair_is_in_step(name):
    source, paired = jupytext.read(SOURCES[name]), page(name)

    def cells(notebook):
        return [(c.cell_type, c.source, sorted(c.metadata.get("tags", []))) for c in notebook.cells]

    assert cells(source) == cells(paired), "run  make sync"


@every_notebook
def test_no_line_of_its_text_is_a_comment_or_a_list_by_accident(name):
    """MyST shows nothing of a line that begins with a per cent sign, and ends a formula where a line begins like a list."""
    for cell in jupytext.read(SOURCES[name]).cells:
        if cell.cell_type == "markdown":
            assert not re.search(r"^\s*%", cell.source, re.M), cell.source
            for formula in re.findall(r"(?<![$\\])\$(?!\$)([^$]*)\$", cell.source):
                assert not re.search(r"^([-+*>] |#{1,6} |1[.)] )", formula, re.M), formula


def length(path):
    """Lines of prose and of code that a page shows; those of folded cells do not count."""
    cells = jupytext.read(path).cells
    return sum(len(cell.source.splitlines()) for cell in cells if "hide-input" not in cell.metadata.get("tags", ()))


def test_pages_show_250_lines_of_88_columns_and_their_figures():
    paths = sorted(ROOT.glob("notebooks/*/*.py"))
    long = [path.stem for path in paths if length(path) > 250]
    assert long == [], "one question per page"
    # Captions and descriptions have to end somewhere too, though the formatter leaves strings alone.
    long = [
        (path.stem, line)
        for path in paths for cell in jupytext.read(path).cells if cell.cell_type == "code"
        for line in cell.source.splitlines() if len(line) > 88
    ]  # fmt: skip
    assert long == []
    shown = [path.stem for path in paths if path.parent.name != "road" and "plt.show(" in path.read_text(encoding="utf-8")]
    assert shown == [], "figures are shown by plotting.show"
    ruff = [sys.executable, "-m", "ruff", "format", "--no-cache", "--check", *paths]
    done = subprocess.run(ruff, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run  ruff format  on them\n{done.stdout}{done.stderr}"


def test_pages_are_numbered_as_the_book_is_read():
    """So that the listing of a folder is its table of contents: in every chapter its numbers rise. The main road goes its own way."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [chapter for part in toc["parts"] for chapter in part["chapters"]]
    read = {c["file"]: [c["file"], *(s["file"] for s in c.get("sections", []))] for c in chapters}
    every = sorted(name.removeprefix("notebooks/") for names in read.values() for name in names if name.startswith("notebooks/"))
    places = {folder: [name for name in every if name.startswith(f"{folder}/")] for folder in {n.split("/")[0] for n in every}}
    numbered = [f"{folder}/{i:02}_" for folder, names in places.items() for i in range(1, len(names) + 1)]
    assert [name[: name.index("_") + 1] for names in places.values() for name in names] == numbered
    assert every == sorted(SOURCES)
    for chapter, names in read.items():
        for folder in places if chapter != "book/main_road" else ():
            of_folder = [name for name in names if name.startswith(f"notebooks/{folder}/")]
            assert of_folder == sorted(of_folder), chapter


def test_chapters_of_papers_hold_the_pages_of_printed_places_and_details_the_others():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    read = {c["file"]: [s["file"] for s in c.get("sections", [])] for part in toc["parts"] for c in part["chapters"]}
    printed = {f"notebooks/{entry.notebook}" for entry in evidence.entries() if entry.notebook and not entry.extra}
    folders = {entry.paper for entry in evidence.entries()}
    of_papers = {name for paper in folders for name in read[f"book/{paper}"]}
    details = {*read["book/details_vectors"], *read["book/details_graphs"]}
    assert of_papers <= printed and not details & printed
    assert len(of_papers) > 30 and len(details) > 15


@every_notebook
def test_the_page_shows_current_paper_outputs(name):
    notebook = page(name)
    made = notebook.metadata.get("rfcore", {})
    assert made.get("profile") == "paper", "run the notebook at paper"
    assert re.fullmatch(r"[0-9a-f]{40}", made["commit"])
    assert made["source_sha256"] == source_sha256(SOURCES[name]), "the code changed after the outputs were made: run it again"
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert outputs
    assert not [output for output in outputs if output.output_type == "error"]
    assert machine_paths(notebook) == []
    assert not [cell for cell in notebook.cells if "injected-parameters" in cell.metadata.get("tags", [])]


@every_notebook
def test_no_figure_is_larger_than_a_page(name):
    """A label at the logarithm of nothing once made one of 85,000 points."""
    drawn = (output.get("data", {}).get("text/html", "") for cell in page(name).cells for output in cell.get("outputs", []))
    boxes = [box.split() for shown in drawn for box in re.findall(r'<svg[^>]*viewBox="([^"]*)"', shown)]
    assert max((float(side) for box in boxes for side in box), default=0) < 700


@every_notebook
def test_no_page_is_due_for_a_rerun(name):
    made = page(name).metadata.get("rfcore", {})
    why = f"code of the library that the page reaches changed; due for a rerun: make paper NOTEBOOK={name}"
    assert made.get("reach_sha256") == reach_sha256(SOURCES[name]), why
    assert code_cells(SOURCES[name]) == [c.source.strip() for c in jupytext.read(SOURCES[name]).cells if c.cell_type == "code"]
    if evidence.claims_of(name):
        registered = {file.path: file.sha256 for entry in datasets.entries() for file in entry.files}
        read = committed_ledger(name)["provenance"]["data"]
        assert read.items() <= registered.items(), "the registered data changed; due for a rerun"


@every_notebook
def test_the_committed_ledger_decides_the_notebooks_claims(name, monkeypatch):
    monkeypatch.delenv("RFCORE_RESULTS", raising=False)
    wanted = evidence.claims_of(name)
    if wanted:
        record = committed_ledger(name)
        assert (record["notebook"], record["profile"]) == (name, "paper")
        assert runner.ledger_problems(name, {"profile": "paper"} | record["provenance"], ROOT) == []
        outputs = "\n".join(shown(page(name))).splitlines()  # a decision that ends no cell is taken, and shown to nobody
        decided = Decisions({claim: found for claim, found in recorded("paper").items() if claim in wanted})
        assert [line for line in repr(decided).splitlines() if line not in outputs] == []
        assert record["provenance"]["source_sha256"] == page(name).metadata["rfcore"]["source_sha256"]
        assert record["provenance"]["fallbacks"] == [], "at paper the real data are needed"
        named = {data for claim in wanted.values() for data in claim.data}
        read = {e.name for e in datasets.entries() if any(f.path in record["provenance"]["data"] for f in e.files)}
        assert read == named, "data sets read, and those that claims name"


@every_notebook
def test_the_page_holds_no_words_of_its_claims(name):
    """They come from data/claims when the book is built, so that another wording makes no page due."""
    assert "decision" not in "".join(re.findall(r'<div class="(\w+)"', "\n".join(shown(page(name)))))
    outputs = " ".join("\n".join(shown(page(name))).split())
    assert [c.id for c in evidence.claims_of(name).values() if " ".join(c.rule.split()) in outputs] == []


def test_no_ledger_is_orphaned():
    folder = ROOT / "data" / "results" / "paper"
    kept = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("*/*.json")}
    assert [name for name in sorted(kept) if not evidence.claims_of(name)] == []


def run_quick(name, folder, monkeypatch, fork=sys.platform == "linux"):
    """Run a copy of the notebook at quick in `folder`, in a forked kernel if `fork`; its page and its ledger."""
    source = folder / "notebooks" / f"{name}.py"
    source.parent.mkdir(parents=True)
    shutil.copy(ROOT / "notebooks" / f"{name}.py", source)
    shutil.copytree(ROOT / "data" / "claims", folder / "data" / "claims")
    monkeypatch.setenv("RFCORE_RESULTS", str(folder / "results"))
    if fork:
        monkeypatch.setattr(local_provisioner, "launch_kernel", Kernel)
    report = None
    try:
        runner.run(source, "quick")
    except runner.RunError as error:
        report = str(error)
    if report:
        pytest.fail(report, pytrace=False)
    ledger = folder / "results" / "quick" / f"{name}.json"
    executed = nbformat.read(folder / "_build" / "quick" / f"{name}.ipynb", as_version=4)
    found = json.loads(ledger.read_text(encoding="utf-8")) if ledger.exists() else {"claims": {}, "provenance": {}}
    return executed, found


@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux alone")
def test_a_forked_kernel_has_a_group_of_its_own(tmp_path):
    """Signals to a kernel that is slow to stop go to its group, which jupyter_client asks for once it has started."""
    with open(tmp_path / "said", "wb") as said:
        kernel = Kernel(["python", "-m", "ipykernel_launcher", "--version"], said, dict(os.environ))
        group = os.getpgid(kernel.pid) if kernel.poll() is None else kernel.pid
        kernel.kill()
        kernel.wait(10)
    assert group == kernel.pid != os.getpgid(0)


@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux alone")
def test_what_forked_kernels_share_starts_no_thread():
    code = "import os\n" + "".join(f"import {m}\n" for m in IMPORTED) + "print(len(os.listdir('/proc/self/task')))"
    variables = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False)
    assert done.stdout == "1\n", done.stderr


@every_notebook
def test_it_runs_at_quick_and_does_not_contradict_the_committed_results(name, tmp_path, monkeypatch):
    _, found = run_quick(name, tmp_path, monkeypatch)
    if found["claims"]:
        committed = committed_ledger(name)
        decided = committed["claims"]
        assert not {claim: problem for claim, d in found["claims"].items() if (problem := drifted(claim, d, decided))}
        assert not apart(found.get("kept", {}), committed.get("kept", {}))


def test_the_template_of_new_pages_runs_and_is_no_page(tmp_path, monkeypatch):
    _, found = run_quick(TEMPLATE, tmp_path, monkeypatch, fork=False)
    assert {claim: d["verdict"] for claim, d in found["claims"].items()} == dict.fromkeys(evidence.claims_of(TEMPLATE), "reproduced")
    assert len(found["claims"]) > 1 and found["provenance"]["seeds"]
    assert TEMPLATE not in SOURCES and "template" not in (ROOT / "_toc.yml").read_text(encoding="utf-8")
    assert TEMPLATE not in {entry.notebook for entry in evidence.entries()}


def drifted(claim, decision, committed):
    if claim in NUMBER_HANGS_ON_SIZE:
        decision = decision | {"ours": None}
    return drift(decision, committed[claim])


def test_every_number_said_to_hang_on_size_is_of_a_claim():
    assert set(NUMBER_HANGS_ON_SIZE) <= {claim for name in SOURCES for claim in evidence.claims_of(name)}


def without_data():
    """Pages that read data; all but a few, which together read every kind of data, are for ``make nightly``."""
    kinds = {file.path: entry.family for entry in datasets.entries() for file in entry.files}
    read = {}
    for name in SOURCES:
        if evidence.claims_of(name) and (files := committed_ledger(name)["provenance"]["data"]):
            read[name] = {kinds[path] for path in files}
    left, few = set().union(*read.values()), []
    while left:
        few.append(max(read, key=lambda name: len(read[name] & left)))
        left -= read[few[-1]]
    return [pytest.param(name, marks=() if name in few else pytest.mark.nightly) for name in read]


@pytest.mark.parametrize("name", without_data())
def test_it_runs_with_no_mirror_and_no_network_and_says_so(name, tmp_path, monkeypatch):
    monkeypatch.delenv("RFCORE_DATA_MIRROR", raising=False)
    monkeypatch.setenv("RFCORE_OFFLINE", "1")
    monkeypatch.setenv("RFCORE_DATA_CACHE", str(tmp_path / "empty"))
    executed, found = run_quick(name, tmp_path, monkeypatch)
    missing = found["provenance"]["fallbacks"]
    assert missing
    banners = [text for text in shown(executed) if "rfcore-stand-in" in text]
    assert all(any(data in text for text in banners) for data in missing)
    not_run = [d["detail"] for d in found["claims"].values() if d["verdict"] == "not run"]
    assert all(any(data in detail for detail in not_run) for data in missing)
