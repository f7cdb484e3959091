"""The landscape of results: a dot for every claim, and printed numbers read as the tables show them."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

from companion import evidence

ROOT = Path(__file__).parents[1]


def test_powers_and_indices_of_records_are_typeset(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    failed, tried = doctest.testmod(importlib.import_module("record_text"))
    assert (failed, tried > 0) == (0, True)


@pytest.fixture(scope="module")
def page():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "book" / "_ext")
        import landscape

        yield landscape, landscape.landscape()


def test_every_claim_is_a_dot_with_its_verdict_its_sentence_and_a_link(page):
    landscape, text = page
    strips = text[: text.index("(landscape-numbers)=")]
    dots = re.findall(r'<a class="dot ([^"]*)" href="([^"]*)" aria-label="([^"]*)"></a>', strips)
    claims = [claim for entry in evidence.entries() for claim in entry.claims]
    assert len(dots) >= len(claims) > 500
    words = " ".join(said for _, _, said in dots)
    assert all(landscape.escape(" ".join(claim.statement.split()).rstrip(".")) in words for claim in claims)
    row = next(row for row in evidence.scorecard("paper") if row.entry.id == "simplex/fig-6")
    assert f'class="dot {landscape.slug(row.claims[0][1].verdict.value)}"' in text
    assert {target.partition("#")[0] for _, target, _ in dots} >= {f"../notebooks/{row.notebook}.html"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0.6112 ± 0.0037", (0.6112, 0.0037)),
        ("-0.0002 ± 0.0003", (-0.0002, 0.0003)),
        ("1,280", (1280.0, 0.0)),
        ("(1.20 ± 0.30) × 10<sup>-5</sup>", (1.2e-5, 3e-6)),
        ("2.5 × 10<sup>3</sup>", (2500.0, 0.0)),
        ("\N{MINUS SIGN}0.5", (-0.5, 0.0)),
    ],
)
def test_numbers_are_read_as_tables_write_them(page, text, found):
    assert page[0].number(text) == pytest.approx(found)


@pytest.mark.parametrize("table", ["couplings_table1", "ugrf_table3"])
def test_every_printed_error_of_a_table_is_plotted(page, table):
    landscape, text = page
    paper, _, place = table.partition("_table")
    title = f"{landscape.TITLES[paper]}, Table {place}"
    band = re.search(rf'<div class="band [^"]*"><span>{re.escape(title)}, (\d+)</span>(.*?)<span id="after', text, re.S)
    said = re.findall(r'aria-label="[^"]*printed ([\d.]+)', band[2])
    printed = [float(line.get("rmse_ratio_to_iid") or line.get("frobenius_error")) for line in evidence.printed(table)]
    assert len(said) == int(band[1])
    missing = [x for x in printed if x != 1 and f"{x:.4g}" not in said]
    assert missing == []


def test_no_table_that_names_its_place_is_left_out(page):
    landscape, _ = page
    for row in evidence.scorecard("paper"):
        place = re.escape(row.entry.place.partition(", ")[0])
        tables = [table for _, table in landscape.tables_of(row.notebook)] if row.notebook else []
        named = [table for table in tables if re.search(rf"<figcaption>Re-run: {place}\b", table)]
        assert all(landscape.is_of(table, row.entry.place.partition(", ")[0]) for table in named), row.entry.id


def test_a_ratio_stands_where_the_axis_says(page):
    landscape, _ = page
    assert [landscape.across(r) for r in (1 / 16, 1.0, 16.0, 100.0)] == pytest.approx([0, 50, 100, 100])
    text = landscape.band(page_row(), [landscape.Pair((2.0, 0.2), (1.0, 0.0), "it")])
    assert "left:62.50%" in text and "ours 2 ± 0.2, printed 1, 2 of it" in text


def page_row():
    return next(row for row in evidence.scorecard("paper") if row.entry.id == "simplex/table-2")
