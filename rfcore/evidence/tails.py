"""How heavy a tail is."""

import numpy as np

from rfcore import checks


def tail_index(values, n_top):
    """Hill's estimate of a tail index, and its standard error.

    ::

        P(X > x) ~ x^(-a):   1 / a = mean over i <= k of  log(x_(i) / x_(k+1)),   se = a / sqrt(k)

    with x_(1) >= x_(2) >= ... the ordered values. Moments of order a and above do not exist.

    Parameters
    ----------
    values : array, shape (n,)
        Independent draws.
    n_top : int
        k, the number of largest values to use; below n. Few are noisy; many reach to where the tail is no power yet.

    Returns
    -------
    index, se : float

    Raises
    ------
    ValueError
        If values is no finite vector, n_top is not between 1 and n - 1, or the largest n_top + 1 values are not positive
        or all the same.

    Notes
    -----
    Hill, 1975, A simple general approach to inference about the tail of a distribution, Annals of Statistics 3.

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore import evidence
    >>> index, se = evidence.tail_index(np.random.default_rng(0).pareto(2.0, 100_000) + 1, 1000)
    >>> abs(index - 2.0) < 3 * se
    True
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
