"""Run notebooks: ``python -m companion.evidence.runner --profile quick [all | simplex | simplex/01 ...]``.

The source is ``notebooks/<folder>/NN_slug.py``. At "paper" the executed notebook replaces the paired
``.ipynb``, whose outputs the book shows; at "quick" it goes to ``_build/quick``. What is done is skipped,
unless its code, or a definition of the library that it reaches, changed since. The longest start first; a
table of times ends it. At "paper" those that read a clock run last, one at a time, so that no other notebook
disturbs them. With ``--due`` nothing runs: it prints the pages that are due for a run at "paper".
"""

import argparse
import ast
import multiprocessing
import os
import re
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import NamedTuple

from tqdm import tqdm

from companion.evidence import pages

if __name__ == "__main__" and sys.argv[1:] == ["--due"]:  # nothing runs, and what follows takes seconds to import
    sys.exit(pages.main())

try:
    import jupytext
    import nbformat
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    from companion.evidence import execution, pages
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"{error.name} is missing; the runner needs what notebooks need: pip install -e .[book]") from error

from companion.evidence.claims import RULES, claims_of
from companion.evidence.ledger import environment
from companion.evidence.pages import machine_paths, made, name_of, page_of, strip
from companion.evidence.reach import reach_sha256
from companion.evidence.standing import results_folder
from companion.evidence.verdicts import Verdict

CELL_SECONDS = {"quick": 300, "paper": 3600}  # a hang should be found the same day
QUICK_SECONDS = 30  # of processor time, imports and compilation included, that a notebook may take at quick
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class RunError(Exception):
    """A notebook that may not run, or did not run as it must; the message is a report for people."""


class Spent(NamedTuple):
    """Seconds that a notebook took: on the clock, and of processor time by its kernel."""

    wall: float
    processor: float


def find(patterns, project=None):
    """Sources whose ``<folder>/<slug>`` starts with a pattern; ``"all"`` is every one but the template.

    A pattern may be a path, as a shell completes it, and ``ugrf/1`` is page 01 alone.
    """
    sources = pages.notebooks(project)
    chosen = []
    for pattern in patterns:
        prefix = re.sub(r"^(.*/)?notebooks/|^\./|\.(py|ipynb)$", "", pattern)
        prefix = re.sub(r"/(\d+)$", lambda number: f"/{number[1]:0>2}_", prefix)
        hits = [s for s in sources if (s.parent.name != "template" if prefix in ("all", "") else name_of(s).startswith(prefix))]
        if not hits and prefix != "all":
            raise RunError(f"notebook = {pattern!r}; give all, or the beginning of one of {[name_of(s) for s in sources]}")
        chosen += hits
    return sorted(set(chosen))


def run(source, profile, force=False, timeout=None):
    """Execute one notebook at ``profile`` in its own folder and check what it leaves.

    Raises RunError if the parameters are not as they must be, a cell fails or waits forever, a claim is
    undecided or fails unexpectedly, or (at "paper") an output shows a path of this machine.

    Args:
        source: the ``.py``, ``<project>/notebooks/<folder>/<slug>.py``.
        profile: "quick" or "paper"; passed as the parameter ``profile`` where it is not the notebook's
            default.
        force: run even if nothing changed.
        timeout: seconds a single cell may take.

    Returns:
        :class:`Spent`; None if it was done before.
    """
    name, notebook, project = name_of(source), jupytext.read(source), source.resolve().parents[2]
    notebook.metadata["kernelspec"] = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    default = parameters(notebook, name).get("profile")
    if default != "paper" and (default or source.parent.name != "road"):  # lessons are one size, and decide nothing
        raise RunError(f"{name}: the parameters cell needs profile = 'paper', which the page shows")
    try:
        stamp = {"profile": profile, "source_sha256": pages.source_sha256(source), "reach_sha256": reach_sha256(source)}
    except SyntaxError as error:
        raise RunError(f"{name}: {error.msg}") from None
    executed, final = project / "_build" / "running" / profile / f"{name}.ipynb", page_of(source, profile)
    if not force and stamp.items() <= made(final).items() and not ledger_problems(name, stamp, project):
        return None
    executed.parent.mkdir(parents=True, exist_ok=True)
    results = results_folder(profile, project)
    began, started = time.monotonic(), environment()
    before = execution.processor_seconds_of_children()
    with _put_back_on_failure(results / f"{name}.json", profile):
        injected = {"profile": profile} if default and profile != "paper" else {}
        result = _executed(source, notebook, executed, stamp, results.parent, injected, timeout)
        if problems := ledger_problems(name, stamp, project, since=started["date"]):
            raise RunError(f"{name} at {profile}:\n  " + "\n  ".join(problems))
        strip(result)
        if profile == "paper" and (paths := machine_paths(result)):
            raise RunError(f"{name}: outputs show paths of this machine: {paths[:5]}")
    spent = Spent(time.monotonic() - began, execution.processor_seconds_of_children() - before)
    times = {"seconds": round(spent.wall, 1), "processor_seconds": round(spent.processor, 1)}
    result.metadata["rfcore"] = stamp | {k: started[k] for k in ("commit", "date")} | times
    pages.write(final, nbformat.writes(result).rstrip("\n") + "\n")
    executed.unlink(missing_ok=True)
    return spent


