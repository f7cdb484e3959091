"""The wheel, installed alone beside its declared dependencies: all that is public works there, or says what it needs."""

import ast
import functools
import importlib.metadata
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OF_NOTEBOOKS = {"IPython", "companion", "jupytext", "matplotlib", "papermill", "pooch"}  # what it stands without
WHERE_GIVEN = {"networkx", "trimesh"}  # who gives such a graph or mesh has it

# What is installed beside the wheel and is not declared by it cannot be imported.
ALONE = """
import importlib.abc, sys

target, site, *undeclared = sys.argv[1:]

class OnlyWhatIsDeclared(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, spec=None):
        if name.partition(".")[0] in undeclared:
            raise ModuleNotFoundError(f"No module named {name!r}, which the wheel does not declare", name=name)

sys.meta_path.insert(0, OnlyWhatIsDeclared())
sys.path[:0] = [target]
sys.path.append(site)
"""


def names(requirements):
    parsed = map(Requirement, requirements)
    return {canonicalize_name(r.name) for r in parsed if not r.marker or r.marker.evaluate({"extra": ""})}


@functools.cache
def closure():
    """Distributions that an installation of the wheel brings, extras left out."""
    found, todo = set(), names(PROJECT["dependencies"])
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo |= names(importlib.metadata.requires(name) or ())
    return found


def modules_of(distributions):
    """Top-level modules of distributions."""
    return {
        module
        for module, owners in importlib.metadata.packages_distributions().items()
        if {canonicalize_name(owner) for owner in owners} & distributions
    }


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Folder that holds the wheel's files and nothing else; built from a copy, since building leaves things behind."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT / "rfcore", folder / "rfcore", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    build = "from setuptools import build_meta; build_meta.build_wheel('dist')"
    subprocess.run([sys.executable, "-c", build], cwd=folder, check=True, capture_output=True)
    (wheel,) = (folder / "dist").glob("rfcore-*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "alone")
    return folder / "alone"


def run(installed, code, cwd=None, **variables):
    """What an interpreter prints that finds the wheel and what it declares, not the repository unless a variable names it."""
    undeclared = set(importlib.metadata.packages_distributions()) - modules_of(closure()) - {"rfcore"} - WHERE_GIVEN
    arguments = [str(installed), sysconfig.get_path("purelib"), *undeclared]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("RFCORE_", "PYTHON", "JAX_ENABLE"))}
    environment |= {"RFCORE_OFFLINE": "1", "RFCORE_DATA_CACHE": str(installed / "cache")} | variables
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", ALONE + code, *arguments],
        cwd=cwd or installed, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_wheel_holds_the_package_whole(installed):
    expected = {path.relative_to(ROOT) for path in (ROOT / "rfcore").rglob("*") if path.suffix not in ("", ".pyc")}
    assert {path.relative_to(installed) for path in (installed / "rfcore").rglob("*.*") if path.is_file()} == expected


EXAMPLES = """
import doctest, importlib, pkgutil
import rfcore
assert rfcore.__file__.startswith(target)
for module in pkgutil.walk_packages(rfcore.__path__, "rfcore."):
    if module.name.startswith(("rfcore.estimators", "rfcore.gp")):
        continue  # an extra's
    loaded = importlib.import_module(module.name)
    if module.name.startswith(tuple(PACKAGES)):
        failed, tried = doctest.testmod(loaded, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        print("TRIED" if tried else "NONE", module.name)
"""
PACKAGES = sorted({f"rfcore.{path.stem}" for path in (ROOT / "rfcore").iterdir() if not path.name.startswith("_")})


@pytest.mark.parametrize("packages", [PACKAGES[::2], PACKAGES[1::2]], ids=" ".join)
def test_every_example_runs_where_only_the_wheel_is_installed(installed, packages):
    """In float32, which is what users have."""
    done = run(installed, f"PACKAGES = {packages}\n{EXAMPLES}")
    assert done.returncode == 0, done.stderr
    assert "Failed example" not in done.stdout, done.stdout
    assert "TRIED" in done.stdout


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]


def test_what_is_declared_is_what_is_imported():
    """No module that the wheel does not bring, and nothing brought that no module imports."""
    extras = {
        ROOT / "rfcore" / "estimators.py": ("sklearn", {"sklearn"}, {"scikit-learn"}),
        ROOT / "rfcore" / "gp" / "kernels.py": ("gp", {"gpjax"}, {"gpjax"}),
    }
    found = {module for path in (ROOT / "rfcore").rglob("*.py") if path not in extras for module in imported(path)} - sys.stdlib_module_names
    assert not found & OF_NOTEBOOKS
    for path, (extra, modules, packages) in extras.items():
        assert set(imported(path)) - found - sys.stdlib_module_names == modules
        assert names(PROJECT["optional-dependencies"][extra]) == packages
    core = names(PROJECT["dependencies"])
    owners = importlib.metadata.packages_distributions()
    assert {canonicalize_name(owners[module][0]) for module in found - {"rfcore"} - WHERE_GIVEN} == core
    assert not modules_of(closure()) & OF_NOTEBOOKS
