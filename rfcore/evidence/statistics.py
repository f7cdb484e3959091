"""The rules that decide claims: arrays in, a :class:`~rfcore.evidence.verdicts.Decision` out.

Every rule separates three outcomes: the data show the claim, the data show its opposite, or the data are too
few to show either; the last is never green. "Confidence" bounds the chance of a false "reproduced" when the
claim sits on its boundary; the chance of a false "not reproduced" is bounded likewise, divided by the number
of conditions. ``tests/test_evidence_statistics.py`` measures both, and the power, by simulation.
"""

import numpy as np
from scipy import stats

from .verdicts import Decision, Verdict

POWER = 0.9  # the detectable bias that `unbiased` reports is one it would have caught nine times in ten


def identity(ours, exact, tolerance, relative=False):
    """Two ways to compute the same numbers agree: max abs(ours - exact) <= tolerance.

    Parameters
    ----------
    ours, exact : array_like
        The numbers compared, of shapes that broadcast.
    tolerance : float
        What the arithmetic can lose: a few units of rounding times the conditioning and the number of
        operations, or a proven truncation error. Derive it before looking; never widen it until it passes.
    relative : bool
        Divide the error by max abs(exact).

    Returns
    -------
    Decision
        ``ours`` is the largest error.
    """
    ours, exact = _finite("ours", ours), _finite("exact", exact)
    _positive("tolerance", tolerance)
    error = float(np.max(np.abs(ours - exact)))
    scale = float(np.max(np.abs(exact))) if relative else 1.0
    if scale == 0:
        raise ValueError("exact is zero everywhere: compare with relative=False")
    error /= scale
    verdict = Verdict.REPRODUCED if error <= tolerance else Verdict.NOT_REPRODUCED
    kind = "relative" if relative else "absolute"
    detail = f"Largest {kind} error over {np.broadcast(ours, exact).size} numbers; tolerance {tolerance:.2g}."
    return Decision(verdict, "identity", ours=error, statistic=error / tolerance, detail=detail)


def unbiased(estimates, truth, false_alarm=1e-4, smallest_bias=None):
    """The mean of independent estimates is the truth, entry by entry and on average over the entries.

    Student's t of every entry and of the mean over entries, together at `false_alarm` (Bonferroni: valid
    whatever the dependence between entries). Errors are centred on the truth before anything is squared.
    The mean over entries is not weighted by the sample variances: such weights bias skewed samples.

    Parameters
    ----------
    estimates : array_like, shape (repeats, ...)
        Independent repeats of the estimate.
    truth : array_like, shape (...)
        What they should average to.
    false_alarm : float
        Chance of "not reproduced" for an unbiased estimate, all entries together.
    smallest_bias : array_like, optional
        The bias (in the units of the estimate; per entry, if an array) that the test must be able to see:
        if it would be missed more than one time in ten, the verdict is "inconclusive".

    Returns
    -------
    Decision
        ``ours`` is the mean error of the entry with the largest t, ``statistic`` that t.

    Notes
    -----
    An entry that does not vary (beyond rounding) must equal the truth to rounding. The t law is exact for
    normal errors; for skewed ones it is off in the far tail until there are many repeats.
    """
    raw = np.asarray(estimates)
    rounding = np.finfo(raw.dtype if raw.dtype.kind == "f" else float).eps
    estimates, truth = _finite("estimates", estimates), _finite("truth", truth)
    n = _repeats("estimates", estimates)
    if not 0 < false_alarm < 1:
        raise ValueError(f"false_alarm={false_alarm} must lie strictly between 0 and 1")
    if np.broadcast_shapes(estimates.shape[1:], truth.shape) != estimates.shape[1:]:
        raise ValueError(f"truth has shape {truth.shape}, one repeat of estimates has {estimates.shape[1:]}")
    errors = estimates - truth
    floor = 64 * rounding * np.maximum(np.abs(truth), np.abs(estimates).max(0)).reshape(-1)
    errors = errors.reshape(n, -1)
    mean, se = errors.mean(0), errors.std(0, ddof=1) / np.sqrt(n)
    fixed = se * np.sqrt(n) <= floor
    if np.any(fixed & (np.abs(mean) > floor)):
        worst = int(np.argmax(np.where(fixed, np.abs(mean), 0)))
        detail = f"Entry {worst} never varies over {n} repeats, yet differs from the truth."
        return Decision(Verdict.NOT_REPRODUCED, "unbiased", ours=mean[worst], se=0.0, detail=detail)
    if fixed.all():
        detail = f"All {mean.size} entries equal the truth in each of {n} repeats, up to rounding."
        return Decision(Verdict.REPRODUCED, "unbiased", ours=0.0, se=0.0, detail=detail)
    common = errors.mean(1)  # per repeat; the average over entries sees a small bias that all of them share
    mean, se = np.append(mean[~fixed], common.mean()), np.append(se[~fixed], common.std(ddof=1) / np.sqrt(n))
    t = mean / np.where(se > 0, se, np.inf)
    threshold = stats.t.isf(false_alarm / 2 / t.size, n - 1)
    detectable = (threshold + stats.t.ppf(POWER, n - 1)) * se
    worst = int(np.argmax(np.abs(t)))
    verdict = Verdict.REPRODUCED if abs(t[worst]) <= threshold else Verdict.NOT_REPRODUCED
    if smallest_bias is not None and verdict is Verdict.REPRODUCED:
        wanted = np.broadcast_to(_finite("smallest_bias", smallest_bias), estimates.shape[1:])
        if np.any(detectable[:-1] > wanted.reshape(-1)[~fixed]):
            verdict = Verdict.INCONCLUSIVE
    detail = (
        f"Largest |t| of {t.size - 1} entries and their mean, threshold {threshold:.3g} (false alarm "
        f"{false_alarm:.0e} in all, {n} repeats). A bias of {detectable[:-1].max():.2g} in any one entry, or "
        f"of {detectable[-1]:.2g} in their mean, would have been seen with {POWER:.0%} power."
    )
    return Decision(verdict, "unbiased", mean[worst], se[worst], statistic=t[worst], detail=detail)


