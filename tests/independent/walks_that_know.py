"""couplings/17_walks_that_know: what systematic hops leave of the squared error of independent walkers.

The error of independent walkers is not sampled: on an unweighted graph it follows from the eigenvalues of W alone
(``independent_error`` says how). Walkers that hop systematically are sampled by a program of their own, in which
loads need no product along the walk, since those of D^(-1/2) A D^(-1/2) telescope.
"""

import math
import os
import re
from pathlib import Path

import numpy as np

P_HALT, TERMS = 0.1, 60
GOLDEN = (math.sqrt(5) - 1) / 2
K = np.arange(TERMS)
# With sigma = 1. A modulation f is the power series of the root of its kernel: exp((x - 1) / 4), 1 / (2 - x).
MODULATIONS = {
    "diffusion": np.exp(-0.25) * 0.25**K / np.array([float(math.factorial(k)) for k in K]),
    "2-reg. Laplacian": 0.5 ** (K + 1.0),
}
KERNELS = {"diffusion": lambda x: np.exp((x - 1) / 2), "2-reg. Laplacian": lambda x: (2 - x) ** -2.0}
REPEATS = {"karate": 120, "football": 40, "eurosis": 5}  # pairs of sets of walks from all nodes
PAGE = "notebooks/couplings/17_walks_that_know.ipynb"


def adjacency(name):
    """The 0-1 matrix of a GML file whose nodes are numbered from 0, without self-loops."""
    text = (Path(os.environ["RFCORE_DATA_MIRROR"]) / "graphs" / f"{name}.gml").read_text(encoding="utf-8")
    ends = np.array(re.findall(r"source (\d+)\s+target (\d+)", text), dtype=int)
    A = np.zeros((text.count("node ["),) * 2)
    A[ends[:, 0], ends[:, 1]] = A[ends[:, 1], ends[:, 0]] = 1
    np.fill_diagonal(A, 0)
    return A


def spectrum(A):
    """Eigenvalues and eigenvectors of W = D^(-1/2) A D^(-1/2)."""
    root = np.sqrt(A.sum(axis=1))
    return np.linalg.eigh(A / np.outer(root, root))


def independent_error(x, f):
    """Terms a, b of the squared error a / m + b / m^2 of the whole Gram matrix, x the eigenvalues of W.

    Let C be the sum over starts of the covariance of the features of one walk, and M = f(W) their mean. For two
    independent sets of m walkers the error is 2 tr(C M^2) / m + tr(C^2) / m^2. A walk leaves i for j with
    probability (1 - p) / d_i and its load is multiplied by d_i W_ij / (1 - p), so that squared loads have the mean
    matrix V_ij = A_ij / (d_j (1 - p)) per hop. Its columns sum to 1 / (1 - p): summed over starts, squared loads
    are (1 - p)^(-s) at every node after s hops, and C is a function of W.
    """
    power = x[:, None] ** K
    squares = np.zeros_like(x)
    for s in range(TERMS):
        after = 2 * power[:, 1 : TERMS - s] @ f[s + 1 :]
        squares += (1 - P_HALT) ** -s * f[s] * (f[s] + after)
    mean = power @ f
    C = squares - mean**2
    return 2 * np.sum(C * mean**2), np.sum(C**2)


def spread_orders(most):
    """orders[k][r]: place of walker r among k evenly spaced points, so that the first walkers lie far apart."""
    bits = max(1, (most - 1).bit_length())
    reversed_bits = np.array([int(f"{r:0{bits}b}"[::-1], 2) for r in range(most)])
    orders = np.zeros((most + 1, most), dtype=int)
    for k in range(1, most + 1):
        orders[k, :k] = reversed_bits[:k].argsort().argsort()
    return orders


