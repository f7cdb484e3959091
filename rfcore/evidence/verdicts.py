"""What can be said of a claim: a verdict, and the numbers it rests on."""

import math
from dataclasses import asdict, dataclass, replace
from enum import StrEnum


class Verdict(StrEnum):
    """The state of a claim or of an entry, from best to worst: an entry is as good as its weakest claim.

    The last two are states of an entry only; no claim is ever decided as one of them.
    """

    REPRODUCED = "reproduced"
    ERRATUM = "paper erratum"
    IN_DIRECTION = "reproduced in direction"
    SCALED = "scaled"
    INCONCLUSIVE = "inconclusive"
    NOT_RUN = "not run"
    NOT_REPRODUCED = "not reproduced"
    NOT_YET = "not yet"
    NOTHING = "nothing to reproduce"

    @property
    def green(self):
        """Whether the claim may be shown as upheld, in full or in a stated part."""
        return self in (Verdict.REPRODUCED, Verdict.IN_DIRECTION, Verdict.SCALED)

    @property
    def badness(self):
        """Position in the order from best (0) to worst."""
        return list(Verdict).index(self)


@dataclass(frozen=True)
class Decision:
    """A verdict on one claim, with the numbers behind it.

    Parameters
    ----------
    verdict : Verdict
        What was found.
    rule : str
        The rule that decided (``"order"``, ``"unbiased"``, ...).
    ours, se : float or None
        Our number and its standard error; of several conditions, the one that decided.
    paper, paper_se : float or None
        The paper's number and its standard error, where it prints them.
    statistic : float or None
        What the rule compared with its threshold (a z, a t, a ratio): ``detail`` says which.
    detail : str
        One or two sentences: the statistic, the threshold, the power.

    Raises
    ------
    ValueError
        If a number is not finite, or the verdict is a state of entries only.
    """

    verdict: Verdict
    rule: str
    ours: float | None = None
    se: float | None = None
    paper: float | None = None
    paper_se: float | None = None
    statistic: float | None = None
    detail: str = ""

    def __post_init__(self):
        object.__setattr__(self, "verdict", Verdict(self.verdict))
        if self.verdict in (Verdict.NOT_YET, Verdict.NOTHING):
            raise ValueError(f"verdict={self.verdict.value!r} is a state of entries; no claim is decided so")
        for name in ("ours", "se", "paper", "paper_se", "statistic"):
            number = getattr(self, name)
            if number is not None:
                number = float(number)
                if not math.isfinite(number):
                    raise ValueError(f"{name}={number} is not finite: a decision rests on finite numbers")
                object.__setattr__(self, name, number)

    def as_dict(self):
        """Plain types for JSON, numbers to six significant digits."""
        return {
            name: float(f"{item:.6g}") if isinstance(item, float) else item
            for name, item in (asdict(self) | {"verdict": self.verdict.value}).items()
            if item is not None
        }

    def _repr_markdown_(self):
        ours = f" ours {with_error(self.ours, self.se)}" if self.ours is not None else ""
        paper = f", paper {with_error(self.paper, self.paper_se)}" if self.paper is not None else ""
        return f"**{self.verdict.value}** ({self.rule}{':' if ours else ''}{ours}{paper}). {self.detail}"


def with_error(number, se):
    """``0.61 ± 0.03``: a number with its standard error, four significant digits at most."""
    if number is None:
        return "–"
    return f"{number:.4g} ± {se:.2g}" if se else f"{number:.4g}"


def erratum(decision, why):
    """The claim as printed is wrong, and `decision` shows it by failing.

    Raises
    ------
    ValueError
        If the printed claim did not fail: an erratum needs the failure as its evidence.
    """
    if decision.verdict is not Verdict.NOT_REPRODUCED:
        raise ValueError(
            f"erratum needs a decision that came out 'not reproduced', got {decision.verdict.value!r}: "
            "test the claim as it is printed"
        )
    return replace(decision, verdict=Verdict.ERRATUM, detail=f"{why} {decision.detail}".strip())


def scaled(decision, why):
    """A stated smaller experiment stands in for one out of reach; a failure stays a failure."""
    verdict = Verdict.SCALED if decision.verdict.green else decision.verdict
    return replace(decision, verdict=verdict, detail=f"Scaled: {why} {decision.detail}".strip())


def not_run(why):
    """The claim was not tested, for the reason `why`."""
    if not why.strip():
        raise ValueError("why is empty: say what stopped the run")
    return Decision(Verdict.NOT_RUN, "not run", detail=why)
