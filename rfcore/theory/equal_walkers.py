"""How many independent walkers have the same error as other walkers: what a coupling of walks is worth, in walkers.

Imported by its own name, ``rfcore.theory.equal_walkers``.
"""

import numpy as np

from rfcore import checks
from rfcore.theory.graph import counted, walk_gram_mse


def gram_error_terms(g, f, p_halt, n_terms=100):
    """The squared error of independent walkers is a / m + b / m^2, exactly: a and b.

    ::

        E |phi_1 phi_2^T - F F^T|^2 = a / m + b / m^2,   m walkers per node in each of two independent sets

    Parameters
    ----------
    g : rfcore.graphs.Graph
        The graph that is walked, usually ``graph.normalised()``.
    f : function of an integer array
        Modulation, of both sets.
    p_halt : float
    n_terms : int
        Steps counted: f(0), ..., f(n_terms - 1).

    Returns
    -------
    (float, float)

    Raises
    ------
    ValueError
        As :func:`rfcore.theory.walk_gram_mse`.

    Notes
    -----
    Ours. Features are means over walkers, so that their second moments are of the form c + s / m, and the error is a
    product of two of them without its constant. Two values of m, 1 and 2, therefore give both terms.

    Examples
    --------
    >>> import networkx
    >>> from rfcore import features, graphs, theory
    >>> from rfcore.theory import equal_walkers
    >>> g, f = graphs.Graph.from_networkx(networkx.path_graph(3)).normalised(), features.modulation.diffusion(1.0)
    >>> a, b = equal_walkers.gram_error_terms(g, f, 0.5)
    >>> round(theory.walk_gram_mse(g, f, f, 8, 0.5) / (a / 8 + b / 64), 9)
    1.0
    """
    counted(f, g, n_terms, checks.probability(p_halt, "p_halt"))
    one, two = (walk_gram_mse(g, f, f, m, p_halt, n_terms) for m in (1, 2))
    return 4 * two - one, 2 * one - 4 * two


def of_terms(a, b, error):
    """How many independent walkers have a squared error, given its two terms.

    ::

        the m > 0 at which  a / m + b / m^2 = error

    Parameters
    ----------
    a, b : arrays
        From :func:`gram_error_terms`, a above 0 and b at least 0.
    error : array
        Squared errors, above 0. The three broadcast.

    Returns
    -------
    float64 array of their common shape
        No whole numbers.

    Raises
    ------
    ValueError
        If a number is out of its range, or shapes do not fit.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> from rfcore.theory import equal_walkers
    >>> equal_walkers.of_terms(2.0, 8.0, [2.0 / 16 + 8.0 / 16**2, 10.0]).tolist()
    [16.0, 1.0]
    """
    a, error = _above_0(a, "a"), _above_0(error, "error")
    b = np.asarray(checks.finite(checks.numbers(b, "b"), "b"), dtype=float)
    if np.any(b < 0):
        raise ValueError(f"b has a value of {b.min()}; give numbers of at least 0")
    try:
        np.broadcast_shapes(a.shape, b.shape, error.shape)
    except ValueError:
        got = f"error has shape {error.shape}, a and b have shapes {a.shape} and {b.shape}"
        raise ValueError(f"{got}; give shapes that broadcast") from None
    return (a + np.sqrt(a**2 + 4 * b * error)) / (2 * error)


def of_curve(walkers, curve, error):
    """How many independent walkers have an error, given that of a few numbers of them: for errors with no closed form.

    Between two of these numbers the logarithm of the error is linear in that of the number; beyond the largest, errors
    fall as one over it.

    Parameters
    ----------
    walkers : array, shape (k,)
        Numbers of independent walkers, above 0 and rising.
    curve : array, shape (k,)
        Their errors, above 0 and falling: squared ones, or a divergence, which falls as a squared error does.
    error : array
        Errors above 0.

    Returns
    -------
    float64 array of the shape of error
        No whole numbers. An error above the whole curve has ``walkers[0]``.

    Raises
    ------
    ValueError
        If a number is not above 0, shapes do not fit, or walkers do not rise or errors do not fall.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> from rfcore.theory import equal_walkers
    >>> equal_walkers.of_curve([4, 16], [1.0, 0.25], [0.5, 0.125]).round(9).tolist()
    [8.0, 32.0]
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
    x = np.asarray(checks.finite(checks.numbers(x, name), name), dtype=float)
    if np.any(x <= 0):
        raise ValueError(f"{name} has a value of {x.min()}; give numbers above 0")
    return x
