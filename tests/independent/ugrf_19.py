"""ugrf/19_what_pays_when: errors of three ways to blocks of a graph of 200,000 nodes, and of posteriors by walks.

At the page's size, on graphs drawn anew: errors are standard deviations over graphs, of which the page has one. All
that does not walk is a polynomial in the blocks (W^k)[S, S]: the exact kernel is its Taylor series (the page has
Chebyshev's), the rivals are short ones. Walkers are one loop over steps.
"""

import math

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

NODES, DRAWS, P_HALT = 200_000, 4, 0.1
GRAPHS = {"50 hubs": 6, "125 snowball": 4}
TERMS, HALF = 20, 8  # of modulations; half of the powers in an exact block, the rest of which are below 1e-4 of it
PAGE = "notebooks/ugrf/19_what_pays_when.ipynb"


def power_law_graph(rng, n=NODES, groups=4, mixing=0.3):
    """3 n edges between nodes of Pareto weights U^(-2/3), cut at 10 sqrt(n); seven in ten stay in a community."""
    weight = np.minimum((1 - rng.random(n)) ** (-2 / 3), 10 * math.sqrt(n))
    community = np.sort(rng.integers(groups, size=n))
    members = [np.flatnonzero(community == c) for c in range(groups)]
    i = rng.choice(n, 3 * n, p=weight / weight.sum())
    j = rng.choice(n, 3 * n, p=weight / weight.sum())
    inside = rng.random(3 * n) > mixing
    for c, nodes in enumerate(members):
        those = np.flatnonzero(inside & (community[i] == c))
        j[those] = rng.choice(nodes, len(those), p=weight[nodes] / weight[nodes].sum())
    apart = i != j
    i, j = np.append(i[apart], j[apart]), np.append(j[apart], i[apart])
    A = sp.coo_array((np.ones(len(i)), (i, j)), shape=(n, n)).tocsr()
    A.data[:] = 1
    return A


def normalised(A):
    scale = sp.diags_array(1 / np.sqrt(np.maximum(A.sum(axis=1), 1)))
    return (scale @ A @ scale).tocsr()


def modulation(sigma):
    """Coefficients of exp(-sigma^2 (1 - x) / 4), the root of the diffusion kernel."""
    t = sigma**2 / 4
    return np.array([math.exp(-t) * t**k / math.factorial(k) for k in range(TERMS)])


def blocks_of_powers(W, nodes):
    """(W^k)[S, S] for k < 2 HALF, from the columns T_k = W^k[:, S]: T_a^T T_b is the block of a + b."""
    column = np.zeros((W.shape[0], len(nodes)))
    column[nodes, np.arange(len(nodes))] = 1
    found = []
    for _ in range(HALF):
        after = W @ column
        found += [column.T @ column, column.T @ after]
        column = after
    return np.array(found)


def polynomial(coefficients, powers):
    return np.tensordot(coefficients, powers[: len(coefficients)], axes=1)


def chebyshev(sigma, degree):
    """Power coefficients of the polynomial through exp(sigma^2 (x - 1) / 2) at the degree + 1 Chebyshev points."""
    points = np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
    return np.linalg.solve(np.vander(points, increasing=True), np.exp(sigma**2 * (points - 1) / 2))


def walk_features(rng, A, degree, starts, m, f):
    """Features of m independent walkers from each start; loads are sqrt(d_start / d_here) / (1 - p)^k."""
    row = np.repeat(np.arange(len(starts)), m)
    here, parts = starts[row], []
    for k, weight in enumerate(f):
        value = np.sqrt(degree[starts[row]] / degree[here]) * (weight * (1 - P_HALT) ** -k / m)
        parts.append((value, row, here))
        goes_on = rng.random(len(row)) >= P_HALT
        row, here = row[goes_on], here[goes_on]
        here = A.indices[A.indptr[here] + (rng.random(len(here)) * degree[here]).astype(int)]
    value, row, here = (np.concatenate(part) for part in zip(*parts, strict=True))
    return sp.coo_array((value, (row, here)), shape=(len(starts), len(degree))).tocsr()


def off_diagonal(estimate, truth):
    """Relative Frobenius error of the entries off the diagonal."""
    off = ~np.eye(len(truth), dtype=bool)
    return np.linalg.norm((estimate - truth)[off]) / np.linalg.norm(truth[off])


def whole(estimate, truth):
    return np.linalg.norm(estimate - truth) / np.linalg.norm(truth)


