"""Verdicts, decisions, and the ledger that a notebook keeps."""

import hashlib
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from companion import evidence, repository
from companion.evidence import Decision, Verdict, arrays, claims, ledger
from companion.evidence.claims import Claim, Entry
from companion.evidence.standing import results_folder
from companion.evidence.verdicts import with_error

NOTEBOOK = "simplex/01_conformity_and_error"
GOOD = Decision(Verdict.REPRODUCED, "order", ours=0.123456789, se=0.01, statistic=12.0, detail="|t| < 3,\nall of it")
FAILED = Decision(Verdict.NOT_REPRODUCED, "value", ours=2.0, se=0.1, paper=1.0, statistic=10.0, detail="z")


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setenv("RFCORE_RESULTS", str(tmp_path))
    monkeypatch.delitem(sys.modules, "companion.datasets", raising=False)  # what other tests have read is not ours
    return tmp_path


def having(monkeypatch, read=(), stood_in=()):
    """Let it look as if these data sets had been read, and others had stood in for those."""
    files = {name: SimpleNamespace(path=f"graphs/{name}.gml") for name in ("karate", "cora")}
    sets = SimpleNamespace(
        entries=lambda: [SimpleNamespace(name=name, files=(file,)) for name, file in files.items()],
        provenance=lambda: {files[name].path: "ab" for name in read},
        fallbacks=lambda: tuple(stood_in),
    )
    monkeypatch.setitem(sys.modules, "companion.datasets", sets)


def needing(book, data):
    """The book, its claims resting on the data sets given by their ids."""
    for name, claim in book.claims.items():
        book.claims[name] = replace(claim, data=data.get(name, ()))
    return book


def fitting(claim):
    return Decision(Verdict.REPRODUCED, claims.RULES[claim.kind][0], ours=1.0, detail="made up for a test")


def decided(profile="quick", **instead):
    book = evidence.Ledger(NOTEBOOK, profile)
    by_name = {name: instead.get(name.rsplit("/", 1)[1].replace("-", "_"), fitting(c)) for name, c in book.claims.items()}
    book.decide(by_name)
    return book


def test_a_decision_survives_json_to_six_digits():
    found = Decision(**json.loads(json.dumps(GOOD.as_dict())))
    assert found == Decision(Verdict.REPRODUCED, "order", ours=0.123457, se=0.01, statistic=12.0, detail=GOOD.detail)
    assert "paper" not in GOOD.as_dict()
    assert type(Decision("reproduced", "value", ours=np.float32(2), se=np.int64(1)).as_dict()["se"]) is float
    assert "by_choice" not in GOOD.as_dict()


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_decision_rests_on_finite_numbers(number):
    with pytest.raises(ValueError, match="ours"):
        Decision(Verdict.REPRODUCED, "value", ours=number)


@pytest.mark.parametrize("verdict", ["not yet", "nothing to reproduce", "fine"])
def test_a_decision_is_one_of_the_verdicts_on_claims(verdict):
    with pytest.raises(ValueError, match=verdict):
        Decision(verdict, "value")


def test_a_decision_reads_well():
    decision = evidence.bound(29.7123, 22.456, exact=True, unit="times")
    assert decision.finding == "29.71 times; at most 22.46 times allowed"
    statistics = "<p><b>Statistics.</b> No noise: 0 of 1 comparisons hold.</p>"
    assert decision._repr_markdown_().split("\n\n") == [
        '<div class="decision">',
        "**not reproduced** 29.71 times; at most 22.46 times allowed.",
        f"<details><summary>How it was decided</summary>{statistics}</details>",
        "</div>",
    ]
    assert evidence.not_run("no data")._repr_markdown_().split("\n\n")[1:-1] == ["**not run** no data."]
    assert FAILED.finding == "2.00 ± 0.10; printed 1"


def test_a_decision_that_knows_its_claim_is_one_line_and_folds_how_it_was_decided():
    claim = Claim("simplex/fig-1/x", "All f1 * f2 agree.", "order", "Below 1 < 2.", printed='"They agree"', changed="Fewer nodes.")
    _, line, fold, _ = replace(GOOD, claim=claim)._repr_markdown_().split("\n\n")
    assert line == "**reproduced** All f1 \\* f2 agree."
    assert fold == (
        "<details><summary>How it was decided</summary><p><b>Found.</b> 0.123 ± 0.010.</p>"
        "<p><b>The paper.</b> &quot;They agree&quot;</p><p><b>Rule.</b> Below 1 &lt; 2.</p><p><b>Changed.</b> Fewer nodes.</p>"
        "<p><b>Statistics.</b> |t| &lt; 3, all of it</p></details>"
    )


