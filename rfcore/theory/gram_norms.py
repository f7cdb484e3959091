"""Expected errors of whole Gram matrices under couplings of norms, without Monte Carlo noise.

The error at a pair of points is a smooth function of t = |x -+ y|^2 times a weight, so that its sum over all pairs is an integral
of that function over a discrete law of t. The Gauss rule of that law (Golub and Welsch, 1969; Lanczos on the points of the law)
does the work of n^2 pairs with a dozen distances, at which :func:`rfcore.theory.norm_coupling_ratio` knows the error.
"""

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.spatial.distance import cdist

from rfcore import checks
from rfcore.theory.norm_costs import log_iid_and_error, log_pair_excess, near, norm_coupling_ratio

MAPS = ("fourier", "positive", "antithetic")


def gram_norm_mse(x, law, feature_map, n_nodes=12):
    """Expected mean squared error of the Gram matrix of d orthogonal features whose norms are coupled.

    ::

        E[1 / n^2 sum_ij (K^_ij - K_ij)^2] = sum_k a_k MSE(t_k),   m = d,

    with the nodes sqrt(t_k) of the law of |x_i - x_j|, or of |x_i + x_j| with weights exp(-2 |x_i|^2 - 2 |x_j|^2) for exponentials.

    Parameters
    ----------
    x : array, shape (n, d)
        Points, divided by the lengthscale; d at least 2, no two of them farther apart than 5 (exponentials: no sum longer).
    law : "independent", "pnc", "positive_monotone", "stratified" or array, shape (d, d)
        As for :func:`norm_coupling_ratio`.
    feature_map : "fourier", "positive" or "antithetic"
        The last is positive features with their opposites, 2 d in all.
    n_nodes : int
        Distances that stand for all pairs.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is out of range, or the points lie too far apart.

    Notes
    -----
    Ours; Variance-Reducing Couplings, Lemma 3.1, pair by pair. Its Eq. 35 has the mean of the root, which is less than the root of
    this mean.

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore import theory
    >>> x = np.random.default_rng(0).normal(size=(20, 4)) / 2
    >>> pnc, independent = (theory.gram_norm_mse(x, law, "fourier", 4) for law in ("pnc", "independent"))
    >>> 0.5 * independent < pnc < 0.9 * independent
    True
    """
    distances, weights, d = _rule(x, feature_map, n_nodes)
    features = "fourier" if feature_map == "fourier" else "positive"
    total = 0.0
    for distance, weight in zip(distances, weights, strict=True):
        ratio, log_error = norm_coupling_ratio(distance, d, d, law, features), log_iid_and_error(distance, features)[1]
        if feature_map == "antithetic":
            ratio, log_error = antithetic_ratio(ratio, distance), 2 * np.log(np.expm1(distance**2)) - np.log(2)
        total += weight * ratio * np.exp(log_error)
    return float(total / d)


def gram_pair_excess(x, correlation, feature_map, n_nodes=12):
    """What two norms of a Gaussian copula cost a Gram matrix, as a function of their correlation.

    ::

        h(r) = sum_k a_k exp(log_pair_excess(r, t_k^(1/2))),   gram_norm_mse = constant + (d - 1) / d mean over pairs i < j of h(R_ij)

    up to the factor 1 for Fourier and positive features alike, with or without opposites.

    Parameters
    ----------
    x, feature_map, n_nodes
        As for :func:`gram_norm_mse`.
    correlation : array, values in [-1, 1]

    Returns
    -------
    array of the shape of correlation

    Raises
    ------
    ValueError
        If an argument is out of range, or the points lie too far apart.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore import theory
    >>> x = np.random.default_rng(0).normal(size=(20, 4)) / 2
    >>> bool(np.all(np.diff(theory.gram_pair_excess(x, [-1.0, 0.0, 1.0], "fourier", 4)) > 0))
    True
    """
    distances, weights, d = _rule(x, feature_map, n_nodes)
    features = "fourier" if feature_map == "fourier" else "positive"
    return sum(
        weight * np.exp(log_pair_excess(correlation, distance, d, features)) for distance, weight in zip(distances, weights, strict=True)
    )


def antithetic_ratio(ratio, distance):
    """Error of positive features with their opposites over that of independent frequencies with theirs.

    ::

        ratio' = 1 + 2 (ratio - 1) / (1 - e^(-v^2)),   v = |x + y|

    Pairs of orthogonal frequencies cost the same with opposites and without, cosh in place of exp; one frequency with its opposite
    errs by (e^(v^2) - 1)^2 / 2 and not by e^(2 v^2) - e^(v^2).

    Parameters
    ----------
    ratio : float
        The same without opposites, of blocks of orthogonal frequencies: :func:`norm_coupling_ratio`.
    distance : float
        v, above 0 and at most 5.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Ours; Variance-Reducing Couplings, Appendix B.1, has the ensemble.

    Examples
    --------
    One coupling that does nothing does nothing with opposites:

    >>> from rfcore import theory
    >>> theory.antithetic_ratio(1.0, 0.7)
    1.0
    """
    ratio, distance = checks.real(ratio, "ratio"), near(distance)
    return float(1 + 2 * (ratio - 1) / -np.expm1(-(distance**2)))


def _rule(x, feature_map, n_nodes):
    """Distances and weights that stand for all pairs of points, and the dimension."""
    x = np.asarray(checks.points(x, "x"), dtype=float)
    checks.choice(feature_map, "feature_map", MAPS)
    n_nodes, (n, d) = checks.count(n_nodes, "n_nodes"), x.shape
    if d < 2:
        raise ValueError(f"x has shape {x.shape}; give points in at least two dimensions")
    if feature_map == "fourier":
        squares, weights = cdist(x, x, "sqeuclidean"), np.ones((n, n))
    else:
        squares, lengths = cdist(x, -x, "sqeuclidean"), np.sum(x**2, axis=1)
        weights = np.exp(-2 * (lengths[:, None] + lengths))
    kept = squares > 0  # where the distance is 0, the error is too
    if not kept.any():
        raise ValueError(f"x = {x!r} has no distance above 0; give points that are apart")
    if not squares.max() <= 25:
        raise ValueError(f"x has points whose distance is {np.sqrt(squares.max())}; divide by a lengthscale that keeps it to 5")
    t, weights = _gauss(squares[kept], weights[kept] / n**2, n_nodes)
    return np.sqrt(t), weights, d


def _gauss(values, weights, n_nodes):
    """Gauss rule of a discrete law: Lanczos, every vector made orthogonal to all before."""
    total, rows, diagonal, beside = weights.sum(), [], [], []
    row = np.sqrt(weights / total)
    for _ in range(n_nodes):
        rows.append(row)
        image = values * row
        diagonal.append(row @ image)
        for _ in range(2):
            for other in rows:
                image = image - (other @ image) * other
        length = np.linalg.norm(image)
        if length < 1e-10 * values.max():  # no more values than this
            break
        beside.append(length)
        row = image / length
    nodes, vectors = eigh_tridiagonal(np.array(diagonal), np.array(beside[: len(diagonal) - 1]))
    return np.maximum(nodes, values.min()), total * vectors[0] ** 2
