"""The main road: lessons short enough to read, that anyone can run, and whose words belong to them."""

import ast
import importlib
import re
import warnings
from pathlib import Path

import jax
import jupytext
import matplotlib.pyplot as plt
import pytest

from companion import evidence

ROOT = Path(__file__).parents[1]
LESSONS = sorted((ROOT / "notebooks" / "road").glob("[0-9][0-9]_*.py"))
THEIRS = {"jax", "matplotlib", "networkx", "numpy", "rfcore", "trimesh"}
every_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)


@pytest.fixture
def main_road(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    return importlib.import_module("main_road")


def cells(path, kind):
    return [cell for cell in jupytext.read(path).cells if cell.cell_type == kind]


def test_there_are_twelve_and_each_has_words_and_a_door(main_road):
    assert [page for page, _ in main_road.road()] == [f"road/{path.stem}" for path in LESSONS]
    assert len(LESSONS) == 12
    for page, words in main_road.road():
        assert set(words) == {"learn", "audits", "door", "figures"}
        assert all((ROOT / "notebooks" / f"{audit}.py").exists() for audit in words["audits"])
        assert main_road.ending(page).count(":class: door") == 1
    assert main_road.ending("simplex/02_sum_lengths") == ""


@every_lesson
def test_it_imports_the_library_and_matplotlib_alone(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    modules += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert {module.partition(".")[0] for module in modules} <= THEIRS


@every_lesson
def test_it_shows_sixty_lines_of_code_at_most_and_cells_of_twenty(path):
    lengths = [len(cell.source.splitlines()) for cell in cells(path, "code") if "hide-input" not in cell.metadata.get("tags", ())]
    assert sum(lengths) <= 60
    assert max(lengths) <= 20


@every_lesson
def test_it_cites_two_verdicts_at_most_and_decides_none(path):
    text = path.read_text(encoding="utf-8")
    cited = re.findall(r"{verdict}`([^`]+)`", text)
    assert 1 <= len(cited) <= 2
    verdicts = {evidence.decisions("paper")[claim].verdict for claim in cited}
    assert evidence.Verdict.NOT_REPRODUCED not in verdicts, "a claim that failed supports no sentence"
    assert not evidence.claims_of(f"road/{path.stem}")


@every_lesson
def test_it_has_an_exercise_for_a_pen_and_one_to_run(path):
    *_, last = cells(path, "markdown")
    assert re.findall(r"^\*\*(With a pen|To run)\.\*\*", last.source, re.M) == ["With a pen", "To run"]
    assert last.source.count(":::{dropdown}") == 2


EXERCISES = [
    pytest.param(path, block, id=f"{path.stem}-{i}")
    for path in LESSONS
    for i, block in enumerate(re.findall(r"^```python\n(.*?)^```", "\n\n".join(cell.source for cell in cells(path, "markdown")), re.M | re.S))
]


@pytest.mark.parametrize(("path", "block"), EXERCISES)
def test_what_an_exercise_says_is_what_one_sees(path, block):
    """The lesson with the lines that it says to change, and then what its solution asserts, in float32, as readers have it."""
    changed, _, looked_at = block.rpartition("  # and all cells again\n")
    values, names = {line.partition(" = ")[0]: line for line in changed.splitlines()}, {}
    with jax.enable_x64(False), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # figures are shown to nobody
        for cell in cells(path, "code"):
            exec(re.sub(r"^(\w+) = .*", lambda line: values.get(line[1], line[0]), cell.source, flags=re.M), names)
        assert "assert " in looked_at
        exec(looked_at, names)
    plt.close("all")


def test_numbers_of_solutions():
    """Once more: the sentence stands in a lesson, the sum here."""
    words = " ".join(" ".join(re.sub(r"^# ?", "", path.read_text(encoding="utf-8"), flags=re.M).split()) for path in LESSONS)
    for said, value in [
        ("= 632", 600 * 12_000 / 11_400),
        ("\\cdot 324 = 132", 4 / 4 + 100 / 2 + 324 / 4),
        ("(4 + 324) = 164", (4 + 324) / 2),
        ("68} = .056", (0.7 * 0.3 / 68) ** 0.5),
        ("\\approx 146{,}000", 0.21 / 0.0012**2),
        ("4,096", 16**3),
        ("2 - 1.8 = .2", 2 - 1.8),
        ("3 / 16} = 1.84", (18 * 3 / 16) ** 0.5),
        ("1.04 = .22", 1 - 0.81 / 1.04),
    ]:
        number = float(re.findall(r"\d*\.?\d+", said.replace("{,}", "").replace(",", ""))[-1])
        assert said in words, said
        digits = max(1, len(f"{number:g}".replace(".", "").strip("0")))
        assert float(f"{value:.{digits}g}") == number, said
