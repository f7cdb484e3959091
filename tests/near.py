"""Run the test files, and the pages at quick, that the working tree's changes reach: ``make near [BASE=commit]``.

Pages that would take more than three minutes together with the tests are left out, the longest first, and named.
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
from companion.evidence.reach import code, reached  # noqa: E402

SECONDS = 200  # of processor time for pages
AT_QUICK = 20  # of a page that was not yet run at quick here


def git(*arguments):
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=True).stdout


def of_test(path, root):
    """What a file of tests does and reaches: its code and modules, the tests' own among them, by name."""
    found, waiting = {}, [path, root / "tests" / "conftest.py"]
    while waiting:
        file = waiting.pop()
        tree = ast.parse(file.read_text(encoding="utf-8"))
        found |= {file.stem: code(tree)} | reached(file, root)
        names = {n for node in ast.walk(tree) for n in (getattr(node, "module", None), *(a.name for a in getattr(node, "names", []) if isinstance(a, ast.alias))) if n}
        waiting += [f for n in names if (f := root / "tests" / f"{n}.py").exists() and n not in found]
    return found


def seconds_at_quick(source):
    return made(page_of(source, "quick")).get("processor_seconds", AT_QUICK)


def main():
    parser = argparse.ArgumentParser(prog="make near", description=__doc__)
    parser.add_argument("--base", default="HEAD", help="the commit that changes are counted from")
    parser.add_argument("--list", action="store_true", help="say what would run, and run nothing")
    parser.add_argument("slow", nargs="*", help="tests, such as book, that run only if their file changed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        with tarfile.open(fileobj=io.BytesIO(git("archive", options.base, "rfcore", "companion", "tests", "notebooks"))) as committed:
            committed.extractall(base, filter="data")
        tests, pages = [], []
        for path in sorted((ROOT / "tests").glob("test_*.py")):
            was = base / path.relative_to(ROOT)
            before = of_test(was, base) if was.exists() else {}
            after = of_test(path, ROOT)
            slow = path.stem.removeprefix("test_") in options.slow and before.get(path.stem) == after[path.stem]
            if before != after and not slow:
                tests.append(f"tests/{path.name}")
        for source in notebooks():
            was = base / source.relative_to(ROOT)
            new = not was.exists() or source_sha256(was) != source_sha256(source) or reached(was, base) != reached(source)
            if new and source.parent.name != "template":
                pages.append(source)
    print("tests:", *tests, sep="\n  ")
    left, ids, left_out = SECONDS, list(tests), []
    body = ast.parse((ROOT / "tests" / "test_notebooks.py").read_text(encoding="utf-8")).body
    each = [f.name for f in body if isinstance(f, ast.FunctionDef) and "every_notebook" in [getattr(d, "id", "") for d in f.decorator_list]]
    for source in sorted(pages, key=seconds_at_quick):
        left -= seconds_at_quick(source)
        if left < 0:
            left_out.append(name_of(source))
            continue
        print("page at quick:", name_of(source))
        ids += [f"tests/test_notebooks.py::{test}[{name_of(source)}]" for test in each if not re.search("due_for_a_rerun|current_paper_outputs", test)]
    print("pages left out, for time:", *left_out, flush=True)
    if options.list or not ids:
        return 0
    return subprocess.run([sys.executable, "-m", "pytest", "-r", "fE", "-n", "2", "--dist", "worksteal", *ids], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
