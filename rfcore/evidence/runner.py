"""Run notebooks: ``python -m rfcore.evidence.runner --profile quick [all | simplex | simplex/01 ...]``.

The source is ``notebooks/<folder>/NN_slug.py``. At "paper" the executed notebook replaces the paired
``.ipynb``, whose outputs the book shows; at "quick" it goes to ``_build/quick``. What is done and unchanged
is skipped.
"""

import argparse
import ast
import hashlib
import json
import multiprocessing
import os
import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import jupytext
import nbformat
import papermill
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.exceptions import PapermillExecutionError
from tqdm import tqdm

from rfcore.evidence.claims import ROOT, claims_of, results_folder
from rfcore.evidence.ledger import code_sha256, environment
from rfcore.evidence.verdicts import Verdict

CELL_SECONDS = {"quick": 300, "paper": 3600}  # a hang should be found the same day
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_MACHINE_PATH = re.compile(r"(?<![\w.:/-])/(?:work|root|home|tmp|Users)/[^\s\"'<>]*")


class RunError(Exception):
    """A notebook that may not run, or did not run as it must; the message is a report for people."""


def find(patterns, project=ROOT):
    """Sources whose ``<folder>/<slug>`` starts with one of `patterns`; ``"all"`` is every one."""
    sources = sorted((Path(project) / "notebooks").glob("*/[0-9][0-9]_*.py"))
    chosen = []
    for pattern in patterns:
        hits = [s for s in sources if pattern == "all" or name_of(s).startswith(pattern.removesuffix(".py"))]
        if not hits and pattern != "all":
            raise RunError(f"no notebook starts with {pattern!r}; there are {[name_of(s) for s in sources]}")
        chosen += hits
    return sorted(set(chosen))


def name_of(source):
    """The notebook's name, ``<folder>/<slug>``."""
    return f"{source.parent.name}/{source.stem}"


def run(source, profile, force=False, timeout=None):
    """Execute one notebook at `profile` in its own folder and check what it leaves.

    Parameters
    ----------
    source : Path
        The ``.py``, ``<project>/notebooks/<folder>/<slug>.py``.
    profile : {"quick", "paper"}
        Passed as the parameter ``profile`` where it is not the default of the notebook's parameters cell.
    force : bool
        Run even if nothing changed.
    timeout : int, optional
        Seconds a single cell may take.

    Returns
    -------
    float or None
        Seconds it took; None if it was done before.

    Raises
    ------
    RunError
        If the parameters are not as they must be, a cell fails, a claim is undecided or fails unexpectedly,
        or (at "paper") an output shows a path of this machine.
    """
    name, notebook, project = name_of(source), jupytext.read(source), source.resolve().parents[2]
    if parameters(notebook, name).get("profile") != "paper":
        raise RunError(f"{name}: the parameters cell needs profile = 'paper', which the page shows")
    stamp = {"profile": profile, "source_sha256": code_sha256(notebook), "library_sha256": library_sha256()}
    executed = project / "_build" / profile / f"{name}.ipynb"
    final = source.with_suffix(".ipynb") if profile == "paper" else executed
    if not force and final.exists():
        before = nbformat.read(final, as_version=4).metadata.get("rfcore", {})
        if stamp.items() <= before.items() and not ledger_problems(name, stamp, project):
            return None
    executed.parent.mkdir(parents=True, exist_ok=True)
    # XLA's CPU thread pool can deadlock on LAPACK calls when it schedules concurrently (seen on two cores).
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_enable_concurrency_optimized_scheduler=false")
    os.environ["TQDM_DISABLE"] = "1"  # progress bars are for people; on a page each refresh would be a line
    began, started = time.monotonic(), environment()
    failure = None
    try:
        result = papermill.execute_notebook(
            notebook,
            executed,
            parameters={} if profile == "paper" else {"profile": profile},
            kernel_name="python3",
            language="python",
            cwd=source.parent,
            progress_bar=False,
            record_timing=False,
            start_timeout=120,
            execution_timeout=timeout or CELL_SECONDS[profile],
        )
    except PapermillExecutionError as error:
        failure = _report(name, notebook, error)
    except (CellTimeoutError, DeadKernelError) as error:
        failure = f"{name}: {type(error).__name__}: {_ANSI.sub('', str(error))}"
    if failure:  # raised out here, so that the report is not buried under "during handling of the above"
        raise RunError(failure)
    if problems := ledger_problems(name, stamp, project, since=started["date"]):
        raise RunError(f"{name} at {profile}:\n  " + "\n  ".join(problems))
    strip(result)
    if profile == "paper" and (paths := machine_paths(result)):
        raise RunError(f"{name}: outputs show paths of this machine: {paths[:5]}")
    seconds = round(time.monotonic() - began, 1)
    result.metadata["rfcore"] = stamp | {k: started[k] for k in ("commit", "date")} | {"seconds": seconds}
    nbformat.write(result, final)
    return seconds


def parameters(notebook, name):
    """Names and default values of the notebook's one parameters cell: flat literals, one a line."""
    cells = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    if len(cells) != 1:
        raise RunError(f"{name}: needs exactly one cell with the tag 'parameters', has {len(cells)}")
    try:
        body = ast.parse(cells[0].source).body
        return {line.targets[0].id: ast.literal_eval(line.value) for line in body}
    except (SyntaxError, ValueError, AttributeError):
        raise RunError(f"{name}: the parameters cell may hold only lines like: name = literal") from None


