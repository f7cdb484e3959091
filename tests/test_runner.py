"""The runner, on small throw-away projects."""

import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import jupytext
import nbformat
import psutil
import pytest
from jupyter_client.provisioning import LocalProvisioner

from companion.evidence import claims, deadlocks, execution, pages, runner
from companion.evidence.pages import source_sha256
from companion.evidence.reach import reach_sha256
from companion.evidence.runner import RunError

HERE = Path(__file__).parents[1]
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
    source.write_text(text, encoding="utf-8")
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
    template.write_text("", encoding="utf-8")
    assert runner.find(["all"], project) == sources
    assert runner.find(["template"], project) == [template]
    assert runner.find(["toy"], project) == sources
    assert runner.find(["toy/02", "toy/02_b.py"], project) == sources[1:2]
    with pytest.raises(RunError, match=r"^notebook = 'toy/3'; give all, or the beginning of one of .*toy/01_a"):
        runner.find(["toy/3"], project)


@pytest.mark.parametrize("place", ["", "./", "notebooks/", "./notebooks/", "/elsewhere/notebooks/"])
def test_a_notebook_is_chosen_by_a_path_as_a_shell_completes_it_and_by_its_whole_number(project, place):
    sources = [write(project, "", name) for name in ("01_a", "02_b", "10_c")]
    for end in ("toy/1", "toy/01", "toy/01_a", "toy/01_a.py", "toy/01_a.ipynb"):
        assert runner.find([place + end], project) == sources[:1]
    assert runner.find([place + "toy/10"], project) == sources[2:]
    assert runner.find([place + "toy/"], project) == sources
    with pytest.raises(RunError, match="give all"):
        runner.find([place + "toy/0"], project)


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

    assert runner.main(["--profile", "quick", "toy/01"], project) == 0
    assert "\ntoy/01_a unchanged, skipped\n" in capfd.readouterr().out
    good.write_text(good.read_text(encoding="utf-8").replace("print(profile,", "print('changed',"), encoding="utf-8")
    assert runner.run(good, "quick").processor > 0
    assert outputs(executed) == "changed toy\n"
    assert runner.main(["--profile", "quick", "toy/7"], project) == 1
    assert "notebook = 'toy/7'; give" in capfd.readouterr().err


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("end", ["import sys\nsys.exit(0)", "raise SystemExit"])
def test_a_page_that_ends_before_its_last_line_fails_and_its_cell_is_named(project, end, last):
    """Papermill takes both for success, and the page would be half empty."""
    with pytest.raises(RunError, match=r"^toy/01_a, cell 2 \(it ends the page, .*; let every cell run\)\n" + re.escape(end)):
        runner.run(write(project, f"{PARAMETERS}\n# %%\n{end}\n" + "\n# %%\nprint('never')\n" * (not last)), "quick")
    assert not (project / "_build" / "quick" / "toy" / "01_a.ipynb").exists()


def test_cells_without_code_need_no_run(project):
    assert runner.run(write(project, f"{PARAMETERS}\n# %%\n\n# %% [markdown]\n# text\n"), "quick") is not None


@pytest.mark.parametrize("magic", ["%time 1 + 1", "!echo x"])
def test_a_magic_that_is_no_comment_is_refused_with_its_line_and_the_remedy(project, magic):
    source = write(project, f"{PARAMETERS}\n# %%\n{magic}\n")
    with pytest.raises(RunError) as caught:
        runner.run(source, "quick")
    assert str(caught.value).startswith(f"toy/01_a: {source}, line 5 = {magic!r}; give Python")
    assert str(caught.value).endswith("magics stand as comments: # %time")
    commented = write(project, f"{PARAMETERS}\n# %%\n# {magic}\n")
    assert runner.run(commented, "quick") is not None


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
    assert page.metadata["rfcore"]["source_sha256"] == source_sha256(source)
    assert page.metadata["rfcore"]["reach_sha256"] == reach_sha256(source)
    assert page.metadata["rfcore"]["processor_seconds"] > 0
    assert re.fullmatch(r"[0-9a-f]{40}", page.metadata["rfcore"]["commit"])
    assert "papermill" not in page.metadata
    assert [dict(cell.metadata) for cell in page.cells] == [{"tags": ["parameters"]}, {}, {}]
    stdout, value = page.cells[2].outputs
    assert (stdout.text, value.data["text/plain"]) == ("b\n", "'paper'")
    before = source.with_suffix(".ipynb").read_bytes()
    assert runner.run(source, "paper") is None

    source.write_text(text + "print('/root/secret')\n", encoding="utf-8")
    with pytest.raises(RunError, match=r"paths of this machine: \['/root/secret"):
        runner.run(source, "paper")
    assert source.with_suffix(".ipynb").read_bytes() == before


