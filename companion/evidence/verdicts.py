"""What can be said of a claim: a verdict, and the numbers it rests on."""

import html
import math
import re
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum

from rfcore import checks


class Verdict(StrEnum):
    """The state of a claim or an entry, from best to worst; the last two are states of entries only.

    A ledger records "paper erratum". Which of three that is, the claim's entry says (``expected``): readers
    meet the misprint, the missing condition and the false statement alone.
    """

    REPRODUCED = "reproduced"
    MISPRINT = "misprint, the result stands"
    IN_DIRECTION = "reproduced in direction"
    SCALED = "scaled"
    INCONCLUSIVE = "inconclusive"
    NOT_RUN = "not run"
    ERRATUM = "paper erratum"
    CONDITION = "needs another condition"
    FALSE = "the statement is false"
    NOT_REPRODUCED = "not reproduced"
    NOT_YET = "not yet"
    NOTHING = "nothing to reproduce"

    @property
    def green(self):
        """Whether the claim may be shown as upheld, in full or in a stated part."""
        return self in (Verdict.REPRODUCED, Verdict.IN_DIRECTION, Verdict.SCALED)

    @property
    def badness(self):
        """Place in the order from best (0) to worst."""
        return list(Verdict).index(self)

    def word(self, extra=False):
        """The verdict as readers meet it: a finding of our own (``extra``) is "shown" or "refuted"."""
        return EXTRA_WORDS.get(self, self.value) if extra else self.value

    def counted(self, n):
        """``"2 misprints, the results stand"``: how often, in words that can be counted."""
        one, more = COUNTED.get(self, (self.value, self.value))
        return f"{n} {one if n == 1 else more}"


ERRATA = (Verdict.MISPRINT, Verdict.CONDITION, Verdict.FALSE)
COUNTED = {
    Verdict.MISPRINT: (Verdict.MISPRINT.value, "misprints, the results stand"),
    Verdict.CONDITION: (Verdict.CONDITION.value, "need another condition"),
    Verdict.FALSE: ("false", "false"),
}
EXTRA_WORDS = {Verdict.REPRODUCED: "shown", Verdict.NOT_REPRODUCED: "refuted"}


