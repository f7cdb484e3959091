"""Every figure, table and numbered statement of the five papers has an entry, and the entries are sound."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from companion import datasets, evidence
from companion.evidence.claims import entries
from companion.evidence.standing import loosely_tested, recorded, told

ROOT = Path(__file__).parents[1]


def places(kind, *numbers):
    return {f"{kind}-{number}" for number in numbers}


# Read off the papers, not off the claims: what each paper numbers, and sentences without a number that are claims.
EXPECTED = {
    "simplex": places("fig", *range(1, 11))
    | places("table", 1, 2, 3)
    | places("thm", 3.2, 3.4, 4.3, 4.5)
    | places("cor", 3.3, 4.4, 4.6)
    | places("lemma", 4.1, 4.2, "A.1")
    | places("alg", 1)
    | places("eq", 8, 16),
    "ugrf": places("fig", *range(1, 7))
    | places("table", *range(1, 5))
    | places("thm", 2.1, 2.2, 2.3)
    | places("alg", 1)
    | places("eq", 2, 11, 18, 36)
    | places("text", "abstract"),
    "couplings": places("fig", *range(1, 12))
    | places("table", *range(1, 6))
    | places("thm", 3.2, 3.5, 4.1, "D.1")  # A.3 is 3.2 again ("we copy it from the main text"): one statement, one entry
    | places("cor", 3.4)
    | places("lemma", 3.1, "A.1", "A.2", "A.5", "A.6", "C.2")
    | places("eq", 8, 33, 34),
    "favor": places("fig", *range(1, 5))
    | places("table", 1, 2, 3)
    | places("thm", 4.1, 4.2, 4.3)
    | places("lemma", "A.1", "A.2", "A.3", "A.4")
    | places("eq", 7, 11, 14, 20),
    "equivalence": places("thm", 1) | places("cor", 1, 2),
}
NAMES = {"fig": "Figure", "table": "Table", "thm": "Theorem", "cor": "Corollary"}
NAMES |= {"lemma": "Lemma", "eq": "Equation", "alg": "Algorithm"}


@pytest.mark.parametrize("paper", EXPECTED)
def test_every_numbered_place_has_one_entry(paper):
    found = {e.id.split("/")[1] for e in evidence.entries() if e.paper == paper and not e.extra}
    assert found == EXPECTED[paper]


def test_the_counts_are_those_of_the_papers():
    kinds = Counter((e.paper, e.id.split("/")[1].split("-")[0]) for e in evidence.entries())
    figures = {p: kinds[p, "fig"] for p in EXPECTED}
    tables = {p: kinds[p, "table"] for p in EXPECTED}
    assert figures == {"simplex": 10, "ugrf": 6, "couplings": 11, "favor": 4, "equivalence": 0}
    assert tables == {"simplex": 3, "ugrf": 4, "couplings": 5, "favor": 3, "equivalence": 0}
    assert {e.paper for e in evidence.entries()} == set(EXPECTED)


def test_the_place_in_words_agrees_with_the_id():
    for entry in evidence.entries():
        kind, number = entry.id.split("/")[1].split("-", 1)
        if kind == "text":
            assert re.match(r"Abstract$|(Section|Appendix) \S+$", entry.place), entry.id
        elif not entry.extra:
            assert re.match(rf"{NAMES[kind]}s? {re.escape(number)}\b", entry.place), entry.id
            assert re.search(r"(Section|Appendix) \S+$", entry.place), entry.id


def test_every_notebook_named_exists_and_has_the_section():
    for entry in evidence.entries():
        if entry.notebook:
            source = ROOT / "notebooks" / f"{entry.notebook}.py"
            assert source.exists(), entry.id
            assert f"\n# ({entry.anchor})=\n" in source.read_text(encoding="utf-8"), entry.id


@pytest.mark.parametrize("path", sorted((ROOT / "data" / "paper").glob("*.csv")), ids=lambda path: path.stem)
def test_published_numbers_belong_to_an_entry_and_are_numbers(path):
    paper, table = path.stem.split("_table")
    assert f"{paper}/table-{table}" in {entry.id for entry in evidence.entries()}
    rows = evidence.printed(path.stem)
    numeric = [name for name in rows[0] if re.fullmatch(r"-?\d+(\.\d+)?", rows[0][name])]
    assert rows
    assert numeric
    for row in rows:
        assert None not in row.values() and None not in row
        assert all(float(row[name]) >= 0 for name in numeric if row[name])


def test_a_table_that_was_not_printed_is_refused():
    with pytest.raises(ValueError, match=r"table = 'ugrf_table9'; choose one of .*ugrf_table2"):
        evidence.printed("ugrf_table9")


GOOD = """
[[entry]]
id = "simplex/fig-1"
place = "Figure 1, Section 1"
title = "t"
statement = "s"
notebook = "simplex/01_a"
anchor = "a"
  [[entry.claim]]
  id = "simplex/fig-1/x"
  statement = "s"
  kind = "order"
  rule = "r"
