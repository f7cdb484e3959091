"""The rules that decide claims: arrays in, a :class:`~rfcore.evidence.verdicts.Decision` out.

Every rule separates three outcomes: the data show the claim, they show its opposite, or they are too few to
show either; the last is never green. `confidence` is one minus the chance of a false "reproduced" when the
claim just fails; the chance of a false "not reproduced" is the same at most, over all conditions together.
Errors of random features are skewed, and plain Student's t then errs by factors of tens in its tails: every t here
is corrected for skewness [1]_, which costs normal errors up to a factor 1.6 in level at 10 repeats and nothing
from 30 on. ``tests/test_evidence_statistics.py`` measures error rates and power by simulation.

References
----------
.. [1] P. Hall, "On the removal of skewness by transformation", J. R. Statist. Soc. B 54 (1992), 221-228.
"""

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit
from scipy.stats import binom

from rfcore.evidence.verdicts import Decision, Verdict

POWER = 0.9  # the bias that `unbiased` calls detectable would be caught nine times in ten


def identity(ours, exact, tolerance, relative=False):
    """Two ways to compute the same numbers agree: max abs(ours - exact) <= tolerance.

    Parameters
    ----------
    ours, exact : array_like
        The numbers, of shapes that broadcast.
    tolerance : float
        What the arithmetic can lose: rounding times conditioning and number of operations, or a proven
        truncation error. Derive it before looking; never widen it until it passes.
    relative : bool
        Divide the error by max abs(exact).
    """
    ours, exact = _finite("ours", ours), _finite("exact", exact)
    _positive("tolerance", tolerance)
    scale = np.abs(exact).max() if relative else 1.0
    if scale == 0:
        raise ValueError("exact=0 everywhere: compare with relative=False")
    error = np.abs(ours - exact).max() / scale
    detail = f"Largest {'relative' if relative else 'absolute'} error; tolerance {tolerance:.2g}."
    verdict = Verdict.REPRODUCED if error <= tolerance else Verdict.NOT_REPRODUCED
    return Decision(verdict, "identity", error, statistic=error / tolerance, detail=detail)


def unbiased(estimates, truth, false_alarm=1e-4, smallest_bias=None):
    """Independent estimates have the truth as their mean, entry by entry and averaged over the entries.

    Student's t of every entry and of the mean over entries, together at `false_alarm` (Bonferroni: valid
    whatever the dependence between entries). Errors are centred on the truth before anything is squared.

    Parameters
    ----------
    estimates : array_like, shape (repeats, ...)
        Independent repeats.
    truth : array_like, shape (...)
        What they should average to.
    false_alarm : float
        Chance of "not reproduced" for an unbiased estimate, all entries together.
    smallest_bias : array_like, optional
        The bias that the test must be able to see, in the units of the estimate, for all entries or for
        each. "Inconclusive" if a bias of this size would be missed more than one time in ten.

    Notes
    -----
    An entry that never varies must equal the truth to rounding; one that is always zero though the truth is
    not was never sampled, and is "inconclusive".
    """
    raw = np.asarray(estimates)
    eps = np.finfo(raw.dtype if raw.dtype.kind == "f" else float).eps
    estimates, truth = _finite("estimates", estimates), _finite("truth", truth)
    n, shape = _repeats("estimates", estimates), estimates.shape[1:]
    if not 0 < false_alarm < 1:
        raise ValueError(f"false_alarm={false_alarm} must lie strictly between 0 and 1")
    if truth.shape not in ((), shape):
        raise ValueError(f"truth has shape {truth.shape}, one repeat of estimates {shape}: they must agree")
    errors = (estimates - truth).reshape(n, -1)
    floor = 64 * eps * np.maximum(np.abs(truth), np.abs(estimates).max(0)).reshape(-1)
    unseen = (~estimates.any(0) & (truth != 0)).reshape(-1)
    smallest = np.inf if smallest_bias is None else _finite("smallest_bias", smallest_bias)
    smallest = np.broadcast_to(smallest, shape).reshape(-1)
    if errors.shape[1] > 1:
        # The plain average sees a bias that all entries share. Weights from the same data would bias it.
        errors, floor = np.column_stack([errors, errors.mean(1)]), np.append(floor, floor.mean())
        smallest, unseen = np.append(smallest, np.inf), np.append(unseen, False)
    mean, se, varies, t = _student(errors, floor)
    wrong = ~varies & (np.abs(mean) > floor) & ~unseen
    threshold = -stdtrit(n - 1, false_alarm / 2 / t.size)
    detectable = (threshold + stdtrit(n - 1, POWER)) * se
    worst = int(np.argmax(np.where(wrong, np.inf, np.abs(t))))
    if wrong.any() or abs(t[worst]) > threshold:
        verdict = Verdict.NOT_REPRODUCED
    elif unseen.any() or np.any(detectable > smallest):
        verdict = Verdict.INCONCLUSIVE
    else:
        verdict = Verdict.REPRODUCED
    detail = (
        f"Largest |t| of {np.sum(varies)} varying means over {n} repeats, threshold {threshold:.3g} (false "
        f"alarm {false_alarm:.0e} in all); a bias up to {detectable.max():.2g} could hide in one of them"
    )
    detail += f", {detectable[-1]:.2g} in their average." if t.size > 1 else "."
    if wrong.any() or unseen.any():
        detail += f" Constant and wrong: {np.sum(wrong)}; never sampled: {np.sum(unseen)}."
    return Decision(verdict, "unbiased", mean[worst], se[worst], statistic=t[worst], detail=detail)


