"""What the rules share: tests of means from independent repeats, and checks of their input."""

import numpy as np
from scipy.special import bdtr, bdtrc, stdtrit

from companion.evidence.verdicts import Verdict
from rfcore import checks

POWER = 0.9  # what a rule calls detectable would be seen nine times in ten
AGAINST_TAILS = 1.5  # times the threshold, where a tail may hide; the table in companion.evidence.statistics has what that buys


def student(draws, floor):
    """Of every column: mean, standard error, whether it varies by more than floor, corrected t, skew.

    ``skew`` is the sample skewness over sqrt(n): how far the law of the mean is from normal.
    """
    n, mean = len(draws), draws.mean(0)
    sd = draws.std(0, ddof=1)
    varies = sd > floor
    scale = np.where(varies, sd, 1)
    t = np.where(varies, np.sqrt(n) * mean / scale, 0)
    skew = np.where(varies, (((draws - mean) / scale) ** 3).mean(0), 0) / np.sqrt(n)
    t = t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6  # Hall, monotone in t
    return mean, sd / np.sqrt(n), varies, t, skew


def guarded(threshold, skew, side, factor=AGAINST_TAILS):
    """The threshold that t must pass on a side of every column: farther where a tail may hide.

    ``side`` is +1 or -1. A sample whose tail points right may have missed the largest values: then its mean
    is too small, and so is its standard error. The correction for skewness is a series in skew times
    threshold, and nothing past 1/2.
    """
    hidden = (skew * side < 0) & (np.abs(skew) * threshold > 0.5)
    return threshold * np.where(hidden, factor, 1.0)


def all_positive(margin, confidence, name, robust=False):
    """Test that the mean (robust: the median) of every column of ``margin``, made of ``name``, is positive.

    Of columns that a sign test cannot tell apart, that of the smallest median is the weakest.

    Returns:
        Verdict; number of the weakest column; dict of those fields of the decision that depend on the repeats
        only (a median has no standard error here).
    """
    n, alpha = repeats(margin, name), level(confidence)
    margin = margin.reshape(n, -1)
    # Repeats that do not vary (a tie? a reused key?) carry no measure of their own error: never significant.
    mean, se, varies, statistic, skew = student(margin, 64 * np.finfo(float).eps * np.abs(margin).max(0))
    if robust:
        wins, untied = (margin > 0).sum(0), (margin != 0).sum(0)
        statistic = (2 * wins - untied) / np.sqrt(np.maximum(untied, 1))
        weakest, skewed = int(np.lexsort((np.median(margin, 0), statistic))[0]), False
        shown = varies & (bdtrc(wins - 1.0, untied, 0.5) <= alpha)
        refuted = varies & (bdtr(wins * 1.0, untied, 0.5) <= alpha / mean.size)
    else:
        plain = -stdtrit(n - 1, alpha)
        threshold = guarded(plain, skew, side=1)
        weakest, skewed = int(np.argmin(statistic / threshold)), np.any(threshold > plain)
        shown = varies & (statistic >= threshold)
        refuted = varies & (statistic <= -guarded(-stdtrit(n - 1, alpha / mean.size), skew, side=-1))
    test = "Sign test" if robust else "Student's t, corrected for skewness"
    of = f"{'' if robust else ','} of the closest of {mean.size} conditions" if mean.size > 1 else ""
    detail = f"{test}{of}: {in_words(statistic[weakest])} at level {alpha:.2g}, {n} repeats."
    if skewed:
        detail += " Half as much again was asked where the repeats are so skewed that a tail may hide."
    if not varies.all():
        detail += f" {count(np.sum(~varies), 'condition does', 'conditions do')} not vary over the repeats."
    fields = {} if robust else {"se": se[weakest]}
    fields |= {"statistic": statistic[weakest], "detail": detail}
    centre = np.median(margin, 0) if robust else mean
    fields |= {"level": alpha, "miss": alpha, "comparisons": mean.size, "holds": int((centre > 0).sum()), "repeats": n}
    verdict = three_ways(shown.all(), refuted.any())
    if verdict is Verdict.INCONCLUSIVE and skewed and statistic.min() >= plain:
        fields["why"] = "The repeats are so skewed that a tail may hide, and too few to rule it out."
    return verdict, weakest, fields


def without_noise(margin, scale, counts, strict):
    """All margins of numbers without noise are positive (not strict: or zero), beyond rounding.

    A margin within 1e-12 of the numbers' own size may be rounding and decides nothing, unless they are
    counts.
    """
    margin, rounding = margin.reshape(-1), np.zeros(margin.size) if counts else 1e-12 * scale.reshape(-1)
    unclear = (np.abs(margin) <= rounding) & (rounding > 0)
    holds = margin > 0 if strict else margin >= 0
    weakest = int(np.argmin(margin))
    detail = f"No noise: {np.sum(holds & ~unclear)} of {margin.size} comparisons hold"
    detail += f", {np.sum(unclear)} lie within rounding." if unclear.any() else "."
    verdict = three_ways((holds & ~unclear).all(), (~holds & ~unclear).any())
    fields = {"statistic": margin[weakest], "detail": detail, "level": 0.0, "miss": 0.0, "comparisons": margin.size}
    fields |= {"holds": int(holds.sum()), "rounding": rounding[weakest] or None}
    return verdict, weakest, fields


def three_ways(shown, refuted):
    """The verdict where one test shows the claim and another its opposite."""
    return Verdict.REPRODUCED if shown else Verdict.NOT_REPRODUCED if refuted else Verdict.INCONCLUSIVE


def closest(n, holds, what="conditions"):
    """``" in the closest of 12 conditions"``, or the worst where it is on the wrong side; nothing for one."""
    return f" in the {'closest' if holds else 'worst'} of {n} {what}" if n > 1 else ""


def in_words(statistic):
    """A statistic to three digits; past a thousand nobody asks how far."""
    if abs(statistic) < 1000:
        return f"{statistic:.3g}"
    return "above 1,000" if statistic > 0 else "below -1,000"


def count(n, one, many):
    """``"1 condition"``, ``"2 conditions"``."""
    return f"{n} {one if n == 1 else many}"


def finite(x, name):
    """``x`` as a finite float64 NumPy array with at least one entry."""
    x = np.asarray(checks.finite(checks.numbers(x, name), name), dtype=float)
    if x.size == 0:
        raise ValueError(f"{name} has shape {x.shape}; give at least one number")
    return x


def positive(number, name):
    """``number`` as a float above 0."""
    return checks.real(number, name, above=0)


def not_negative(number, name):
    """``number`` as a float of at least 0."""
    return checks.real(number, name, least=0)


def repeats(x, name):
    """Number of repeats, two or more, down the first axis."""
    if x.ndim == 0 or len(x) < 2:
        raise ValueError(f"{name} has shape {x.shape}; give two repeats or more down the first axis")
    return len(x)


def level(confidence):
    """One minus ``confidence``."""
    if not 0.5 < checks.real(confidence, "confidence") < 1:
        raise ValueError(f"confidence = {confidence}; give a number strictly between 0.5 and 1")
    return 1 - confidence
