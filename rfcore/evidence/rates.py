"""How often the whole book may be wrong, from the levels that its decisions carry."""

from dataclasses import dataclass
from typing import NamedTuple

from rfcore.evidence.standing import decisions
from rfcore.evidence.verdicts import Verdict

FEW = 30  # repeats below which a skewed law raises the rates: the table in rfcore.evidence.statistics


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