def systematic_features(rng, A, f, m, sets):
    """Features (sets, N, N) of m walkers from each node, with stratified lengths and systematic hops.

    The k walkers from one start that stand on its j-th node, longest first, take the points
    pi(r) / k + GOLDEN j + v modulo 1 with one uniform v for the start and the hop, and go to neighbour
    floor(u d). A load after t hops is sqrt(d_start / d_here) / (1 - p)^t, as d_i W_ij is sqrt(d_i / d_j).
    """
    n, degree, orders = len(A), A.sum(axis=1).astype(int), spread_orders(m)
    neighbours, first = np.nonzero(A)[1], np.append(0, degree.cumsum())
    row = np.repeat(np.arange(sets * n), m)
    here = row % n
    u = (m - np.tile(np.arange(m), sets * n) - rng.random(len(row))) / m  # longest first
    length = np.floor(np.log1p(-u) / np.log(1 - P_HALT)).astype(int)
    visits = np.bincount(row * n + here, minlength=sets * n * n) * f[0]
    for t in range(1, TERMS):
        row, here, length = (of[length >= t] for of in (row, here, length))
        if not len(row):
            break
        order = np.argsort(row * n + here, kind="stable")
        row, here, length = row[order], here[order], length[order]
        starts_group = np.append(True, (np.diff(row) != 0) | (np.diff(here) != 0))
        begin = np.flatnonzero(starts_group)
        group = starts_group.cumsum() - 1
        size = np.diff(np.append(begin, len(row)))[group]
        first_of_row = group[np.searchsorted(row, row)]
        v = rng.random(sets * n)[row]
        u = (orders[size, np.arange(len(row)) - begin[group]] / size + GOLDEN * (group - first_of_row) + v) % 1.0
        here = neighbours[first[here] + np.floor(u * degree[here]).astype(int)]
        order = np.lexsort((-length, row))  # back to: by start, longest first
        row, here, length = row[order], here[order], length[order]
        visits += np.bincount(row * n + here, minlength=sets * n * n) * (f[t] * (1 - P_HALT) ** -t)
    root = np.sqrt(degree)
    return visits.reshape(sets, n, n) / m * (root[:, None] / root)


def squared_errors(rng, A, x, vectors, kernel, m, repeats):
    """Squared errors of the Gram matrix of ``repeats`` pairs of sets."""
    exact, f = (vectors * KERNELS[kernel](x)) @ vectors.T, MODULATIONS[kernel]
    errors = []
    for _ in range(repeats):
        one, two = systematic_features(rng, A, f, m, 2)
        errors.append(np.sum((one @ two.T - exact) ** 2))
    return np.array(errors)


def equivalent(a, b, error):
    """The number n of independent walkers with a / n + b / n^2 = error."""
    return (a + math.sqrt(a * a + 4 * b * error)) / (2 * error)


def numbers():
    """(what, place, pattern, own, error) of each."""
    rng, rows, left = np.random.default_rng(0), [], {}
    book_se = {  # printed in the table
        ("karate", "diffusion"): 5.1, ("karate", "2-reg. Laplacian"): 4.1,
        ("football", "diffusion"): 4.5, ("football", "2-reg. Laplacian"): 0.90,
        ("eurosis", "diffusion"): 1.8, ("eurosis", "2-reg. Laplacian"): 0.41,
    }  # fmt: skip
    for name, repeats in REPEATS.items():
        A = adjacency(name)
        x, vectors = spectrum(A)
        for kernel, f in MODULATIONS.items():
            a, b = independent_error(x, f)
            for m in (16, 64):
                drawn = squared_errors(rng, A, x, vectors, kernel, m, repeats if m == 64 else max(2, repeats // 2))
                error, se = drawn.mean(), drawn.std(ddof=1) / math.sqrt(len(drawn))
                left[name, kernel, m] = error / (a / m + b / m**2), se / (a / m + b / m**2)
            n = equivalent(a, b, error)
            others = r"± [\d.,]+ [\d.,]+ ± [\d.,]+ "  # those of 4 and of 16 walkers
            pattern = rf"{name}, {kernel} [\d.,]+ {others}([\d.,]+) ±"
            own_se = n * se / error
            rows.append((f"{name}, {kernel}: independent walkers worth 64 systematic ones", PAGE, pattern, n,
                         math.hypot(own_se, book_se[name, kernel])))  # fmt: skip
    worst, se = max(left[name, "diffusion", 64] for name in REPEATS)
    rows += [
        (f"64 walkers, diffusion: part of the squared error that is left ({claim})",
         f"claim couplings/extra-hops/{claim}", "", worst, math.hypot(se, 0.00022))
        for claim in ("tenth", "half")
    ]  # fmt: skip
    for place, m, book in (("pair0", 64, 0.00058), ("pair1", 16, 0.0010)):  # the table's relative errors times these
        own, se = left["football", "2-reg. Laplacian", m]
        rows.append((f"football, 2-reg. Laplacian, {m} walkers: part that is left",
                     f"claim couplings/extra-hops/grows {place}", "", own, math.hypot(se, book)))  # fmt: skip
    return rows
