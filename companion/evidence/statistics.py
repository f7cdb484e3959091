"""The rules that decide claims from independent repeats: arrays in, a Decision out.

Every rule separates three outcomes: the data show the claim, they show its opposite, or they are too few to
show either; the last is never green. ``confidence`` is one minus the chance of a false "reproduced" when the
claim just fails; the chance of a false "not reproduced" is the same at most, over all conditions together.

Errors of random features are skewed, and plain Student's t then errs by factors of tens in its tails: every t
here is corrected for skewness (Hall, 1992). No test of a mean keeps its level for every law (Bahadur and
Savage, Annals of Mathematical Statistics 27, 1956): the sample may not have shown the tail that matters. So
where the repeats are skewed enough that a tail could hide (skewness / sqrt(n) times the threshold above 1/2),
a mean that has moved away from that tail must pass half as much again; short of that the outcome is
"inconclusive". What is left, of a promised chance of 1 in 1000 (one-sided, on the worse side; per thousand):

====================  =======  =======  ========  =========
law of one repeat     n = 10   n = 30   n = 100   n = 1000
====================  =======  =======  ========  =========
normal                1.5      1.2      1.0       1.0
product of normals    0.7      2.8      2.4       1.5
exponential           7.4      2.0      1.0       1.1
chi-square            7.1      0.9      0.6       1.0
lognormal             16       4.0      2.0       1.6
Pareto, index 1.2     92       36       10        7
====================  =======  =======  ========  =========

Without that rule the last two lines would read 21, 8.9, 4.0, 1.6 and 156, 100, 72, 91. At ten repeats of
skewed errors, then, "1 in 1000" is up to 16 in 1000; from a hundred on it holds within a factor 2.5. A law
without a variance, the last one, is past help here: where a mean may have none, ask for medians
(``robust=True``, a sign test). :func:`~companion.evidence.statistics.unbiased`, whose claims are about means
and nothing else, asks three times the threshold (62, 12, 1.3 and 0.2 in the last line). A gain of 25 standard
errors from 12 repeats, of 21 from 30, is shown however skewed they are. ``tests/test_evidence_rates.py``
measures the table, and error rates and power of every rule.
"""

import numpy as np
from scipy.special import ndtri, stdtrit

from companion.evidence.agreement import same_shape
from companion.evidence.means import (
    POWER,
    all_positive,
    closest,
    count,
    finite,
    guarded,
    level,
    not_negative,
    positive,
    repeats,
    student,
    three_ways,
    without_noise,
)
from companion.evidence.verdicts import Decision, Verdict, with_error
from rfcore import checks


