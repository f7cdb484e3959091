"""Errors of Gram matrices under coupled norms: Variance-Reducing Couplings, Table 1, without simulation.

The error at a pair of points is that of independent frequencies times a ratio, a function of t = |x -+ y|^2.
For independent and negative monotone norms the ratio is at hand for all pairs
(:func:`companion.papers.couplings.block_errors.block_mse_ratio`). For other laws the sum over pairs is an
integral over a discrete law of t, and its Gauss rule (Golub and Welsch, 1969; Lanczos on the points of the
law) does the work of n^2 pairs with a dozen distances, of at most 5, at which
:func:`rfcore.theory.mse_ratio` knows the error.
"""

import numpy as np
from scipy import special
from scipy.linalg import eigh_tridiagonal
from scipy.spatial.distance import pdist, squareform

from companion.papers.couplings.block_errors import block_mse_ratio, check_opposites, has_table
from rfcore import checks, copulas
from rfcore.theory.norm_costs import log_pair_excess, norms_ratio
from rfcore.theory.stratified_norms import cosh_ratio


def gram_rmse(x, law, features, opposites="none", n_nodes=12):
    """Root mean squared error of an estimated Gaussian Gram matrix, over its entries and the frequencies.

    ::

        sqrt(mean_ab MSE(x_a, x_b)),    m MSE(iid) = (1 - e^(-z^2))^2 / 2              fourier, m = d
                                                     e^(4 x.y) (1 - e^(-v^2))          positive, m = d or 2 d

    with MSE / MSE(iid) as in the module. The paper's Eq. 35 has the mean of the root, which is less.

    Args:
        x: points, array (n, d), over the lengthscale; d at least 2.
        law: of the norms of d orthogonal frequencies, as :func:`rfcore.couplings.compose` takes it, or a
            correlation matrix; "iid" for independent frequencies, as many as ``opposites`` says.
        opposites: "none", "equal" or "independent", the norms of the opposite vectors of positive features;
            the last goes with "iid", "independent" and "reversal".
        n_nodes: distances that stand for all pairs, under the other laws.

    Source: Variance-Reducing Couplings, Lemma 3.1 and Theorem 3.5, pair by pair.
    """
    x = _points(x)
    n, d = x.shape
    check_opposites(features, opposites)
    is_iid = isinstance(law, str) and law == "iid"
    squares, logs = _independent_errors(x, features)
    if not is_iid and (np.ndim(law) > 0 or not has_table(law)):
        if opposites == "independent":
            raise ValueError(f"opposites = {opposites!r}; give 'none' or 'equal' with the law {law!r}")
        distances, weights = _rule(squares, np.exp(logs), n_nodes)
        copula = copulas.gaussian(law) if np.ndim(law) else copulas.named(law, "law")
        ratios = [norms_ratio(copula, distance, features, d, d) for distance in distances]
        if opposites == "equal":
            # Cosh features of one frequency err by (1 - e^(-v^2)) / 2 of what a positive feature does.
            of_cosh = -np.expm1(-(distances**2)) / 2
            ratios = [2 * share * cosh_ratio(ratio, v) for share, ratio, v in zip(of_cosh, ratios, distances, strict=True)]
        mean = weights @ ratios / n**2
    else:
        if not is_iid:
            with np.errstate(divide="ignore"):
                logs = logs + np.log(np.maximum(block_mse_ratio(np.sqrt(squares), d, law, features, opposites), 0.0))
        mean = np.exp(special.logsumexp(logs) - 2 * np.log(n))
    return float(np.sqrt(mean / (d if opposites == "none" else 2 * d)))


def gram_pair_excess(x, correlation, features, n_nodes=12):
    """What two norms of a Gaussian copula cost a Gram matrix, as a function of their correlation.

    ::

        h(r) = sum_k a_k exp(log_pair_excess(r, t_k^(1/2)))
        gram_rmse^2 = constant + (d - 1) / d mean over pairs i < j of h(R_ij)

    with nodes t_k and weights a_k of the law of |x -+ y|^2 over all pairs of points, which for positive
    features are weighted by exp(-2 |x|^2 - 2 |y|^2). Opposites change nothing.
    """
    x = _points(x)
    n, d = x.shape
    squares, lengths = _squares(x, features), np.sum(x**2, axis=1)
    weights = np.ones((n, n)) if features == "fourier" else np.exp(-2 * (lengths[:, None] + lengths))
    distances, weights = _rule(squares, weights / n**2, n_nodes)
    return sum(
        weight * np.exp(log_pair_excess(correlation, distance, d, features)) for distance, weight in zip(distances, weights, strict=True)
    )


def _points(x):
    x = np.asarray(checks.points(x, "x", least=1), dtype=float)
    return x


def _squares(x, features):
    """|x_a - x_b|^2, or |x_a + x_b|^2 for positive features."""
    squares = squareform(pdist(x, "sqeuclidean"))
    return squares if features == "fourier" else np.maximum(squares + 4 * x @ x.T, 0.0)


def _independent_errors(x, features):
    """Squares of the distances of all pairs, and the logarithms of the errors by one frequency."""
    squares = _squares(x, features)
    saturation = -np.expm1(-squares)
    with np.errstate(divide="ignore"):
        logs = 2 * np.log(saturation) - np.log(2) if features == "fourier" else 4 * x @ x.T + np.log(saturation)
    return squares, logs


def _rule(squares, weights, n_nodes):
    """Distances and weights that stand for all pairs of points."""
    kept = squares > 0  # where the distance is 0, the error is too
    if not kept.any():
        raise ValueError("x has no distance above 0; give points that are apart")
    if not squares.max() <= 25:
        raise ValueError(f"x has points whose distance is {np.sqrt(squares.max())}; divide by a lengthscale that keeps it to 5")
    t, weights = _gauss(squares[kept], weights[kept], n_nodes)
    return np.sqrt(t), weights


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
