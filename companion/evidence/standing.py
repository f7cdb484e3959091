"""How each claim, each entry and the whole book stand, and findings in the words of their claims.

The book asks for the words, and no page does: another sentence makes no page due.
"""

import os
import re
import tomllib
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from string import Formatter
from typing import NamedTuple

from companion import repository
from companion.evidence import pages
from companion.evidence.claims import PROFILES, Claim, Entry, claims_of, entries, papers
from companion.evidence.verdicts import ERRATA, Decision, Verdict, with_error
from rfcore import checks


class Row(NamedTuple):
    """A line of the scorecard; ``claims`` pairs each claim with its decision, or None."""

    entry: Entry
    verdict: Verdict
    claims: tuple[tuple[Claim, Decision | None], ...]
    notebook: str | None
    anchor: str | None

    @property
    def verdicts(self):
        """The verdict, and what counts beside it: an inconclusive table may hold a misprint."""
        found = {decision.verdict for _, decision in self.claims if decision}
        beside = (verdict for verdict in (*ERRATA, Verdict.INCONCLUSIVE) if verdict in found and verdict is not self.verdict)
        return (self.verdict, *beside)


def results_folder(profile, root=None):
    """Folder of the decisions at ``profile``, which the runner writes and the book reads.

    In the repository at ``root`` it is ``data/results/paper``, which is committed, or
    ``_build/results/quick``; where ``RFCORE_RESULTS`` is set, the folder ``<profile>`` below it.
    """
    checks.choice(profile, "profile", PROFILES)
    if given := os.environ.get("RFCORE_RESULTS"):
        return Path(given).absolute() / profile
    place = "data" if profile == "paper" else "_build"
    return (root or repository.folder("data").parent) / place / "results" / profile


def decisions(profile="paper"):
    """Every decision in the ledgers of ``profile``, by claim id, with the present words of its claim.

    What a rule found "reproduced" that tests less than the paper's words (:func:`loosely_tested`) is
    reproduced in direction: a threshold of ours counts neither for a paper nor against it.
    """
    found = recorded(profile)
    for name in loosely_tested().keys() & found.keys():
        if found[name].verdict is Verdict.REPRODUCED:
            why = f'The paper says "{loosely_tested()[name]}"; what is asked for it is ours. {found[name].why}'
            found[name] = replace(found[name], verdict=Verdict.IN_DIRECTION, why=why.strip())
    return found


def recorded(profile="paper"):
    """The decisions as the rules found them: ledgers and outputs of pages hold these."""
    found, folder = {}, results_folder(profile)
    for path in sorted(folder.glob("*/*.json")):
        claims = claims_of(path.relative_to(folder).with_suffix("").as_posix())
        for name, fields in pages.read(path).get("claims", {}).items():
            found[name] = Decision(**fields, claim=claims.get(name))
    return found


@cache
def loosely_tested():
    """Words of what a claim quotes (``printed``) that its rule tests less strictly than they read, by id."""
    return tomllib.loads((repository.folder("data") / "loosely_tested.toml").read_text(encoding="utf-8"))


def entry_verdict(entry, ledger):
    """The verdict on its weakest claim; "not yet" until a notebook has decided all of them.

    The order of :class:`~companion.evidence.verdicts.Verdict` is from best to worst. One inconclusive claim
    keeps an entry from green.
    """
    if entry.schematic:
        return Verdict.NOTHING
    if not entry.claims or any(claim.id not in ledger for claim in entry.claims):
        return Verdict.NOT_YET
    return max((ledger[claim.id].verdict for claim in entry.claims), key=lambda verdict: verdict.badness)


def scorecard(profile="paper"):
    """One :class:`Row` for every entry of every paper."""
    ledger = decisions(profile)
    return tuple(
        Row(e, entry_verdict(e, ledger), tuple((c, ledger.get(c.id)) for c in e.claims), e.notebook, e.anchor)
        for e in entries()
    )


def headline(profile="paper"):
    """How many figures, tables and theorems of each paper have which verdict: ``{paper: Counter}``.

    One that holds an erratum, or an inconclusive claim, beside another verdict counts under both. Our own
    extra findings are not counted.
    """
    counts = {paper.name: Counter() for paper in papers()}
    for row in scorecard(profile):
        if not row.entry.extra:
            counts[row.entry.paper].update(row.verdicts)
    return counts


FEW = 30  # repeats below which a skewed law raises the rates: the table in companion.evidence.statistics


class RuleRates(NamedTuple):
    """Decisions by one rule: how many, the sum of their chances of a false red, and of a false green."""

    decisions: int
    false_red: float
    false_green: float


