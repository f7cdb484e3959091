"""What can be said of a claim: a verdict, and the numbers it rests on."""

import math
from dataclasses import asdict, dataclass, replace
from enum import StrEnum


class Verdict(StrEnum):
    """The state of a claim or an entry, from best to worst; the last two are states of entries only."""

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
        """Place in the order from best (0) to worst."""
        return list(Verdict).index(self)


@dataclass(frozen=True)
class Decision:
    """A verdict on one claim and the numbers behind it.

    ``rule`` names the rule that decided; ``ours`` with ``se`` is our number, in the weakest of several
    conditions; ``paper`` with ``paper_se`` is the printed one, if there is one; ``detail`` says what
    ``statistic`` is and what it is compared with. Numbers must be finite.
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
            if (number := getattr(self, name)) is not None:
                object.__setattr__(self, name, float(number))
                if not math.isfinite(number):
                    raise ValueError(f"{name}={number}: a decision rests on finite numbers")

    def as_dict(self):
        """Plain types for JSON, numbers to six significant digits."""
        fields = {k: v for k, v in asdict(self).items() if v is not None} | {"verdict": self.verdict.value}
        return {k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in fields.items()}

    def _repr_markdown_(self):
        ours = f": ours {with_error(self.ours, self.se)}" if self.ours is not None else ""
        paper = f", paper {with_error(self.paper, self.paper_se)}" if self.paper is not None else ""
        return f"**{self.verdict.value}** ({self.rule}{ours}{paper}). {self.detail}"


def with_error(number, se):
    """``0.61 ± 0.03``, or a dash for None."""
    if number is None:
        return "–"
    return f"{number:.4g} ± {se:.2g}" if se else f"{number:.4g}"


def erratum(decision, why):
    """The claim as printed is wrong, and `decision` shows it by having come out "not reproduced".

    Raises
    ------
    ValueError
        If it came out otherwise: an erratum needs the failure as its evidence.
    """
    if decision.verdict is not Verdict.NOT_REPRODUCED:
        raise ValueError(f"decision={decision.verdict.value!r} is no erratum: test the claim as printed")
    return replace(decision, verdict=Verdict.ERRATUM, detail=f"{why} {decision.detail}".strip())


def scaled(decision, why):
    """A stated smaller experiment stands in for one out of reach; what it fails to show stays as it is."""
    verdict = Verdict.SCALED if decision.verdict.green else decision.verdict
    return replace(decision, verdict=verdict, detail=f"Scaled: {why} {decision.detail}".strip())


def not_run(why):
    """The claim was not tested, for the reason `why`."""
    if not why.strip():
        raise ValueError(f"why={why!r}: say what stopped the run")
    return Decision(Verdict.NOT_RUN, "not run", detail=why)
