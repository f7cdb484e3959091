"""The tests, and the ten quickest pages, that your changes reach: ``make near [BASE=commit]``; ``make test`` decides.

A module that only gained names or rows of tables, compared with the commit, reaches the tests that mention these
or list what there is, and no others.
"""

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from companion.evidence.pages import made, name_of, notebooks, page_of  # noqa: E402
from companion.evidence.reach import PACKAGES, code, packages_as_values, reached  # noqa: E402

LISTS = re.compile(r"\b(vars|dir)\(|getmembers")
READS = re.compile(r'pkgutil|rglob\("\*\.py"\)')  # all modules, imported or not


def gained(old, new):
    """Names that a module gained, imports among them, and whether a table of it grew; None for other changes."""
    (before, tables), (after, _) = pieces(old), pieces(new)
    names = {name for name, _ in after - before}
    known = {name for name, _ in before} - tables
    if before - after or names & (known | uses(old)) or any(not name or name.startswith("__") for name in names):
        return None
    return {name: name in tables for name in names}


def uses(text):
    """Names and attributes that a module uses, but not only to look up a row, which more rows do not change."""
    nodes = list(ast.walk(ast.parse(text)))
    looked_up = {id(node.value) for node in nodes if isinstance(node, ast.Subscript)}
    looked_up |= {id(table) for node in nodes if isinstance(node, ast.Compare) for table in node.comparators}
    choices = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "checks.choice"]
    looked_up |= {id(table) for node in choices for table in node.args}
    found = [node for node in nodes if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)]
    return {getattr(node, "id", getattr(node, "attr", "")) for node in found if id(node) not in looked_up}


def pieces(text):
    """Statements of a module, what does nothing aside, each with the name that it makes, and names of tables.

    A table is a dict that is written out, and each of its rows is a piece.
    """
    found, tables = [], set()
    for line in ast.parse(text).body:
        value = getattr(line, "value", None)
        targets = [line.target] if isinstance(line, ast.AnnAssign) else getattr(line, "targets", [])
        name = getattr(targets[0], "id", "") if len(targets) == 1 else ""
        if isinstance(line, (ast.Import, ast.ImportFrom)):
            found += [(a.asname or a.name, f"{getattr(line, 'module', '')} {a.name}") for a in line.names]
        elif isinstance(line, (ast.FunctionDef, ast.ClassDef)):
            found.append((line.name, code(line)))
        elif name and isinstance(value, ast.Dict):
            found += [(name, ""), *((name, code(row)) for row in map(list, zip(value.keys, value.values, strict=True)))]
            tables.add(name)
        elif code([line]) != "[]":
            found.append((name, code(line)))
    return Counter(found), tables


@cache
def files(test):
    """A test or page, and the modules beside it that it imports."""
    imported = re.findall(r"^(?:from|import) (\w+)", test.read_text(encoding="utf-8"), re.M)
    beside = [path for name in imported if (path := test.parent / f"{name}.py").exists()]
    return frozenset([test]).union(*map(files, beside))


def is_near(test, changed, gains, root=ROOT):
    """Whether a test or page has to run.

    Args:
        changed: paths that changed.
        gains: what the modules of the library among these gained, by their names.
    """
    text = "\n".join(path.read_text(encoding="utf-8") for path in files(test))
    if changed & files(test) or (gains and READS.search(text)):
        return True
    near = gains.keys() & set().union(*(reached(path, root) for path in files(test)))
    if any(gains[module] is None for module in near):
        return True
    if LISTS.search(text) and near & set().union(*(packages_as_values(path, root) for path in files(test))):
        return True
    return any(re.search(rf"\b{name}\b", text) for module in near for name in gains[module])


def gains_since(base, changed, root=ROOT):
    """What each changed module of the library gained since a commit, by its name; None where more than that changed."""
    paths = [path for package in PACKAGES for path in (root / package).rglob("*.py")]
    ours = {path: module_of(path.relative_to(root)) for path in paths}
    now = {path: path.read_text(encoding="utf-8") for path in paths}
    gains = {ours[path]: gained(at(base, path, root), now[path]) for path in changed & ours.keys()}
    grown = {module: {name for name, grew in (names or {}).items() if grew} for module, names in gains.items()}
    for path, module in ours.items() if any(grown.values()) else ():  # what uses a table that grew is changed by it
        tables = {name for other in grown.keys() & set(reached(path, root)) - {module} for name in grown[other]}
        if tables & uses(now[path]):
            gains[module] = None
    return gains


def at(base, path, root):
    """The text that a file had at a commit; empty if it had none."""
    command = ["git", "show", f"{base}:{path.relative_to(root).as_posix()}"]
    return subprocess.run(command, cwd=root, capture_output=True, encoding="utf-8", check=False).stdout


def module_of(path):
    """The dotted name of a module, by its path within the repository."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def changed_since(base, root=ROOT):
    """Paths of files that changed since a commit, new ones among them."""
    listed = [["git", "diff", "--name-only", base], ["git", "ls-files", "--others", "--exclude-standard"]]
    return {root / name for command in listed for name in subprocess.check_output(command, cwd=root, text=True).splitlines()}


def main(base, *slow):
    """Run what is near, and return whether something failed; slow tests only where they changed themselves."""
    changed = changed_since(base)
    gains = gains_since(base, changed)
    tests = [t for t in sorted(ROOT.glob("tests/test_*.py")) if t in changed or t.stem[5:] not in slow]
    tests = [t for t in tests if is_near(t, changed, gains)]
    pages = [page for page in notebooks() if is_near(page, changed, gains)]
    pages = sorted(pages, key=lambda page: made(page_of(page, "paper")).get("processor_seconds", 0))[:10]
    tests, pages = [f"tests/{t.name}" for t in tests], list(map(name_of, pages))
    print(*([*tests, *pages] or ["nothing is reached"]), sep="\n", flush=True)
    runs = [[sys.executable, "-m", "pytest", "-n", "2", "--dist", "worksteal", *tests]] if tests else []
    runs += [["make", "pages", f"PAGES={' or '.join(pages)}"]] if pages else []
    return any(subprocess.run(run, cwd=ROOT, check=False).returncode for run in runs)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
