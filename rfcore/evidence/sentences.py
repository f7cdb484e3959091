"""Findings in the words of their claims.

The book asks for them, and no page does: another sentence makes no page due.
"""

from dataclasses import replace
from string import Formatter

from rfcore.evidence.verdicts import Verdict, with_error

PLACES = ("ours", "paper", "limit", "better", "worse", "holds", "repeats")


def told(decision):
    """The decision with the sentence that its claim brings for it.

    What stood in its place begins the statistics. A sentence has places for numbers: ``{ours}`` and
    ``{paper}`` (with error and unit), ``{better}`` and ``{worse}`` (of an order), ``{limit}``, ``{holds}``
    ("all 18", or "15 of 18" of the comparisons) and ``{repeats}``; a place of another name raises ValueError.
    Of several conditions the numbers are those of the closest. A decision without one of these numbers keeps
    its own line. An inconclusive one says why it is.

    >>> from dataclasses import replace
    >>> from rfcore import evidence
    >>> from rfcore.evidence.sentences import told
    >>> claim = evidence.claims_of("couplings/06_meshes")["couplings/fig-4/kl-iid"]
    >>> claim = replace(claim, finding="KL {better} against {worse}, smaller on {holds} of the meshes")
    >>> told(replace(evidence.order([[5.98, 1.0]], [[15.5, 9.0]], exact=True), claim=claim)).finding
    'KL 1 against 9, smaller on all 2 of the meshes'
    """
    claim = decision.claim
    if claim and claim.undecided and decision.verdict is Verdict.INCONCLUSIVE:
        decision = replace(decision, why=f"{decision.why} {claim.undecided}".strip())
    if not (claim and claim.finding) or decision.verdict is Verdict.NOT_RUN:
        return decision
    asked, places = {name for _, name, _, _ in Formatter().parse(claim.finding) if name is not None}, _places(decision)
    if not asked <= set(PLACES):
        raise ValueError(f"{claim.id}: finding = {claim.finding!r}; give places of {', '.join(PLACES)} alone")
    if not asked <= set(places):
        return decision
    sentence = claim.finding.format(**places)
    return replace(decision, finding=sentence, detail=f"{decision.finding.rstrip('.')}. {decision.detail}".strip())


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
        places["holds"] = f"all {n:,}" if decision.holds == n else f"{decision.holds:,} of {n:,}"
    return {name: text for name, text in places.items() if text}