@dataclass(frozen=True)
class Decision:
    """A verdict on one claim and the numbers behind it.

    Raises ValueError if the verdict is a state of entries only, or the claim of an erratum does not say which
    it is.

    Attributes:
        verdict, rule: the :class:`Verdict`, and the rule that decided, ``"order"``, ...
        ours, se: our number, in the closest of several conditions, and its standard error (for ``order``: of
            the gain). None where the number is rounding noise, of which only the bound means anything.
        rounding: what rounding may have done to a number without noise: another processor may give one so far
            away.
        paper, paper_se: the printed number and its standard error.
        statistic, detail: a number, and in words what it is and what was compared with what.
        limit: what was allowed: the bound, the tolerance, the smallest bias, the half-width of the window.
        unit: unit of ``ours``, ``limit`` and ``paper``.
        level: chance of a false "not reproduced" at most, over all conditions together; 0 without noise.
        miss: chance at most of a false "reproduced", where the claim fails by what the rule is set to see.
        comparisons, holds: how many numbers were compared, and how many of these lie on the claimed side,
            significantly or not.
        pair: the two numbers that an order compares, the one claimed to be smaller first, in the closest
            condition.
        repeats: how many independent repeats the rule had.
        finding: what was found, in one plain sentence: ``"29.7; at most 22.5 allowed"``. Made from the rest
            if not given.
        why: why the verdict is not what the numbers alone would give: an erratum, a scaled experiment.
        by_choice: whether the claim fails by our choice of the setting that ``claim.unprinted`` names.
        claim: the claim decided, set by :meth:`~companion.evidence.ledger.Ledger.decide`; not recorded. It
            says which of the two errata a "paper erratum" is.
    """

    verdict: Verdict
    rule: str
    ours: float | None = None
    se: float | None = None
    paper: float | None = None
    paper_se: float | None = None
    statistic: float | None = None
    detail: str = ""
    limit: float | None = None
    unit: str | None = None
    level: float | None = None
    miss: float | None = None
    comparisons: int | None = None
    holds: int | None = None
    repeats: int | None = None
    pair: tuple[float, float] | None = None
    rounding: float | None = None
    finding: str = ""
    why: str = ""
    by_choice: bool = False
    claim: object = field(default=None, repr=False, compare=False)

    def __post_init__(self):
        known = [verdict.value for verdict in Verdict if verdict not in (Verdict.NOT_YET, Verdict.NOTHING)]
        object.__setattr__(self, "verdict", Verdict(checks.choice(self.verdict, "verdict", known)))
        if self.claim and self.verdict in (Verdict.ERRATUM, *ERRATA):
            which = checks.choice(self.claim.expected, f"expected of {self.claim.id}", [verdict.value for verdict in ERRATA])
            object.__setattr__(self, "verdict", Verdict(which))
        _text(self.rule, "rule", "order")
        if self.unit is not None:
            _text(self.unit, "unit", "times")
        for name in ("ours", "se", "rounding", "paper", "paper_se", "statistic", "limit", "level", "miss"):
            if (number := getattr(self, name)) is not None:
                object.__setattr__(self, name, checks.real(number, name))
        for name, least in (("comparisons", 1), ("repeats", 1), ("holds", 0)):
            if (number := getattr(self, name)) is not None:
                object.__setattr__(self, name, checks.count(number, name, least=least))
        if self.pair is not None:
            object.__setattr__(self, "pair", tuple(checks.real(number, "pair") for number in self.pair))
        if not self.finding:
            ours = self.detail if self.ours is None else with_error(self.ours, self.se, self.unit)
            printed = "" if self.paper is None else f"; printed {with_error(self.paper, self.paper_se, self.unit)}"
            object.__setattr__(self, "finding", ours + printed)

    def as_dict(self):
        """Plain types for JSON, numbers to six significant digits; without the claim and what is empty."""
        found = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "claim"}
        verdict = Verdict.ERRATUM if self.verdict in ERRATA else self.verdict
        found = {k: v for k, v in found.items() if v not in (None, "") and v is not False} | {"verdict": verdict.value}
        return {k: _short(v) for k, v in found.items()}

    @property
    def word(self):
        """The verdict as readers meet it, which depends on whose claim it is."""
        return self.verdict.word(bool(self.claim and self.claim.extra))

    @property
    def number(self):
        """What was found, in a number or two: ``"0.18 against 0.25"``, ``"0.61; printed 0.58"``."""
        if self.pair:
            return " against ".join(with_error(one, None, self.unit) for one in self.pair)
        if self.ours is None or (self.limit is None and self.paper is None):
            return ""
        ours = with_error(self.ours, self.se, self.unit)
        return f"{ours}; printed {with_error(self.paper, None, self.unit)}" if self.paper is not None else ours

    @property
    def open_because(self):
        """Which of three an inconclusive one is; ``""`` of any other."""
        if self.verdict is not Verdict.INCONCLUSIVE:
            return ""
        if self.by_choice:
            return "hangs on what is not printed"
        agrees = self.holds is not None and self.holds == self.comparisons
        return "agrees within wide errors" if agrees else "too few data to tell"

    @property
    def reason(self):
        """Why the verdict is not what the numbers alone would give; words for a setting are the claim's."""
        chosen = f"By our choice the claim fails, but the paper does not print {self._setting}." if self.by_choice else ""
        return f"{chosen} {self.why}".strip()

    @property
    def _setting(self):
        return self.claim.unprinted.rstrip(".") if self.claim and self.claim.unprinted else "a setting"

    def _repr_markdown_(self):
        """The verdict and the sentence in a line; a number, and all that stands behind it in a fold."""
        claim, parts = self.claim, ['<div class="decision">']  # paragraphs to those who know no such division
        said = plain(claim.statement) if claim else f"{plain(_sentence(self.finding))} {plain(self.reason)}".strip()
        because = f"*{self.open_because}:*" if self.open_because else ""
        parts.append(" ".join(filter(None, [f"**{self.word}**", because, said])))
        # One line: a raw block of Markdown ends at the first empty one.
        folded = "".join(f"<p><b>{name}.</b> {' '.join(html.escape(text).split())}</p>" for name, text in self._folded())
        if folded:
            known = "; written when its numbers were known" if claim and claim.known else ""
            number = re.sub(r"(?<!e)-(?=\d)", "\N{MINUS SIGN}", self.number)
            head = f"{number} · how it was decided" if claim and number else "How it was decided"
            parts.append(f"<details><summary>{head}{known}</summary>{folded}</details>")
        return "\n\n".join([*parts, "</div>"])

    def _folded(self):
        """Names and texts of what stands behind the verdict."""
        claim, statistics = self.claim, "" if self.detail == self.finding else self.detail
        if not claim:
            return [("Statistics", statistics)] if statistics else []
        found = f"{_sentence(self.finding)} {self.reason}".strip()
        said = [("Found", found), ("The paper", claim.printed), ("Rule", claim.rule), ("Changed", claim.changed)]
        return [(name, text) for name, text in [*said, ("Statistics", statistics)] if text]


