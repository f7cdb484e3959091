"""Which definitions a page reaches: on small throw-away packages, and against what two real pages call."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from companion.evidence import kernel, pages, reach
from companion.evidence.reach import reach_sha256, reached

ROOT = Path(__file__).parents[1]
PACKAGE = {
    "__init__.py": "",
    "walks.py": """
        import math
        from rfcore import tables
        SCALE = 2.0
        RULES = {"a": 1}
        RULES["b"] = 2
        def twice(x):
            '''Double.'''
            return SCALE * x
        def far(x):
            return twice(x) + tables.base(x)
        def unused(x):
            return 0
        class Walk:
            side = math.pi
            def hop(self, x):
                return _inner(x)
        def _inner(x):
            return [tables for tables in (x,)]
        """,
    "tables.py": """
        def base(x):
            return 1
        def light(f):
            return f
        @light
        def marked(x):
            return x
        """,
    "laws/__init__.py": """
        from rfcore.laws import directions
        from rfcore.laws.directions import iid as independent
        __all__ = ["directions", "independent"]
        """,
    "laws/directions.py": """
        def iid():
            return 1
        def orthogonal():
            return 2
        """,
    "faces/__init__.py": """
        from rfcore import lazy
        __getattr__, __dir__, __all__ = lazy.attach(__name__, {"first": ("one", "two"), ".": ("second", "fourth"), "rfcore.walks": ("far",)})
        """,
    "faces/first.py": "def one(): return 1\ndef two(): return 2\n",
    "faces/second.py": "def three(): return 3\n",
    "faces/fourth.py": "def four(): return 4\n",
    "lazy.py": "def attach(name, exports): return name, exports, 3\n",
}


@pytest.fixture
def library(tmp_path):
    """A copy of the small package: `edit` replaces a text in one of its files, `page` writes a page."""
    root = tmp_path / "project"
    for name, text in PACKAGE.items():
        path = root / "rfcore" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("\n        ", "\n"), encoding="utf-8")
    return root


def edit(root, name, old, new):
    path = root / "rfcore" / name
    text, before = path.read_text(encoding="utf-8"), path.stat().st_mtime_ns
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    os.utime(path, ns=(before + 1_000_000, before + 1_000_000))  # clocks of file systems can be coarse


def page(root, text):
    source = root / "page.py"
    source.write_text(text, encoding="utf-8")
    return source


def names(root, text):
    return {name.removeprefix("rfcore.") for name in reached(page(root, text), root)}


FAR = {"walks.far", "walks.twice", "walks.SCALE", "tables.base"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from rfcore import walks\nwalks.far(1)", FAR),
        ("import rfcore.walks\nrfcore.walks.far(1)", FAR),
        ("import rfcore.walks as w\nw.far(1)", FAR),
        ("from rfcore.walks import far as f\nf(1)", FAR),
        ("def g():\n    from rfcore.walks import far\n    return far(1)", FAR),
        ("code = 'from rfcore import walks'\ndef g():\n    return walks.far(1)", FAR),
        ("from rfcore import walks\nwalks.RULES", {"walks.RULES"}),
        ("from rfcore import walks\nwalks.Walk()", {"walks.Walk", "walks._inner"}),
        ("from rfcore import walks\ndef g(walks):\n    return walks.far", set()),
        ("from rfcore import walks\nlambda walks: [walks.far for walks in walks]", set()),
        ("from rfcore import laws\nlaws.independent()", {"laws.directions.iid"}),
        ("from rfcore import laws\nlaws.directions.orthogonal()", {"laws.directions.orthogonal"}),
        ("from rfcore import faces\nfaces.one()", {"faces.first.one"}),
        ("from rfcore import faces\nfaces.second.three()", {"faces.second.three"}),
        ("from rfcore.faces import fourth\nfourth.four()", {"faces.fourth.four"}),
        ("from rfcore.faces import two\ntwo()", {"faces.first.two"}),
        ("from rfcore import faces\nfaces.far(1)", FAR),  # which another package defines
        (
            "from rfcore import faces\nprint([faces])",
            {"faces.first.one", "faces.first.two", "faces.second.three", "faces.fourth.four"} | FAR,
        ),
    ],
)
def test_names_are_followed(library, text, expected):
    # A decorator of the library might keep what it decorates, so `marked` belongs to all of its module.
    assert names(library, text) - {"tables", "tables.light"} == expected


@pytest.mark.parametrize(
    "text",
    [
        "from rfcore.laws import directions\ngetattr(directions, 'i' + 'id')",
        "from rfcore.laws import directions\nfor law in (directions,):\n    law.iid()",
        "from rfcore.laws import directions\nvars(directions)",
        "from rfcore.laws import directions\ndirections.__all__",
        "from rfcore.laws.directions import *\niid()",
        "import importlib\nimportlib.import_module('rfcore.laws.directions')",
        "from rfcore import laws\nfor name in read():\n    getattr(laws, name)",
        "import importlib\nfor name in read():\n    importlib.import_module(name)",
        "from rfcore.laws import directions\nlaw = directions\nlaw.iid()",
    ],
)
def test_of_dynamic_access_all_of_the_module_is_reached(library, text):
    assert names(library, text) >= {"laws.directions.iid", "laws.directions.orthogonal"}


def test_of_names_that_are_spelled_those_alone_are_reached(library):
    asked = "from rfcore import faces\nfor name in NAMES:\n    getattr(faces, name)\n"
    assert names(library, "NAMES = ('one', 'a text')\n" + asked) == {"faces.first.one"}
    edit(library, "tables.py", "def base", "WANTED = ('two',)\ndef base")
    of_the_library = names(library, "from rfcore.tables import WANTED as NAMES\nHEAD = 'one'\n" + asked)
    assert {n for n in of_the_library if n.startswith("faces")} == {"faces.first.one", "faces.first.two"}


@pytest.mark.parametrize(
    ("name", "old", "new", "is_due"),
    [
        ("walks.py", "SCALE * x", "SCALE * x * x", True),  # a function, through another
        ("walks.py", "SCALE = 2.0", "SCALE = 3.0", True),  # a constant
        ("walks.py", "SCALE = 2.0", "SCALE = 2.0\nSCALE += 1", True),
        ("tables.py", "return 1", "return 2", True),  # a function of another module
        ("walks.py", "from rfcore import tables", "from rfcore import laws as tables", True),
        ("walks.py", "SCALE = 2.0", "SCALE = 2.0\nprint(1)", True),  # what the module does besides
        ("walks.py", "SCALE = 2.0", "for SCALE in (2.0, 3.0):\n    pass", True),
        ("walks.py", "def twice(x)", "@math.jit\ndef twice(x)", True),
        (
            "walks.py",
            "import math",
            "import math\nimport numpy as math",
            False,
        ),  # a name that it does not use
        ("walks.py", "return 0", "return 1", False),
        ("walks.py", "math.pi", "math.e", False),
        ("walks.py", "'''Double.'''", "'''Twice.'''  # so to say", False),
        ("walks.py", "def unused", "def new(x):\n    return far(x)\ndef unused", False),
        ("walks.py", "    return SCALE * x", "    import math\n    return (SCALE\n        * x)", False),
        ("laws/directions.py", "return 2", "return 3", False),
        ("faces/__init__.py", '("second"', '("third", "second"', False),
    ],
)
def test_a_page_is_due_when_a_definition_that_it_reaches_changed(library, name, old, new, is_due):
    source = page(library, "from rfcore import walks, faces\nwalks.far(1)\nfaces.one()\n")
    before = reach_sha256(source, library)
    edit(library, name, old, new)
    assert (reach_sha256(source, library) != before) is is_due


def test_how_files_are_fetched_makes_no_page_due(library):
    """Their content has hashes of its own, and a loader is reached as any function is."""
    (library / "companion" / "datasets").mkdir(parents=True)
    (library / "companion" / "datasets" / "__init__.py").write_text("", encoding="utf-8")
    (library / "companion" / "datasets" / "storage.py").write_text("def read(): return 1\n", encoding="utf-8")
    (library / "companion" / "datasets" / "text.py").write_text(
        "from companion.datasets import storage\ndef words(): return storage.read()\n", encoding="utf-8"
    )
    text = "from companion.datasets import text\ntext.words()\n"
    assert names(library, text) == {"companion.datasets.text.words"}
    before = reach_sha256(page(library, text), library)
    edit(library, "../companion/datasets/storage.py", "return 1", "return 2")
    assert reach_sha256(page(library, text), library) == before
    edit(library, "../companion/datasets/text.py", "storage.read()", "2 * storage.read()")
    assert reach_sha256(page(library, text), library) != before


def test_changes_of_a_name_belong_to_it(library):
    source = page(library, "from rfcore.walks import RULES, Walk\nRULES\nWalk\n")
    seen = [reach_sha256(source, library)]
    for old, new in [
        ('RULES["b"] = 2', 'RULES["b"] = 3'),
        ('RULES["b"] = 3', 'RULES["b"] = 3\nRULES.update(c=4)'),
        ("def _inner", "@Walk.register\ndef rule(x):\n    return 1\ndef _inner"),
        ("return [tables", "return [2 * tables"),
    ]:
        edit(library, "walks.py", old, new)
        seen.append(reach_sha256(source, library))
    assert len(set(seen)) == 5
    unmoved = page(library, "from rfcore.walks import unused\nunused\n")
    before = reach_sha256(unmoved, library)
    edit(library, "walks.py", "RULES.update(c=4)", "RULES.update(c=5)")
    edit(library, "walks.py", "def rule(x):\n    return 1", "def rule(x):\n    return 2")
    assert reach_sha256(unmoved, library) == before


def test_what_a_decorator_of_the_library_may_keep_belongs_to_the_whole_module(library):
    source = page(library, "from rfcore.tables import base\nbase\n")
    before = reach_sha256(source, library)
    edit(library, "tables.py", "    return x\n", "    return 2 * x\n")
    assert reach_sha256(source, library) != before


def test_a_name_imported_otherwise_is_another_name(library):
    source = page(library, "from rfcore.walks import Walk\nWalk\n")
    before = reach_sha256(source, library)
    edit(library, "walks.py", "import math\n", "import cmath as math\n")
    assert reach_sha256(source, library) != before


def test_the_hash_is_that_of_every_python_and_takes_the_standard_library_alone(library):
    code = """def f(x: int, *y, z=1e-12, **w):
    return f'{x!r:>{z}} {{}} ' 'b' f'{y=}' if w else [a for a in (b := y)]