def test_a_claim_that_fails_stops_the_run_unless_its_entry_expects_it(project, monkeypatch):
    (project / "data" / "claims" / "simplex.toml").write_text(CLAIM, encoding="utf-8")
    source = write(project, PARAMETERS + LEDGER.replace("VERDICT", "'not reproduced'"))
    monkeypatch.setenv("SOURCE_SHA256", source_sha256(source))  # no kernel here imports the library
    with pytest.raises(RunError, match=r"toy/01_a at quick:\n  simplex/fig-1/x is not reproduced: by a hair"):
        runner.run(source, "quick")
    stamp = {"profile": "quick", "source_sha256": source_sha256(source)}
    assert runner.ledger_problems("toy/01_a", stamp, other_claims(project, expected=True)) == []


@pytest.mark.parametrize("before", [None, "{}"])
def test_a_run_that_fails_at_paper_leaves_the_committed_ledger_as_it_was(project, monkeypatch, before):
    (project / "data" / "claims" / "simplex.toml").write_text(CLAIM, encoding="utf-8")
    source = write(project, PARAMETERS + LEDGER.replace("VERDICT", "'not reproduced'"))
    monkeypatch.setenv("SOURCE_SHA256", source_sha256(source))
    ledger = runner.results_folder("paper", project) / "toy" / "01_a.json"
    if before is not None:
        ledger.parent.mkdir(parents=True)
        ledger.write_text(before, encoding="utf-8")
    with pytest.raises(RunError, match=r"toy/01_a at paper:\n  simplex/fig-1/x is not reproduced"):
        runner.run(source, "paper")
    assert (ledger.read_text(encoding="utf-8") if ledger.exists() else None) == before


def other_claims(project, expected=False, more=""):
    """A project beside `project` whose claims differ; the results are the same."""
    folder = project / "other" / "data" / "claims"
    folder.mkdir(parents=True, exist_ok=True)
    extra = '  expected = "not reproduced"\n  why = "w"\n' if expected else ""
    (folder / "simplex.toml").write_text(CLAIM + extra + more, encoding="utf-8")
    claims._read.cache_clear()
    return project / "other"


# the pieces ------------------------------------------------------------------------------------------------


def record(project, verdict="reproduced", claim="simplex/fig-1/x", profile="quick", **provenance):
    path = project / "results" / profile / "toy" / "01_a.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    claims = {claim: {"verdict": verdict, "rule": "order"}}
    provenance = {"date": "2026-01-02T00:00:00Z", "source_sha256": "s"} | provenance
    path.write_text(json.dumps({"claims": claims, "provenance": provenance}), encoding="utf-8")


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


def test_the_hash_follows_the_code_and_nothing_else(project):
    def digest(text):
        return source_sha256(write(project, text))

    code = "# %%\na = 1\n\n# %%\nb = 2\n"
    assert digest("# %% [markdown]\n# prose\n\n" + code) == digest(code)
    assert digest(code.replace("# %%\nb", '# %% tags=["hide-input"]\nb')) == digest(code)
    assert digest(code.replace("b = 2", "b = 3")) != digest(code)
    assert digest("# %%\na = 1\nb = 2\n") != digest(code)


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
    with pytest.raises(RunError, match=r"^toy/02_b, cell 2 \(DeadKernelError: Kernel died\)\nimport os(.|\n)*os._exit\(1\)\nlast words$"):
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
    flags = execution.variables("quick", tmp_path)["XLA_FLAGS"].split()
    assert len(flags) > 1 and flags[-1] == "--xla_cpu_max_isa=AVX2"
    assert "XLA_FLAGS" not in execution.variables("paper", tmp_path)  # XLA compiles as it does for users


def test_a_page_has_a_thread_since_others_run_beside_it(monkeypatch, tmp_path):
    """Whatever cures the runner itself, which imports what its pages import."""
    monkeypatch.setenv("PJRT_NPROC", str(deadlocks.THREADS))
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    found = execution.variables("paper", tmp_path)
    assert found["PJRT_NPROC"] == found["OPENBLAS_NUM_THREADS"] == "1"
    deadlocks.prevent(found)  # in the kernel
    assert found["PJRT_NPROC"] == "1"


