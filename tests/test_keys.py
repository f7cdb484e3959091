"""A key is used once: a rule over syntax trees, and JAX's own watch over calls.

``jax.random.split(key)[1]`` is ``jax.random.fold_in(key, 1)`` to the bit: a key that is folded here and split by
a function it is handed to gives the same numbers twice. Phases were functions of norms that way.
"""

import ast
import itertools
from pathlib import Path

import jax
import numpy as np
import pytest

from rfcore import couplings
from rfcore.estimators import RandomFeatures
from rfcore.features import neural
from rfcore.solvers import importance

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [path for folder in ("rfcore", "companion", "notebooks") for path in sorted(ROOT.glob(f"{folder}/**/*.py"))]
LOOKS = {"key", "is_traced", "words", "key_data", "issubdtype", "isinstance", "len"}  # what draws nothing
WARMS_UP = {"notebooks/ugrf/17_large_graphs.py"}  # a first call, whose numbers nobody reads


def uses(tree):
    """``(key, kind, what, branch, line)`` of what is done with keys in a function; kinds are split, fold and hand."""
    found = []

    def visit(node, branch, hidden):
        match node:
            case ast.FunctionDef() | ast.Lambda():
                return  # a scope of its own
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                hidden |= {name.id for of in node.generators for name in ast.walk(of.target) if isinstance(name, ast.Name)}
            case ast.If() | ast.IfExp():
                visit(node.test, branch, hidden)
                for side in ("body", "orelse"):
                    visit_all(getattr(node, side), (*branch, (node, side)), hidden)
                return
            case ast.Call():
                what = ast.unparse(node.func)
                kind = {"split": "split", "fold_in": "fold"}.get(what.split(".")[-1], "hand")
                for given in [*node.args, *(word.value for word in node.keywords)]:
                    if isinstance(given, ast.Call) and ast.unparse(given.func) == "checks.key":
                        given = given.args[0]
                    name = getattr(given, "id", "")
                    if (name == "key" or name.startswith("key_")) and name not in hidden and what.split(".")[-1] not in LOOKS:
                        found.append((name, kind, ast.unparse(node.args[1]) if kind == "fold" else what, branch, node.lineno))
        for child in ast.iter_child_nodes(node):
            visit(child, branch, hidden)

    def visit_all(nodes, branch, hidden=frozenset()):
        for node in nodes if isinstance(nodes, list) else [nodes]:
            visit(node, branch, hidden)
            if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Return | ast.Raise | ast.Continue):
                branch = (*branch, (node, "orelse"))  # what follows is reached where the test fails

    visit_all(tree.body, ())
    return found


def twice(source, in_library):
    """Pairs of uses of one key, of which one is too many."""
    for function in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)):
        for one, other in itertools.combinations(uses(function), 2):
            same_branch = all(a[0] is not b[0] or a[1] == b[1] for a in one[3] for b in other[3])
            kinds = {one[1], other[1]}
            paired = kinds == {"hand"} and not in_library  # pages compare on common random numbers
            walks = {one[2], other[2]} == {"walks.lengths.draw", "walks.simulate"}  # streams of two purposes
            if one[0] == other[0] and same_branch and not (paired or walks) and not (kinds == {"fold"} and one[2] != other[2]):
                yield f"line {one[4]}: {one[2]}; line {other[4]}: {other[2]}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_key_is_split_or_folded_or_handed_on_once(path):
    name = path.relative_to(ROOT).as_posix()
    if name not in WARMS_UP:
        assert not list(twice(path.read_text(encoding="utf-8"), not name.startswith("notebooks")))


@pytest.mark.parametrize(
    "body",
    [
        "phases = uniform(fold_in(key, 1))\n    return orthogonal(key, m, d), phases",
        "keys = split(key)\n    return normal(key)",
        "return uniform(key), normal(key)",
        "return fold_in(key, 0), fold_in(key, 0)",
        "if m:\n        a = split(key)\n    return normal(checks.key(key))",
    ],
)
def test_the_rule_sees(body):
    assert list(twice(f"def f(key, m, d):\n    {body}\n", True))


@pytest.mark.parametrize(
    "draw",
    [
        *(lambda key, name=name: getattr(couplings, name)(key, 6, 3) for name in ("iid", "orthogonal", "simplex", "simplex_plus")),
        lambda key: couplings.orthogonal_fast(key, 6, 3),
        lambda key: couplings.matern(key, 6, 3, 1.5),
        lambda key: couplings.compose("simplex", "stratified", across="all")(key, 6, 3),
        lambda key: couplings.choose(m=40, d=3).coupling(key, 40, 3),
        lambda key: neural.random(key, 1),
        lambda key: importance.sample_mixture(key, np.ones((4, 2)), np.ones((3, 2))),
        lambda key: importance.sample_with_phases(key, 4, np.ones((3, 2)), pilot=8),
        lambda key: RandomFeatures(5, features="trigonometric", random_state=0).fit(np.ones((4, 2))),
    ],
)
def test_no_call_uses_a_key_twice(draw):
    """JAX watches. It does not see what a fold and a split have in common; of ``of_two_sets`` it says wrongly that
    both draws from one key are kept."""
    with jax.debug_key_reuse(True):
        draw(jax.random.key(0))
