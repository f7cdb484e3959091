"""Runs a notebook at quick as a script, and prints which definitions of rfcore it called.

Left out is what runs while a module is imported. ``python tests/calls.py
notebooks/simplex/02_sum_lengths.py``; RFCORE_RESULTS says where its ledger goes.
"""

import ast
import os
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@cache
def name_of(path, line):
    """Name of the definition in a file that a line belongs to."""
    module = Path(path).relative_to(ROOT).with_suffix("").parts
    module = ".".join(module[:-1] if module[-1] == "__init__" else module)
    for statement in ast.parse(Path(path).read_text(encoding="utf-8")).body:
        first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
        if first <= line <= statement.end_lineno:
            targets = getattr(statement, "targets", [getattr(statement, "target", statement)])
            name = getattr(targets[0], "name", getattr(targets[0], "id", ""))
            return f"{module}.{name}" if name else module
    raise LookupError(f"{path}:{line}")


def called(text, path):
    """Code objects of rfcore that the text of a script calls, but for those that run at an import."""
    seen, importing, library = set(), 0, tuple(str(ROOT / package) + os.sep for package in ("rfcore", "companion"))

    def watch(frame, event, _):
        nonlocal importing
        if event not in ("call", "return") or not frame.f_code.co_filename.startswith(library):
            return
        if frame.f_code.co_name == "<module>":
            importing += 1 if event == "call" else -1
        elif not importing:
            seen.add(frame.f_code)

    code = compile(text, str(path), "exec")
    sys.setprofile(watch)
    try:
        exec(code, {"__name__": "__main__"})
    finally:
        sys.setprofile(None)
    return seen


if __name__ == "__main__":
    source = Path(sys.argv[1]).resolve()
    os.chdir(source.parent)
    text = source.read_text(encoding="utf-8").replace('\nprofile = "paper"\n', '\nprofile = "quick"\n')
    found = {name_of(code.co_filename, code.co_firstlineno) for code in called(text, source)}
    print("\n".join(sorted(found)))