# threads that wait for each other --------------------------------------------------------------------------


def test_what_is_said_of_xla_prevails_over_the_cure_for_its_deadlocks():
    cure = f"--{deadlocks.SCHEDULER}=false"
    bare, given = {}, {"XLA_FLAGS": "--xla_cpu_max_isa=AVX2", "PJRT_NPROC": "3"}
    for environment in (bare, given):
        deadlocks.prevent(environment)
    assert bare["XLA_FLAGS"] == cure and int(bare["PJRT_NPROC"]) >= 8
    assert given == {"XLA_FLAGS": f"{cure} --xla_cpu_max_isa=AVX2", "PJRT_NPROC": "3"}
    before = dict(given)
    deadlocks.prevent(given)  # as a kernel does, of the runner's environment
    against = {"XLA_FLAGS": f"--{deadlocks.SCHEDULER}=true", "PJRT_NPROC": "3"}
    deadlocks.prevent(against)
    assert (given, against["XLA_FLAGS"]) == (before, f"--{deadlocks.SCHEDULER}=true")


def python(code, check=True, **options):
    """A new interpreter, which knows nothing of this one's flags, when it has run `code`."""
    ours = ("XLA_FLAGS", "PJRT_NPROC", "RFCORE_RESULTS", "RFCORE_REPOSITORY", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    environment |= {"PYTHONPATH": str(HERE)} | options.pop("env", {})
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, **options)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def test_every_process_that_imports_evidence_is_cured_before_its_first_array_and_no_other():
    """No module makes an array as it is imported, so XLA reads its flags later: it ends a process whose flags it does not know."""
    code = """
import importlib, os, pkgutil, sys
sys.modules["gpjax"] = None  # which makes a key as it is imported: what needs it is left out
import companion, rfcore
from rfcore import couplings, features, graphs, kernels, solvers, theory
assert "XLA_FLAGS" not in os.environ and "PJRT_NPROC" not in os.environ
from companion import evidence
assert os.environ["PJRT_NPROC"] and "scheduler=false" in os.environ["XLA_FLAGS"]
for package in (rfcore, companion):
  for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
    try:
        module.name.endswith("__main__") or importlib.import_module(module.name)
    except ImportError as error:
        assert "gpjax" in str(error), error
import jax.numpy
os.environ["XLA_FLAGS"] = "--xla_no_such_flag=1"
print("imported")
sys.stdout.flush()
jax.numpy.ones(1)
"""
    done = python(code, check=False)
    assert done.stdout == "imported\n" and done.returncode != 0
    assert "Unknown flag in XLA_FLAGS: --xla_no_such_flag=1" in done.stderr


def test_a_cell_that_waits_for_itself_is_ended_and_the_report_names_page_and_cell(project):
    deadlock = "import threading\nthreading.Event().wait()"
    source = write(project, f"{PARAMETERS}\n# %%\nprint('done')\n\n# %%\n{deadlock}\n")
    with pytest.raises(RunError) as caught:
        runner.run(source, "quick", timeout=3)
    assert outputs(project / "_build" / "running" / "quick" / "toy" / "01_a.ipynb") == "done\n"
    first, *code = str(caught.value).splitlines()[:3]
    assert first.startswith("toy/01_a, cell 3 (CellTimeoutError: ") and "\n".join(code) == deadlock


def test_a_runner_that_is_killed_leaves_no_worker_and_no_kernel(project):
    """Or they would go on with pages that nobody waits for, beside those of the next run."""
    kernels = project / "kernels"
    told = f"import os\nopen({str(kernels)!r}, 'w').write(f'{{os.getpid()}} {{os.getppid()}} ')"
    write(project, f"{PARAMETERS}\n# %%\n{told}\nwhile True:\n    pass\n")
    code = f"from pathlib import Path; from companion.evidence import runner; runner.main(['--profile', 'quick'], Path({str(project)!r}))"
    running = subprocess.Popen([sys.executable, "-c", code])
    while not (kernels.exists() and kernels.read_text(encoding="utf-8").endswith(" ")):
        assert running.poll() is None
        time.sleep(0.1)
    started = [psutil.Process(int(number)) for number in kernels.read_text(encoding="utf-8").split()]
    running.kill()
    running.wait()
    left = psutil.wait_procs(started, timeout=30)[1]
    for process in left:
        process.kill()
    assert left == []