def order(better, worse, confidence=0.999, exact=False, robust=False):
    """`better` is smaller than `worse`, in every condition: paired differences on common random numbers.

    Each condition is tested one-sided at the full level: as all must pass, claiming them together needs no
    correction (an intersection-union test). One significantly opposite condition, at the level divided by
    their number, refutes the claim. A falling curve is the order of its neighbours:
    ``order(y[:, 1:], y[:, :-1])``.

    Parameters
    ----------
    better, worse : array_like, shape (repeats, ...)
        Independent repeats down the first axis; repeat i of both used the same random numbers. With `exact`
        there is no axis of repeats.
    confidence : float
        One minus the level of each test.
    exact : bool
        The numbers carry no noise (closed forms): strict inequality everywhere.
    robust : bool
        Sign test in place of Student's t, for heavy tails: the claim is then about the median difference.
    """
    gain = _finite("worse", worse) - _finite("better", better)
    if exact:
        verdict = _three_ways(gain.min() > 0, gain.min() <= 0)
        detail = f"Exact: the smallest of {gain.size} differences, {np.sum(gain > 0)} of them positive."
        return Decision(verdict, "order", gain.min(), statistic=gain.min(), detail=detail)
    verdict, weakest, mean, se, statistic, detail = _all_positive(gain, confidence, robust)
    return Decision(verdict, "order", mean[weakest], se[weakest], statistic=statistic, detail=detail)


