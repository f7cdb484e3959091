"""How each claim and each entry stands: the decisions in the ledgers, the scorecard, the headline."""

import os
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from rfcore import checks, repository
from rfcore.evidence import files
from rfcore.evidence.claims import PROFILES, Claim, Entry, entries, papers
from rfcore.evidence.verdicts import ERRATA, Decision, Verdict


class Row(NamedTuple):
    """A line of the scorecard; ``claims`` pairs each claim with its decision, or None."""

    entry: Entry
    verdict: Verdict
    claims: tuple[tuple[Claim, Decision | None], ...]
    notebook: str | None
    anchor: str | None

    @property
    def verdicts(self):
        """The verdict, and the errata beside it: a table may be inconclusive, one of its lines misprinted."""
        found = {decision.verdict for _, decision in self.claims if decision}
        return (self.verdict, *(verdict for verdict in ERRATA if verdict in found and verdict is not self.verdict))


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
    """Every decision in the ledgers of ``profile``, by claim id, with the present words of its claim."""
    found, claims = {}, {claim.id: claim for entry in entries() for claim in entry.claims}
    for path in sorted(results_folder(profile).glob("*/*.json")):
        for name, fields in files.read(path).get("claims", {}).items():
            found[name] = Decision(**fields, claim=claims.get(name))
    return found


def entry_verdict(entry, ledger):
    """The verdict on its weakest claim; "not yet" until a notebook has decided all of them.

    The order of :class:`~rfcore.evidence.verdicts.Verdict` is from best to worst. One inconclusive claim
    keeps an entry from green.
    """
    checks.instance(entry, Entry, "entry", "one of evidence.entries()")
    checks.instance(ledger, dict, "ledger", "decisions by claim id, such as evidence.decisions()")
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

    One that has an erratum beside another verdict counts under both. Our own extra findings are not counted.
    """
    counts = {paper.name: Counter() for paper in papers()}
    for row in scorecard(profile):
        if not row.entry.extra:
            counts[row.entry.paper].update(row.verdicts)
    return counts