@contextmanager
def _put_back_on_failure(ledger, profile):
    """At "paper" a run that fails leaves the ledger as it was: what is committed is of runs that passed."""
    before = ledger.read_bytes() if ledger.exists() else None
    try:
        yield
    except BaseException:
        if profile == "paper":
            ledger.unlink(missing_ok=True)
            if before is not None:
                ledger.write_bytes(before)
        raise


def _executed(source, notebook, executed, stamp, results, injected, timeout):
    """The notebook with its outputs; what goes wrong in a cell is raised as a :class:`RunError`."""
    profile, cells, failure = stamp["profile"], [], None
    try:
        with execution.configured(profile, results) as config:
            config.NotebookClient.on_cell_execute = lambda cell, cell_index: cells.append(cell.source)
            result = papermill.execute_notebook(
                notebook,
                executed,
                parameters=injected,
                kernel_name="python3",
                language="python",
                cwd=source.parent,
                progress_bar=False,
                record_timing=False,
                start_timeout=120,
                execution_timeout=timeout or CELL_SECONDS[profile],
                config=config,
            )
        if not (undone := next(filter(_is_undone, result.cells), None)):
            return result
        failure = _report(name_of(source), notebook, undone.source, "it ends the page, as sys.exit(0) does; let every cell run", "")
    except PapermillExecutionError as error:
        what, trace = f"{error.ename}: {error.evalue}", "\n".join(error.traceback)
        failure = _report(name_of(source), notebook, error.source, what, trace)
    except (CellTimeoutError, DeadKernelError) as error:
        what, _, more = str(error).partition("\n")
        failure = _report(name_of(source), notebook, cells[-1] if cells else "", f"{type(error).__name__}: {what}", more)
    raise RunError(failure)  # out here, so that the report is not buried under "during handling of the above"


def _is_undone(cell):
    """Whether a cell with code did not run to its end; papermill takes ``sys.exit(0)`` for success."""
    if cell.cell_type != "code" or not cell.source.strip():
        return False
    return cell.execution_count is None or any(output.output_type == "error" for output in cell.outputs)


def longest_first(sources, profile):
    """The sources by the processor seconds of their last run, at this profile or else at paper."""

    def seconds(source):
        last = made(page_of(source, profile)) or made(page_of(source, "paper"))
        return last.get("processor_seconds", float("inf"))

    return sorted(sources, key=seconds, reverse=True)


def shifts(sources, profile, jobs):
    """Which sources run side by side, and how many: at "paper" those that read a clock run alone."""
    if profile != "paper":
        return [(sources, jobs)]
    timed = [source for source in sources if re.search(r"evidence\.Clock\(|perf_counter\(", source.read_text(encoding="utf-8"))]
    others = [source for source in sources if source not in timed]
    return [shift for shift in ((others, jobs), (timed, 1)) if shift[0]]


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


