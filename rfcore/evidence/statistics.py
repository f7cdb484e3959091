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
(``robust=True``, a sign test). :func:`~rfcore.evidence.bias.unbiased`, whose claims are about means and
nothing else, asks three times the threshold (62, 12, 1.3 and 0.2 in the last line). A gain of 25 standard
errors from 12 repeats, of 21 from 30, is shown however skewed they are. ``tests/test_evidence_rates.py``
measures the table, and error rates and power of every rule.
"""

import numpy as np
from scipy.special import ndtri

from rfcore import checks
from rfcore.evidence.agreement import same_shape
from rfcore.evidence.means import all_positive, closest, finite, level, positive, three_ways, without_noise
from rfcore.evidence.verdicts import Decision, with_error


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

    >>> from rfcore import evidence
    >>> evidence.order([1.0, 2.0], [2.0, 3.0], exact=True).finding
    '1 against 2, smaller by 1 in the closest of 2 conditions'
    """
    pair = same_shape(better, "better", worse, "worse")
    counts, (better, worse) = _are_counts(better, worse), pair
    level(confidence)
    exact, robust = checks.flag(exact, "exact"), checks.flag(robust, "robust")
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

    >>> from rfcore import evidence
    >>> evidence.bound(29.71, 22.46, exact=True).finding
    '29.71; at most 22.46 allowed'
    >>> evidence.bound([2e-16, -1e-16], 1e-12, exact=True, only_rounding=True).finding
    'at most 1e-12, 2 of 2'
    """
    side, alpha = checks.choice(side, "side", ("below", "above")), level(confidence)
    exact, numbers, limit = checks.flag(exact, "exact"), finite(value, "value"), finite(bound, "bound")
    counts, value = _are_counts(value, bound), numbers
    shape = value.shape if exact else value.shape[1:]
    if limit.shape not in ((), shape):
        what = "value" if exact else "one repeat of value"
        raise ValueError(f"bound has shape {limit.shape}, {what} {shape}; give one bound for all, or one each")
    if se is not None and (value.ndim or exact):
        raise ValueError(f"se = {se}; give it with a single value (repeats bring their own error, exact numbers have none)")
    robust, geometric = checks.flag(robust, "robust"), checks.flag(geometric, "geometric")
    if (robust or geometric) and (exact or not value.ndim or (robust and geometric)):
        got = f"robust = {robust}, geometric = {geometric} for value of shape {value.shape}, exact = {exact}"
        raise ValueError(f"{got}; give one of the two at most, and repeats")
    if checks.flag(only_rounding, "only_rounding") and not exact:
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
    >>> from rfcore import evidence
    >>> x, rng = np.array([1.0, 10.0, 100.0]), np.random.default_rng(0)
    >>> errors = x**-0.5 * np.exp(0.01 * rng.standard_normal((40, 3)))
    >>> evidence.slope(x, errors, -0.5, 0.1).finding
    'exponent -0.49884 ± 0.00044; -0.5 ± 0.1 claimed'
    """
    x, y = np.asarray(checks.vector(x, "x")), finite(y_repeats, "y_repeats")
    expected, resolution = checks.real(expected, "expected"), positive(resolution, "resolution")
    level(confidence)
    robust = checks.flag(robust, "robust")
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
