"""One parameter fitted to several printed numbers, and what each number says of the fit to the others."""

import numpy as np

from rfcore import checks

__all__ = ["between_draws", "held_out", "least_squares", "ratios", "smooth"]


def smooth(x, curves, at, degree):
    """Values of a polynomial through each of several curves.

    Parameters
    ----------
    x : array, shape (k,)
    curves : array, shape (..., k)
    at : array, shape (n,)
    degree : int
        Less than k.

    Returns
    -------
    float64 array, shape (..., n)

    Raises
    ------
    ValueError
        If shapes do not fit, or the degree is no such number.

    Notes
    -----
    Ours; least squares.

    Examples
    --------
    >>> from rfcore.evidence.fits import smooth
    >>> smooth([0.0, 1.0, 2.0], [[0.0, 1.0, 4.0]], [3.0], 2).round(6).tolist()
    [[9.0]]
    """
    x, at = np.asarray(checks.vector(x, "x")), np.asarray(checks.vector(at, "at"))
    curves = np.asarray(checks.finite(checks.numbers(curves, "curves"), "curves"))
    if curves.shape[-1:] != x.shape:
        raise ValueError(f"curves has shape {curves.shape}, x {x.shape}; give shapes (..., k) and (k,)")
    if not 0 <= (degree := checks.count(degree, "degree", least=0)) < len(x):
        raise ValueError(f"degree = {degree} for {len(x)} points; give less than their number")
    rows = [np.polynomial.Polynomial.fit(x, row, degree)(at) for row in curves.reshape(-1, len(x))]
    return np.reshape(rows, (*curves.shape[:-1], len(at)))


def least_squares(at, squares):
    """Where a sum of squared, normalised misfits is least, with its standard error.

    Parameters
    ----------
    at : array, shape (n,)
        Values of the parameter, evenly spaced and dense.
    squares : array, shape (k, n)
        Squared differences in units of their standard errors.

    Returns
    -------
    (int, float)
        Place in ``at``, and half the width of the set where the sum is within 1 of its least value.

    Raises
    ------
    ValueError
        If shapes do not fit or a number is not finite.

    Notes
    -----
    Ours; chi-square's usual interval.

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore.evidence.fits import least_squares
    >>> at = np.linspace(0, 2, 2001)
    >>> place, se = least_squares(at, [((at - 1) / 0.2) ** 2])
    >>> round(float(at[place]), 3), round(se, 2)
    (1.0, 0.2)
    """
    at = np.asarray(checks.vector(at, "at"))
    squares = np.asarray(checks.finite(checks.numbers(squares, "squares"), "squares"))
    if squares.ndim != 2 or squares.shape[1:] != at.shape or not len(squares):
        raise ValueError(f"squares has shape {squares.shape}, at {at.shape}; give shapes (k, n) and (n,)")
    total = squares.sum(axis=0)
    inside = at[total <= total.min() + 1]
    return int(np.argmin(total)), float(inside.max() - inside.min()) / 2


def held_out(at, curves, se, printed, printed_se):
    """Each of several numbers at the parameter that fits the *others* best, with its standard error.

    Parameters
    ----------
    at : array, shape (n,)
        Values of the parameter, evenly spaced and dense.
    curves : array, shape (k, n)
        What each number would be there; k at least 2.
    se : array, shape (k,)
        Standard errors of the curves.
    printed, printed_se : array, shape (k,)
        What the curves are fitted to.

    Returns
    -------
    (float64 array, float64 array, (float, float))
        The numbers and their errors, shape (k,) both; and the parameter that fits all, with its standard error.

    Raises
    ------
    ValueError
        If shapes do not fit, or there are fewer than two curves.

    Notes
    -----
    Ours. The standard error has that of the fit in it, times the slope of the curve.

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore.evidence.fits import held_out
    >>> at = np.linspace(0, 2, 2001)
    >>> numbers, errors, (best, se) = held_out(at, [at, 2 * at], [0.0, 0.0], [1.0, 2.2], [0.1, 0.1])
    >>> numbers.round(2).tolist(), round(best, 2)
    ([1.1, 2.0], 1.08)
    """
    at, curves = np.asarray(checks.vector(at, "at")), np.asarray(checks.finite(checks.numbers(curves, "curves"), "curves"))
    if curves.ndim != 2 or len(curves) < 2 or curves.shape[1:] != at.shape:
        raise ValueError(f"curves has shape {curves.shape}, at {at.shape}; give shapes (k, n) and (n,), with k of at least 2")
    k = len(curves)
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
    """Mean of repeats in groups, its standard error over groups, and the spread of the groups beyond that of repeats.

    Parameters
    ----------
    repeats : array, shape (n_groups, n_repeats)
        At least two of each.

    Returns
    -------
    (float, float, float)

    Raises
    ------
    ValueError
        If there are fewer than two of either, or a number is not finite.

    Notes
    -----
    Ours; the moments of one-way analysis of variance (Fisher, 1925).

    Examples
    --------
    >>> from rfcore.evidence.fits import between_draws
    >>> mean, se, spread = between_draws([[1.0, 1.2], [3.0, 2.8]])
    >>> round(mean, 2), round(se, 2), round(spread, 2)
    (2.0, 0.9, 1.27)
    """
    repeats = np.asarray(checks.finite(checks.numbers(repeats, "repeats"), "repeats"), dtype=float)
    if repeats.ndim != 2 or min(repeats.shape) < 2:
        raise ValueError(f"repeats has shape {repeats.shape}; give at least two groups of at least two repeats")
    means = repeats.mean(axis=1)
    beyond = means.var(ddof=1) - repeats.var(axis=1, ddof=1).mean() / repeats.shape[1]
    return float(means.mean()), float(means.std(ddof=1) / np.sqrt(len(means))), float(np.sqrt(max(0.0, beyond)))


def ratios(above, below):
    """Ratio of two means over paired repeats, one number per repeat: their mean is the ratio, and their scatter is its.

    ::

        R + (a_i - R b_i) / mean(b),   R = mean(a) / mean(b)

    Parameters
    ----------
    above, below : array, shape (n_repeats, ...)
        At least two repeats; the mean of ``below`` is not 0.

    Returns
    -------
    float64 array, shape (n_repeats, ...)
        Their standard error of the mean is that of R to first order; so are those of their sums over other axes.

    Raises
    ------
    ValueError
        If shapes differ, there are fewer than two repeats, or a mean below is 0.

    Notes
    -----
    Ours; the delta method.

    Examples
    --------
    >>> from rfcore.evidence.fits import ratios
    >>> ratios([1.0, 3.0], [2.0, 2.0]).tolist()
    [0.5, 1.5]
    """
    above = np.asarray(checks.finite(checks.numbers(above, "above"), "above"), dtype=float)
    below = np.asarray(checks.finite(checks.numbers(below, "below"), "below"), dtype=float)
    if above.shape != below.shape or above.ndim == 0 or len(above) < 2:
        raise ValueError(f"above has shape {above.shape}, below {below.shape}; give equal shapes, at least two repeats")
    if not np.all(below.mean(axis=0)):
        raise ValueError("below has a mean of 0; give numbers whose mean is not 0")
    ratio = above.mean(axis=0) / below.mean(axis=0)
    return ratio + (above - ratio * below) / below.mean(axis=0)