# what was cut, and whose record it is ----------------------------------------------------------------------


def test_a_cut_page_is_one_that_was_not_made(project):
    source = write(project, PARAMETERS + "\n# %%\nprint(profile)\n")
    runner.run(source, "quick")
    page = pages.page_of(source, "quick")
    whole = page.read_bytes()
    assert [path.name for path in page.parent.iterdir()] == [page.name]
    for cut in (b"", whole[: len(whole) // 2], whole[:-3], b"\xff\xfe", b"<<<<<<< ours\n" + whole):
        page.write_bytes(cut)
        assert pages.made(page) == {}
        assert runner.longest_first([source], "quick") == [source]
    assert runner.run(source, "quick") is not None
    assert pages.made(page)["profile"] == "quick" and outputs(page) == "quick\n"


def test_a_page_that_runs_is_no_finished_one_and_what_cannot_be_written_leaves_the_old(project, monkeypatch):
    source = write(project, PARAMETERS + "\n# %%\nprint(profile)\n")
    runner.run(source, "quick")
    page = pages.page_of(source, "quick")
    whole = page.read_bytes()
    source.write_text(source.read_text(encoding="utf-8") + "1 / 0\n", encoding="utf-8")
    with pytest.raises(RunError, match="ZeroDivisionError"):
        runner.run(source, "quick")
    assert page.read_bytes() == whole
    source.write_text(source.read_text(encoding="utf-8").replace("1 / 0", "1 / 1"), encoding="utf-8")

    def full(*paths):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pages.os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        runner.run(source, "quick")
    assert page.read_bytes() == whole
    assert [path.name for path in page.parent.iterdir()] == [page.name]


def test_a_cut_ledger_is_one_that_is_not_there(project):
    record(project)
    path = project / "results" / "quick" / "toy" / "01_a.json"
    whole = path.read_text(encoding="utf-8")
    for cut in ("", whole[:40], whole[:-1]):
        path.write_text(cut, encoding="utf-8")
        assert "not closed" in problems(project, since="")


PAGE = PARAMETERS + """
# %%
import rfcore
from companion import evidence, repository
ledger = evidence.Ledger("toy/01_a", profile)
ledger.decide({"simplex/fig-1/x": evidence.order([1.0, 1.1, 1.0] * 20, [2.0, 2.1, 2.2] * 20)})
ledger.close()
if profile == "quick":
    print("library", rfcore.__file__)
    print("repository", repository.root())
    print("Δ", "σ")

# %% [markdown]
# Größer
"""
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "utf-8"}


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with a claim and a page that decides it; its own rfcore is still to come."""
    monkeypatch.delenv("RFCORE_RESULTS", raising=False)
    folder = tmp_path / "checkout"
    (folder / "data" / "claims").mkdir(parents=True)
    (folder / "_toc.yml").write_text("", encoding="utf-8")
    shutil.copy(HERE / "data" / "papers.toml", folder / "data")
    (folder / "data" / "claims" / "simplex.toml").write_text(CLAIM, encoding="utf-8")
    (folder / "notebooks" / "toy").mkdir(parents=True)
    write(folder, PAGE)
    return folder


@pytest.mark.parametrize("library_of", ["the checkout", "another checkout", "an installed wheel"])
def test_the_runner_and_its_kernels_share_checkout_and_library_and_need_no_locale(checkout, tmp_path, library_of):
    """The library may come from elsewhere by a relative path; what is run is what is hashed, and results stay at home.

    All of it under a locale of ASCII, which page and claim are not: the runner writes them, and reads what it has left.
    """
    toml = checkout / "data" / "claims" / "simplex.toml"
    toml.write_text(CLAIM.replace('statement = "s"', 'statement = "σ ≤ ½"'), encoding="utf-8")
    place = {"the checkout": checkout, "another checkout": tmp_path / "other", "an installed wheel": tmp_path / "site"}[library_of]
    for package in ("rfcore", "companion"):
        shutil.copytree(HERE / package, place / package)  # compiled, too: dates are kept
    if library_of != "an installed wheel":
        (place / "pyproject.toml").write_text("", encoding="utf-8")
    if library_of == "another checkout":
        (place / "_toc.yml").write_text("", encoding="utf-8")
        shutil.copytree(HERE / "data" / "claims", place / "data" / "claims")
    given = str(place) if library_of == "an installed wheel" else os.path.relpath(place, checkout)
    source = checkout / "notebooks" / "toy" / "01_a.py"
    code = "from pathlib import Path; from companion.evidence import runner; assert runner.main(['--profile', 'quick']) == 0\n"
    python(f"{code}assert runner.run(Path({str(source)!r}), 'quick') is None", cwd=checkout, env={"PYTHONPATH": given, **ASCII})
    shown = dict(line.split() for line in outputs(pages.page_of(source, "quick")).splitlines())
    assert shown == {"library": str(place / "rfcore" / "__init__.py"), "repository": str(checkout), "Δ": "σ"}
    (ledger,) = tmp_path.glob("**/results/**/*.json")
    assert ledger == checkout / "_build" / "results" / "quick" / "toy" / "01_a.json"


def test_the_runner_writes_the_record_and_a_run_by_hand_does_not(checkout):
    source = checkout / "notebooks" / "toy" / "01_a.py"
    committed, by_hand = checkout / "data" / "results" / "paper", checkout / "_build" / "results" / "paper"
    runner.run(source, "paper")
    assert (committed / "toy" / "01_a.json").exists() and not by_hand.exists()
    before = (committed / "toy" / "01_a.json").read_bytes()
    # As Jupyter and VS Code run it, at the default profile: once beside a record, and once where there is none.
    code = f"exec({source.read_text(encoding='utf-8')!r})\n"
    kept = checkout / "kept"
    python(f"import os\n{code}os.rename({str(committed)!r}, {str(kept)!r})\n{code}", cwd=source.parent)
    assert (by_hand / "toy" / "01_a.json").exists() and not committed.exists()
    assert (kept / "toy" / "01_a.json").read_bytes() == before


def test_make_lab_opens_copies_and_keeps_those_that_were_saved(project):
    shutil.copy(HERE / "Makefile", project)
    for name in ("pyproject.toml", "requirements.lock", ".venv/.ready"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("", encoding="utf-8")
    jupyter = project / ".venv" / "bin" / "jupyter"
    jupyter.parent.mkdir()
    jupyter.write_text("#!/bin/sh\necho opened $*\n", encoding="utf-8")
    jupyter.chmod(0o755)
    pairs = [(project / f"notebooks/toy/{name}.ipynb", project / f"_build/lab/notebooks/toy/{name}.ipynb") for name in ("a", "b")]

    def lab(text):
        for page, _ in pairs:
            page.write_text(text, encoding="utf-8")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PYTHON"))}
        done = subprocess.run(["make", "lab"], cwd=project, env=environment, capture_output=True, text=True, check=True)
        assert "opened lab _build/lab/notebooks\n" in done.stdout
        return [copy.read_text(encoding="utf-8") for _, copy in pairs], done.stdout

    assert lab("one")[0] == ["one", "one"]
    pairs[0][1].write_text("mine", encoding="utf-8")
    for text in ("two", "three"):
        copies, said = lab(text)
        assert copies == ["mine", text]
        assert said.startswith("_build/lab/notebooks/toy/a.ipynb is yours and stays")
    assert [page.read_text(encoding="utf-8") for page, _ in pairs] == ["three", "three"]


# texts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["rfcore", "companion", "notebooks", "tests", "book/_ext"])
def test_no_text_is_read_or_written_in_a_locales_encoding(folder):
    """That of a server, or of Windows, is not that of the files."""
    unsaid = []
    for path in sorted((HERE / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and is_of_a_text(node):
                said = any(keyword.arg == "encoding" for keyword in node.keywords)
                unsaid += [] if said else [(path.name, node.lineno)]
    assert unsaid == []


def is_of_a_text(call):
    """Whether a call opens a text, or reads or writes one; what tarfile and webbrowser open is none."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name != "open" or ast.unparse(call.func) in ("tarfile.open", "webbrowser.open"):
        return name in ("read_text", "write_text")
    of_function = isinstance(call.func, ast.Name)  # of a path, the mode comes first
    modes = [*call.args[int(of_function) :][:1], *(k.value for k in call.keywords if k.arg == "mode")]
    return not any(isinstance(mode, ast.Constant) and "b" in mode.value for mode in modes)


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
