"""The conda file, the declared bounds and the lock say the same; no file names a package registry's host."""

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import wheel_alone
import yaml
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

import rfcore
from companion import evidence
from companion.evidence import Verdict

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
HOSTS = [name[::-1] for name in ("gro.ipyp", "gro.detsohnohtyp", "gro.sjmpn", "gro.adnocana", "oi.setarc")]


# From the ground up, as the house rule has it: what stands on a floor imports from those below it, and from nothing beside it.
RULE = re.search(r"Arrows run downward: (.*?)[.;]", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.S)[1]
FLOORS = [set(re.findall(r"`(\w+)`", floor)) for floor in RULE.split("<-")]
PROMISED = {("rfcore/couplings/__init__.py", "choosing")}  # couplings.choose, found when it is asked for


WHERE_GIVEN = {"networkx", "trimesh"}  # who gives such a graph or mesh has it
EXTRAS = {"rfcore/estimators.py": "sklearn", "rfcore/gp/kernels.py": "gp", "rfcore/gp/paths.py": "gp"}


def declared():
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    return [Requirement(line) for group in groups for line in group]


def locked():
    """Versions the lock holds of each package: several, where markers choose between them."""
    found = {}
    for name, version in re.findall(r"^([\w.-]+)==([^\s;\\]+)", LOCK, re.M):
        found.setdefault(canonicalize_name(name), []).append(Version(version))
    return found


def test_conda_file_installs_this_project_and_nothing_else():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    conda = [line for line in environment["dependencies"] if isinstance(line, str)]
    pip = [line for line in environment["dependencies"] if isinstance(line, dict)]
    extras = sorted(PROJECT["optional-dependencies"])  # all of them: README's commands need book, test, lab and bench
    assert pip == [{"pip": [f"-e .[{','.join(extras)}]"]}]
    assert sorted(re.match(r"[\w-]+", line)[0] for line in conda) == ["pip", "python"]
    (python,) = (line for line in conda if line.startswith("python"))
    assert Requirement(python).specifier == SpecifierSet(PROJECT["requires-python"])
    assert environment["name"] == PROJECT["name"]


@pytest.mark.parametrize("requirement", declared(), ids=str)
def test_lock_satisfies_what_is_declared(requirement):
    versions = locked()[canonicalize_name(requirement.name)]
    assert all(version in requirement.specifier for version in versions), versions


@pytest.mark.parametrize(
    ("name", "allowed", "refused"),
    [
        ("jupyter-book", ["1.0.4.post1", "1.9"], ["1.0.3", "2.0"]),
        ("gpjax", ["1.0.0"], ["0.13.6", "2.0"]),
        ("jax", ["0.10.2"], ["0.11", "1.0"]),
    ],
)
def test_bounds(name, allowed, refused):
    specifiers = [r.specifier for r in declared() if r.name == name]
    assert all(version in specifier for version in allowed for specifier in specifiers)
    assert not any(all(version in specifier for specifier in specifiers) for version in refused)


def test_python_bound():
    specifier = SpecifierSet(PROJECT["requires-python"])
    assert "3.11" in specifier and "3.10.9" not in specifier


def test_lock_holds_hashes_and_no_address():
    pins = re.split(r"^(?=[\w.-]+==)", LOCK, flags=re.M)[1:]
    assert len(pins) > 100
    assert all("--hash=sha256:" in pin for pin in pins)
    for marker in re.findall(r"^[\w.-]+==[^;\n]*; *(.+?) *\\$", LOCK, re.M):
        Marker(marker)
    assert "://" not in LOCK
    assert "-e ." not in LOCK


def test_no_file_names_a_registry_host():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    named = [
        (name, host)
        for name in listed
        if name and (ROOT / name).is_file()
        for host in HOSTS
        if host.encode() in (ROOT / name).read_bytes()
    ]
    assert named == []


def test_what_is_declared_is_what_is_imported():
    """No module that the wheel does not bring, and nothing brought that no module imports."""
    owners, found = importlib.metadata.packages_distributions(), {}
    for path in (ROOT / "rfcore").rglob("*.py"):
        extra = EXTRAS.get(str(path.relative_to(ROOT)), "")
        found[extra] = found.get(extra, set()) | imported(ast.parse(path.read_text(encoding="utf-8"))) - WHERE_GIVEN - {"rfcore"}
    wanted = {"": PROJECT["dependencies"], **{extra: PROJECT["optional-dependencies"][extra] for extra in EXTRAS.values()}}
    for extra, modules in found.items():
        needed = {canonicalize_name(owners[module][0]) for module in modules - (found[""] if extra else set())}
        assert needed == {canonicalize_name(Requirement(line).name) for line in wanted[extra]}, extra


