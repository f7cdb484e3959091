"""Docstrings keep the contract of CONTRIBUTING.md; the README's examples run here, in float32, which is what users have.

Those of the docstrings do too; `make release` runs them again where the wheel alone is installed.
"""

import ast
import contextlib
import doctest
import functools
import importlib
import inspect
import itertools
import pkgutil
import re
import tomllib
from pathlib import Path

import jax
import numpy as np
import pytest
from public import public_names

import companion
import rfcore
from companion import citations, datasets, evidence, models, papers, plotting, random_graphs, repository
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


@pytest.mark.parametrize(("page", "least"), [("in_your_own_work", 20), ("how_to_cite", 2)])
def test_what_stands_beside_other_tools_prints_what_it_says(page, least, tmp_path):
    text = (ROOT / "book" / f"{page}.md").read_text(encoding="utf-8")
    blocks = tmp_path / "blocks.txt"
    blocks.write_text("\n\n".join(re.findall(r"```python\n(>>>.*?)```", text, re.S)), encoding="utf-8")
    found = doctest.testfile(str(blocks), module_relative=False)
    assert (found.failed, found.attempted > least) == (0, True)


def test_the_release_to_cite_is_this_one():
    assert f"version = {{{rfcore.__version__}}}" in (ROOT / "book" / "how_to_cite.md").read_text(encoding="utf-8")


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
    assert re.search(r"^ *>>> ", citations.docstring(functools.reduce(getattr, name.split("."), rfcore)), re.M)


def test_no_promise_is_lost():
    assert len(PROMISED) == len(set(PROMISED)) == 63


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


ROOMS = {module.split(".")[1] for module in MODULES}
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
ROLE = re.compile(r":(?:py:)?(?:func|mod|class|meth|attr|data):`(?:[^`<]*<)?[~.]?([\w.]+)(?:\(\))?>?`")
MYST = re.compile(r"\{(?:py:)?(?:func|mod|class|meth|attr|data)\}`(?:[^`<]*<)?[~.]?([\w.]+)>?`")
DOTTED = re.compile(r"(?<![`\w])`{1,2}((?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*)(?:\(.*?\))?`{1,2}(?!`)")
FILES = {"py", "toml", "json", "md", "txt", "ipynb", "csv", "lock", "yml", "cff", "bib"}


def test_what_docstrings_name_in_our_packages_is_there():
    assert [f"{place}: {name}" for place, _, text in DOCUMENTED for name in gone(text, ROLE, place.split("/")[0])] == []


@pytest.mark.parametrize("page", [*sorted((ROOT / "book").glob("*.md")), ROOT / "CONTRIBUTING.md", ROOT / "README.md"], ids=lambda page: page.name)
def test_what_pages_name_in_our_packages_is_there(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    assert list(gone(text, MYST, "companion")) == []


def test_a_name_that_is_gone_is_found():
    """As ``papers.simplex.formulas`` was from within rfcore, which the companion is no part of."""
    text = "See ``papers.simplex.formulas``, ``copulas.no_such``, :func:`no_such`, :func:`~rfcore.couplings.simplex`, rfcore[text] and ``np.linalg.norm``."
    assert list(gone(text, ROLE, "rfcore")) == ["no_such", "papers.simplex.formulas", "copulas.no_such", "rfcore[text]"]
    assert list(gone("``papers.simplex.formulas`` and :func:`fit_gaussian`", ROLE, "companion")) == []


def gone(text, role, package):
    """Names of modules, functions and extras that a text of a package gives, and that neither it nor what it imports has."""
    packages = ("rfcore", "companion")[: 1 + (package == "companion")]
    dotted = [name for name in DOTTED.findall(text) if name.split(".")[0] in {*ROOMS, "rfcore", "companion"} and name.split(".")[-1] not in FILES]
    yield from (name for name in [*role.findall(text), *dotted] if not any(is_there(name, within) for within in packages))
    yield from (f"rfcore[{extra}]" for extra in re.findall(r"(?:rfcore|\.)\[(\w+)\]", text) if extra not in EXTRAS)


@functools.cache
def is_there(name, package):
    """Whether a module or a class of a package has a name, or a dotted one leads somewhere, from the package or one of its modules on."""
    if "." not in name:
        return name in names(package)
    modules = [module for module in MODULES if module.startswith(f"{package}.")]
    return any(map(resolves, [name] if name.split(".")[0] == package else [f"{module}.{name}" for module in (package, *modules)]))


@functools.cache
def names(package):
    """Every name that a module of a package has, or a class of it, its fields among them."""
    modules = [importlib.import_module(module) for module in MODULES if module.startswith(f"{package}.") and "__main__" not in module]
    classes = [thing for module in modules for thing in vars(module).values() if isinstance(thing, type) and thing.__module__.startswith(package)]
    return {name for thing in (*modules, *classes) for name in (*dir(thing), *getattr(thing, "__annotations__", ()))} | {m.split(".")[-1] for m in MODULES}


@functools.cache
def resolves(name):
    module, _, rest = name.partition(".")
    found = importlib.import_module(module)
    for part in filter(None, rest.split(".")):
        if part in getattr(found, "__annotations__", ()):  # a field, of whatever type
            return True
        if hasattr(found, "__path__") and not hasattr(found, part):
            with contextlib.suppress(ModuleNotFoundError):
                importlib.import_module(f"{found.__name__}.{part}")
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


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
