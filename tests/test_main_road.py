"""The main road: its words belong to its pages, and what the solutions of its exercises compute is true."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXERCISES = sorted((ROOT / "book" / "exercises").glob("*.md"))


@pytest.fixture
def main_road(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    return importlib.import_module("main_road")


def test_each_page_of_the_road_has_words_and_exercises(main_road):
    pages = [page for page, _ in main_road.road()]
    assert [path.stem for path in EXERCISES] == sorted(page.replace("/", "-") for page in pages)
    for page, words in main_road.road():
        assert set(words) == {"learn", "door"} and all(text.endswith((".", "?", ":")) for text in words.values())
        assert main_road.ending(page).count(":::{dropdown} Solution") == 2
        assert main_road.ending(page).count(":class: door") == 1
    assert main_road.ending("simplex/02_sum_lengths") == ""


@pytest.mark.parametrize("path", EXERCISES, ids=lambda path: path.stem)
def test_what_solutions_compute_is_true(path):
    text = path.read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        assert "assert " in block
        exec(compile(block, path.name, "exec"), {})
    assert re.findall(r"^\*\*(\d)\.\*\* ", text, re.M) == ["1", "2"]


def test_numbers_of_solutions_without_code():
    """Elementary ones, once more: the sentence stands in the file, the sum here."""
    words = " ".join(" ".join(path.read_text(encoding="utf-8").split()) for path in EXERCISES)
    for said, value in [
        ("571", 600 * 12_000 / 12_600),
        ("1 / 1.1 = .909", 1 / 1.1),
        ("1.1 / 1.2 = .917", 1.1 / 1.2),
        ("35{,}600", round(512 / 0.12**2, -2)),
        ("4{,}096", 16**3),
        ("2 - 1.8 = .2", 2 - 1.8),
        ("64 / .05 = 1{,}280", 64 / 0.05),
        ("\\frac{3}{16} = 3.375", 18 * 3 / 16),
        ("187 in all", 1 + 6 + 30 + 150),
        ("16 \\cdot 11 = 176", 16 * 11),
        ("e^4 - 1 \\approx 54", 2.718281828**4 - 1),
    ]:
        number = float(re.findall(r"\d*\.?\d+", said.replace("{,}", "").replace(" in all", ""))[-1])
        assert said in words
        assert abs(number - value) < 0.51 * 10 ** -len(f"{number}".partition(".")[2].rstrip("0")), said
