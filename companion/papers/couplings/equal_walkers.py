"""How many independent walkers err like other walkers: what a coupling of walks is worth, in walkers.

Numbers of walkers need not be whole.
"""

import numpy as np

from rfcore import checks
from rfcore.theory import walk_gram_mse
from rfcore.theory.walk_errors import counted


def gram_error_terms(g, f, p_halt, n_terms=100):
    """Terms a, b of the squared error a / m + b / m^2 of phi_1 phi_2^T, from two sets of m walkers a node.

    The form is exact, as features are means over independent walkers; two values of m give both terms. Other
    arguments are those of :func:`rfcore.theory.walk_feature_moments`.
    """
    counted(f, g, n_terms, p_halt)
    one, two = (walk_gram_mse(g, f, f, m, p_halt, n_terms) for m in (1, 2))
    return 4 * two - one, 2 * one - 4 * two


def of_terms(a, b, error):
    """Number m > 0 of independent walkers with a / m + b / m^2 = error; arrays broadcast."""
    a, error = _above_0(a, "a"), _above_0(error, "error")
    b = np.asarray(checks.numbers(b, "b"), dtype=float)
    if np.any(b < 0):
        raise ValueError(f"b has a value of {b.min()}; give numbers of at least 0")
    try:
        np.broadcast_shapes(a.shape, b.shape, error.shape)
    except ValueError:
        got = f"error has shape {error.shape}, a and b have shapes {a.shape} and {b.shape}"
        raise ValueError(f"{got}; give shapes that broadcast") from None
    return (a + np.sqrt(a**2 + 4 * b * error)) / (2 * error)


def of_curve(walkers, curve, error):
    """Number of independent walkers of some error, given the falling errors ``curve`` of rising ``walkers``.

    Between these it is interpolated in logarithms; beyond the largest, errors fall as one over the number, as
    squared errors and divergences do. An error above the whole curve has ``walkers[0]``.
    """
    walkers, curve, error = _above_0(walkers, "walkers"), _above_0(curve, "curve"), _above_0(error, "error")
    if np.any(np.diff(checks.vector(walkers, "walkers")) <= 0):
        raise ValueError(f"walkers = {walkers.tolist()}; give rising numbers")
    if np.any(np.diff(checks.vector(curve, "curve", len(walkers), "number of walkers")) >= 0):
        raise ValueError(f"curve = {curve.tolist()}; give errors that fall")
    log_m, log_curve, log_error = np.log(walkers), np.log(curve), np.log(error)
    inside = np.interp(log_error, log_curve[::-1], log_m[::-1])
    return np.exp(inside + np.maximum(0.0, log_curve[-1] - log_error))


def _above_0(x, name):
    x = np.asarray(checks.numbers(x, name), dtype=float)
    if np.any(x <= 0):
        raise ValueError(f"{name} has a value of {x.min()}; give numbers above 0")
    return x
