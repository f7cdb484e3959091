"""couplings/21_meshes: kernel errors, fits and divergences on two meshes, teapot and unit sphere, with 16 walkers.

Everything is dense: the graph from the triangles of an STL file, the exact kernel from eigenvectors, the fit by a
search over the eigenvalues of the estimated kernel, posteriors from inverses. Walkers and the permutation (Hungarian
algorithm on the costs of Eq. 56) are anew, and hidden groups of the teapot are predicted from one inverse.
"""

import math
import os
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment, minimize_scalar

P_HALT, BINS, WALKERS, TERMS = 0.4, 50, 16, 60
# Splits; draws of walks for each, as on the page; and the page's standard errors of the fits and of the factors.
MESHES = {
    "teapot": (7, 3, (0.0025, 0.0032, 0.00041, 0.0021), ((0.0016, 0.0014), (0.033, 0.025))),
    "unit_sphere": (9, 2, (0.0013, 0.0031, 0.00022, 0.0010), ((0.0017, 0.0012), (0.058, 0.03))),
}
FILES = {"teapot": "teapot.stl", "unit_sphere": "unit_sphere.STL"}
PAGE = "notebooks/couplings/21_meshes.ipynb"
LAWS = ("IID", "antithetic", "σ-coupled")
K = np.arange(TERMS)
FACTORIAL = np.array([float(math.factorial(k)) for k in K])


def mesh(name):
    """Adjacency of the faces that share an edge, and the vertical component of their normals."""
    content = (Path(os.environ["RFCORE_DATA_MIRROR"]) / "meshes" / FILES[name]).read_bytes()
    triangle = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("colour", "<u2")])
    corners = np.frombuffer(content[84:], triangle)["corners"].astype(float)
    _, vertex = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    vertex = vertex.reshape(-1, 3)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    A, faces_of = np.zeros((len(vertex),) * 2), {}
    for face, (a, b, c) in enumerate(vertex):
        for edge in ((a, b), (b, c), (c, a)):
            faces_of.setdefault(frozenset(edge), []).append(face)
    for faces in faces_of.values():
        A[np.ix_(faces, faces)] = 1
    np.fill_diagonal(A, 0)
    return A, normal[:, 2] / np.linalg.norm(normal, axis=1)


