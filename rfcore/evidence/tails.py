"""How heavy a tail is."""

import numpy as np

from rfcore import checks


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