def bound(value, bound, se=None, side="below", confidence=0.999):
    """A number is at most (with ``side="above"``: at least) `bound`.

    Parameters
    ----------
    value : float or array_like, shape (repeats, ...)
        One number, exact or with standard error `se`; or independent repeats, whose mean must keep the bound
        in every condition, as in :func:`order`.
    bound : float or array_like
        One bound for all conditions, or one each.
    se : float, optional
        Standard error of a single `value` (normal law).
    side : {"below", "above"}
        Where the value should lie.
    confidence : float
        One minus the level of each test.
    """
    if side not in ("below", "above"):
        raise ValueError(f"side={side!r} must be 'below' or 'above'")
    value, limit = _finite("value", value), _finite("bound", bound)
    margin = (limit - value) * (1 if side == "below" else -1)
    if value.ndim and se is not None:
        raise ValueError(f"se={se} goes with a single value; repeats bring their own standard error")
    if value.ndim:
        verdict, weakest, _, error, statistic, detail = _all_positive(margin, confidence)
        mean = value.mean(0).reshape(-1)[weakest]
        detail = f"{side.title()} {np.broadcast_to(limit, value.shape[1:]).flat[weakest]:.4g}. {detail}"
        return Decision(verdict, "bound", mean, error[weakest], statistic=statistic, detail=detail)
    if se is None:
        verdict, detail = _three_ways(margin >= 0, margin < 0), f"{side.title()} {limit:.4g}, exact."
        return Decision(verdict, "bound", value, statistic=margin, detail=detail)
    _positive("se", se)
    z, threshold = margin / se, -ndtri(_level(confidence))
    detail = f"{side.title()} {limit:.4g}; distance in standard errors, threshold {threshold:.3g}."
    verdict = _three_ways(z >= threshold, z <= -threshold)
    return Decision(verdict, "bound", value, se, statistic=z, detail=detail)


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
        Whether the effect goes the paper's way, decided by a rule of its own: a number that differs is then
        "reproduced in direction".
    resolution : float, optional
        The largest `se` at which agreement means something, else it is "inconclusive"; a fifth of abs(paper)
        if not given.
    """
    for name, number in {"ours": ours, "paper": paper}.items():
        _finite(name, number)
    for name, number in {"se": se, "paper_se": paper_se, "rounding": rounding}.items():
        if not 0 <= number < np.inf:
            raise ValueError(f"{name}={number} must be finite and not negative")
    resolution = abs(paper) / 5 if resolution is None else resolution
    _positive("resolution", resolution)
    gap = max(abs(ours - paper) - rounding * (1 + 1e-9), 0.0)
    both = np.hypot(se, paper_se)
    z = gap / both if both else None
    if gap > 3 * both:
        verdict = Verdict.IN_DIRECTION if in_direction else Verdict.NOT_REPRODUCED
    else:
        verdict = Verdict.REPRODUCED if se <= resolution else Verdict.INCONCLUSIVE
    detail = f"z at most 3; standard error at most {resolution:.2g}." if both else "Exact: the digits decide."
    return Decision(verdict, "value", ours, se, paper, paper_se, z, detail)


def slope(x, y_repeats, expected, resolution, confidence=0.999):
    """The log-log slope of y against x is `expected`, to within plus or minus `resolution`.

    A line is fitted to log y against log x in each repeat; the mean slope must lie significantly inside the
    window on both sides (two one-sided t tests).

    Parameters
    ----------
    x : array_like, shape (k,)
        Positive, not all equal.
    y_repeats : array_like, shape (repeats, ..., k)
        Positive. Each curve of the middle axes must pass.
    expected, resolution : float
        Centre and half-width of the window: "about -1/2" is a claim only with a half-width.
    confidence : float
        One minus the level of each test.
    """
    x, y = _finite("x", x), _finite("y_repeats", y_repeats)
    _positive("resolution", resolution)
    if x.ndim != 1 or y.ndim < 2 or y.shape[-1] != len(x):
        raise ValueError(f"y_repeats has shape {y.shape}, x {x.shape}: must be (repeats, ..., k) and (k,)")
    if min(x.min(), y.min()) <= 0 or np.ptp(x) == 0:
        raise ValueError("x and y_repeats must be positive, and x not constant, for a log-log slope")
    centred = np.log(x) - np.log(x).mean()
    slopes = (np.log(y) @ centred / (centred @ centred)).reshape(len(y), -1)
    margins = np.stack([slopes - (expected - resolution), (expected + resolution) - slopes], -1)
    verdict, weakest, _, se, statistic, detail = _all_positive(margins, confidence)
    ours, detail = slopes[:, weakest // 2].mean(), f"Window {expected:.3g} ± {resolution:.2g}. {detail}"
    return Decision(verdict, "slope", ours, se[weakest], statistic=statistic, detail=detail)


def _all_positive(margin, confidence, robust=False):
    """Test that the mean (robust: the median) of every column of `margin` is positive; name the weakest."""
    n, level = _repeats("repeats", margin), _level(confidence)
    margin = margin.reshape(n, -1)
    # Repeats that do not vary (a tie? a reused key?) carry no measure of their own error: never significant.
    mean, se, varies, statistic = _student(margin, 64 * np.finfo(float).eps * np.abs(margin).max(0))
    if robust:
        wins, untied = (margin > 0).sum(0), (margin != 0).sum(0)
        statistic = (2 * wins - untied) / np.sqrt(np.maximum(untied, 1))
        p_holds, p_fails = binom.sf(wins - 1, untied, 0.5), binom.cdf(wins, untied, 0.5)
    else:
        p_holds, p_fails = stdtr(n - 1, -statistic), stdtr(n - 1, statistic)
    shown, refuted = varies & (p_holds <= level), varies & (p_fails <= level / mean.size)
    verdict, weakest = _three_ways(shown.all(), refuted.any()), int(np.argmin(statistic))
    name = "Sign test" if robust else "t"
    detail = f"{name} of the weakest of {mean.size} conditions, level {level:.2g}, {n} repeats."
    if not varies.all():
        detail += f" {np.sum(~varies)} do not vary over the repeats."
    return verdict, weakest, mean, se, statistic[weakest], detail


def _student(draws, floor):
    """Mean of every column, its standard error, whether it varies by more than floor, and its corrected t."""
    n, mean = len(draws), draws.mean(0)
    sd = draws.std(0, ddof=1)
    varies = sd > floor
    scale = np.where(varies, sd, 1)
    t = np.where(varies, np.sqrt(n) * mean / scale, 0)
    skew = np.where(varies, (((draws - mean) / scale) ** 3).mean(0), 0) / np.sqrt(n)
    return mean, sd / np.sqrt(n), varies, t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6  # Hall, monotone in t


def _three_ways(shown, refuted):
    return Verdict.REPRODUCED if shown else Verdict.NOT_REPRODUCED if refuted else Verdict.INCONCLUSIVE


def _finite(name, numbers):
    numbers = np.asarray(numbers, dtype=float)
    if numbers.size == 0 or not np.isfinite(numbers).all():
        bad = np.count_nonzero(~np.isfinite(numbers))
        raise ValueError(f"{name} must be finite and not empty: {bad} of its {numbers.size} numbers are not")
    return numbers


def _positive(name, number):
    if not 0 < number < np.inf:
        raise ValueError(f"{name}={number} must be positive and finite: name one")


def _repeats(name, numbers):
    if numbers.ndim == 0 or len(numbers) < 2:
        raise ValueError(f"{name} of shape {numbers.shape}: needs two repeats or more down the first axis")
    return len(numbers)


def _level(confidence):
    if not 0.5 < confidence < 1:
        raise ValueError(f"confidence={confidence} must lie strictly between 0.5 and 1")
    return 1 - confidence