def order(better, worse, confidence=0.999, exact=False, robust=False):
    """`better` is smaller than `worse`, in every condition: paired differences on common random numbers.

    Each condition is tested one-sided at the full level: all of them must pass for the claim to pass, so
    claiming them together needs no correction (an intersection-union test). The claim is refuted when one
    condition is significantly opposite, at the level divided by the number of conditions. A falling curve is
    the order of its neighbours: ``order(y[:, 1:], y[:, :-1])``.

    Parameters
    ----------
    better, worse : array_like, shape (repeats,) or (repeats, ...)
        Independent repeats down the first axis; repeat i of both used the same random numbers. With `exact`,
        any shape: there is no repeat axis.
    confidence : float
        One minus the level of each test.
    exact : bool
        The numbers carry no noise (closed forms): the strict inequality must hold everywhere.
    robust : bool
        Sign test in place of Student's t, for heavy tails: the claim is then about the median difference.

    Returns
    -------
    Decision
        ``ours`` is the mean difference (worse - better) in the weakest condition.
    """
    gain = _finite("worse", worse) - _finite("better", better)
    if exact:
        verdict = Verdict.REPRODUCED if gain.min() > 0 else Verdict.NOT_REPRODUCED
        detail = f"Exact: the smallest of {gain.size} differences, {np.sum(gain > 0)} of them positive."
        return Decision(verdict, "order", ours=gain.min(), statistic=gain.min(), detail=detail)
    verdict, weakest, mean, se, statistic, detail = _all_hold(gain, confidence, robust)
    return Decision(verdict, "order", mean[weakest], se[weakest], statistic=statistic, detail=detail)


