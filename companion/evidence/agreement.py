"""The rules that decide whether two sets of numbers agree: :func:`identity`, :func:`value`, :func:`agree`."""

import numpy as np
from scipy.special import ndtri, stdtrit

from companion.evidence.means import POWER, finite, not_negative, positive
from companion.evidence.verdicts import Decision, Verdict, with_error
from rfcore import checks

THREE_SIGMA = 0.0026997960632601866  # chance of a normal draw beyond three standard deviations


def identity(ours, exact, tolerance, relative=False, unit=None):
    """Two ways to compute the same numbers agree: max abs(ours - exact) <= tolerance.

    What lies within the tolerance is rounding noise: only the bound is shown, and compared with other runs.
    Up to ten times the tolerance is "inconclusive", because a bound on rounding derived by hand is not sharp
    to a factor of ten. Beyond that the two differ.

    Args:
        ours, exact: numbers of one shape, or a scalar for one of them. Two arrays of integers are compared
            exactly.
        tolerance: what the arithmetic can lose: rounding times conditioning and number of operations, or a
            proven truncation error. Derive it before looking; never widen it until it passes.
        relative: divide the error by max abs(exact).
        unit: unit of the numbers, a text.

    >>> from companion import evidence
    >>> evidence.identity([1.0, 2.5], [1.0, 2.0], tolerance=0.01).finding
    '0.5, the largest of 2 absolute errors; at most 0.01 allowed'
    >>> evidence.identity([1.0, 2.0 + 1e-15], [1.0, 2.0], tolerance=1e-12).finding
    'equal within 1e-12, 2 of 2'
    """
    given = ours, exact
    ours, exact = same_shape(ours, "ours", exact, "exact")
    apart, given = ours - exact, [np.asarray(numbers) for numbers in given]
    if all(numbers.dtype.kind in "iu" for numbers in given):  # beyond 2^53 float64 would round them
        apart = np.subtract(*(numbers.astype(object) for numbers in given))
    tolerance = positive(tolerance, "tolerance")
    scale = np.abs(exact).max() if relative else 1.0
    if scale == 0:
        raise ValueError("exact = 0 everywhere; give relative=False, since nothing is relative to zero")
    error = float(np.max(np.abs(apart))) / scale
    size, unit = f"{'relative' if relative else 'absolute'} error", None if relative else unit
    detail = f"No noise: {size} at most {tolerance:.2g}; inconclusive up to ten times that."
    allowed = with_error(tolerance, None, unit)
    fields = {"detail": detail, "limit": tolerance, "unit": unit, "level": 0.0, "miss": 0.0, "comparisons": ours.size}
    if error <= tolerance:
        of = f", {ours.size} of {ours.size}" if ours.size > 1 else ""
        return Decision(Verdict.REPRODUCED, "identity", finding=f"equal within {allowed}{of}", **fields)
    found = with_error(error, None, unit)
    found = f"{found}, the largest of {ours.size} {size}s" if ours.size > 1 else f"{size} {found}"
    return Decision(
        Verdict.INCONCLUSIVE if error <= 10 * tolerance else Verdict.NOT_REPRODUCED,
        "identity",
        error,
        rounding=tolerance,
        statistic=error / tolerance,
        finding=f"{found}; at most {allowed} allowed",
        **fields,
    )


