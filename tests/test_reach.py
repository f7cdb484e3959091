"""Which modules a page reaches, and which tests a change: on a small throw-away package, and against what a real page calls."""

import json
import os
import subprocess
import sys
from pathlib import Path

import near
import pytest

from companion.evidence import execution, pages, reach
from companion.evidence.reach import reach_sha256, reached

ROOT = Path(__file__).parents[1]
PACKAGE = {
    "__init__.py": "",
    "walks.py": "from rfcore import tables\nimport math\ndef twice(x):\n    '''Double.'''\n    return 2 * tables.base(x)\n",
    "tables.py": "def base(x):\n    return 1\n",
    "laws/__init__.py": "from rfcore.laws import moves\nfrom rfcore.laws.moves import hop\nfrom rfcore.laws.norms import chi, norms\n",
    "laws/moves.py": "def hop():\n    return 1\n",
    "laws/norms.py": "def chi():\n    return 1\ndef norms():\n    return 2\n",
}


@pytest.fixture
def library(tmp_path):
    for name, text in PACKAGE.items():
        path = tmp_path / "rfcore" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def edit(root, name, old, new):
    path = root / "rfcore" / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def page(root, text):
    path = root / "notebooks" / "toy" / "01_page.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# %% [markdown]\n# # A title\n\n# %%\n{text}", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("1 + 1", ""),
        ("import math", ""),
        ("from rfcore import tables", "tables"),
        ("from rfcore.walks import twice", "walks tables"),
        ("import rfcore.walks\nrfcore.walks.twice(1)", "walks tables"),
        ("from rfcore import laws\nlaws.hop()", "laws laws.moves"),
        ("from rfcore import laws\nlaws.norms()", "laws laws.norms"),
        ("from rfcore import laws as l\nl.moves.hop()", "laws laws.moves"),
        ("from rfcore.laws import chi", "laws laws.norms"),
        ("from rfcore import laws\ngetattr(laws, 'ch' + 'i')()", "laws laws.moves laws.norms"),
        ("run('''from rfcore import walks''')", "walks tables"),
    ],
)
def test_imports_are_followed_to_where_a_name_is_defined(library, text, modules):
    expected = {f"rfcore.{name}" for name in modules.split()} | ({"rfcore"} if modules else set())
    assert set(reached(page(library, text), library)) == expected


@pytest.mark.parametrize(
    ("name", "old", "new", "is_due"),
    [
        ("tables.py", "return 1", "return 7", True),
        ("walks.py", "2 *", "3 *", True),
        ("walks.py", "Double", "Twice", False),
        ("walks.py", "def twice(x):", "def twice(x: float) -> 'Float[Array, \"n\"]':", False),
        ("walks.py", "import math\n", "import math  # unused\n\n", False),
        ("laws/norms.py", "return 1", "return 7", False),
        ("__init__.py", "", "SCALE = 2\n", True),
        ("__init__.py", "", '__version__ = "2.0.0"\n', False),
        ("__init__.py", "", "from rfcore.laws import chi\n", False),
    ],
)
def test_a_page_is_due_when_a_module_that_it_reaches_changed(library, name, old, new, is_due, capsys):
    source = page(library, "from rfcore import walks\nwalks.twice(1)\n")
    made = {"profile": "paper", "source_sha256": pages.source_sha256(source), "reach_sha256": reach_sha256(source, library)}
    source.with_suffix(".ipynb").write_text(json.dumps({"metadata": {"rfcore": made}}), encoding="utf-8")
    assert pages.due(library) == []
    edit(library, name, old, new)
    pages.main(library)
    assert capsys.readouterr().out == ("toy/01_page\n" if is_due else "")


def test_a_page_whose_own_code_changed_is_due(library):
    source = page(library, "1 + 1")
    made = {"profile": "paper", "source_sha256": pages.source_sha256(source), "reach_sha256": reach_sha256(source, library)}
    source.with_suffix(".ipynb").write_text(json.dumps({"metadata": {"rfcore": made}}), encoding="utf-8")
    source.write_text(source.read_text(encoding="utf-8").replace("A title", "Another"), encoding="utf-8")
    assert pages.due(library) == []
    source.write_text(source.read_text(encoding="utf-8").replace("1 + 1", "1 + 2"), encoding="utf-8")
    assert pages.due(library) == [source]
    source.with_suffix(".ipynb").write_text('{"cells": [', encoding="utf-8")  # cut: as if it was not there
    assert pages.due(library) == [source]


def test_the_hash_is_that_of_every_python(library):
    code = "def f(x: int, *y, z=1e-12, **w):\n    return f'{x!r:>{z}} {{}} ' 'b' f'{y=}' if w else [a for a in (b := y)]\n"
    edit(library, "walks.py", "import math\n", code)
    assert reach_sha256(page(library, "from rfcore.walks import f, twice\nf, twice\n"), library)[:16] == "c81111466ade300b"