def test_findings_of_our_own_are_shown_or_refuted():
    claim = Claim("simplex/extra-thing/x", "s", "order", "r")
    assert replace(GOOD, claim=claim).word == "shown"
    assert replace(FAILED, claim=claim).word == "refuted"
    assert GOOD.word == "reproduced"
    assert Verdict.INCONCLUSIVE.word(extra=True) == "inconclusive"


def test_numbers_are_printed_to_the_second_digit_of_their_error():
    assert with_error(0.61234, 0.0312) == "0.612 ± 0.031"
    assert with_error(0.61234, 0.0) == with_error(0.61234, None) == "0.6123"
    assert with_error(1234.6, 35, "s") == "1235 ± 35 s"
    assert with_error(1e-9, 2e-11) == "1e-09 ± 2e-11"
    assert with_error(None, None) == "–"


def test_a_measured_number_keeps_its_zeros_and_a_limit_has_none():
    assert [with_error(number, None) for number in (0.5, 0.50002, 0.1 + 0.2, 20.001, 1235.2, 9.999e-5)] == [
        "0.5", "0.5000", "0.3", "20.00", "1235", "9.999e-05",
    ]  # fmt: skip
    assert [with_error(number, None) for number in (92710.3, 1e6, 4.92e7)] == ["92,710", "1e+06", "4.92e+07"]
    assert [with_error(number, None, "nats") for number in (1, 1.00001, 2)] == ["1 nat", "1.000 nats", "2 nats"]


def test_an_erratum_needs_the_printed_claim_to_fail():
    assert evidence.erratum(FAILED, "A factor is missing.").verdict is Verdict.ERRATUM
    assert evidence.erratum(FAILED, "A factor is missing.").why == "A factor is missing."
    with pytest.raises(ValueError, match="no erratum"):
        evidence.erratum(GOOD, "A factor is missing.")


@pytest.mark.parametrize("recorded", ["paper erratum", "misprint, the result stands", "the statement is false"])
@pytest.mark.parametrize("said", ["misprint, the result stands", "needs another condition", "the statement is false"])
def test_which_erratum_it_is_the_entry_of_the_claim_says_and_no_ledger(recorded, said):
    claim = Claim("simplex/cor-4.4/x", "s", "value", "r", expected=said, why="A factor is missing.")
    decision = replace(FAILED, verdict=recorded, claim=claim)
    assert (decision.word, decision.as_dict()["verdict"]) == (said, "paper erratum")


def test_an_erratum_whose_entry_does_not_say_which_is_refused():
    with pytest.raises(ValueError, match=r"expected of simplex/fig-1/x = None; choose one of 'misprint, the result stands', 'needs"):
        replace(evidence.erratum(FAILED, "A factor is missing."), claim=Claim("simplex/fig-1/x", "s", "value", "r"))


def test_a_scaled_experiment_is_scaled_only_if_it_succeeds():
    assert evidence.scaled(GOOD, "CIFAR for ImageNet.").verdict is Verdict.SCALED
    assert evidence.scaled(FAILED, "CIFAR for ImageNet.").verdict is Verdict.NOT_REPRODUCED
    unsure = Decision(Verdict.INCONCLUSIVE, "order")
    assert evidence.scaled(unsure, "CIFAR for ImageNet.").verdict is Verdict.INCONCLUSIVE


def test_not_run_needs_a_reason():
    with pytest.raises(ValueError, match="why"):
        evidence.not_run(" ")


def test_green_is_never_for_what_was_not_shown():
    assert {v for v in Verdict if v.green} == {Verdict.REPRODUCED, Verdict.IN_DIRECTION, Verdict.SCALED}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (["reproduced", "reproduced"], "reproduced"),
        (["reproduced", "misprint, the result stands"], "misprint, the result stands"),
        (["inconclusive", "misprint, the result stands"], "inconclusive"),
        (["inconclusive", "the statement is false"], "the statement is false"),
        (["reproduced in direction", "reproduced"], "reproduced in direction"),
        (["scaled", "reproduced in direction"], "scaled"),
        (["reproduced", "inconclusive"], "inconclusive"),
        (["inconclusive", "not run"], "not run"),
        (["not run", "not reproduced", "reproduced"], "not reproduced"),
        (["reproduced", None], "not yet"),
    ],
)
def test_an_entry_is_as_good_as_its_weakest_claim(found, expected):
    names = [f"simplex/fig-1/{i}" for i in range(len(found))]
    asked = tuple(Claim(name, "s", "order", "r") for name in names)
    entry = Entry("simplex/fig-1", "p", "t", "s", asked, "a/01_b", "c")
    ledgered = {n: Decision(v, "order") for n, v in zip(names, found, strict=True) if v}
    assert evidence.entry_verdict(entry, ledgered) == expected