def posterior(kernel, y, noise, n_seen=100):
    """Mean and variance at the nodes that are not among the first."""
    across = kernel[:n_seen, n_seen:]
    solved = np.linalg.solve(kernel[:n_seen, :n_seen] + noise * np.eye(n_seen), across)
    return solved.T @ y[:n_seen], np.diag(kernel)[n_seen:] - np.sum(across * solved, axis=0)


def posterior_errors(rng, truth, estimate, noise):
    """Relative error of the mean, and mean relative error of standard deviations, for data drawn anew."""
    y = np.linalg.cholesky(truth + noise * np.eye(len(truth))) @ rng.normal(size=len(truth))
    (mean, variance), (about, roughly) = (posterior(kernel, y, noise) for kernel in (truth, estimate))
    return np.linalg.norm(about - mean) / np.linalg.norm(mean), np.mean(abs(np.sqrt(roughly / variance) - 1))


def of_one_graph(rng, snowball):
    """All numbers of one graph, by name; its snowball is as costly as three times the hubs."""
    A = power_law_graph(rng)
    W, degree = normalised(A), np.diff(A.indptr)
    sets, found = {"50 hubs": np.argsort(-degree)[:50]}, {}
    if snowball:
        sets["125 snowball"] = breadth_first_order(A, np.flatnonzero(degree == 6)[0])[0][:125]
    for name, nodes in sets.items():
        powers = blocks_of_powers(W, nodes)
        for sigma in (1, 3):
            f = modulation(sigma)
            alpha = np.convolve(f, f)[: 2 * HALF]
            truth = polynomial(alpha, powers)
            drawn = [
                walk_features(rng, A, degree, nodes, 256, f) @ walk_features(rng, A, degree, nodes, 256, f).T
                for _ in range(DRAWS)
            ]
            drawn = [one.toarray() for one in drawn]
            short, few = f[: PUSH[name, sigma] + 1], chebyshev(sigma, COLUMNS[sigma])
            push, columns = polynomial(np.convolve(short, short), powers), polynomial(few, powers)
            for what, error in (("error", whole), ("off", off_diagonal)):
                case = f"{name}, σ = {sigma}"
                found[f"{case}: walks", what] = np.mean([error(one, truth) for one in drawn])
                found[f"{case}: push", what] = error(push, truth)
                found[f"{case}: columns", what] = error(columns, truth)
    if not snowball:
        return found
    noise = 0.1 * np.mean(np.diag(truth))  # the snowball at long range comes last
    for m in (256, 1024, 4096):
        errors = []
        for _ in range(DRAWS if m < 4096 else 1):
            phi = walk_features(rng, A, degree, nodes, m, f)
            estimate = (phi @ phi.T).toarray()
            errors += [posterior_errors(rng, truth, estimate, noise) for _ in range(DRAWS)]
        found[f"{m:,} walks", "mean"], found[f"{m:,} walks", "deviation"] = np.mean(errors, axis=0)
    return found


# The degrees of the page's table: the least at which a rival is no worse than walks.
PUSH = {("50 hubs", 1): 2, ("50 hubs", 3): 3, ("125 snowball", 1): 1, ("125 snowball", 3): 3}
COLUMNS = {1: 2, 3: 4}
CELLS = {"error": r"[\d.]+ (?:\d )?([\d.]+) [\d.]+", "off": r"[\d.]+ (?:\d )?[\d.]+ ([\d.]+)",
         "mean": r"[\d.]+ ([\d.]+) ±", "deviation": r"[\d.]+ [\d.]+ ± [\d.]+ ([\d.]+) ±"}  # fmt: skip


def numbers():
    """(what, place, pattern, own, error) of each."""
    rng = np.random.default_rng(0)
    drawn = [of_one_graph(rng, graph < GRAPHS["125 snowball"]) for graph in range(GRAPHS["50 hubs"])]
    rows = []
    for name, what in drawn[0]:
        values = [one[name, what] for one in drawn if (name, what) in one]
        error = np.std(values, ddof=1) * math.sqrt(1 + 1 / len(values))
        rows.append((f"{name}: {what}", PAGE, rf"(?<![\d,]){name} {CELLS[what]}", np.mean(values), error))
    of = {row[0]: row for row in rows}
    for what, pattern, row in (
        ("walks, in the first bullet", r"too inaccurate off the diagonal: ([\d.]+)", "50 hubs, σ = 3: walks: off"),
        ("their rival", r"off the diagonal: [\d.]+, where it has ([\d.]+)\.", "50 hubs, σ = 3: columns: off"),
    ):
        rows.append((what, PAGE, pattern, *of[row][3:]))
    return rows
