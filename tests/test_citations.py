"""Whom to cite: every source that a docstring names has an entry in the one bibliography."""

import ast
import re
from pathlib import Path

import pytest

import companion
from companion import citations
from companion.evidence.claims import papers
from companion.models import clustering
from rfcore import couplings, graphs, solvers, theory

ROOT = Path(__file__).parents[1]
SOURCE = re.compile(r"^\s*Source: (.*?)(?:\n\s*\n|\Z)", re.M | re.S)


def sources():
    """Every paragraph of the library that names a source, by where it stands."""
    for path in [*(ROOT / "rfcore").rglob("*.py"), *(ROOT / "companion").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
                for paragraph in SOURCE.findall(ast.get_docstring(node) or ""):
                    yield f"{path.stem}.{getattr(node, 'name', '')}", " ".join(paragraph.split())


def test_every_source_of_a_docstring_has_an_entry():
    found = dict(sources())
    assert len(found) > 150
    unknown = {name: said for name, said in found.items() if not any(p.search(said) for p in citations.patterns().values())}
    assert [name for name, said in unknown.items() if "https://" not in said] == []


@pytest.mark.parametrize(
    ("obj", "keys"),
    [
        (couplings.simplex, ["reid2023simplex"]),
        (couplings.matern, ["rasmussen2006gaussian"]),
        (clustering.k_means, ["arthur2007kmeans"]),
        (theory.positive_mse, ["reid2023simplex"]),
        (graphs.Graph, []),
    ],
)
def test_cited_is_what_the_docstring_names_in_its_order(obj, keys):
    assert re.findall(r"^@\w+\{(\S+),$", companion.cite(obj), re.M) == keys


def test_a_module_speaks_for_what_names_no_source_itself():
    assert not SOURCE.search(solvers.importance.sample_two_sets.__doc__) and SOURCE.search(solvers.importance.__doc__)
    assert companion.cite(solvers.importance.sample_two_sets) == companion.cite(solvers.importance)
    assert companion.cite(solvers.importance) == citations.entries()["sernau2024equivalent"]


def test_entries_are_all_of_the_bibliography_whole():
    text = (ROOT / "companion" / "references.bib").read_text(encoding="utf-8")
    assert len(citations.entries()) == len(re.findall(r"^@", text, re.M)) > 60
    assert all(entry.count("{") == entry.count("}") for entry in citations.entries().values())
    assert list(ROOT.glob("book/*.bib")) == [], "the bibliography stands once, where a wheel has it"


def test_the_five_papers_are_the_books():
    assert {paper.citation for paper in papers()} == set(citations.PAPERS)
    assert all(" ".join(paper.title.split()).startswith(citations.PAPERS[paper.citation]) for paper in papers())


def test_what_is_not_of_rfcore_is_an_error():
    for obj in (sorted, "couplings.simplex", None, ast):
        with pytest.raises(ValueError, match=r"obj = .* is none of rfcore's; give a function"):
            companion.cite(obj)
