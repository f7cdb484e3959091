"""The runner, on small throw-away projects."""

import json
import re
import signal
from types import SimpleNamespace

import jupytext
import nbformat
import pytest
from jupyter_client.provisioning import LocalProvisioner

from rfcore.evidence import kernel, pages, runner
from rfcore.evidence.provenance import code_sha256
from rfcore.evidence.reach import reach_sha256
from rfcore.evidence.runner import RunError

PARAMETERS = '# %% tags=["parameters"]\nprofile = "paper"\n'

# What a real notebook leaves to the ledger, in plain Python.
LEDGER = """
# %%
import datetime, json, os, pathlib
now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
path = pathlib.Path(os.environ["RFCORE_RESULTS"]) / profile / "toy/01_a.json"
path.parent.mkdir(parents=True, exist_ok=True)
source = os.environ["SOURCE_SHA256"]
claims = {"simplex/fig-1/x": {"verdict": VERDICT, "rule": "order", "detail": "by a hair"}}
path.write_text(json.dumps({"claims": claims, "provenance": {"date": now, "source_sha256": source}}))
"""
CLAIM = """
[[entry]]
id = "simplex/fig-1"
place = "Figure 1, Section 1"
title = "t"
statement = "s"
notebook = "toy/01_a"
anchor = "a"
  [[entry.claim]]
  id = "simplex/fig-1/x"
  statement = "s"
  kind = "order"
  rule = "r"
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("RFCORE_RESULTS", str(tmp_path / "results"))
    (tmp_path / "notebooks" / "toy").mkdir(parents=True)
    (tmp_path / "data" / "claims").mkdir(parents=True)
    return tmp_path


def write(project, text, name="01_a"):
    source = project / "notebooks" / "toy" / f"{name}.py"
    source.write_text(text)
    return source


def outputs(path):
    cells = nbformat.read(path, as_version=4).cells
    return "".join(o.get("text", "") for cell in cells for o in cell.get("outputs", []))


# what is refused before anything runs ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# %%\n1 + 1\n", r"toy/01_a: needs exactly one cell with the tag 'parameters', has 0"),
        (PARAMETERS + PARAMETERS, r"has 2"),
        (PARAMETERS.replace("profile", "prof"), r"needs profile = 'paper'"),
        (PARAMETERS.replace("paper", "quick"), r"needs profile = 'paper'"),
        (PARAMETERS + "n: int = 2\n", r"only lines like: name = literal"),
        (PARAMETERS + "n = 2 ** 3\n", r"only lines like: name = literal"),
        (PARAMETERS + "import os\n", r"only lines like: name = literal"),
        (PARAMETERS + "n = \n", r"only lines like: name = literal"),
    ],
)
def test_a_bad_parameters_cell_is_refused(project, text, message):
    with pytest.raises(RunError, match=message):
        runner.run(write(project, text), "quick")


def test_notebooks_are_chosen_by_prefix(project):
    sources = [write(project, "", name) for name in ("01_a", "02_b", "10_c")]
    write(project, "", "draft")
    assert runner.find(["all"], project) == sources
    template = project / "notebooks" / "template" / "01_t.py"
    template.parent.mkdir()
    template.write_text("")
    assert runner.find(["all"], project) == sources
    assert runner.find(["template"], project) == [template]
    assert runner.find(["toy"], project) == sources
    assert runner.find(["toy/0"], project) == sources[:2]
    assert runner.find(["toy/02", "toy/02_b.py"], project) == sources[1:2]
    with pytest.raises(RunError, match=r"starts with 'toy/3'.*toy/01_a"):
        runner.find(["toy/3"], project)


# what runs -------------------------------------------------------------------------------------------------


def test_the_command_runs_all_reports_the_failure_and_skips_what_is_done(project, capfd):
    good = write(project, PARAMETERS + "\n# %%\nimport os\nprint(profile, os.path.basename(os.getcwd()))\n")
    write(project, PARAMETERS + "\n# %% [markdown]\n# text\n\n# %%\nx = 1\n1 / (x - 1)\n", "02_b")
    assert runner.main(["--profile", "quick"], project) == 1
    shown = capfd.readouterr()
    assert re.search(r"^ +seconds processor\ntoy/01_a( +\d+\.\d){2}\ntoy/02_b FAILED\nall( +\d+\.\d){2}\n", shown.out)
    assert shown.err.startswith("\ntoy/02_b, cell 3"), "noise of the kernels"
    assert "toy/02_b, cell 3 (ZeroDivisionError: division by zero)\nx = 1\n1 / (x - 1)\n" in shown.err
    assert "\x1b[" not in shown.err.split("toy/02_b, cell 3")[1]
    executed = project / "_build" / "quick" / "toy" / "01_a.ipynb"
    assert outputs(executed) == "quick toy\n"
    assert not good.with_suffix(".ipynb").exists()

    assert runner.run(good, "quick") is None
    good.write_text(good.read_text().replace("print(profile,", "print('changed',"))
    assert runner.run(good, "quick").processor > 0
    assert outputs(executed) == "changed toy\n"
    assert runner.main(["--profile", "quick", "toy/7"], project) == 1
    assert "no notebook starts with 'toy/7'" in capfd.readouterr().err


def test_at_paper_the_page_shows_the_source_and_nothing_of_the_machine(project, monkeypatch):
    signals, send = [], LocalProvisioner.send_signal

    def recorded(self, signum):  # and sent: a kernel that is slow to stop on a busy machine is terminated by one
        signals.append(signum)
        return send(self, signum)

    monkeypatch.setattr(LocalProvisioner, "send_signal", recorded)
    text = PARAMETERS + "\n# %% [markdown]\n# text\n\n# %% tags=[]\n"
    text += "import sys\nprint('a\\rb')\nprint('a library speaks', file=sys.stderr)\nprofile\n"
    source = write(project, text)
    assert runner.run(source, "paper").wall > 0
    assert signal.SIGINT not in signals  # an interrupted kernel may say so: it was asked to stop
    page = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    nbformat.validate(page)
    assert [cell.source for cell in page.cells] == [cell.source for cell in jupytext.read(source).cells]
    assert page.metadata["rfcore"]["profile"] == "paper"
    assert page.metadata["rfcore"]["source_sha256"] == code_sha256(jupytext.read(source))
    assert page.metadata["rfcore"]["reach_sha256"] == reach_sha256(source)
    assert page.metadata["rfcore"]["processor_seconds"] > 0
    assert re.fullmatch(r"[0-9a-f]{40}", page.metadata["rfcore"]["commit"])
    assert "papermill" not in page.metadata
    assert [dict(cell.metadata) for cell in page.cells] == [{"tags": ["parameters"]}, {}, {}]
    stdout, value = page.cells[2].outputs
    assert (stdout.text, value.data["text/plain"]) == ("b\n", "'paper'")
    before = source.with_suffix(".ipynb").read_bytes()
    assert runner.run(source, "paper") is None

    source.write_text(text + "print('/root/secret')\n")
    with pytest.raises(RunError, match=r"paths of this machine: \['/root/secret"):
        runner.run(source, "paper")
    assert source.with_suffix(".ipynb").read_bytes() == before


def test_a_claim_that_fails_stops_the_run_unless_its_entry_expects_it(project, monkeypatch):
    (project / "data" / "claims" / "simplex.toml").write_text(CLAIM)
    source = write(project, PARAMETERS + LEDGER.replace("VERDICT", "'not reproduced'"))
    monkeypatch.setenv("SOURCE_SHA256", code_sha256(jupytext.read(source)))  # no kernel here imports the library
    with pytest.raises(RunError, match=r"toy/01_a at quick:\n  simplex/fig-1/x is not reproduced: by a hair"):
        runner.run(source, "quick")
    stamp = {"profile": "quick", "source_sha256": code_sha256(jupytext.read(source))}
    assert runner.ledger_problems("toy/01_a", stamp, other_claims(project, expected=True)) == []


def other_claims(project, expected=False, more=""):
    """A project beside `project` whose claims differ; the results are the same."""
    folder = project / "other" / "data" / "claims"
    folder.mkdir(parents=True, exist_ok=True)
    extra = '  expected = "not reproduced"\n  why = "w"\n' if expected else ""
    (folder / "simplex.toml").write_text(CLAIM + extra + more)
    runner.claims_of.__globals__["entries"].cache_clear()
    return project / "other"


# the pieces ------------------------------------------------------------------------------------------------


def record(project, verdict="reproduced", claim="simplex/fig-1/x", profile="quick", **provenance):
    path = project / "results" / profile / "toy" / "01_a.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    claims = {claim: {"verdict": verdict, "rule": "order"}}
    provenance = {"date": "2026-01-02T00:00:00Z", "source_sha256": "s"} | provenance
    path.write_text(json.dumps({"claims": claims, "provenance": provenance}))


def problems(project, since="2026-01-01T00:00:00Z", expected=False, profile="quick"):
    stamp = {"profile": profile, "source_sha256": "s"}
    return "; ".join(runner.ledger_problems("toy/01_a", stamp, other_claims(project, expected), since))


def test_a_ledger_is_checked_for_all_that_can_be_wrong(project):
    assert "not closed" in problems(project)
    record(project)
    assert problems(project) == ""
    assert "not closed" in problems(project, since="2026-01-03T00:00:00Z")  # left by an earlier run
    assert "expects failure" in problems(project, expected=True)
    record(project, "inconclusive")
    assert problems(project) == problems(project, expected=True) == ""
    record(project, "not reproduced")
    assert "simplex/fig-1/x is not reproduced" in problems(project)
    record(project, claim="simplex/fig-1/y")
    assert "differ: ['simplex/fig-1/x', 'simplex/fig-1/y']" in problems(project)
    record(project, source_sha256="older")
    assert "another version" in problems(project)
    for profile in ("quick", "paper"):
        record(project, profile=profile, fallbacks=["cora"])
    assert problems(project) == ""
    assert "stood in for ['cora']" in problems(project, profile="paper")
    record(project)
    stamp = {"profile": "quick", "source_sha256": "s"}
    assert "no entry" in runner.ledger_problems("toy/01_a", stamp, project)[0]


def test_the_hash_follows_the_code_and_nothing_else():
    def digest(text, tags=()):
        notebook = jupytext.reads(text, "py:percent")
        notebook.cells[-1].metadata["tags"] = list(tags)
        return code_sha256(notebook)

    code = "# %%\na = 1\n\n# %%\nb = 2\n"
    assert digest("# %% [markdown]\n# prose\n\n" + code) == digest(code)
    assert digest(code.replace("b = 2", "b = 3")) != digest(code)
    assert digest("# %%\na = 1\nb = 2\n") != digest(code)
    assert digest(code + "\n# %%\nc = 3\n", ["injected-parameters"]) == digest(code)


def test_the_longest_starts_first_and_one_that_never_ran_before_all(project):
    sources = [write(project, "", name) for name in ("01_a", "02_b", "03_c", "04_d")]
    assert runner.longest_first(sources, "quick") == sources
    for source, profile, seconds in [
        (sources[0], "paper", 5.0),
        (sources[1], "paper", 1.0),
        (sources[1], "quick", 7.0),
        (sources[2], "paper", 6.0),
    ]:
        page = pages.page_of(source, profile)
        page.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(nbformat.v4.new_notebook(metadata={"rfcore": {"processor_seconds": seconds}}), page)
    assert [s.stem for s in runner.longest_first(sources, "quick")] == ["04_d", "02_b", "03_c", "01_a"]
    assert [s.stem for s in runner.longest_first(sources, "paper")] == ["04_d", "03_c", "01_a", "02_b"]


def test_notebooks_that_read_a_clock_run_alone_at_paper(project):
    plain = [write(project, "", name) for name in ("01_a", "03_c", "04_d")]
    timed = write(project, "with evidence.Clock() as clock:\n    pass\n", "02_b")
    sources = [plain[0], timed, *plain[1:]]
    assert runner.shifts(sources, "paper", 2) == [(plain, 2), ([timed], 1)]
    assert runner.shifts(sources, "quick", 2) == [(sources, 2)]
    assert runner.shifts([timed], "paper", 2) == [([timed], 1)]


def test_what_a_kernel_itself_says_stands_in_the_report_if_it_dies_and_nowhere_else(project, capfd):
    last = "import os, sys\nos.write(getattr(sys.stderr, '_original_stdstream_copy', 2), b'last words')\n"
    runner.run(write(project, f"{PARAMETERS}\n# %%\n{last}"), "quick")
    with pytest.raises(RunError, match=r"^toy/02_b: DeadKernelError: Kernel died\nlast words$"):
        runner.run(write(project, f"{PARAMETERS}\n# %%\n{last}os._exit(1)\n", "02_b"), "quick")
    assert capfd.readouterr().err == ""


def test_the_table_of_times_adds_up_and_marks_what_is_slow_at_quick_only():
    spent = {"b/02_bb": runner.Spent(20.0, 30.04), "a/01": runner.Spent(10.04, 12.0), "c/03": "FAILED"}
    slow = "\n".join(
        [
            "        seconds processor",
            "a/01       10.0      12.0",
            "b/02_bb    20.0      30.0  over 30",
            "c/03    FAILED",
            "all        25.0      42.0",
        ]
    )
    assert runner.table(spent, "quick", 25.0) == slow
    assert runner.table(spent, "paper", 25.0) == slow.replace("  over 30", "")


def test_flags_that_are_given_are_kept_and_come_last(monkeypatch, tmp_path):
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_max_isa=AVX2")
    for profile, n in (("paper", 2), ("quick", 3)):  # at paper XLA compiles as it does for users
        flags = kernel.variables(profile, "s")["XLA_FLAGS"].split()
        assert len(flags) == n and flags[-1] == "--xla_cpu_max_isa=AVX2"


def test_a_batch_of_lapack_calls_at_quick_cannot_hold_every_thread_of_the_pool(monkeypatch):
    monkeypatch.delenv("PJRT_NPROC")  # conftest's
    assert int(kernel.variables("quick", "s")["PJRT_NPROC"]) >= 8
    assert "PJRT_NPROC" not in kernel.variables("paper", "s")  # timings: the pool that users have
    monkeypatch.setenv("PJRT_NPROC", "3")
    assert kernel.variables("quick", "s")["PJRT_NPROC"] == "3"


def test_paths_of_the_machine_are_found_in_text_and_not_in_images_or_addresses():
    def page(text, kind="text/html"):
        output = nbformat.v4.new_output("display_data", {kind: text})
        return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=[output])])

    assert pages.machine_paths(page("see /home/me/x.py, line 3")) == ["/home/me/x.py,"]
    assert pages.machine_paths(page("a new line\n/root/x")) == ["/root/x"]
    assert pages.machine_paths(page("<a href='/tmp/x'>")) == ["/tmp/x"]
    assert pages.machine_paths(page("https://example.org/home/x and docs/root/y")) == []
    assert pages.machine_paths(page("/tmp/x", "image/png")) == []
    assert pages.machine_paths(page('<img src="data:image/png;base64,ab+/tmp/xy==">/home/me')) == ["/home/me"]


def test_progress_bars_leave_no_frames_and_ids_follow_the_source():
    def stream(text, name="stdout"):
        return nbformat.v4.new_output("stream", name=name, text=text)

    frames = [stream("\r 0%\r 50%\r     \r"), stream("\r 0%\r100%\nresult\n"), stream("warning\n", "stderr")]
    cells = [nbformat.v4.new_code_cell("a", outputs=frames), nbformat.v4.new_code_cell("a")]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"papermill": {}, "rfcore": {}})
    pages.strip(notebook)
    assert [o.text for o in cells[0].outputs] == ["100%\nresult\n"]
    assert [cell.id.split("-")[1] for cell in notebook.cells] == ["1", "2"]
    assert cells[0].id.split("-")[0] == cells[1].id.split("-")[0]
    assert notebook.metadata == {"rfcore": {}}


def test_a_cell_that_takes_too_long_is_named(project, monkeypatch):
    def stuck(*arguments, execution_timeout, **options):
        raise runner.CellTimeoutError.error_from_timeout_and_cell(
            "timed out", execution_timeout, SimpleNamespace(source="while True: pass")
        )

    monkeypatch.setattr(runner.papermill, "execute_notebook", stuck)
    with pytest.raises(RunError, match=r"(?s)toy/01_a: CellTimeoutError.*7 seconds.*while True"):
        runner.run(write(project, PARAMETERS), "quick", timeout=7)