def _short(found):
    """Numbers to six digits, alone or in a pair; all else as it is."""
    if isinstance(found, tuple):
        return [_short(number) for number in found]
    return float(f"{found:.6g}") if isinstance(found, float) else found


def plain(text):
    """Text of a record as Markdown that shows it unchanged, on one line."""
    return re.sub(r"([\\`*_\[\]<>$|~{}])", r"\\\1", " ".join(text.split()))


def with_error(number, se, unit=None):
    """Number and error to the error's second digit, else four digits; a dash for None.

    >>> from companion.evidence.verdicts import with_error
    >>> with_error(0.61234, 0.03, "s"), with_error(29.7001, None), with_error(0.5, None)
    ('0.612 ± 0.030 s', '29.70', '0.5')
    """
    if number is None:
        return "–"
    text = _four_digits(number)
    if se:
        decimals = 1 - math.floor(math.log10(se))
        fixed = 0 <= decimals <= 6 and abs(number) < 1e5
        text = f"{number:.{decimals}f} ± {se:.{decimals}f}" if fixed else f"{text} ± {se:.2g}"
    return f"{text} {'nat' if (text, unit) == ('1', 'nats') else unit}" if unit else text


def _four_digits(number):
    """What four digits write exactly stays short: a measured 0.50002 is ``0.5000``, one half ``0.5``."""
    if 1e4 <= abs(number) < 1e6:
        return f"{number:,.0f}"
    short = f"{number:.4g}"
    return short if math.isclose(float(short), number, rel_tol=1e-9) else f"{number:#.4g}".removesuffix(".")


def erratum(decision, why):
    """The claim as printed is wrong, and ``decision`` shows it by having come out "not reproduced".

    Raises ValueError if it came out otherwise: an erratum needs the failure as its evidence.

    Args:
        decision: what a rule returned.
        why: a sentence, such as "Two signs of Eq. 11 are exchanged."
    """
    _decided(decision)
    _text(why, "why", "Two signs of Eq. 11 are exchanged.")
    if decision.verdict is not Verdict.NOT_REPRODUCED:
        raise ValueError(f"decision = {decision.verdict.value!r} is no erratum; give a failure of the claim as printed")
    return replace(decision, verdict=Verdict.ERRATUM, why=why)


def scaled(decision, why):
    """A smaller experiment, stated in ``why``, stands in for one out of reach; a failure stays a failure."""
    _decided(decision)
    _text(why, "why", "Fashion-MNIST for ImageNet.")
    verdict = Verdict.SCALED if decision.verdict.green else decision.verdict
    return replace(decision, verdict=verdict, why=f"Scaled: {why}")


def not_run(why):
    """The claim was not tested, for the reason ``why``."""
    _text(why, "why", "The data could not be had.")
    return Decision(Verdict.NOT_RUN, "not run", detail=why)


def unprinted(decision):
    """A claim whose outcome depends on a setting that the paper does not print: no failure of the paper.

    "Not reproduced" becomes "inconclusive"; the chance of a false "not reproduced" is none.
    """
    if decision.verdict is not Verdict.NOT_REPRODUCED:
        return replace(decision, level=0.0)
    return replace(decision, verdict=Verdict.INCONCLUSIVE, level=0.0, by_choice=True)


def _decided(decision):
    if not isinstance(decision, Decision):
        raise ValueError(f"decision is of type {type(decision).__name__}; give what a rule returned, such as evidence.bound(...)")


def _text(value, name, example):
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} = {value!r}; give a text, such as {example!r}")


def _sentence(text):
    return text if not text or text[-1] in ".!?" else text + "."