"""


def read(folder: Path, text):
    (folder / "simplex.toml").write_text(text, encoding="utf-8")
    return entries(folder)


def test_a_sound_file_is_read(tmp_path):
    (entry,) = read(tmp_path, GOOD)
    assert (entry.paper, entry.extra, entry.claims[0].kind) == ("simplex", False, "order")
    assert entries() is entries()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "order"', 'kind = "taste"', r"simplex/fig-1.*kind='taste' must be one of"),
        ("simplex/fig-1/x", "simplex/fig-2/x", r"must start with simplex/fig-1/"),
        ('id = "simplex/fig-1"', 'id = "simplex/figure-1"', r"id must read"),
        ('id = "simplex/fig-1"', 'id = "favor/fig-1"', r"must start with|another paper"),
        ('anchor = "a"\n', "", r"come together"),
        ('notebook = "simplex/01_a"\nanchor = "a"\n', "", r"come together"),
        ('title = "t"\n', "", r"simplex/fig-1.*title"),
        ('title = "t"', 'title = " "', r"title=' ' must be a non-empty string"),
        ('title = "t"', 'title = "t"\ncolour = "red"', r"colour"),
        ('title = "t"', 'title = "t"\nschematic = "a drawing"', r"no claims"),
        ('title = "t"', 'title = "t"\nplan = "later"', r"a plan is for what is to come"),
        ('rule = "r"', 'rule = "r"\n  expected = "not reproduced"', r"needs a why"),
        ('rule = "r"', 'rule = "r"\n  expected = "inconclusive"\n  why = "w"', r"expected may only be"),
        ('rule = "r"', 'rule = "r"\n  expected = "paper erratum"\n  why = "w"', r"'misprint, the result stands', 'needs another condition', 'the statement is false'"),
        (
            'rule = "r"',
            'rule = "r"\n  expected = "not reproduced"\n  why = "w"\n  unprinted = "u"',
            r"unprinted setting is never a failure",
        ),
        ('rule = "r"', 'rule = "r"\n  changed = ""', r"changed='' must be a non-empty string"),
        ('rule = "r"', 'rule = "r"\n  data = "karate"', r"simplex/fig-1/x: data='karate' must be a list of names"),
        ('title = "t"', 'title = "t"\ndata = [""]', r"simplex/fig-1/x: data=\[''\] must be a list of names"),
        ('rule = "r"', 'rule = "r"\n' + GOOD, r"used twice.*simplex/fig-1"),
    ],
)
def test_a_malformed_file_is_refused_by_name(tmp_path, old, new, message):
    assert old in GOOD
    with pytest.raises(ValueError, match=message):
        read(tmp_path, GOOD.replace(old, new, 1))


def test_data_stand_on_an_entry_for_all_its_claims_or_on_a_claim_in_their_place(tmp_path):
    second = GOOD[GOOD.index("  [[entry.claim]]") :].replace("fig-1/x", "fig-1/y") + "  data = []\n"
    (entry,) = read(tmp_path, GOOD.replace('title = "t"', 'title = "t"\ndata = ["karate", "cora"]') + second)
    assert [claim.data for claim in entry.claims] == [("karate", "cora"), ()]
    bare = tmp_path / "bare"
    bare.mkdir()
    with pytest.raises(ValueError, match="simplex/fig-2: data decide claims, and there are none"):
        read(bare, '[[entry]]\nid = "simplex/fig-2"\nplace = "Figure 2"\ntitle = "t"\nstatement = "s"\ndata = ["cora"]')


def test_data_sets_are_named_as_they_are_registered():
    """As ``datasets.fallbacks`` names them: by no alias."""
    named = {name for entry in evidence.entries() for claim in entry.claims for name in claim.data}
    assert named <= {entry.name for entry in datasets.entries()}
    assert len(named) > 10


def test_a_finding_of_ours_hangs_on_no_setting_of_a_paper(tmp_path):
    extra = GOOD.replace("simplex/fig-1", "simplex/extra-one")
    assert read(tmp_path, extra)[0].claims[0].extra
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(ValueError, match=r"simplex/extra-one/x: a finding of ours"):
        read(other, extra.replace('rule = "r"', 'rule = "r"\n  unprinted = "u"'))


@pytest.mark.parametrize("expected", ["not reproduced", "misprint, the result stands", "needs another condition", "the statement is false"])
def test_an_expected_failure_with_its_reason_is_read(tmp_path, expected):
    text = GOOD.replace('rule = "r"', f'rule = "r"\n  expected = "{expected}"\n  why = "w"')
    assert read(tmp_path, text)[0].claims[0].expected == expected


def test_no_claim_is_lost_when_a_page_is_rewritten():
    """Those that were decided on 2026-11-21, before the pages took their form of today, by their names of today."""
    before = Path(__file__).with_name("claims_2026_11_21.txt").read_text(encoding="utf-8").split()
    notebook_of = {claim.id: entry.notebook for entry in evidence.entries() for claim in entry.claims}
    assert len(before) == 193
    assert set(before) <= set(notebook_of)
    names = set(notebook_of.values())
    sources = {name: (ROOT / "notebooks" / f"{name}.py").read_text(encoding="utf-8") for name in names}
    assert [claim for claim in before if f'"{claim}"' not in sources[notebook_of[claim]]] == []


NUMBERED = r"[A-Z]?\.?\d[\w.]*"
KINDS = {name: kind for kind, name in NAMES.items()} | {"Corollarie": "cor"}  # without the s of the plural


def places_named(title):
    """Places in the parentheses that end a title: "(Figures 2 and 8 to 10, Table 1, Theorem D.1)"."""
    named, kind = set(), None
    for part in re.split(r", | and ", title.rpartition("(")[2].removesuffix(")")) if title.endswith(")") else ():
        noun, first, last = re.fullmatch(rf"(?:([A-Z][a-z]+?)s? )?({NUMBERED})(?: to (\d+))?", part).groups()
        kind = KINDS[noun] if noun else kind
        named |= {f"{kind}-{n}" for n in (range(int(first), int(last) + 1) if last else [first])}
    return named


def test_places_are_read_off_titles():
    assert places_named("Walks (in short) that know (Figures 2 and 8 to 10, Table 1, Theorems 4.1 and D.1)") == (
        places("fig", 2, 8, 9, 10) | places("table", 1) | places("thm", 4.1, "D.1")
    )
    assert places_named("Corollaries only (Corollaries 3.3 and 4.4, Lemma A.1)") == places("cor", 3.3, 4.4) | places("lemma", "A.1")
    assert places_named("No place") == set()


def titles():
    """Pages, and their titles."""
    for notebook in sorted({entry.notebook for entry in evidence.entries() if entry.notebook}):
        source = (ROOT / "notebooks" / f"{notebook}.py").read_text(encoding="utf-8")
        yield notebook, re.search(r"^# # (.*)$", source, re.M)[1]


@pytest.mark.parametrize(("notebook", "title"), titles())
def test_the_title_of_a_page_names_the_places_that_it_answers_for(notebook, title):
    own = {e.id.split("/")[1] for e in evidence.entries() if e.notebook == notebook and not e.extra}
    must = {place for place in own if place.partition("-")[0] in ("fig", "table", "thm", "cor")}
    named = places_named(title)
    assert must <= named <= own  # lemmas, equations and algorithms may be named


def test_nothing_of_a_paper_is_called_wrong_without_its_words():
    """The rule of the book: who says that a paper errs quotes what it says, with the number and the place."""
    accused = [c for e in evidence.entries() for c in e.claims if c.expected and not c.extra]
    assert [claim.id for claim in accused if not claim.printed] == []


# The rule has a number of ours, but what was found holds without it: nothing to the wrong side, or a limit that is fallen towards.
TO_THE_LETTER = {
    "couplings/fig-3/at-most-antithetic", "couplings/fig-10/at-most-antithetic", "couplings/thm-4.1/projections", "couplings/lemma-C.2/search",
    "couplings/thm-D.1/converges", "ugrf/fig-4/biased", "ugrf/fig-6/not-identical",
}  # fmt: skip
STRONG = r"\b(substantial|drastic|dramatic|much|significant|marginal|essentially|often|never|very|quick|slight|vast)"


def test_a_threshold_of_ours_counts_neither_for_a_paper_nor_against_it():
    """A claim that a number of ours decides, or whose quotation has a strong word, names the words that it tests less strictly."""
    stated = {c.id: c for e in entries() for c in e.claims if not c.extra}
    words, decided, found = loosely_tested(), evidence.decisions("paper"), recorded("paper")
    assert {name: word for name, word in words.items() if word not in (stated[name].printed or "")} == {}
    ours = {name for name, c in stated.items() if re.search(r"\b(is|are) ours\b", f"{c.rule} {c.unprinted}")}
    assert ours - words.keys() == TO_THE_LETTER
    in_full = {name for name in stated if decided[name].verdict is evidence.Verdict.REPRODUCED}
    assert {name for name in in_full if re.search(STRONG, stated[name].printed or "")} == set()
    assert not words.keys() & in_full
    assert not [name for name in words if decided[name].verdict in (evidence.Verdict.NOT_REPRODUCED, *evidence.verdicts.ERRATA)]
    other = {name for name in decided if decided[name] != found[name]}
    assert other == {name for name in words if found[name].verdict is evidence.Verdict.REPRODUCED}
    assert all(words[name] in decided[name].reason and decided[name].verdict is evidence.Verdict.IN_DIRECTION for name in other)


@pytest.mark.parametrize("paper", EXPECTED)
def test_findings_are_single_sentences_of_numbers_that_there_are(paper):
    of_paper = [d for name, d in evidence.decisions("paper").items() if d.claim and name.startswith(f"{paper}/")]
    findings = {decision.claim.id: told(decision).finding for decision in of_paper if decision.claim.finding}
    assert {claim: text for claim, text in findings.items() if len(text) > 200 or re.search(r"[{}]|\. |\ball 1 |–", text)} == {}


def test_an_inconclusive_claim_says_why_and_no_other_does():
    found = {d.claim.id: d for d in evidence.decisions("paper").values() if d.claim}
    still = {name for name, decision in found.items() if decision.verdict is evidence.Verdict.INCONCLUSIVE}
    assert {name for name, decision in found.items() if decision.claim.undecided} == still
    for name in still:
        assert found[name].claim.undecided in told(found[name]).reason


def test_a_sentence_is_filled_with_the_numbers_of_its_decision():
    (claim,) = [c for entry in evidence.entries() for c in entry.claims if c.id == "couplings/fig-4/kl-iid"]

    def of(finding, **fields):
        return told(evidence.Decision("reproduced", "order", **fields, claim=replace(claim, finding=finding))).finding

    assert of("KL {better} against {worse} on {holds}", ours=2.0, pair=(1.0, 3.0), holds=3, comparisons=4) == "KL 1 against 3 on 3 of 4"
    assert of("a gain of {ours} of {limit} on {holds}", ours=2.0, limit=1.0, holds=2, comparisons=2, unit="nats") == "a gain of 2 nats of 1 nat on both"
    for n, said in ((1, "equal within 1e-09"), (2, "equal within 1e-09 in both cases"), (1200, "equal within 1e-09 in all 1,200 cases")):
        same = evidence.identity(np.ones(n), np.ones(n), 1e-9)
        for own in (None, claim, replace(claim, finding="{ours} apart")):  # which an equality has no number for
            assert told(replace(same, claim=own)).finding == said
    assert of("{ours} of {holds}", ours=2.0) == "2"  # what is not recorded cannot be told
    with pytest.raises(ValueError, match=r"couplings/fig-4/kl-iid: finding = '{holding}'; give places of ours, paper, "):
        of("{holding}", ours=2.0)