def order(better, worse, confidence=0.999, exact=False, robust=False, unit=None):
    """``better`` is smaller than ``worse``, in every condition: paired differences on common random numbers.

    Each condition is tested one-sided at the full level: as all must pass, claiming them together needs no
    correction (an intersection-union test). One significantly opposite condition, at the level divided by
    their number, refutes the claim. Of numbers without noise a difference within 1e-12 of their size may be
    rounding, and is "inconclusive" (unless they are integers). A falling curve is the order of its
    neighbours: ``order(y[:, 1:], y[:, :-1])``.

    Args:
        better, worse: shape (repeats, ...), equal, or one a scalar; repeats are independent, and repeat i of
            both used the same random numbers. With ``exact`` there is no axis of repeats.
        confidence: one minus the level of each test.
        exact: the numbers carry no noise (closed forms): strict inequality everywhere.
        robust: sign test in place of Student's t, for heavy tails: the claim is then about the median
            difference.
        unit: unit of the numbers, a text.

    Source: Student, 1908, corrected for skewness as by Hall, 1992.

    >>> from companion import evidence
    >>> evidence.order([1.0, 2.0], [2.0, 3.0], exact=True).finding
    '1 against 2, smaller by 1 in the closest of 2 conditions'
    """
    pair = same_shape(better, "better", worse, "worse")
    counts, (better, worse) = _are_counts(better, worse), pair
    level(confidence)
    gain = worse - better
    if exact:
        scale = np.maximum(np.abs(better), np.abs(worse))
        verdict, weakest, found = without_noise(gain, scale, counts, strict=True)
        pair = [x.reshape(-1)[weakest] for x in (better, worse)]
    else:
        verdict, weakest, found = all_positive(gain, confidence, "better", robust)
        centre = np.median if robust else np.mean
        pair = [centre(x, 0).reshape(-1)[weakest] for x in (better, worse)]
    ours = pair[1] - pair[0] if exact else centre(gain, 0).reshape(-1)[weakest]
    by = f"{'smaller' if ours > 0 else 'larger'} by {with_error(abs(ours), found.get('se'), unit)}" if ours else "no difference"
    shown = [with_error(number, None) for number in pair]
    both = f"{shown[0]} against {with_error(pair[1], None, unit)}, "
    told = 0 in pair or (ours and f"{pair[0]:.4g}" == f"{pair[1]:.4g}")  # "0.1 against 0.1, smaller by 1e-07": the difference tells it
    finding = f"{'medians: ' if robust else ''}{'' if told else both}{by}{closest(found['comparisons'], ours > 0)}"
    return Decision(verdict, "order", ours, limit=0.0, unit=unit, pair=tuple(pair), finding=finding, **found)


def bound(
    value, bound, se=None, side="below", confidence=0.999, exact=False, robust=False, geometric=False, only_rounding=False, unit=None
):
    """A number is at most (with ``side="above"``: at least) ``bound``.

    Of numbers without noise a margin within 1e-12 of their size may be rounding, and is "inconclusive"
    (unless they are integers). A timing, the largest z, one draw of anything is *not* exact.

    Args:
        value: repeats, shape (repeats, ...), whose mean must keep the bound in every condition, as in
            :func:`order`; or one number with standard error ``se``; or, with ``exact``, numbers without
            noise.
        bound: one bound for all conditions, or one each, of the shape of one repeat.
        se: standard error of a single ``value`` (normal law).
        side: "below" or "above", where the value should lie.
        confidence: one minus the level of each test.
        exact: the numbers carry no noise (closed forms, counts), and there is no axis of repeats.
        robust: sign test in place of Student's t, for timings with stragglers: the claim is then about the
            median.
        geometric: the claim is about the geometric mean, as fits ratios: logarithms are tested, and the
            numbers shown are none.
        only_rounding: with ``exact``: where the bound holds, the numbers are rounding noise (the largest of
            differences that vanish, a sum that cancels); the bound alone is shown, and compared with other
            runs.
        unit: unit of the numbers, a text.

    Source: Student, 1908, corrected for skewness as by Hall, 1992.

    >>> from companion import evidence
    >>> evidence.bound(29.71, 22.46, exact=True).finding
    '29.71; at most 22.46 allowed'
    >>> evidence.bound([2e-16, -1e-16], 1e-12, exact=True, only_rounding=True).finding
    'at most 1e-12, 2 of 2'
    """
    side, alpha = checks.choice(side, "side", ("below", "above")), level(confidence)
    numbers, limit = finite(value, "value"), finite(bound, "bound")
    counts, value = _are_counts(value, bound), numbers
    shape = value.shape if exact else value.shape[1:]
    if limit.shape not in ((), shape):
        what = "value" if exact else "one repeat of value"
        raise ValueError(f"bound has shape {limit.shape}, {what} {shape}; give one bound for all, or one each")
    if se is not None and (value.ndim or exact):
        raise ValueError(f"se = {se}; give it with a single value (repeats bring their own error, exact numbers have none)")
    if (robust or geometric) and (exact or not value.ndim or (robust and geometric)):
        got = f"robust = {robust}, geometric = {geometric} for value of shape {value.shape}, exact = {exact}"
        raise ValueError(f"{got}; give one of the two at most, and repeats")
    if only_rounding and not exact:
        raise ValueError("only_rounding = True; give it with exact=True, since noise of other kinds has an error")
    if geometric:
        for numbers, name in ((value, "value"), (limit, "bound")):
            positive(numbers.min(), name)
        value, limit = np.log(value), np.log(limit)
    margin = (limit - value) * (1 if side == "below" else -1)
    if exact:
        scale = np.maximum(np.abs(value), np.abs(limit))
        verdict, weakest, found = without_noise(margin, scale, counts, strict=False)
        ours = value.reshape(-1)[weakest]
    elif value.ndim:
        verdict, weakest, found = all_positive(margin, confidence, "value", robust)
        ours = (np.median(value, 0) if robust else value.mean(0)).reshape(-1)[weakest]
    elif se is None:
        raise ValueError(f"value = {value} is a single number; give repeats, or its standard error se=, or exact=True")
    else:
        se, weakest, ours = positive(se, "se"), 0, value
        z, threshold = margin / se, -ndtri(alpha)
        verdict = three_ways(z >= threshold, z <= -threshold)
        detail = f"Distance in standard errors: {z:.3g}, threshold {threshold:.3g}."
        found = {"se": se, "statistic": z, "detail": detail, "level": alpha, "miss": alpha, "comparisons": 1}
    limit = np.broadcast_to(limit, shape).reshape(-1)[weakest]
    if geometric:
        ours, limit = np.exp(ours), np.exp(limit)
        found["se"] *= ours
        found["detail"] = f"On logarithms. {found['detail']}"
    allowed = f"{'at most' if side == 'below' else 'at least'} {with_error(limit, None, unit)}"
    if only_rounding and verdict.green:
        found |= {"statistic": None, "rounding": None}
        of = f", {margin.size} of {margin.size}" if margin.size > 1 else ""
        return Decision(verdict, "bound", limit=limit, unit=unit, finding=f"{allowed}{of}", **found)
    allowed += " allowed" if side == "below" else " needed"
    where = closest(found["comparisons"], ours <= limit if side == "below" else ours >= limit)
    finding = f"{'median ' if robust else ''}{with_error(ours, found.get('se'), unit)}{where}; {allowed}"
    return Decision(verdict, "bound", ours, limit=limit, unit=unit, finding=finding, **found)


