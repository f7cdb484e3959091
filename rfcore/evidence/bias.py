"""The rule for estimates without bias; its t tests are those of :mod:`rfcore.evidence.statistics`."""

import numpy as np
from scipy.special import stdtrit

from rfcore import checks
from rfcore.evidence.means import POWER, count, finite, guarded, positive, repeats, student
from rfcore.evidence.verdicts import Decision, Verdict, with_error

NO_VARIANCE = 3.0  # times the threshold, where a tail may hide: an estimate may have none


def unbiased(estimates, truth, smallest_bias, false_alarm=1e-4, unit=None):
    """Independent estimates have the truth as their mean, entry by entry and averaged over the entries.

    Student's t of every entry and of the mean over entries, together at ``false_alarm`` (Bonferroni: valid
    whatever the dependence between entries). Errors are centred on the truth before anything is squared. An
    entry that never varies must equal the truth to rounding; one that is always zero though the truth is not
    was never sampled, and is "inconclusive".

    Args:
        estimates: independent repeats, shape (repeats, ...).
        truth: what they should average to, shape (...) or a scalar.
        smallest_bias: the size of error that the claim is about, in the units of the estimate; broadcasts to
            one repeat. "Inconclusive" if a bias of this size would be missed more than one time in ten.
        false_alarm: chance of "not reproduced" for an unbiased estimate, all entries together.
        unit: unit of the estimates, a text.

    >>> import numpy as np
    >>> from rfcore import evidence
    >>> estimates = np.random.default_rng(0).normal(1.0, 0.1, size=200)
    >>> [evidence.unbiased(estimates, truth, smallest_bias=0.1).verdict.value for truth in (1.0, 1.2)]
    ['reproduced', 'not reproduced']
    """
    dtype = np.dtype(getattr(estimates, "dtype", float))
    eps = np.finfo(dtype if dtype.kind == "f" else float).eps
    estimates, truth, smallest = finite(estimates, "estimates"), finite(truth, "truth"), finite(smallest_bias, "smallest_bias")
    n, shape = repeats(estimates, "estimates"), estimates.shape[1:]
    false_alarm = checks.probability(false_alarm, "false_alarm")
    if truth.shape not in ((), shape):
        raise ValueError(f"truth has shape {truth.shape}, one repeat of estimates {shape}; give one truth for all, or one each")
    positive(smallest.min(), "smallest_bias")
    try:
        smallest = np.broadcast_to(smallest, shape).reshape(-1)
    except ValueError:
        got = f"smallest_bias has shape {smallest.shape}, one repeat of estimates {shape}"
        raise ValueError(f"{got}; give shapes that broadcast") from None
    errors = (estimates - truth).reshape(n, -1)
    floor = 64 * eps * np.maximum(np.abs(truth), np.abs(estimates).max(0)).reshape(-1)
    unseen = (~estimates.any(0) & (truth != 0)).reshape(-1)
    if errors.shape[1] > 1:
        # The plain average sees a bias that all entries share. Weights from the same data would bias it.
        errors, floor = np.column_stack([errors, errors.mean(1)]), np.append(floor, floor.mean())
        smallest, unseen = np.append(smallest, np.inf), np.append(unseen, False)
    mean, se, varies, t, skew = student(errors, floor)
    wrong = ~varies & (np.abs(mean) > floor) & ~unseen
    threshold = -stdtrit(n - 1, false_alarm / 2 / t.size)
    needed = guarded(threshold, skew, np.sign(t), NO_VARIANCE)
    # A bias may pull the mean to either side: what could hide is what could hide on the worse one.
    detectable = (guarded(threshold, skew, -np.sign(skew), NO_VARIANCE) + stdtrit(n - 1, POWER)) * se
    worst = int(np.argmax(np.where(wrong, np.inf, np.abs(t) / needed)))
    blind = int(np.argmax(detectable / smallest))
    if wrong.any() or abs(t[worst]) > needed[worst]:
        verdict = Verdict.NOT_REPRODUCED
    elif unseen.any() or detectable[blind] > smallest[blind] or np.any(np.abs(t) > threshold):
        verdict = Verdict.INCONCLUSIVE
    else:
        verdict = Verdict.REPRODUCED
    detail = (
        f"Largest |t| of {np.sum(varies)} varying means over {n} repeats: {abs(t[worst]):.3g}, threshold "
        f"{needed[worst]:.3g} (false alarm {false_alarm:.0e} in all); a bias up to {detectable.max():.2g} could hide in "
        "one of them"
    )
    detail += f", {detectable[-1]:.2g} in their average." if t.size > 1 else "."
    if n_skewed := np.sum(np.abs(skew) * threshold > 0.5):
        detail += f" {count(n_skewed, 'mean has', 'means have')} so skewed a law that a tail may hide: threshold tripled."
    if wrong.any() or unseen.any():
        detail += f" Constant and wrong: {np.sum(wrong)}; never sampled: {np.sum(unseen)}."
    seen = f"a bias of {with_error(smallest[blind], None, unit)} would be seen"
    if detectable[blind] > smallest[blind]:
        seen = f"a bias of {with_error(detectable[blind], None, unit)} could hide, "
        seen += f"{with_error(smallest[blind], None, unit)} is what matters"
    where = f" in the worst of {t.size} means" if t.size > 1 else ""
    return Decision(
        verdict,
        "unbiased",
        mean[worst],
        se[worst],
        statistic=t[worst],
        detail=detail,
        limit=smallest[blind],
        unit=unit,
        level=false_alarm,
        miss=1 - POWER,
        comparisons=t.size,
        repeats=n,
        finding=f"off by {with_error(mean[worst], se[worst], unit)}{where}; {seen}",
    )