def value(ours, se, paper, *, paper_se, unprinted_se=0.0, rounding=0.0, in_direction=None, resolution=None, unit=None):
    """Our number is the paper's, within three standard errors of the difference.

    A printed number stands for every number that rounds to it: z is measured from the nearest of them, in
    units of sqrt(se^2 + paper_se^2 + unprinted_se^2). A false "not reproduced" has a chance of 0.27 %.

    Args:
        ours, se: our number and its standard error, 0 for a closed form.
        paper, paper_se: the printed number and its printed standard error, 0 where none is printed.
        unprinted_se: what the printed error leaves out, by our estimate: where the paper may have run once
            (one split of the data, one start), the spread of single runs. It decides, and is not shown as the
            paper's.
        rounding: half a unit of the last printed digit, 0.00005 for 0.0078.
        in_direction: whether the effect goes the paper's way, decided by a rule of its own; a number that
            differs is then "reproduced in direction".
        resolution: the largest ``se`` at which agreement means something, else it is "inconclusive"; a fifth
            of abs(paper) if not given.
        unit: unit of the numbers, a text.

    >>> from companion import evidence
    >>> evidence.value(0.0079, 0.0, 0.0078, paper_se=0.0, rounding=0.00005).finding
    '0.0079; printed 0.0078'
    """
    ours, paper = checks.real(ours, "ours"), checks.real(paper, "paper")
    se, paper_se = not_negative(se, "se"), not_negative(paper_se, "paper_se")
    unprinted_se = not_negative(unprinted_se, "unprinted_se")
    rounding = not_negative(rounding, "rounding")
    resolution = positive(abs(paper) / 5 if resolution is None else resolution, "resolution")
    found = _compare(ours, se, paper, paper_se, unprinted_se, rounding, THREE_SIGMA, None)
    both, z = found["both"][0], found["z"][0]
    if z > 1:
        verdict = Verdict.IN_DIRECTION if in_direction else Verdict.NOT_REPRODUCED
    else:
        verdict = Verdict.REPRODUCED if se <= resolution else Verdict.INCONCLUSIVE
    detail = "Closed forms: the printed digits decide."
    if both:
        detail = f"z at most 3, a difference up to {found['hidden'][0]:.2g} could hide; our standard error at most {resolution:.2g}."
        detail += _unprinted(unprinted_se)
    return Decision(
        verdict,
        "value",
        ours,
        se,
        paper,
        paper_se,
        3 * z if both else None,
        detail,
        limit=3 * both + rounding,
        unit=unit,
        level=THREE_SIGMA if both else 0.0,
        miss=1 - POWER if both else 0.0,
        comparisons=1,
        finding=f"{with_error(ours, se, unit)}; printed {with_error(paper, paper_se, unit)}",
    )


def agree(
    ours,
    se,
    paper,
    *,
    paper_se,
    unprinted_se=0.0,
    smallest_difference,
    rounding=0.0,
    false_alarm=1e-3,
    degrees=None,
    in_direction=None,
    unit=None,
):
    """Several numbers of ours are those that the paper prints, together.

    The largest of the z, measured as in :func:`value`, is held against the normal (or Student's) quantile at
    ``false_alarm`` divided by the number of comparisons (Bonferroni: valid whatever the dependence between
    them).

    Args:
        ours, se: our numbers, of any shape, and their standard errors; here and below a scalar holds for all.
        paper, paper_se, unprinted_se, rounding, in_direction, unit: as in :func:`value`, for all numbers or
            for each.
        smallest_difference: the size of difference that the claim is about. "Inconclusive" if a difference of
            this size would be missed more than one time in ten.
        false_alarm: chance of "not reproduced" if all agree.
        degrees: degrees of freedom of standard errors that were estimated from few repeats: their number
            minus one (of the side with fewer, if both were estimated).

    Source: the levels of the comparisons are Bonferroni's, 1936.

    >>> from companion import evidence
    >>> evidence.agree([0.51, 0.28], 0.01, [0.5, 0.3], paper_se=0.01, smallest_difference=0.1).finding
    '2 of 2 numbers agree; farthest 0.280 ± 0.010, printed 0.300 ± 0.010'
    """
    false_alarm = checks.probability(false_alarm, "false_alarm")
    found = _compare(ours, se, paper, paper_se, unprinted_se, rounding, false_alarm, degrees)
    z, both, hidden = found["z"], found["both"], found["hidden"]
    smallest = _each(smallest_difference, "smallest_difference", found["shape"])
    positive(smallest.min(), "smallest_difference")
    if z.max() > 1:
        verdict = Verdict.IN_DIRECTION if in_direction else Verdict.NOT_REPRODUCED
    else:
        verdict = Verdict.INCONCLUSIVE if np.any(hidden > smallest) else Verdict.REPRODUCED
    worst = int(np.argmax(z))
    one, printed = found["ours"][worst], found["paper"][worst]
    which = f"{np.sum(z <= 1)} of {z.size} numbers agree; farthest "
    ours_se, printed_se, more = (found[name][worst] for name in ("se", "paper_se", "unprinted_se"))
    least = int(np.argmax(hidden / smallest))
    return Decision(
        verdict,
        "value",
        one,
        ours_se,
        printed,
        printed_se,
        z[worst] * found["threshold"][worst],
        f"Largest |z| of {z.size}, threshold {found['threshold'][worst]:.3g} (false alarm {false_alarm:.0e} in all); "
        f"a difference up to {hidden[least]:.2g} could hide in one, {smallest[least]:.2g} is what matters.{_unprinted(more)}",
        limit=smallest[least],
        unit=unit,
        level=false_alarm if both.any() else 0.0,
        miss=1 - POWER if both.any() else 0.0,
        comparisons=z.size,
        holds=int(np.sum(z <= 1)),
        finding=f"{which}{with_error(one, ours_se, unit)}, printed {with_error(printed, printed_se, unit)}",
    )


