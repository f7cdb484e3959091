"""Every public function has an example and a source; those of the README run here, in float32, which is what users have.

Those of the docstrings run in ``test_wheel.py``, where only the wheel is installed.
"""

import dataclasses
import inspect
import re
from pathlib import Path

import jax
import pytest
from public import public_names

from rfcore import (
    couplings,
    datasets,
    evidence,
    features,
    graphs,
    jobs,
    kernels,
    large_graphs,
    models,
    plotting,
    random_graphs,
    repository,
    solvers,
    streams,
    theory,
    walks,
)
from rfcore.couplings import repelling
from rfcore.evidence import processes, processor, signs
from rfcore.models import blocks, classification, exponential_votes
from rfcore.models.gp import held_out, profile, sparse, streamed
from rfcore.plotting import roads, surfaces
from rfcore.theory import equal_walkers, given_directions
from rfcore.theory.printed import simplex

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def as_users_have_it():
    with jax.enable_x64(False):
        yield


def test_readme_examples_estimate_their_kernels(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    errors = [float(line) for line in capsys.readouterr().out.split()]
    assert len(errors) == 2
    assert all(0 < error < 0.5 for error in errors)  # of kernels whose entries are at most one


PUBLIC = public_names(
    couplings, datasets, evidence, features, graphs, jobs, kernels, models, plotting, random_graphs, repository, solvers, streams,
    theory, walks, sparse, profile, held_out, surfaces, roads, processor, given_directions, simplex, streamed, large_graphs, processes, blocks, classification, signs, repelling,
    equal_walkers, exponential_votes,
)
# A paper with its number, a book or an article with its year, a library, or "Ours": what a reader can look up.
SOURCE = r"Random Features|Couplings|FAVOR|Equivalent|\b(19|20)\d\d\b|\bEq\. \d|\bOurs\b|:(func|class|mod):`|registry names"


def holds_results(value):
    """Tuples, dataclasses and exceptions: the functions that return or raise them show them."""
    is_held = inspect.isclass(value) and (dataclasses.is_dataclass(value) or issubclass(value, tuple | Exception))
    return is_held or getattr(value, "_is_protocol", False)


def sections(text):
    """Sections of a docstring in NumPy's style, by title."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.cleandoc(text), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", [name for name, value in PUBLIC.items() if not holds_results(value)])
def test_public_names_have_an_example_and_a_source(name):
    value = PUBLIC[name]
    if "." in name and inspect.isclass(holder := PUBLIC.get(name.rpartition(".")[0])):
        value = holder  # methods are shown with their class
        if holds_results(value):
            return
    found = sections(value.__doc__)
    assert ">>>" in found.get("Examples", ""), "give an example, which runs"
    assert re.search(SOURCE, found.get("Notes", "")), 'give the source under Notes: a paper and its equation, or "Ours"'
