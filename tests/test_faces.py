"""Packages promise names and load them when they are first asked for; what a fresh process loads, and what it does not."""

import ast
import importlib
import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FACES = sorted(".".join(path.parent.relative_to(ROOT).parts) for package in ("rfcore", "companion") for path in (ROOT / package).rglob("__init__.py"))
CORE = "couplings, features, kernels, theory, graphs, attention, gp, solvers"


def exports(package):
    """The literal of a face, from its syntax tree."""
    tree = ast.parse((ROOT / package.replace(".", "/") / "__init__.py").read_text(encoding="utf-8"))
    (call,) = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "faces.attach")
    return ast.literal_eval(call.args[1])


SHADOWED = [f"{package}.{name}" for package in FACES for name, names in exports(package).items() if name in names]


def fresh(code):
    """What a fresh process prints."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("package", FACES)
def test_all_that_a_face_promises_is_there_and_stays(package):
    face, promised = importlib.import_module(package), exports(package)
    assert len(face.__all__) == len(set(face.__all__)) == sum(map(len, promised.values()))
    for module, names in promised.items():
        for name in names:
            value = importlib.import_module(f"{package}.{name}") if module == "." else getattr(face, name)
            assert getattr(face, name) is value is vars(face)[name]
            assert inspect.ismodule(value) == (module == "."), f"{name} of {module}"
    assert set(face.__all__) <= set(dir(face))
    assert face.__module__ == package, "Sphinx would look for the source there"
    into = {}
    exec(f"from {package} import *", into)
    assert set(face.__all__) <= set(into)
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'no_such'"):
        face.no_such  # noqa: B018


@pytest.mark.parametrize("package", FACES)
def test_a_face_names_what_a_module_of_its_own_defines(package):
    """Not what the module has imported from elsewhere: then a reader of the literal would look in the wrong place."""
    for module, names in exports(package).items():
        for name in names if module != "." else ():
            dotted = module if "." in module else f"{package}.{module}"
            value = getattr(importlib.import_module(dotted), name)
            assert getattr(value, "__module__", dotted) == dotted
            if hasattr(value, "__module__"):
                assert pickle.loads(pickle.dumps(value)) is getattr(importlib.import_module(package), name)


@pytest.mark.parametrize(
    "before",
    ["", "import {dotted}", "face.{name}; import {dotted}", "face.{name}; del sys.modules['{dotted}']; import {dotted}"],
    ids=["face", "module", "face, module", "face, module, module"],
)
def test_a_function_keeps_its_name_from_the_module_of_that_name(before):
    assert {"rfcore.couplings.compose", "companion.datasets.images"} <= set(SHADOWED)
    lines = ["import sys"]
    for dotted in SHADOWED:
        package, _, name = dotted.rpartition(".")
        lines += [f"import {package} as face", before.format(dotted=dotted, name=name)]
        lines += [f"from {package} import {name}", f"print({name} is face.{name}, type({name}).__name__)"]
    assert fresh("\n".join(lines)) == ["True", "function"] * len(SHADOWED)


def loaded_after(code, modules):
    """Which of the modules a fresh process holds after some code."""
    return set(fresh(f"import sys\n{code}\nprint(*({modules} & sys.modules.keys()))"))


def test_the_library_alone_loads_nothing_else():
    heavy = {"jax", "numpy", "scipy", "scipy.stats", "matplotlib", "networkx", "pooch"}
    assert loaded_after("import rfcore", heavy) == set()
    assert loaded_after("from companion import evidence, datasets, plotting", heavy) == set()


HEAVY = {"scipy.stats", "scipy.optimize", "scipy.special", "matplotlib", "networkx", "trimesh", "gpjax", "optax", "lineax", "equinox"}


@pytest.mark.parametrize(
    ("code", "needed"),
    [
        ("", set()),
        ("features.positive(jax.numpy.ones((1, 2)), couplings.orthogonal(jax.random.key(0), 4, 2))", set()),
        ("couplings.orthogonal_pnc(jax.random.key(0), 4, 4)", {"scipy.special"}),
        ("couplings.sobol(jax.random.key(0), 4, 4)", {"scipy.special", "scipy.stats", "scipy.optimize"}),
        ("features.walk_features, theory.positive_mse", {"scipy.special"}),
        ("gp.posterior, solvers.exponential, attention", None),
    ],
)
def test_what_the_core_loads(code, needed):
    loaded = loaded_after(f"import jax\nfrom rfcore import {CORE}\n{code}", HEAVY)
    assert loaded == needed if needed is not None else "scipy.stats" not in loaded, loaded