@dataclass(frozen=True)
class ErrorRates:
    """What may be wrong among the decisions of all ledgers.

    Attributes:
        decided: decisions taken; "not run" is none.
        without_noise: of these, comparisons of numbers without noise: they cannot err by chance.
        unknown: decisions of ledgers so old that they carry no level; counted nowhere else.
        few_repeats: decisions from fewer than 30 repeats, whose rates hold for normal errors only.
        false_red: chance at most of one false "not reproduced" or more, if every claim is true: the sum of
            the levels.
        false_green: expected number at most of false "reproduced", if every green claim failed by just what
            its rule is set to see (just at its bound, or biased by its ``smallest_bias``).
        by_rule: the same sums, rule by rule.
    """

    decided: int
    without_noise: int
    unknown: int
    few_repeats: int
    false_red: float
    false_green: float
    by_rule: dict[str, RuleRates]


def error_rates(profile="paper"):
    """Bounds on the errors of the whole book, computed from its ledgers.

    Levels of single decisions are added (a union bound: true whatever the dependence between them).

    Args:
        profile: "quick" or "paper".

    Returns:
        :class:`ErrorRates`.
    """
    taken = [d for d in decisions(profile).values() if d.verdict is not Verdict.NOT_RUN]
    known = [d for d in taken if d.level is not None]
    noisy = [d for d in known if d.miss or d.level]
    rules = {rule: [d for d in noisy if d.rule == rule] for rule in sorted({d.rule for d in noisy})}
    by_rule = {rule: RuleRates(len(found), *_sums(found)) for rule, found in rules.items()}
    red, green = _sums(noisy)
    return ErrorRates(
        decided=len(taken),
        without_noise=len(known) - len(noisy),
        unknown=len(taken) - len(known),
        few_repeats=sum(d.repeats is not None and d.repeats < FEW for d in noisy),
        false_red=min(red, 1.0),
        false_green=green,
        by_rule=by_rule,
    )


def _sums(found):
    return sum(d.level for d in found), sum(d.miss or 0.0 for d in found if d.verdict.green)


ALL = re.compile(r", (\d+) of \1$")  # what an identity says by itself
PLACES = ("ours", "paper", "limit", "better", "worse", "holds", "repeats")


def told(decision):
    """The decision with the sentence that its claim brings for it.

    What stood in its place begins the statistics. A sentence has places for numbers: ``{ours}`` and
    ``{paper}`` (with error and unit), ``{better}`` and ``{worse}`` (of an order), ``{limit}``, ``{holds}``
    ("all 18", "both", "15 of 18" comparisons) and ``{repeats}``; a place of another name raises ValueError.
    Of several conditions the numbers are those of the closest. A decision without one of these numbers keeps
    its own line. An inconclusive one says why it is.

    >>> from dataclasses import replace
    >>> from companion import evidence
    >>> from companion.evidence.standing import told
    >>> claim = evidence.claims_of("couplings/21_meshes")["couplings/fig-4/kl-iid"]
    >>> claim = replace(claim, finding="KL {better} against {worse}, smaller on {holds} of the meshes")
    >>> told(replace(evidence.order([[5.98, 1.0]], [[15.5, 9.0]], exact=True), claim=claim)).finding
    'KL 1 against 9, smaller on both of the meshes'
    """
    claim = decision.claim
    if claim and claim.undecided and decision.verdict is Verdict.INCONCLUSIVE:
        decision = replace(decision, why=f"{decision.why} {claim.undecided}".strip())
    in_words = replace(decision, finding=ALL.sub(lambda n: f" in {_all_of(int(n[1]))} cases", decision.finding))
    if not (claim and claim.finding) or decision.verdict is Verdict.NOT_RUN:
        return in_words
    asked, places = {name for _, name, _, _ in Formatter().parse(claim.finding) if name is not None}, _places(decision)
    if not asked <= set(PLACES):
        raise ValueError(f"{claim.id}: finding = {claim.finding!r}; give places of {', '.join(PLACES)} alone")
    if not asked <= set(places):
        return in_words
    sentence = claim.finding.format(**places)
    return replace(decision, finding=sentence, detail=f"{decision.finding.rstrip('.')}. {decision.detail}".strip())


def _all_of(n):
    return "both" if n == 2 else f"all {n:,}"


def _places(decision):
    places = {
        "ours": decision.ours is not None and with_error(decision.ours, decision.se, decision.unit),
        "limit": decision.limit is not None and with_error(decision.limit, None, decision.unit),
        "paper": decision.paper is not None and with_error(decision.paper, decision.paper_se, decision.unit),
        "repeats": decision.repeats and f"{decision.repeats:,}",
    }
    if decision.pair:
        places |= {name: with_error(number, None, decision.unit) for name, number in zip(("better", "worse"), decision.pair, strict=True)}
    if decision.holds is not None:
        n = decision.comparisons
        places["holds"] = _all_of(n) if decision.holds == n else f"{decision.holds:,} of {n:,}"
    return {name: text for name, text in places.items() if text}
