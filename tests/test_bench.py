"""What `make bench` keeps, and the page that is made from it; nothing is timed here."""

import importlib
import json
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = '''"""Ours against theirs: as fast.

The goal is stated before.
"""
print("d   ours")
print("1    2.0")
raise SystemExit({status})
'''


@pytest.fixture
def generated_pages(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    return importlib.import_module("generated_pages")


@pytest.fixture
def kept(tmp_path, monkeypatch, capsys):
    """The record of two scripts, one of which misses its goal, as `make bench` makes it."""
    for name, status in (("bench_a.py", 0), ("bench_b.py", 1)):
        (tmp_path / name).write_text(SCRIPT.format(status=status), encoding="utf-8")
    record = runpy.run_path(str(ROOT / "tests" / "benchmarks" / "record.py"))
    found = [record["run"](script) for script in sorted(tmp_path.glob("bench_*.py"))]
    assert "1    2.0" in capsys.readouterr().out, "what is timed is seen while it runs"
    path = tmp_path / "bench.json"
    path.write_text(json.dumps({"provenance": record["environment"](), "benchmarks": found}), encoding="utf-8")
    return path


def test_a_record_has_what_was_printed_the_goal_and_whether_it_was_met(kept):
    record = json.loads(kept.read_text(encoding="utf-8"))
    a, b = record["benchmarks"]
    assert a == {"name": "a", "title": "Ours against theirs: as fast.", "about": "The goal is stated before.",
                 "printed": ["d   ours", "1    2.0"], "goals_met": True}  # fmt: skip
    assert b["goals_met"] is False
    assert record["provenance"]["device"]["cores"] and record["provenance"]["date"]
    assert sys.prefix not in kept.read_text(encoding="utf-8") and str(ROOT) not in kept.read_text(encoding="utf-8")


def test_the_page_shows_the_record_and_a_missed_goal(generated_pages, kept):
    page = generated_pages.benchmarks(kept)
    assert page.count("## Ours\n") == 2 and page.count("```text\nd   ours\n1    2.0\n```") == 2
    assert page.count("**All goals met.**") == page.count("**A goal was missed.**") == 1
    assert "The goal is stated before." in page


def test_without_a_record_the_page_says_what_to_run(generated_pages, tmp_path):
    assert "`make bench`" in generated_pages.benchmarks(tmp_path / "bench.json")


def test_every_benchmark_states_its_goal_and_exits_by_it():
    scripts = sorted((ROOT / "tests" / "benchmarks").glob("bench_*.py"))
    assert len(scripts) >= 4
    for script in scripts:
        text = script.read_text(encoding="utf-8")
        assert " against " in text.splitlines()[0], "the page's heading is what stands before it"
        assert "Exit status 1 if" in text and "sys.exit(main(" in text