def test_an_entry_without_claims_is_not_yet_and_a_schematic_is_nothing():
    assert evidence.entry_verdict(Entry("simplex/fig-1", "p", "t", "s"), {}) is Verdict.NOT_YET
    assert evidence.entry_verdict(Entry("simplex/fig-1", "p", "t", "s", schematic="a"), {}) is Verdict.NOTHING


def test_the_ledger_refuses_what_it_cannot_keep(results):
    book = evidence.Ledger(NOTEBOOK, "quick")
    with pytest.raises(ValueError, match="nosuch"):
        book.decide({"simplex/fig-6/order": GOOD, "simplex/fig-6/nosuch": GOOD})
    with pytest.raises(ValueError, match=r"'order' on 'simplex/fig-6/formula', which is of kind unbiased"):
        book.decide({"simplex/fig-6/formula": GOOD})
    found = book.decide({"simplex/fig-6/order": GOOD})["simplex/fig-6/order"]  # nothing of the refused table was entered
    assert (found, found.claim) == (GOOD, book.claims["simplex/fig-6/order"])
    with pytest.raises(ValueError, match="decided already"):
        book.decide({"simplex/fig-6/order": GOOD})
    with pytest.raises(ValueError, match=r"undecided.*simplex/cor-4.4/gap"):
        book.close()
    assert not list(results.rglob("*.json"))


def test_a_table_of_claims_is_shown_in_its_order(results):
    book = evidence.Ledger(NOTEBOOK, "quick")
    table = book.decide({"simplex/fig-6/order": GOOD, "simplex/cor-3.3/order": replace(GOOD, finding="By far.")})
    assert list(table) == ["simplex/fig-6/order", "simplex/cor-3.3/order"]
    shown, metadata = table._repr_mimebundle_()
    words = shown["text/markdown"]
    assert words.index(book.claims["simplex/fig-6/order"].statement) < words.index("By far.")
    assert (shown["text/plain"], metadata) == (repr(table), {"rfcore": {"claims": list(table)}})
    assert repr(table) == "simplex/fig-6/order: reproduced. 0.123 ± 0.010\nsimplex/cor-3.3/order: reproduced. By far."


@pytest.mark.parametrize(("notebook", "profile"), [("simplex/99_nosuch", "quick"), (NOTEBOOK, "fast")])
def test_the_ledger_knows_its_notebook_and_profile(notebook, profile):
    with pytest.raises(ValueError, match=r"nosuch|fast"):
        evidence.Ledger(notebook, profile)