# which tests a change reaches ------------------------------------------------------------------------------

TABLE = "from rfcore.laws.moves import hop\nTABLE = {'hop': hop}\ndef named(name):\n    return TABLE[name]\n"
READERS = {
    "walks": "from rfcore import walks\nwalks.twice(1)\n",
    "hops": "from rfcore.laws import hop\nhop()\n",
    "names": "from rfcore.laws.names import named\nnamed('hop')\n",
    "lists": "from rfcore import laws\nvars(laws)\n",
    "leap": "from rfcore import laws\ngetattr(laws, 'leap')\n",
    "helped": "from shared import anything\n",
    "all": "import pkgutil\n",
    "none": "1 + 1\n",
}


@pytest.fixture
def committed(library):
    """The library with tests, as a repository of one commit."""
    (library / "rfcore" / "laws" / "names.py").write_text(TABLE, encoding="utf-8")
    (library / "rfcore" / "users.py").write_text("from rfcore.laws.names import TABLE\nALL = list(TABLE)\n", encoding="utf-8")
    (library / "tests").mkdir()
    (library / "tests" / "shared.py").write_text("from rfcore import users\n", encoding="utf-8")
    for name, text in READERS.items():
        (library / "tests" / f"test_{name}.py").write_text(text, encoding="utf-8")
    for command in ("init", "add .", "-c user.name=a -c user.email=a@b commit -m all"):
        subprocess.run(["git", *command.split()], cwd=library, check=True, capture_output=True)
    return library


@pytest.mark.parametrize(
    ("name", "old", "new", "tests"),
    [
        # What was there is another: all that reach it.
        ("laws/moves.py", "return 1", "return 7", "helped hops leap lists names"),
        ("laws/moves.py", "def hop", "print(1)\ndef hop", "helped hops leap lists names"),
        ("laws/moves.py", "return 1\n", "return 1\ndef leap():\n    return 2\nhop = leap\n", "helped hops leap lists names"),
        ("laws/moves.py", "def hop():\n    return 1\n", "", "helped hops leap lists names"),
        ("walks.py", "from rfcore import tables", "from rfcore.laws import moves as tables", "walks"),
        ("tables.py", "return 1", "return 1\ndef __getattr__(name):\n    return 1", "walks"),
        # A name more: those that mention it, and those that list names.
        ("laws/moves.py", "return 1\n", "return 1\ndef leap():\n    return 2\n", "leap"),
        ("laws/moves.py", "def hop", "class Leap:\n    '''Far.'''\nLEAPS = [1]\ndef hop", ""),
        ("laws/__init__.py", "import hop", "import hop, leap", "leap lists"),
        ("laws/moves.py", "return 1\n", "'''One.'''\n    return 1  # or so\n", ""),
        ("tables.py", "return 1\n", "return 1\ndef leap(): pass\n", ""),
        # A row more in a table: those that mention the table, and what uses it otherwise than to look up.
        ("laws/names.py", "hop}", "hop, 'leap': hop}", "helped"),
        ("laws/names.py", "hop}", "max}", "helped names"),
        ("laws/names.py", "return TABLE[name]", "return list(TABLE)[0]", "helped names"),
        ("../tests/shared.py", "users", "walks", "helped"),
        ("../tests/test_none.py", "1 + 1", "1 + 2", "none"),
    ],
)
def test_a_change_is_near_what_it_can_change(committed, name, old, new, tests):
    edit(committed, name, old, new)
    changed = near.changed_since("HEAD", committed)
    gains = near.gains_since("HEAD", changed, committed)
    found = [test.stem[5:] for test in sorted(committed.glob("tests/test_*.py")) if near.is_near(test, changed, gains, committed)]
    assert found == sorted(["all", *tests.split()] if gains else tests.split())  # one reads all of the library


def test_everything_that_a_page_calls_is_reached(tmp_path, monkeypatch):
    source = ROOT / "notebooks" / "favor" / "02_unbiased_features.py"
    own = {"RFCORE_RESULTS": str(tmp_path), "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)}
    monkeypatch.delenv("XLA_FLAGS", raising=False)  # as a page is run: the flags of the units compile fast, and the code is slow
    variables = os.environ | execution.variables("quick", tmp_path) | own
    command = [sys.executable, str(ROOT / "tests" / "calls.py"), str(source)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    called = {line.rpartition(".")[0] for line in done.stdout.splitlines() if line.startswith(("rfcore.", "companion."))}
    assert len(called) > 10
    assert called - set(reached(source)) - set(reach.NO_NUMBERS) == set()