def ledger_problems(name, stamp, project=ROOT, since=""):
    """What is wrong with the ledger that the notebook left, as sentences; empty if all is well."""
    wanted = claims_of(name, project / "data" / "claims")
    path = results_folder(stamp["profile"]) / f"{name}.json"
    if not wanted:
        return [] if not path.exists() else ["it left a ledger, but no entry in data/claims names it"]
    record = json.loads(path.read_text()) if path.exists() else None
    if record is None or record["provenance"]["date"] < since:
        return ["the ledger was not closed: call ledger.close(...) in the last code cell"]
    problems = []
    if record["provenance"]["source_sha256"] != stamp["source_sha256"]:
        problems.append("the ledger is that of another version of the notebook")
    if stamp["profile"] == "paper" and (missing := record["provenance"].get("fallbacks")):
        problems.append(f"at paper the real data are needed; other data stood in for {missing}")
    if set(record["claims"]) != set(wanted):
        differ = sorted(set(record["claims"]) ^ set(wanted))
        problems.append(f"claims wanted and claims decided differ: {differ}")
    for name in set(record["claims"]) & set(wanted):
        decision, expected = record["claims"][name], wanted[name].expected
        if decision["verdict"] == Verdict.NOT_REPRODUCED and not expected:
            problems.append(f"{name} is not reproduced: {decision.get('detail', '')}")
        if expected and Verdict(decision["verdict"]).green:
            problems.append(f"{name} is {decision['verdict']}, but its entry expects failure: mend the entry")
    return problems


def strip(notebook):
    """Remove what changes from run to run without meaning: papermill's marks, ids, progress bars."""
    notebook.metadata.pop("papermill", None)
    notebook.metadata.get("jupytext", {}).pop("text_representation", None)  # of the .py, so that it matches a sync
    seen = {}
    for cell in notebook.cells:
        for noise in ("papermill", "execution"):
            cell.metadata.pop(noise, None)
        if not cell.metadata.get("tags", True):
            del cell.metadata["tags"]
        digest = hashlib.sha256(cell.source.encode()).hexdigest()[:8]  # ids are drawn at random otherwise
        seen[digest] = seen.get(digest, 0) + 1
        cell.id = f"{digest}-{seen[digest]}"
        for output in cell.get("outputs", []):
            if output.output_type == "stream":  # what a terminal would show in the end
                output.text = "\n".join(line.rsplit("\r", 1)[-1] for line in output.text.split("\n"))
        if "outputs" in cell:
            # What libraries write to stderr is no result; a failed cell has ended the run before.
            cell.outputs = [
                o for o in cell.outputs if o.output_type != "stream" or (o.name != "stderr" and o.text.strip())
            ]


def machine_paths(notebook):
    """Paths of this machine in the text of outputs (images are not searched)."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            shown = [v for k, v in output.get("data", {}).items() if not k.startswith("image/")]
            for text in [output.get("text", ""), *shown]:
                found += _MACHINE_PATH.findall(str(text))
    return found


def library_sha256():
    """Hash of the package's sources and of the registry of data."""
    digest = hashlib.sha256()
    for path in sorted([*(ROOT / "rfcore").rglob("*.py"), *(ROOT / "data" / "registry").glob("*")]):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _report(name, notebook, error):
    places = [i for i, cell in enumerate(notebook.cells, 1) if cell.source == error.source]
    trace = _ANSI.sub("", "\n".join(error.traceback))
    place = f"cell {places[0]}" if places else "a cell"
    return f"{name}, {place} ({error.ename}: {error.evalue})\n{error.source}\n{trace}"


def main(arguments=None, project=ROOT):
    """Run the command line on a project's notebooks; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m rfcore.evidence.runner", description="Run notebooks.")
    parser.add_argument("notebooks", nargs="*", default=["all"], help="all, or prefixes like simplex/01")
    parser.add_argument("--profile", required=True, choices=("quick", "paper"))
    parser.add_argument("--jobs", type=int, default=1, help="notebooks at a time")
    parser.add_argument("--force", action="store_true", help="run also what is unchanged")
    parser.add_argument("--timeout", type=int, help="seconds a cell may take")
    options = parser.parse_args(arguments)
    try:
        sources = find(options.notebooks, project)
    except RunError as error:
        print(error, file=sys.stderr)
        return 1
    failures, times = [], []
    # Processes, not threads: papermill changes the working directory of the process that calls it.
    with ProcessPoolExecutor(options.jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        jobs = {
            pool.submit(run, s, options.profile, force=options.force, timeout=options.timeout): name_of(s)
            for s in sources
        }
        running, bar = list(jobs.values()), tqdm(total=len(jobs), unit="notebook")
        bar.set_description(" ".join(running[: options.jobs]))
        for job in as_completed(jobs):
            try:
                seconds = job.result()
                times.append(f"{jobs[job]}: " + ("unchanged, skipped" if seconds is None else f"{seconds} s"))
            except Exception as error:  # one notebook's trouble must not hide the others'
                failures.append(str(error) if isinstance(error, RunError) else f"{jobs[job]}: {error!r}")
                times.append(f"{jobs[job]}: FAILED")
            running.remove(jobs[job])
            bar.set_description(" ".join(running[: options.jobs]))
            bar.update()
        bar.close()
    print("\n".join(sorted(times)))
    for failure in failures:
        print(f"\n{failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