"""
    edit(library, "walks.py", "import math", f"import math\n{code}")
    source = page(library, "from rfcore.walks import f, far, Walk\nf, far, Walk\n")
    assert reach_sha256(source, library)[:16] == "49c83404327fce77"
    # The package's face stands aside: it imports JAX.
    program = f"""
import sys, types
for name, folder in [("companion", ROOT), ("companion.evidence", ROOT + "/evidence")]:
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
from companion.evidence import pages
print(pages.reach_sha256({str(source)!r}, {str(library)!r}))
""".replace("ROOT", repr(str(ROOT / "companion")))
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout.strip()) == ("", reach_sha256(source, library))


@pytest.fixture
def project(library):
    """Three pages, all made with the present code."""
    folder = library / "notebooks" / "toy"
    folder.mkdir(parents=True)
    for name, text in {
        "01_far": "from rfcore import walks\nwalks.far(1)\n",
        "02_one": "from rfcore import faces\nfaces.one()\n",
        "03_none": "1 + 1\n",
    }.items():
        source = folder / f"{name}.py"
        source.write_text(f"# %% [markdown]\n# # A title\n\n# %%\n{text}", encoding="utf-8")
        made = {
            "profile": "paper",
            "source_sha256": pages.source_sha256(source),
            "reach_sha256": reach_sha256(source, library),
        }
        source.with_suffix(".ipynb").write_text(json.dumps({"metadata": {"rfcore": made}}), encoding="utf-8")
    return library


def test_an_edit_of_a_function_that_one_page_uses_makes_that_page_due_and_no_other(project, capsys):
    folder = project / "notebooks" / "toy"
    assert pages.due(project) == []
    edit(project, "faces/first.py", "return 1", "return 7")
    pages.main(project)
    assert capsys.readouterr().out == "toy/02_one\n"
    edit(project, "faces/first.py", "return 7", "return 1")
    edit(project, "tables.py", "return 1", "return 7")
    assert pages.due(project) == [folder / "01_far.py"]


def test_a_page_whose_own_code_changed_or_that_was_never_made_is_due(project):
    folder = project / "notebooks" / "toy"
    text = (folder / "03_none.py").read_text(encoding="utf-8")
    (folder / "03_none.py").write_text(text.replace("A title", "Another title"), encoding="utf-8")
    assert pages.due(project) == []
    (folder / "03_none.py").write_text(text.replace("1 + 1", "1 + 2"), encoding="utf-8")
    (folder / "02_one.ipynb").write_text('{"cells": [', encoding="utf-8")  # cut: as if it was not there
    assert pages.due(project) == [folder / "02_one.py", folder / "03_none.py"]


def test_the_command_prints_the_pages_that_are_due_and_nothing_else():
    command = [sys.executable, "-m", "companion.evidence.runner", "--due"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    expected = [f"{source.parent.name}/{source.stem}" for source in pages.due()]
    assert (done.returncode, done.stderr, done.stdout.splitlines()) == (0, "", expected)


TRACED = ["favor/02_unbiased_features", pytest.param("equivalence/04_two_sets", marks=pytest.mark.nightly)]


@pytest.mark.parametrize("name", TRACED)
def test_everything_that_a_page_calls_is_reached(name, tmp_path, monkeypatch):
    source = ROOT / "notebooks" / f"{name}.py"
    command = [sys.executable, str(ROOT / "tests" / "calls.py"), str(source)]
    # As a page is run: the flags of the units compile fast, and the code is slow.
    own = {"RFCORE_RESULTS": str(tmp_path), "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)}
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    variables = os.environ | kernel.variables("quick", pages.source_sha256(source), tmp_path) | own
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # A face resolves a name when it is first asked for, which is what an import does.
    called = {line for line in done.stdout.splitlines() if line.startswith(("rfcore.", "companion."))} - {"rfcore.faces.attach"}
    assert len(called) > 40
    of_data = {name for name in called if name.startswith(reach.BY_CONTENT)}
    assert called - of_data - set(reached(source)) == set()
