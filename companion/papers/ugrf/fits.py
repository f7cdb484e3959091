"""One parameter fitted to several printed numbers, and what each number says of the fit to the others.

Values ``at`` of a parameter are evenly spaced and dense, shape (n,); results are float64.
"""

import numpy as np

from rfcore import checks

__all__ = ["between_draws", "held_out", "least_squares", "ratios", "smooth"]


def smooth(x, curves, at, degree):
    """Values of a polynomial, fitted by least squares to each of several curves.

    Args:
        x, curves: places, shape (k,), and values there, shape (..., k).
        at: places to evaluate at, shape (n,).
        degree: less than k.

    Returns:
        Array, (..., n).
    """
    x, at = np.asarray(checks.vector(x, "x")), np.asarray(checks.vector(at, "at"))
    curves = np.asarray(checks.numbers(curves, "curves"))
    if curves.shape[-1:] != x.shape:
        raise ValueError(f"curves has shape {curves.shape}, x {x.shape}; give shapes (..., k) and (k,)")
    if not 0 <= (degree := checks.count(degree, "degree", least=0)) < len(x):
        raise ValueError(f"degree = {degree} for {len(x)} points; give less than their number")
    rows = [np.polynomial.Polynomial.fit(x, row, degree)(at) for row in curves.reshape(-1, len(x))]
    return np.reshape(rows, (*curves.shape[:-1], len(at)))


def least_squares(at, squares):
    """Where a sum of squared, normalised misfits is least, with its standard error.

    Args:
        at: values of the parameter.
        squares: squared differences in units of their standard errors, shape (k, n).

    Returns:
        Place in ``at``, and half the width of the set where the sum is within 1 of its least value
        (chi-square's usual interval).
    """
    at = np.asarray(checks.vector(at, "at"))
    squares = np.asarray(checks.numbers(squares, "squares"))
    if squares.shape != (len(squares), len(at)):
        raise ValueError(f"squares has shape {squares.shape}, at {at.shape}; give shapes (k, n) and (n,)")
    total = squares.sum(axis=0)
    inside = at[total <= total.min() + 1]
    return int(np.argmin(total)), float(inside.max() - inside.min()) / 2


def held_out(at, curves, se, printed, printed_se):
    """Each of several numbers at the parameter that fits the *others* best, with its standard error.

    The standard error has that of the fit in it, times the slope of the curve.

    Args:
        at: values of the parameter.
        curves, se: what each number would be there, shape (k, n) with k at least 2, and standard errors,
            shape (k,).
        printed, printed_se: what the curves are fitted to, shape (k,).

    Returns:
        The numbers, (k,), their errors, (k,), and the pair of the parameter that fits all and its standard
        error.

    >>> import numpy as np
    >>> from companion.papers.ugrf.fits import held_out
    >>> at = np.linspace(0, 2, 2001)
    >>> held_out(at, [at, 2 * at], [0.0, 0.0], [1.0, 2.2], [0.1, 0.1])[0].round(2).tolist()  # 2.2 / 2, 2 x 1
    [1.1, 2.0]
    """
    at, curves = np.asarray(checks.vector(at, "at")), np.asarray(checks.numbers(curves, "curves"))
    k = len(curves)
    if k < 2 or curves.shape != (k, len(at)):
        raise ValueError(f"curves has shape {curves.shape}, at {at.shape}; give shapes (k, n) and (n,), with k of at least 2")
    se, printed, printed_se = (
        np.asarray(checks.vector(x, name, k, "curve")) for x, name in ((se, "se"), (printed, "printed"), (printed_se, "printed_se"))
    )
    squares = ((curves - printed[:, None]) / np.hypot(se, printed_se)[:, None]) ** 2
    found = np.empty((2, k))
    for j in range(k):
        i, width = least_squares(at, np.delete(squares, j, axis=0))
        found[:, j] = curves[j, i], np.hypot(se[j], width * np.gradient(curves[j], at)[i])
    place, width = least_squares(at, squares)
    return found[0], found[1], (float(at[place]), width)


def between_draws(repeats):
    """Mean of repeats in groups, its standard error, and the spread of groups beyond that of repeats.

    The standard error is taken over groups.

    Args:
        repeats: shape (n_groups, n_repeats), at least two of each.

    Source: Fisher, 1925: the moments of one-way analysis of variance.
    """
    repeats = np.asarray(checks.numbers(repeats, "repeats"), dtype=float)
    if repeats.ndim != 2 or min(repeats.shape) < 2:
        raise ValueError(f"repeats has shape {repeats.shape}; give at least two groups of at least two repeats")
    means = repeats.mean(axis=1)
    beyond = means.var(ddof=1) - repeats.var(axis=1, ddof=1).mean() / repeats.shape[1]
    return float(means.mean()), float(means.std(ddof=1) / np.sqrt(len(means))), float(np.sqrt(max(0.0, beyond)))


def ratios(above, below):
    """Ratio of two means over paired repeats: numbers whose mean is the ratio, and whose scatter is its.

    ::

        R + (a_i - R b_i) / mean(b),   R = mean(a) / mean(b)

    This is the delta method: the standard error of their mean is that of R to first order, and so for sums of
    them over other axes. Raises ValueError if a mean of ``below`` is 0.

    Args:
        above, below: numbers of one shape, (n_repeats, ...), at least two repeats.
    """
    above = np.asarray(checks.numbers(above, "above"), dtype=float)
    below = np.asarray(checks.numbers(below, "below"), dtype=float)
    if above.shape != below.shape or len(above) < 2:
        raise ValueError(f"above has shape {above.shape}, below {below.shape}; give equal shapes, at least two repeats")
    if not np.all(below.mean(axis=0)):
        raise ValueError("below has a mean of 0; give numbers whose mean is not 0")
    ratio = above.mean(axis=0) / below.mean(axis=0)
    return ratio + (above - ratio * below) / below.mean(axis=0)