def slope(x, y_repeats, expected, resolution, confidence=0.999, robust=False):
    """The log-log slope of y against x is ``expected``, to within plus or minus ``resolution``.

    A line is fitted to log y against log x in each repeat; the mean slope must lie significantly inside the
    window on both sides (two one-sided t tests).

    Args:
        x: shape (k,), positive, not all equal.
        y_repeats: shape (repeats, ..., k), positive; each curve of the middle axes must pass.
        expected, resolution: centre and half-width of the window: "about -1/2" is a claim only with a
            half-width.
        confidence: one minus the level of each test.
        robust: two sign tests in place of Student's t, for timings with stragglers: the claim is about the
            median slope.

    Source: the two one-sided tests are those of Schuirmann, 1987.

    >>> import numpy as np
    >>> from companion import evidence
    >>> x, rng = np.array([1.0, 10.0, 100.0]), np.random.default_rng(0)
    >>> errors = x**-0.5 * np.exp(0.01 * rng.standard_normal((40, 3)))
    >>> evidence.slope(x, errors, -0.5, 0.1).finding
    'exponent -0.49884 ± 0.00044; -0.5 ± 0.1 claimed'
    """
    x, y = np.asarray(checks.vector(x, "x")), finite(y_repeats, "y_repeats")
    expected, resolution = checks.real(expected, "expected"), positive(resolution, "resolution")
    level(confidence)
    if y.ndim < 2 or y.shape[-1] != len(x):
        raise ValueError(f"y_repeats has shape {y.shape}, x {x.shape}; give shapes (repeats, ..., k) and (k,)")
    for numbers, name in ((x, "x"), (y, "y_repeats")):
        positive(numbers.min(), name)
    if np.ptp(x) == 0:
        raise ValueError(f"x = {x[0]} everywhere; give two places or more for a log-log slope")
    centred = np.log(x) - np.log(x).mean()
    slopes = (np.log(y) @ centred / (centred @ centred)).reshape(len(y), -1)
    margins = np.stack([slopes - (expected - resolution), (expected + resolution) - slopes], -1)
    verdict, weakest, found = all_positive(margins, confidence, "y_repeats", robust)
    ours = np.median(slopes[:, weakest // 2]) if robust else slopes[:, weakest // 2].mean()
    where = closest(slopes.shape[1], abs(ours - expected) < resolution, "curves")
    finding = f"{'median ' if robust else ''}exponent {with_error(ours, found.get('se'))}{where}; {expected:.3g} ± {resolution:.2g} claimed"
    return Decision(verdict, "slope", ours, limit=resolution, finding=finding, **found)


def _are_counts(*numbers):
    return all(np.asarray(x).dtype.kind in "iub" for x in numbers)


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
    >>> from companion import evidence
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


def kept(ours, paper, paper_se, least=3.0):
    """Whether every printed difference of two columns that exceeds its error has its sign in ours too.

    ::

        sign(ours_ij - ours_ik) = sign(paper_ij - paper_ik)
        wherever  |paper_ij - paper_ik| > least sqrt(se_ij^2 + se_ik^2)

    It is the ``in_direction`` of :func:`companion.evidence.agreement.agree`, decided by a rule of its own.

    Args:
        ours, paper, paper_se: our numbers, the printed ones and their printed standard errors, shape (n_rows,
            n_columns); columns of a row are compared.
        least: printed errors that a difference must exceed to count.
    """
    ours, paper = same_shape(ours, "ours", paper, "paper")
    paper, paper_se = same_shape(paper, "paper", paper_se, "paper_se")
    if ours.ndim != 2:
        raise ValueError(f"ours has shape {ours.shape}; give rows of columns that are compared")
    not_negative(paper_se.min(), "paper_se")
    least = not_negative(least, "least")
    first, second = np.triu_indices(ours.shape[1], 1)
    change = paper[:, first] - paper[:, second]
    clear = np.abs(change) > least * np.hypot(paper_se[:, first], paper_se[:, second])
    return bool(np.all((np.sign(ours[:, first] - ours[:, second]) == np.sign(change)) | ~clear))


def tail_index(values, n_top):
    """Hill's estimate of a tail index, and its standard error.

    ::

        P(X > x) ~ x^(-a):   1 / a = mean over i <= k of  log(x_(i) / x_(k+1)),   se = a / sqrt(k)

    with x_(1) >= x_(2) >= ... the ordered values. Moments of order a and above do not exist.

    Args:
        values: independent draws, shape (n,); the largest k + 1 are positive and not all the same.
        n_top: k, the number of largest values to use, below n. Few are noisy; many reach to where the tail is
            no power yet.

    Returns:
        Two floats, a and its standard error.

    Source: Hill, Annals of Statistics 3 (1975).
    """
    values, n_top = np.asarray(checks.vector(values, "values")), checks.count(n_top, "n_top")
    if n_top >= len(values):
        raise ValueError(f"n_top = {n_top}; give a number below that of the values, {len(values)}")
    top = -np.partition(-values, n_top)[: n_top + 1]
    edge = top[-1]
    if not edge > 0 or np.all(top == edge):
        got = f"values has {edge} as number {n_top + 1} from the top, and {top.max()} as its largest"
        raise ValueError(f"{got}; give draws with a positive tail, or choose a smaller n_top")
    index = float(1 / np.log(top[:-1] / edge).mean())
    return index, index / n_top**0.5