def bound(value, bound, se=None, side="below", confidence=0.999):
    """A number is at most (or, with ``side="above"``, at least) `bound`.

    Parameters
    ----------
    value : float or array_like, shape (repeats,) or (repeats, ...)
        A single number, exact or with standard error `se` (normal law); or independent repeats, of which
        the mean must keep the bound in every condition, as in :func:`order`.
    bound : float or array_like
        The bound: one for all conditions, or one for each.
    se : float, optional
        Standard error of a single `value`.
    side : {"below", "above"}
        On which side of the bound the value should lie.
    confidence : float
        One minus the level of each test.

    Returns
    -------
    Decision
        ``ours`` is the mean in the weakest condition.
    """
    if side not in ("below", "above"):
        raise ValueError(f"side={side!r} must be 'below' or 'above'")
    value, limit = _finite("value", value), _finite("bound", bound)
    sign = 1 if side == "below" else -1
    if value.ndim:
        if se is not None:
            raise ValueError(f"se={se} goes with a single value; repeats bring their own standard error")
        verdict, weakest, mean, se, statistic, detail = _all_hold(sign * (limit - value), confidence)
        limit = np.broadcast_to(limit, value.shape[1:]).reshape(-1)[weakest]
        ours, detail = limit - sign * mean[weakest], f"Bound {limit:.4g}. {detail}"
        return Decision(verdict, "bound", ours, se[weakest], statistic=statistic, detail=detail)
    margin = sign * float(limit - value)
    if se is None:
        verdict = Verdict.REPRODUCED if margin >= 0 else Verdict.NOT_REPRODUCED
        return Decision(verdict, "bound", value, statistic=margin, detail=f"Bound {limit:.4g}, exact.")
    _positive("se", se)
    threshold = stats.norm.ppf(_level(confidence))
    verdict = _three_ways(margin / se >= threshold, margin / se <= -threshold)
    detail = f"Bound {limit:.4g}. Distance to it in standard errors, threshold {threshold:.3g}."
    return Decision(verdict, "bound", value, se, statistic=margin / se, detail=detail)


def value(ours, se, paper, paper_se=0.0, rounding=0.0, in_direction=None, resolution=None):
    """Our number is the paper's, within three standard errors of the difference.

    A printed number stands for every number that rounds to it: z is measured from the nearest of them, in
    units of sqrt(se^2 + paper_se^2). Where `paper_se` leaves out a source of variance (one split of the data,
    one trained network) say so in the claim, and give a `se` that contains it.

    Parameters
    ----------
    ours, se : float
        Our number and its standard error (0 for a closed form).
    paper, paper_se : float
        The printed number and its standard error.
    rounding : float
        Half a unit of the last printed digit: 0.00005 for 0.0078.
    in_direction : bool, optional
        Whether the effect goes the paper's way, decided by a rule of its own (:func:`order`): then a number
        that differs is "reproduced in direction" rather than "not reproduced".
    resolution : float, optional
        The largest `se` at which agreement means something; a fifth of abs(paper) if not given. Above it,
        agreement is "inconclusive".

    Returns
    -------
    Decision
        ``statistic`` is z.
    """
    numbers = {"ours": ours, "se": se, "paper": paper, "paper_se": paper_se, "rounding": rounding}
    ours, se, paper, paper_se, rounding = (float(_finite(name, item)) for name, item in numbers.items())
    for name, number in (("se", se), ("paper_se", paper_se), ("rounding", rounding)):
        if number < 0:
            raise ValueError(f"{name}={number} must not be negative")
    if resolution is None:
        if paper == 0:
            raise ValueError("paper=0 gives no scale: name the resolution")
        resolution = abs(paper) / 5
    _positive("resolution", resolution)
    gap = np.sign(ours - paper) * max(abs(ours - paper) - rounding * (1 + 1e-9), 0.0)
    both = np.hypot(se, paper_se)
    if both == 0:
        z, close, detail = None, gap == 0, "Exact: the printed digits decide."
    else:
        z, close = gap / both, abs(gap) <= 3 * both
        detail = f"|z| <= 3 required; a standard error up to {resolution:.2g} counts as a test."
    if close:
        verdict = Verdict.REPRODUCED if se <= resolution else Verdict.INCONCLUSIVE
    else:
        verdict = Verdict.IN_DIRECTION if in_direction else Verdict.NOT_REPRODUCED
    return Decision(verdict, "value", ours, se, paper, paper_se, z, detail)