def same_shape(numbers, name, other, other_name):
    """Both as finite arrays of one shape; a scalar is repeated, any other difference refused."""
    numbers, other = finite(numbers, name), finite(other, other_name)
    if numbers.shape != other.shape and numbers.ndim and other.ndim:
        raise ValueError(f"{name} has shape {numbers.shape}, {other_name} {other.shape}; give equal shapes, or a scalar")
    return np.broadcast_arrays(numbers, other)



def _unprinted(se):
    return f" What the printed error leaves out, {se:.2g} by our estimate, is added to it." if se else ""


def _compare(ours, se, paper, paper_se, unprinted_se, rounding, false_alarm, degrees):
    """Of every number: distance in units of the allowed one (z), and what could hide (flat arrays)."""
    ours, paper = same_shape(ours, "ours", paper, "paper")
    shape = ours.shape
    ours, paper = ours.reshape(-1), paper.reshape(-1)
    errors = {"se": se, "paper_se": paper_se, "unprinted_se": unprinted_se, "rounding": rounding}
    errors = {name: _each(numbers, name, shape) for name, numbers in errors.items()}
    for name, numbers in errors.items():
        not_negative(numbers.min(), name)
    rounding = errors.pop("rounding")
    tail = false_alarm / 2 / ours.size
    threshold, power = np.full(ours.size, -ndtri(tail)), ndtri(POWER)
    if degrees is not None:
        degrees = _each(degrees, "degrees", shape)
        positive(degrees.min(), "degrees")
        threshold, power = -stdtrit(degrees, tail), stdtrit(degrees, POWER)
    gap = np.maximum(np.abs(ours - paper) - rounding * (1 + 1e-9), 0.0)
    both = np.hypot(np.hypot(errors["se"], errors["paper_se"]), errors["unprinted_se"])
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(gap > 0, gap / (threshold * both), 0.0)
    z = np.minimum(z, 1e12)  # an exact number that differs: a decision rests on finite numbers
    found = {"z": z, "both": both, "hidden": (threshold + power) * both + rounding, "threshold": threshold}
    return found | errors | {"ours": ours, "paper": paper, "shape": shape}


def _each(numbers, name, shape):
    """One number for all entries, or one each."""
    numbers = finite(numbers, name)
    if numbers.shape not in ((), shape):
        raise ValueError(f"{name} has shape {numbers.shape}, the numbers {shape}; give one for all, or one each")
    return np.broadcast_to(numbers, shape).reshape(-1)
