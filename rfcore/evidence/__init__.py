"""Evidence: what the papers claim, the statistics that decide it, and the record of what was found."""

from .claims import claims_of, decisions, entries, entry_verdict, headline, scorecard
from .ledger import Ledger
from .statistics import bound, identity, order, slope, unbiased, value
from .verdicts import Decision, Verdict, erratum, not_run, scaled

__all__ = [
    "Decision",
    "Ledger",
    "Verdict",
    "bound",
    "claims_of",
    "decisions",
    "entries",
    "entry_verdict",
    "erratum",
    "headline",
    "identity",
    "not_run",
    "order",
    "scaled",
    "scorecard",
    "slope",
    "unbiased",
    "value",
]