def test_a_closed_ledger_is_read_back(results, monkeypatch, capsys):
    having(monkeypatch, read=["karate"], stood_in=["cora"])
    book = needing(decided(order=GOOD), {"simplex/fig-6/order": ("karate",), "simplex/cor-4.4/gap": ("cora",)})
    book.key("blocks", 3)
    book.rng("walks")
    book.close()
    path = results / "quick" / f"{NOTEBOOK}.json"
    assert [p.name for p in path.parent.iterdir()] == [path.name]  # no half-written file stays behind
    record = json.loads(path.read_text(encoding="utf-8"))
    assert path.read_text(encoding="utf-8") == json.dumps(record, indent=1, sort_keys=True) + "\n"
    where = record["provenance"]
    assert where["seeds"] == {name: int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) for name in ("blocks", "walks")}
    assert (where["data"], where["fallbacks"]) == ({"graphs/karate.gml": "ab"}, ["cora"])
    assert re.fullmatch(r"[0-9a-f]{40}", where["commit"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", where["date"])
    assert where["versions"]["numpy"] == np.__version__
    assert where["seconds"] >= 0
    assert not re.search(r'"/|/home/|/root/', path.read_text(encoding="utf-8"))

    found = evidence.decisions("quick")
    assert found["simplex/fig-6/order"].ours == pytest.approx(GOOD.ours, rel=1e-5)
    assert set(found) == set(evidence.claims_of(NOTEBOOK))
    rows = {row.entry.id: row for row in evidence.scorecard("quick")}
    assert rows["simplex/fig-6"].verdict is Verdict.REPRODUCED
    assert rows["simplex/fig-6"].claims[1][1] == found["simplex/fig-6/order"]
    assert rows["simplex/fig-8"].verdict is Verdict.NOT_YET
    counts = evidence.headline("quick")["simplex"]
    own = [e for e in evidence.entries() if e.notebook == NOTEBOOK and not e.extra]  # extra findings are not the paper's
    assert counts[Verdict.REPRODUCED] == len(own) > 0
    assert counts.total() == sum(e.paper == "simplex" and not e.extra for e in evidence.entries())
    assert evidence.headline("paper")["simplex"][Verdict.REPRODUCED] == 0


def test_a_cut_ledger_decides_nothing_and_the_others_stand(results):
    decided(order=GOOD).close()
    path = results / "quick" / f"{NOTEBOOK}.json"
    (path.parent / "06_gram_matrices.json").write_text('{"claims": {"simplex/fig-7/a": {"verd', encoding="utf-8")
    assert set(evidence.decisions("quick")) == set(evidence.claims_of(NOTEBOOK))
    path.write_bytes(path.read_bytes()[:-2])
    assert evidence.decisions("quick") == {}


def test_a_ledger_that_cannot_be_written_leaves_the_old_one_and_nothing_beside_it(results, monkeypatch):
    decided(order=GOOD).close()
    path = results / "quick" / f"{NOTEBOOK}.json"
    before = path.read_bytes()

    def full(self, text, **options):
        self.write_bytes(text.encode()[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        decided(order=GOOD).close()
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_by_hand_cells_run_again_and_claims_may_stay_open(monkeypatch):
    monkeypatch.delenv("RFCORE_RESULTS", raising=False)
    book = evidence.Ledger(NOTEBOOK, "quick")
    for numbers in ([0.5, 0.25], [0.75, 0.5]):
        book.decide({"simplex/fig-6/order": GOOD})
        book.keep("error", numbers, {"m": [8, 16]})
    assert book.kept["error"]["numbers"] == "0.75 0.5"
    written = []
    monkeypatch.setattr(ledger.pages, "write", lambda path, text: written.append(path))
    book.close()
    assert "_build" in written[0].parts


def test_the_record_is_committed_at_paper_and_built_at_quick(tmp_path, monkeypatch):
    monkeypatch.delenv("RFCORE_RESULTS", raising=False)
    monkeypatch.setenv("RFCORE_REPOSITORY", str(tmp_path))
    (tmp_path / "data").mkdir()
    assert results_folder("paper") == tmp_path / "data" / "results" / "paper"
    assert results_folder("quick") == tmp_path / "_build" / "results" / "quick"
    assert results_folder("quick", tmp_path / "other") == tmp_path / "other" / "_build" / "results" / "quick"


def test_the_repository_is_named_or_that_of_the_current_folder_or_of_the_package(tmp_path, monkeypatch):
    monkeypatch.delenv("RFCORE_REPOSITORY", raising=False)
    monkeypatch.chdir(tmp_path)
    assert repository.root() == Path(repository.__file__).resolve().parents[1]
    inside = tmp_path / "notebooks" / "toy"
    inside.mkdir(parents=True)
    (tmp_path / "data" / "claims").mkdir(parents=True)
    monkeypatch.chdir(inside)
    assert repository.root() != tmp_path  # claims alone are somebody else's
    (tmp_path / "_toc.yml").write_text("", encoding="utf-8")
    assert repository.root() == tmp_path
    monkeypatch.setenv("RFCORE_REPOSITORY", "..")
    assert repository.root().resolve() == tmp_path / "notebooks"


def test_closing_shows_where_it_comes_from(results, monkeypatch):
    import IPython.display

    shown = []
    monkeypatch.setattr(IPython.display, "display", lambda *objects: shown.extend(o.data for o in objects))
    decided(order=GOOD).close()
    (line,) = shown
    assert re.match(r"\*Profile quick, \d{4}-\d\d-\d\d, \S+ s on \d+ cores \(.*, commit [0-9a-f]{10}", line)


def test_a_claim_whose_data_could_not_be_had_was_not_run(results, monkeypatch):
    having(monkeypatch, read=["karate"], stood_in=["cora"])
    data = {"simplex/cor-3.3/order": ("karate",), "simplex/fig-6/order": ("karate", "cora")}
    table = needing(evidence.Ledger(NOTEBOOK, "quick"), data).decide(dict.fromkeys(data, GOOD))
    assert table["simplex/cor-3.3/order"] == GOOD
    assert table["simplex/fig-6/order"].verdict is Verdict.NOT_RUN
    assert "cora" in table["simplex/fig-6/order"].detail


@pytest.mark.parametrize("had", [{"read": ["cora"]}, {"stood_in": ["cora"]}])
def test_a_set_that_no_claim_names_keeps_the_ledger_open(results, monkeypatch, had):
    having(monkeypatch, **had)
    with pytest.raises(ValueError, match=r"no claim of simplex/01_conformity_and_error names \['cora'\].*give data = "):
        decided(order=GOOD).close()
    assert not list(results.rglob("*.json"))


def test_keys_hang_on_their_name_alone():
    books = [evidence.Ledger(name, "quick") for name in (NOTEBOOK, "simplex/06_gram_matrices")]
    seed = int.from_bytes(hashlib.sha256(b"walks").digest()[:4], "big")
    for book in books:
        book.key("something else")
        key, again = book.key("walks", 7, 0), book.key("walks", np.int64(7), 0)
        expected = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), 7), 0)
        assert key == again == expected
        assert book.seeds["walks"] == seed
        assert book.rng("walks", 7).integers(2**60) == np.random.default_rng([seed, 7]).integers(2**60)
    words = [jax.random.key_data(books[0].key(*name)).tolist() for name in [("walks",), ("walks", 0), ("walks", 1), ("loops",)]]
    assert len(set(map(tuple, words))) == 4


def test_a_key_is_the_same_in_either_precision():
    book, words = evidence.Ledger(NOTEBOOK, "quick"), []
    for wide in (False, True):
        with jax.enable_x64(wide):
            words.append(jax.random.key_data(book.key("walks", 2**32 - 1)).tolist())
    assert book.seeds["walks"] >= 2**31  # and so no int32
    assert words[0] == words[1]


@pytest.mark.parametrize("index", [-1, 0.5, "a", 2**32, None])
def test_indices_of_draws_are_counters(index):
    book = evidence.Ledger(NOTEBOOK, "quick")
    for draw in (book.key, book.rng):
        with pytest.raises(ValueError, match=r"indices = .*; give"):
            draw("walks", 1, index)


def test_the_environment_says_whether_jax_runs_in_double_precision(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    assert ledger.environment()["x64"] is None


def test_without_git_nobody_knows_whether_sources_changed(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert ledger.environment()["commit"] is None
    assert ledger.environment()["dirty"] is None


def test_what_hangs_on_an_unprinted_setting_is_no_failure_of_the_paper(results, monkeypatch):
    book = evidence.Ledger(NOTEBOOK, "quick")
    names = ["simplex/fig-6/order", "simplex/cor-3.3/order"]
    for name in names:
        book.claims[name] = replace(book.claims[name], unprinted="the degree of its regular graph.")
    failed, held = book.decide({
        names[0]: Decision(Verdict.NOT_REPRODUCED, "order", ours=2.0, level=0.001),
        names[1]: Decision(Verdict.REPRODUCED, "order", ours=2.0, level=0.001),
    }).values()
    assert failed.verdict is Verdict.INCONCLUSIVE
    chosen = "By our choice the claim fails, but the paper does not print the degree of its regular graph."
    assert (failed.by_choice, failed.reason, held.by_choice, held.reason) == (True, chosen, False, "")
    assert "degree" not in json.dumps(failed.as_dict())  # the words are the claim's
    assert held.verdict is Verdict.REPRODUCED
    assert failed.level == held.level == 0  # it can accuse nobody, so not falsely either


def test_error_rates_of_the_book_are_summed_from_its_ledgers(results):
    noisy = Decision(Verdict.REPRODUCED, "order", ours=1.0, level=0.001, miss=0.001, repeats=10)
    missed = Decision(Verdict.INCONCLUSIVE, "order", ours=1.0, level=0.02, miss=0.5, repeats=30)
    exact = Decision(Verdict.REPRODUCED, "order", ours=1.0, level=0.0, miss=0.0)
    unbiased = Decision(Verdict.REPRODUCED, "unbiased", ours=1.0, level=1e-4, miss=0.1, repeats=3000)
    old = Decision(Verdict.REPRODUCED, "identity", ours=1.0)
    book = evidence.Ledger(NOTEBOOK, "quick")
    given = {"order": [noisy, missed, exact], "unbiased": [unbiased], "identity": [old]}
    book.decide({
        name: given[claim.kind].pop() if given.get(claim.kind) else evidence.not_run("Not now.")
        for name, claim in book.claims.items()
    })
    book.close()
    found = evidence.error_rates("quick")
    assert (found.decided, found.without_noise, found.unknown, found.few_repeats) == (5, 1, 1, 1)
    assert found.false_red == pytest.approx(0.0211)
    assert found.false_green == pytest.approx(0.101)  # what is not green is not falsely so
    assert found.by_rule["order"] == (2, pytest.approx(0.021), pytest.approx(0.001))
    assert found.by_rule["unbiased"] == (1, pytest.approx(1e-4), pytest.approx(0.1))


def test_ledgers_without_levels_are_counted_as_unknown():
    found = evidence.error_rates("paper")
    assert found.decided == sum(d.verdict is not Verdict.NOT_RUN for d in evidence.decisions("paper").values())
    assert 0 <= found.false_red <= 1


def test_what_a_page_keeps_is_read_back_to_four_digits_with_its_axes(results, monkeypatch):
    book, axes = decided("paper"), {"coupling": ["iid", "simplex"], "m": np.array([8, 16, 32]), "at": (0.5,)}
    numbers = np.array([[[1.23456], [np.nan], [0.0]], [[-2e-7], [31415.9], [1.0]]])
    book.keep("error", numbers, axes)
    book.close()
    monkeypatch.setattr(arrays.repository, "folder", lambda name: results / name)
    (results / "data" / "results").mkdir(parents=True)
    (results / "paper").rename(results / "data" / "results" / "paper")
    found = evidence.kept(NOTEBOOK, "error")
    np.testing.assert_array_equal(found.array, [[[1.235], [np.nan], [0.0]], [[-2e-7], [31420.0], [1.0]]])
    assert list(found.axes.items()) == [("coupling", ["iid", "simplex"]), ("m", [8, 16, 32]), ("at", [0.5])]
    with pytest.raises(ValueError, match=r"name = 'gain'; choose one of 'error'"):
        evidence.kept(NOTEBOOK, "gain")
    with pytest.raises(ValueError, match="keeps no array"):
        evidence.kept("simplex/02_sum_lengths", "error")


@pytest.mark.parametrize(
    ("array", "axes", "said"),
    [
        ([1.0, 2.0], {"m": [8]}, r"axes has the shape \(1,\), array has \(2,\)"),
        ([1.0, np.inf], {"m": [8, 16]}, "finite or NaN"),
        ([[1.0]], {"m": [8]}, "an axis per dimension"),
        ([1.0], {"m": "8"}, r"axes\['m'\] = '8'"),
        ([1.0], {"m": [None]}, r"axes\['m'\] = None"),
        (np.arange(9000), {"m": range(9000)}, "give a coarser one"),
    ],
)
def test_the_ledger_keeps_small_arrays_whose_axes_are_named(results, array, axes, said):
    book = decided()
    with pytest.raises(ValueError, match=said):
        book.keep("error", array, axes)
    assert not book.kept


def test_a_page_keeps_each_array_once_and_has_a_bound_for_all_together(results):
    book = decided()
    for name in "abc":
        book.keep(name, np.full(1300, 0.125), {"m": range(1300)})
    with pytest.raises(ValueError, match="'c' is kept already"):
        book.keep("c", [1.0], {"m": [1]})
    with pytest.raises(ValueError, match="24000 in all"):
        book.keep("d", np.full(1300, 0.125), {"m": range(1300)})
    assert list(book.kept) == ["a", "b", "c"]
    book.close()
    assert set(json.loads((results / "quick" / f"{NOTEBOOK}.json").read_text(encoding="utf-8"))["kept"]) == set("abc")


def test_a_page_that_keeps_nothing_leaves_the_record_that_it_left_before(results):
    decided().close()
    assert "kept" not in json.loads((results / "quick" / f"{NOTEBOOK}.json").read_text(encoding="utf-8"))