def imported(tree):
    """Top packages that a syntax tree imports, but for Python's own."""
    nodes = list(ast.walk(tree))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names


def test_a_block_of_readme_imports_what_the_install_that_it_names_brings():
    """`make release` runs each so, where it says that it does."""
    owners = importlib.metadata.packages_distributions()
    tried = [set(re.findall(r"--extra (\w+)", how)) for how in re.findall(r'"((?:highest|lowest)[^"]*)"', (ROOT / "Makefile").read_text(encoding="utf-8"))]
    blocks = list(wheel_alone.blocks_of_readme())
    assert len(blocks) == 2
    for extras, block in blocks:
        brought = {canonicalize_name(Requirement(line).name) for group in (PROJECT["dependencies"], *(PROJECT["optional-dependencies"][e] for e in extras)) for line in group}
        assert {canonicalize_name(owners[name][0]) for name in imported(ast.parse(block)) - {"rfcore"}} <= brought
        assert extras in tried


def test_the_version_is_that_of_the_citation():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == rfcore.__version__ and f"## {rfcore.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_readme_names_commands_that_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert {"book", "test"} <= targets
    text = "\n".join(page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *(ROOT / "book").glob("*.md")])
    named = set(re.findall(r"(?:`|^)make ([a-z]+)", text, re.M))
    assert named <= targets


def test_readme_gives_the_headline_of_the_committed_ledger():
    assert headline_sentence() in " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


def headline_sentence():
    """Of how many figures, tables and theorems which verdict was found, over all papers."""
    total = sum(evidence.headline("paper").values(), Counter())
    found = [v.counted(total[v]) for v in evidence.Verdict if v not in (Verdict.NOT_YET, Verdict.NOTHING) and total[v]]
    things = sum(not row.entry.extra and row.verdict is not Verdict.NOTHING for row in evidence.scorecard("paper"))
    return f"Of {things} figures, tables and numbered statements: {'; '.join(found)}; {total[Verdict.NOT_YET]} not yet."


def test_every_import_runs_downward():
    floor = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
    upward = []
    for path in (ROOT / "rfcore").glob("**/*.py"):
        room = path.relative_to(ROOT / "rfcore").with_suffix("").parts[0]
        if room != "__init__":
            upward += [(str(path.relative_to(ROOT)), other) for other in rooms_of(path) - {room} if floor[other] >= floor[room]]
    assert set(upward) == PROMISED
    named = [path for path in (ROOT / "rfcore").rglob("*.py") if "companion" in path.read_text(encoding="utf-8")]
    assert named == [], "the library stands without its companion"


def test_a_module_is_loaded_when_it_is_asked_for():
    """And none before: that `import rfcore` is free is seen in a fresh process."""
    script = "import sys, rfcore; alone = set(sys.modules); print('jax' in alone, rfcore.couplings.__name__, hasattr(rfcore, 'nothing'))"
    printed = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    assert printed.split() == ["False", "rfcore.couplings", "False"]
    rooms = {name for floor in FLOORS[1:] for name in floor}
    assert set(dir(rfcore)) == {"__version__", "choose", "n_frequencies", *rooms} and all(f"``{room}``" in rfcore.__doc__ for room in rooms)


@pytest.mark.parametrize(("module", "package", "extra"), [("estimators", "sklearn", "sklearn"), ("gp", "gpjax", "gp")])
def test_a_module_whose_extra_is_not_installed_says_so(module, package, extra):
    script = f"""
import sys
sys.modules["{package}"] = None
import rfcore
print("{module}" in dir(rfcore))
for line in ("rfcore.{module}", "from rfcore import {module}", "import rfcore.{module}"):
    try:
        exec(line)
    except ModuleNotFoundError as error:
        print(error)
"""
    printed = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True, text=True).stdout.splitlines()
    assert printed[0] == "False" and len(printed) == 4
    assert all(f"needs the extra {extra}" in line for line in printed[1:])


def rooms_of(path):
    """Modules and packages of rfcore that a file imports from, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "rfcore":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rfcore."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):  # of the package itself the room "", which has no floor: its attributes would be no imports
            found |= {(alias.name + ".").split(".")[1] for alias in node.names if alias.name.split(".")[0] == "rfcore"}
    return found
