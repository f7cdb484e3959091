"""Docstrings keep the contract of CONTRIBUTING.md; the README's examples run here, in float32, which is what users have.

Those of the docstrings do too; `make release` runs them again where the wheel alone is installed.
"""

import ast
import doctest
import functools
import importlib
import inspect
import itertools
import pkgutil
import re
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from public import public_names

import companion
import rfcore
from companion import datasets, evidence, models, papers, plotting, random_graphs, repository
from companion.evidence import costs, processes, statistics
from companion.plotting import maps
from rfcore import attention, couplings, estimators, features, gp, graphs, kernels, solvers, theory, walks
from rfcore.walks import streams

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def as_users_have_it():
    with jax.enable_x64(False):
        yield


def test_readme_examples_estimate_their_kernels(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    for block in blocks:
        with jax.enable_x64("jax_enable_x64" in block):
            exec(compile(block, "README.md", "exec"), {})
    said = [float(number) for block in blocks for number in re.findall(r"# (0\.\d\d)$", block, re.M)]
    np.testing.assert_allclose([float(line) for line in capsys.readouterr().out.split()], said, atol=0.006)


def test_the_lines_of_the_front_page_print_what_it_says(capsys):
    page = (ROOT / "book" / "index.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.S)
    exec(compile(block, "index.md", "exec"), {})
    printed = [float(line) for line in capsys.readouterr().out.split()]
    said = [float(number) for number in re.findall(r"0\.\d{3}", page[: page.index(block)])]
    np.testing.assert_allclose(printed, said, atol=6e-4)


def test_what_stands_beside_other_tools_prints_what_it_says(tmp_path):
    text = (ROOT / "book" / "in_your_own_work.md").read_text(encoding="utf-8")
    blocks = tmp_path / "blocks.txt"
    blocks.write_text("\n\n".join(re.findall(r"```python\n(>>>.*?)```", text, re.S)), encoding="utf-8")
    found = doctest.testfile(str(blocks), module_relative=False)
    assert (found.failed, found.attempted > 20) == (0, True)


MODULES = [found.name for package in (rfcore, companion) for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]


@pytest.mark.filterwarnings("ignore")  # where data are missing, stand-ins say so
@pytest.mark.parametrize("name", [name for name in MODULES if "__main__" not in name])
def test_examples_run(name):
    module, flags = importlib.import_module(name), doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    module.__test__ = dict(documented_records(module))
    assert doctest.testmod(module, optionflags=flags).failed == 0


def documented_records(module):
    """Names and docstrings of a module's data: strings that stand below their assignments."""
    lines = ast.parse(inspect.getsource(module)).body
    for line, below in itertools.pairwise(lines):
        if isinstance(line, ast.Assign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            yield line.targets[0].id, below.value.value


PUBLIC = public_names(
    couplings, datasets, estimators, evidence, features, graphs, kernels, attention, gp, models, papers, plotting, random_graphs, repository, solvers,
    streams, theory, walks, maps, costs, processes, statistics,
)
# What holds until 2.0; a reader of `help` meets each with an example.
PROMISED = re.findall(r"\{(?:func|class|meth|data)\}`~?rfcore\.([\w.]+)`", (ROOT / "book" / "api.md").read_text(encoding="utf-8"))
NUMPYDOC = (
    "Attributes", "Examples", "Methods", "Notes", "Other Parameters", "Parameters", "Raises", "References", "Returns", "See Also",
    "Warnings", "Warns", "Yields",
)  # fmt: skip
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def documented():
    """Place, syntax tree and docstring, with its indentation, of every module, class and function of rfcore that has one."""
    for path in sorted([*(ROOT / "rfcore").rglob("*.py"), *(ROOT / "companion").rglob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) and (text := ast.get_docstring(node, clean=False)):
                yield f"{path.relative_to(ROOT)}:{node.body[0].lineno}", node, text


DOCUMENTED = list(documented())


def places(is_wrong):
    """Where a docstring is as a function of its syntax tree and its text says that it may not be."""
    return [place for place, node, text in DOCUMENTED if is_wrong(node, text)]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_summary_of_one_line_ends_in_a_full_stop(name):
    summary, _, rest = (inspect.getdoc(PUBLIC[name]) or "").partition("\n")
    assert re.fullmatch(r"\S.*\.", summary)
    assert not rest or rest.startswith("\n"), "an empty line parts the summary from what follows"


@pytest.mark.parametrize("name", PROMISED)
def test_promised_names_have_an_example(name):
    value = functools.reduce(getattr, name.split("."), rfcore)
    text = value.__doc__
    if isinstance(value, couplings.Coupling):
        text = dict(documented_records(sys.modules[type(value).__module__])).get(name.split(".")[-1], text)
    assert re.search(r"^ *>>> ", text, re.M)


def test_no_promise_is_lost():
    assert len(PROMISED) == len(set(PROMISED)) == 56


def test_no_docstring_has_a_header_of_numpydoc():
    header = re.compile(rf"^ *({'|'.join(NUMPYDOC)})\n *-{{3,}}$", re.M)
    assert places(lambda node, text: header.search(text)) == []


def test_no_docstring_names_ourselves_as_its_source():
    """"Ours" alone or after "Source:"; what an example prints may begin with it, as the caption of a figure does."""
    ours = re.compile(r"^ *(?:Source: *)?Ours\b", re.M)
    assert places(lambda node, text: any(ours.search(part) for part in re.split(r"\n\s*\n", text) if ">>>" not in part)) == []


def test_no_line_of_a_docstring_is_longer_than_110_columns():
    def is_long(node, text):
        first, *others = text.split("\n")
        quotes = 3 if others else 6
        return node.body[0].col_offset + quotes + len(first) > 110 or any(len(line) > 110 for line in others)

    assert places(is_long) == []


def test_what_stands_under_args_are_parameters():
    assert places(lambda node, text: not set(under_args(text)) <= parameters(node)) == []


def under_args(text):
    """Names that begin the entries of ``Args:``, several in one entry among them, without stars."""
    section = re.search(r"^Args:\n(.*?)(?=^\S|\Z)", inspect.cleandoc(text), re.M | re.S)
    heads = re.findall(r"^ {4}(\S[^:\n]*)", section[1], re.M) if section else []
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def parameters(node):
    """Of a function; of a class those that make one, which of a tuple or a dataclass are its fields."""
    if isinstance(node, FUNCTIONS):
        given = node.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, [given.vararg, given.kwarg])]
        return {argument.arg for argument in every}
    makers = [inner for inner in node.body if isinstance(inner, FUNCTIONS) and inner.name in ("__init__", "__new__")]
    fields = {inner.target.id for inner in node.body if isinstance(inner, ast.AnnAssign)}
    return fields.union(*map(parameters, makers))