def slope(x, y_repeats, expected, resolution, confidence=0.999):
    """The log-log slope of y against x is `expected`, to within plus or minus `resolution`.

    A straight line is fitted to log y against log x in each repeat; the mean slope must lie significantly
    inside the window on both sides (two one-sided t tests). "Inconclusive" if the repeats cannot place it.

    Parameters
    ----------
    x : array_like, shape (k,)
        Positive abscissae, at least two of them different.
    y_repeats : array_like, shape (repeats, ..., k)
        Positive ordinates. Each curve of the middle axes must pass.
    expected, resolution : float
        Centre and half-width of the window. "About -1/2" is a claim only with a half-width.
    confidence : float
        One minus the level of each test.

    Returns
    -------
    Decision
        ``ours`` is the mean slope of the curve nearest to leaving the window.
    """
    x, y = _finite("x", x), _finite("y_repeats", y_repeats)
    _positive("resolution", resolution)
    if x.ndim != 1 or y.ndim < 2 or y.shape[-1] != len(x):
        raise ValueError(f"x of shape {x.shape} and y_repeats of shape {y.shape} must end in the same axis")
    if min(x.min(), y.min()) <= 0 or np.ptp(x) == 0:
        raise ValueError("a log-log slope needs positive numbers and at least two different x")
    centred = np.log(x) - np.log(x).mean()
    slopes = (np.log(y) @ centred / (centred @ centred)).reshape(len(y), -1)
    margins = np.stack([slopes - (expected - resolution), (expected + resolution) - slopes], -1)
    verdict, weakest, _, se, statistic, detail = _all_hold(margins, confidence)
    ours = slopes[:, weakest // 2].mean()
    detail = f"Window {expected:.3g} ± {resolution:.2g}, {slopes.shape[1]} curves. {detail}"
    return Decision(verdict, "slope", ours, se[weakest], statistic=statistic, detail=detail)


def _all_hold(margin, confidence, robust=False):
    """Test that the mean (robust: the median) of every column of `margin` is positive."""
    n = _repeats("repeats", margin)
    level = 1 - _level(confidence)
    margin = margin.reshape(n, -1)
    mean, se = margin.mean(0), margin.std(0, ddof=1) / np.sqrt(n)
    # Repeats that do not vary (a reused key? a tie?) carry no measure of their own error: never significant.
    varies = se * np.sqrt(n) > 64 * np.finfo(float).eps * np.abs(margin).max(0)
    if robust:
        wins, decided = (margin > 0).sum(0), (margin != 0).sum(0)
        statistic = (2 * wins - decided) / np.sqrt(np.maximum(decided, 1))
        holds, fails = stats.binom.sf(wins - 1, decided, 0.5), stats.binom.cdf(wins, decided, 0.5)
    else:
        statistic = mean / np.where(varies, se, np.inf)
        holds, fails = stats.t.sf(statistic, n - 1), stats.t.cdf(statistic, n - 1)
    verdict = _three_ways(np.all(varies & (holds <= level)), np.any(varies & (fails <= level / mean.size)))
    weakest = int(np.argmin(statistic))
    name = "Sign test" if robust else "t"
    detail = f"{name} of the weakest of {mean.size} conditions, one-sided level {level:.2g}, {n} repeats."
    if not varies.all():
        detail += f" {np.count_nonzero(~varies)} conditions do not vary over the repeats."
    return verdict, weakest, mean, se, statistic[weakest], detail


def _three_ways(shown, refuted):
    return Verdict.REPRODUCED if shown else Verdict.NOT_REPRODUCED if refuted else Verdict.INCONCLUSIVE


def _finite(name, numbers):
    numbers = np.asarray(numbers, dtype=float)
    if numbers.size == 0 or not np.isfinite(numbers).all():
        bad = np.count_nonzero(~np.isfinite(numbers))
        raise ValueError(f"{name} must be finite, and not empty: {bad} of its {numbers.size} numbers are not")
    return numbers


def _positive(name, number):
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"{name}={number} must be positive and finite")


def _repeats(name, numbers):
    if numbers.ndim == 0 or len(numbers) < 2:
        raise ValueError(f"{name} of shape {numbers.shape}: needs two repeats or more down the first axis")
    return len(numbers)


def _level(confidence):
    if not 0.5 < confidence < 1:
        raise ValueError(f"confidence={confidence} must lie strictly between 0.5 and 1")
    return confidence