def ledger_problems(name, stamp, project, since=""):
    """What is wrong with the ledger that the notebook left, as sentences; empty if all is well."""
    wanted = claims_of(name, project / "data" / "claims")
    path = results_folder(stamp["profile"], project) / f"{name}.json"
    if not wanted:
        return [] if not path.exists() else ["it left a ledger, but no entry in data/claims names it"]
    record = pages.read(path)
    if not record or record["provenance"]["date"] < since:
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
        if decision["rule"] not in (*RULES[wanted[name].kind], "not run"):
            problems.append(f"{name} is of kind {wanted[name].kind}, but was decided by {decision['rule']!r}")
        if decision.get("by_choice") and not wanted[name].unprinted:
            problems.append(f"{name} fails by our choice, but its entry names no setting that is not printed")
        if expected and Verdict(decision["verdict"]).green:
            problems.append(f"{name} is {decision['verdict']}, but its entry expects failure: mend the entry")
    return problems


def _report(name, notebook, source, what, more):
    places = [i for i, cell in enumerate(notebook.cells, 1) if cell.source == source]
    place = f"cell {places[0]}" if places else "a cell"
    return _ANSI.sub("", f"{name}, {place} ({what})\n{source}\n{more}").rstrip("\n")


def main(arguments=None, project=None):
    """Run the command line on a project's notebooks; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m companion.evidence.runner", description="Run notebooks.")
    parser.add_argument("notebooks", nargs="*", default=["all"], help="all, or prefixes like simplex/01")
    parser.add_argument("--due", action="store_true", help="alone: print the pages that are due, and run nothing")
    parser.add_argument("--profile", required=True, choices=("quick", "paper"))
    parser.add_argument("--jobs", type=int, default=1, help="notebooks at a time")
    parser.add_argument("--force", action="store_true", help="run also what is unchanged")
    parser.add_argument("--timeout", type=int, help="seconds a cell may take")
    options = parser.parse_args(arguments)
    if options.due:
        parser.error("--due stands alone")
    try:
        sources = longest_first(find(options.notebooks, project), options.profile)
    except RunError as error:
        print(error, file=sys.stderr)
        return 1
    failures, spent, began = [], {}, time.monotonic()
    for some, jobs in shifts(sources, options.profile, options.jobs):
        # Processes, not threads: papermill changes the working directory of the process that calls it.
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=_end_with_the_runner) as pool:
            names = {
                pool.submit(run, s, options.profile, force=options.force, timeout=options.timeout): name_of(s)
                for s in some
            }
            running, bar = list(names.values()), tqdm(total=len(names), unit="notebook", disable=None)
            bar.set_description(" ".join(running[:jobs]))
            for job in as_completed(names):
                try:
                    spent[names[job]] = job.result() or "unchanged, skipped"
                except Exception as error:  # one notebook's trouble must not hide the others'
                    failures.append(str(error) if isinstance(error, RunError) else f"{names[job]}: {error!r}")
                    spent[names[job]] = "FAILED"
                running.remove(names[job])
                bar.set_description(" ".join(running[:jobs]))
                bar.update()
            bar.close()
    print(table(spent, options.profile, time.monotonic() - began))
    for failure in failures:
        print(f"\n{failure}", file=sys.stderr)
    return 1 if failures else 0


def _end_with_the_runner():
    """In its workers: end when it has ended, however it did. A kernel ends with the worker that began it."""

    def wait():
        multiprocessing.parent_process().join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def table(spent, profile, wall):
    """Seconds of every notebook, those too slow at quick marked, and of all together.

    Args:
        spent: by the notebook's name, :class:`Spent`, or a word why there are no seconds.
        profile: "quick" or "paper".
        wall: seconds that all took, some of them side by side.
    """
    width = max(map(len, spent), default=0)
    lines = [f"{'':{width}} seconds processor"]
    total = 0.0
    for name, seconds in sorted(spent.items()):
        if isinstance(seconds, str):
            lines.append(f"{name:{width}} {seconds}")
            continue
        slow = f"  over {QUICK_SECONDS}" if profile == "quick" and seconds.processor > QUICK_SECONDS else ""
        lines.append(f"{name:{width}} {seconds.wall:7.1f} {seconds.processor:9.1f}{slow}")
        total += seconds.processor
    return "\n".join([*lines, f"{'all':{width}} {wall:7.1f} {total:9.1f}"])


if __name__ == "__main__":
    sys.exit(main())