def lengths(rng, law, n, m, sigma=None):
    """Numbers of hops of m walkers from each of n nodes: geometric, in pairs unless independent."""
    if law == "antithetic":  # as it is defined: hop by hop, and whoever is left goes on by fresh uniforms
        hops, alive = np.zeros((n, m // 2, 2), dtype=int), np.ones((n, m // 2, 2), dtype=bool)
        while alive.any():
            t = rng.random((n, m // 2))
            alive &= np.stack([t, (t + 0.5) % 1], axis=-1) >= P_HALT
            hops += alive
        return hops.reshape(n, m)
    u = rng.random((n, m // 2, 2))
    if law == "σ-coupled":
        bins = (u[..., 0] * BINS).astype(int)
        u[..., 1] = (sigma[bins] + u[..., 1]) / BINS
    return np.floor(np.log1p(-u) / math.log(1 - P_HALT)).astype(int).reshape(n, m)


def deposits(rng, A, length):
    """(start * N + node, step, load) of all visits, one walker after each other's steps, and the number of walkers.

    On D^(-1/2) A D^(-1/2) the load after k hops from i to j is sqrt(d_i / d_j) / (1 - p)^k.
    """
    n, m = length.shape
    degree = A.sum(axis=1).astype(int)
    neighbours, first = np.nonzero(A)[1], np.append(0, degree.cumsum())
    start = np.repeat(np.arange(n), m)
    here, length, parts = start.copy(), length.ravel(), []
    for step in range(min(length.max(), TERMS - 1) + 1):
        if step:
            goes_on = length >= step
            start, here, length = start[goes_on], here[goes_on], length[goes_on]
            here = neighbours[first[here] + (rng.random(len(here)) * degree[here]).astype(int)]
        load = np.sqrt(degree[start] / degree[here]) * (1 - P_HALT) ** -step
        parts.append((start * n + here, np.full(len(here), step), load))
    return [np.concatenate(part) for part in zip(*parts, strict=True)], m


def modulation(lengthscale):
    """Power series of exp(-lengthscale^2 (1 - x) / 2)."""
    half = lengthscale**2 / 2
    return np.exp(-half) * half**K / FACTORIAL


def gram(walked, n, lengthscale, rows=slice(None)):
    """phi phi^T of one set of walkers."""
    (place, step, load), m = walked
    phi = np.bincount(place, load * modulation(lengthscale)[step], n * n).reshape(n, n)[rows] / m
    return phi @ phi.T


def fit(walked, n, seen, y):
    """Variance, lengthscale and noise of the greatest likelihood of y ~ N(0, variance phi phi^T + noise I)."""

    def profile(lengthscale):
        values, vectors = np.linalg.eigh(gram(walked, n, lengthscale, seen))
        values, squares = np.maximum(values, 0), (vectors.T @ y) ** 2

        def loss(log_ratio):  # of noise over variance; the best variance is a quotient
            spread = values + math.exp(log_ratio)
            return len(y) * math.log(np.mean(squares / spread)) + np.log(spread).sum()

        best = minimize_scalar(loss, bounds=(-9, 1), method="bounded")
        ratio = math.exp(best.x)
        variance = np.mean(squares / (values + ratio))
        return best.fun, (variance, lengthscale, ratio * variance)

    found = minimize_scalar(lambda g: profile(g)[0], bounds=(1, 2), method="bounded", options={"xatol": 0.01})
    return profile(found.x)[1]


def best_permutation(rng, lengthscale):
    """The permutation of bins of least cost on a random graph of 100 nodes, all pairs of starts (Eqs. 52 to 56).

    A walk of bin q deposits sum_k f(k) P(length >= k | q) / P(length >= k) W^k in the mean, a function x_q of W;
    matching q with r costs the sum of (x_q + x_r)^4 over the eigenvalues.
    """
    upper = np.triu(rng.random((100, 100)) < 0.05, 1)
    A = (upper | upper.T).astype(float)
    scale = 1 / np.sqrt(np.maximum(A.sum(axis=1), 1))
    eigenvalues = np.linalg.eigvalsh(scale[:, None] * A * scale)
    reached = 1 - (1 - P_HALT) ** K  # length >= k where u is at least this
    low = np.arange(BINS)[:, None] / BINS
    share = np.clip((low + 1 / BINS - reached) * BINS, 0, 1) / (1 - P_HALT) ** K
    deposits = (share * modulation(lengthscale)) @ eigenvalues ** K[:, None]
    costs = ((deposits[:, None] + deposits) ** 4).sum(axis=2)
    return linear_sum_assignment(costs)[1]


def posterior(kernel, y, noise, seen, asked):
    """Mean and covariance at the asked faces, without noise."""
    solved = np.linalg.solve(kernel[np.ix_(seen, seen)] + noise * np.eye(len(seen)), kernel[np.ix_(seen, asked)])
    return solved.T @ y, kernel[np.ix_(asked, asked)] - kernel[np.ix_(asked, seen)] @ solved


def divergence(one, two, noise):
    """KL(N(m_1, C_1 + noise I) | N(m_2, C_2 + noise I))."""
    (m_1, C_1), (m_2, C_2) = one, two
    C_1, C_2 = C_1 + noise * np.eye(len(C_1)), C_2 + noise * np.eye(len(C_2))
    inverse = np.linalg.inv(C_2)
    logs = np.linalg.slogdet(C_2)[1] - np.linalg.slogdet(C_1)[1]
    return 0.5 * (np.trace(inverse @ C_1) - len(m_1) + logs + (m_2 - m_1) @ inverse @ (m_2 - m_1))


def hidden_in_turn(kernel, y, noise, groups):
    """Posterior mean of each group from all others: y_H - ((A^-1)_HH)^(-1) (A^-1 y)_H, A the matrix of all."""
    inverse = np.linalg.inv(kernel + noise * np.eye(len(y)))
    weights, means = inverse @ y, np.empty(len(y))
    for hidden in groups:
        means[hidden] = y[hidden] - np.linalg.solve(inverse[np.ix_(hidden, hidden)], weights[hidden])
    return means


def one_split(rng, A, vertical, x, vectors, draws, in_turn):
    """Fit and exact RMSE; kernel errors and divergences of the three laws; errors of predictions in turn, or None."""
    n = len(A)
    asked, seen = np.split(rng.permutation(n), [n // 20])
    y = vertical[seen]
    theta = variance, lengthscale, noise = fit(deposits(rng, A, lengths(rng, "IID", n, 8)), n, seen, y)
    exact = variance * (vectors * np.exp(-(lengthscale**2) * (1 - x))) @ vectors.T
    of_exact = posterior(exact, y, noise, seen, asked)
    rmse = math.sqrt(np.mean((of_exact[0] - vertical[asked]) ** 2))
    sigma = best_permutation(rng, lengthscale)
    groups = np.array_split(rng.permutation(n), 20)
    truth = hidden_in_turn(exact, vertical, noise, groups) if in_turn else None
    errors, off = np.zeros((draws, 2, len(LAWS))), np.zeros((draws, len(LAWS)))
    for draw, j in np.ndindex(draws, len(LAWS)):
        walked = deposits(rng, A, lengths(rng, LAWS[j], n, WALKERS, sigma))
        estimate = variance * gram(walked, n, lengthscale)
        errors[draw, 0, j] = np.linalg.norm(estimate - exact) / np.linalg.norm(exact)
        errors[draw, 1, j] = divergence(posterior(estimate, y, noise, seen, asked), of_exact, noise)
        if in_turn:
            off[draw, j] = np.mean((hidden_in_turn(estimate, vertical, noise, groups) - truth) ** 2)
    return (*theta, rmse), errors.mean(axis=0), off


def measured(name, rng, splits, draws):
    """Fits (splits, 4), errors (splits, 2, laws) and errors in turn (splits, draws, laws) of a mesh."""
    A, vertical = mesh(name)
    scale = 1 / np.sqrt(A.sum(axis=1))
    x, vectors = np.linalg.eigh(scale[:, None] * A * scale)
    drawn = [one_split(rng, A, vertical, x, vectors, draws, name == "teapot") for _ in range(splits)]
    return tuple(np.array(part) for part in zip(*drawn, strict=True))


def spread(values):
    """Standard deviation."""
    return np.std(values, axis=0, ddof=1)


def spread_of_mean(values):
    """Standard error of the mean."""
    return spread(values) / math.sqrt(len(values))


def numbers():
    """(what, place, pattern, own, error) of each."""
    rng, rows, number = np.random.default_rng(0), [], r"([\d.]+) ±"
    skip = r"(?:[\d.]+ ± [\d.]+ )"  # another mesh, or another column
    for name, (splits, draws, book_fit, book_factor) in MESHES.items():
        fits, errors, in_turn = measured(name, rng, splits, draws)
        column = list(MESHES).index(name) * 2  # the page has fuze between the two
        means, of_mean = fits.mean(axis=0), spread_of_mean(fits)
        for k, what in enumerate(("variance", "lengthscale", "noise", "RMSE of the exact kernel")):
            pattern = rf"{name} [\d,]+ \(paper [\d,]+\) {skip}{{{k}}}{number}"
            rows.append((f"{name}: {what}", PAGE, pattern, means[k], math.hypot(of_mean[k], book_fit[k])))
        for k, row in enumerate(("kernel error", "divergence")):
            for j in (0, 1):
                factor = errors[:, k, j] / errors[:, k, 2]
                pattern = rf"{row}, {LAWS[j]}, m = 16 {skip}{{{column}}}{number}"
                error = math.hypot(spread_of_mean(factor), book_factor[k][j])
                rows.append((f"{name}: {row}, {LAWS[j]} over σ-coupled", PAGE, pattern, factor.mean(), error))
        if name == "unit_sphere":
            of_median = 1.2533 * math.sqrt(1 / splits + 1 / 96)  # the book has 96 splits
            for place, values in (("pair0", 2 * errors[:, 1, 2]), ("pair1", errors[:, 1, 0])):
                rows.append((f"sphere: median divergence ({'twice σ' if place == 'pair0' else 'IID'})",
                             f"claim couplings/fig-4/factor-two {place}", "", np.median(values),
                             of_median * spread(values)))  # fmt: skip
        else:  # the page shows the root mean square over the draws of one split
            for j, law in enumerate(("IID", "antithetic", "coupled")):
                own = np.sqrt(in_turn[:, :, j].mean(axis=1))
                rows.append((f"teapot in turn: {law}", PAGE, rf"{law}, ([\d.]+) on average", own.mean(),
                             spread(own) * math.sqrt(1 + 1 / splits)))  # fmt: skip
    return rows
