"""ugrf/20_gaussian_processes_at_scale, "What is lost by walking": cities of 100 x 100 crossings, 25 to 400 observed.

The exact posterior mean has the kernel matrix of the observed crossings, from sparse factors of I + 99 L (the page:
conjugate gradients with Chebyshev products); walkers are a program of their own, in which each visit counts the same.
"""

import math

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

SIDE, SEEN, CITIES = 100, (25, 50, 100, 200, 400), 12
FALLS = {"pair0": 50, "pair1": 25}  # the closest condition of the claim that errors fall
P_HALT = 0.01  # 1 / (1 + sigma^2), sigma^2 = 99


def city(rng, side):
    """Adjacency of a square city on a torus whose streets are open with probability 0.8, and its degrees."""
    at = np.arange(side**2).reshape(side, side)
    i = np.tile(at.ravel(), 2)
    j = np.concatenate([np.roll(at, -1, axis=axis).ravel() for axis in (0, 1)])
    is_open = rng.random(len(i)) < 0.8
    A = sp.coo_array((np.ones(is_open.sum()), (i[is_open], j[is_open])), shape=(side**2,) * 2).tocsr()
    A = (A + A.T).tocsr()
    alone = np.diff(A.indptr) == 0
    A = (A + sp.diags_array(alone.astype(float))).tocsr()  # L is 0 at a crossing without streets: W is 1
    A.eliminate_zeros()
    return A, np.diff(A.indptr)


def visits(rng, A, degree, starts, m):
    """(row, node, weight) of all visits of m independent walkers from each start, step by step.

    The modulation (1/100) 0.99^k of (I + 99 L)^(-1) cancels the loads: a visit adds sqrt(d_start / d_here) / (100 m).
    """
    row = np.repeat(np.arange(len(starts)), m)
    here = starts[row]
    yield row, here, np.full(len(row), P_HALT / m)
    while True:
        goes_on = rng.random(len(row)) >= P_HALT
        row, here = row[goes_on], here[goes_on]
        if not len(row):
            return
        here = A.indices[A.indptr[here] + (rng.random(len(here)) * degree[here]).astype(int)]
        yield row, here, np.sqrt(degree[starts[row]] / degree[here]) * (P_HALT / m)


def errors(rng):
    """Mean squared errors at crossings that are never observed: (prior, walks, exact) by number of observations."""
    A, degree = city(rng, SIDE)
    n = len(degree)
    scale = sp.diags_array(1 / np.sqrt(degree))
    factors = splu((100 * sp.eye_array(n) - 99 * (scale @ A @ scale)).tocsc())
    h = factors.solve(rng.normal(size=n))
    order, noise = rng.permutation(n), 0.1 * np.mean(h**2)
    nodes, held = order[: SEEN[-1]], order[SEEN[-1] :]
    y = h[nodes] + math.sqrt(noise) * rng.normal(size=len(nodes))

    units = np.zeros((n, len(nodes)))
    units[nodes, np.arange(len(nodes))] = 1
    K = factors.solve(factors.solve(units))  # columns of (I + 99 L)^(-2)
    phi = np.zeros((len(nodes), n))
    for row, here, weight in visits(rng, A, degree, nodes, 64):
        np.add.at(phi, (row, here), weight)
    exact, weights = np.empty((2, n, len(SEEN)))
    for column, k in enumerate(SEEN):
        exact[:, column] = K[:, :k] @ np.linalg.solve(K[nodes[:k], :k] + noise * np.eye(k), y[:k])
        weights[:, column] = phi[:k].T @ np.linalg.solve(phi[:k] @ phi[:k].T + noise * np.eye(k), y[:k])
    walked = np.zeros((n, len(SEEN)))
    for row, here, weight in visits(rng, A, degree, np.arange(n), 16):
        step = sp.coo_array((weight, (row, here)), shape=(n, n)).tocsr()
        walked += step @ weights
    return np.array([np.mean((guess - h[:, None])[held] ** 2, axis=0) for guess in (0 * exact, walked, exact)])


def numbers():
    """(what, place, pattern, own, error) of each."""
    rng = np.random.default_rng(0)
    prior, walked, exact = np.moveaxis([errors(rng) for _ in range(CITIES)], 1, 0)
    share = ((prior - walked) / (prior - exact))[:, SEEN.index(100)]
    own_and_book = math.sqrt(1 / CITIES + 1 / 20)  # the page has 20 cities
    rows = [("part of the exact gain, one crossing in a hundred", "claim ugrf/extra-gp-scale/most-of-exact", "",
             share.mean(), share.std(ddof=1) * own_and_book)]  # fmt: skip
    for place, k in FALLS.items():
        errors_of = walked[:, SEEN.index(k)]
        rows.append((f"squared error of walks, {k} observed", f"claim ugrf/extra-gp-scale/falls {place}", "",
                     errors_of.mean(), errors_of.std(ddof=1) * own_and_book))  # fmt: skip
    return rows
