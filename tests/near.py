"""Run the tests and the pages that the working tree's changes reach: ``make near [BASE=commit]``.

What changed is read off syntax trees (:mod:`companion.evidence.reach`), so a comment runs nothing. Of each test
function it is followed which definitions of the library, and of the other tests, it reaches. Pages run at
quick; where all would take more than three minutes with the tests, the longest are left out, and named.
"""

import argparse
import ast
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from companion.evidence.pages import made, name_of, notebooks, page_of, source_sha256  # noqa: E402
from companion.evidence.reach import Library, Target, reached  # noqa: E402

SECONDS = 2 * 130  # of processor time on two cores: three minutes, less what it takes to look and to start
OF_ALL_TESTS = 300  # seconds of processor time that all quick tests take
AT_QUICK = 20  # and a page at quick, if it takes as much at paper and was not yet run at quick here


def git(*arguments):
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=True).stdout


def tests_of(root):
    """What each test function reaches: ``{"test_walks.py::test_lengths": {definition: hash}}``."""
    library, found = Library(root), {}
    for path in sorted((root / "tests").glob("*.py")):
        library.add(path, path.stem)
    for path in sorted((root / "tests").glob("test_*.py")):
        module = library.module(path.stem)
        for name in module.definitions:
            if name.startswith("test_"):
                start = [Target("conftest", "*"), *with_fixtures(library, path.stem, name)]
                found[f"{path.name}::{name}"] = {
                    library.name(t): library.sha256(t) for t in library.closure(start)
                }
    return found


def with_fixtures(library, module, name):
    """A test function or fixture, and the fixtures that its parameters name."""
    found, waiting = set(), [Target(module, name)]
    while waiting:
        target = waiting.pop()
        if target not in found:
            found.add(target)
            for statement in library.module(target.module).definitions[target.name]:
                arguments = statement.args.args if isinstance(statement, ast.FunctionDef) else []
                places = [(m, a.arg) for a in arguments for m in (target.module, "conftest")]
                waiting += [Target(m, a) for m, a in places if a in library.module(m).definitions]
    return found


def changed(before, after):
    """Names of definitions that two reaches do not share."""
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def seconds_at_quick(source):
    """Processor seconds that a page takes at quick: as it last did here, or a guess from those at paper."""
    for page, most in ((page_of(source, "quick"), float("inf")), (page_of(source, "paper"), AT_QUICK)):
        if seconds := made(page).get("processor_seconds"):
            return min(seconds, most)
    return AT_QUICK


def main():
    parser = argparse.ArgumentParser(prog="make near", description=__doc__)
    parser.add_argument("--base", default="HEAD", help="the commit that changes are counted from")
    parser.add_argument("--list", action="store_true", help="say what would run, and run nothing")
    parser.add_argument("slow", nargs="*", help="tests, such as book, that run only if their file changed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        packed = io.BytesIO(git("archive", options.base, "rfcore", "companion", "tests", "notebooks"))
        with tarfile.open(fileobj=packed) as committed:
            committed.extractall(base, filter="data")
        before, after = tests_of(base), tests_of(ROOT)
        differ = {test: changed(before.get(test, {}), found) for test, found in after.items()}
        definitions, pages = set().union(*differ.values()), []
        for source in notebooks():
            was = base / source.relative_to(ROOT)
            new = not was.exists() or source_sha256(was) != source_sha256(source)
            of_page = changed({} if not was.exists() else reached(was, base), reached(source))
            definitions |= of_page
            if (new or of_page) and source.parent.name != "template":
                pages.append(source)
    files = git("diff", "--name-only", options.base) + git("ls-files", "-o", "--exclude-standard")
    files = files.decode().splitlines()
    slow = {f"test_{name}.py" for name in options.slow if f"tests/test_{name}.py" not in files}
    near = [test for test, names in differ.items() if names]
    tests = [test for test in near if test.partition("::")[0] not in slow | {"test_notebooks.py"}]
    say("changed definitions", sorted(definitions))
    say("changed files that are no code, not looked at", [f for f in files if not f.endswith(".py")])
    say("tests, by file", by_file(tests))
    say("slow tests that are left out; CI runs them", by_file([t for t in near if t not in tests]))
    left = SECONDS - OF_ALL_TESTS * len(tests) / len(after)
    run, skipped = [], []
    for source in sorted(pages, key=seconds_at_quick):
        left -= seconds_at_quick(source)
        (run if left > 0 else skipped).append(source)
    say("pages, at quick", [name_of(s) for s in run])
    say("pages that are left out, for time", [name_of(s) for s in skipped])
    of_pages = tests_of_pages()
    ids = [f"tests/{test}" for test in tests]
    ids += [f"tests/test_notebooks.py::{test}[{name_of(s)}]" for s in run for test in of_pages]
    if options.list or not ids:
        return 0
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "worksteal", *ids]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def tests_of_pages():
    """Tests of every single notebook; that it is due at paper says nothing new of one that is reached."""
    body = ast.parse((ROOT / "tests" / "test_notebooks.py").read_text(encoding="utf-8")).body
    functions = [node for node in body if isinstance(node, ast.FunctionDef)]
    each = [f.name for f in functions if "every_notebook" in [getattr(d, "id", "") for d in f.decorator_list]]
    return [name for name in each if not re.search("due_for_a_rerun|current_paper_outputs", name)]


def by_file(tests):
    files = [test.partition("::")[0] for test in tests]
    return [f"{file} ({files.count(file)})" for file in dict.fromkeys(files)]


def say(what, items):
    if items:
        print(f"{what} ({len(items)}):\n  " + "\n  ".join(items), flush=True)


if __name__ == "__main__":
    sys.exit(main())
