"""start/02_which_features, "A graph of a million nodes": errors of a product and of values, exact and by walks.

Smaller cities stand in for the million crossings: errors are shares of a norm over all nodes, each of which depends
on its neighbourhood alone, and rows at 80 x 80, 160 x 160 and (where nothing walks) 320 x 320 crossings show that they
do not depend on the size. The product is a Taylor series, the posterior mean is that of the kernel matrix of the
crossings that were seen, that of walkers has a dense Cholesky factor, and walkers are a program of their own.
"""

import math

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg, splu

GOLDEN = (math.sqrt(5) - 1) / 2
WALKERS = 16
PAGE = "notebooks/start/02_which_features.ipynb"


def city(rng, side):
    """Normalised weights D^(-1/2) A D^(-1/2), neighbour lists and degrees of a grid with nine streets in ten."""
    at = np.arange(side * side).reshape(side, side)
    ends = np.hstack([[at[:, :-1].ravel(), at[:, 1:].ravel()], [at[:-1].ravel(), at[1:].ravel()]])
    i, j = ends[:, rng.random(ends.shape[1]) < 0.9]
    A = sp.coo_array((np.ones(len(i)), (i, j)), shape=(side * side,) * 2).tocsr()
    A = (A + A.T).tocsr()
    alone = np.diff(A.indptr) == 0
    A = (A + sp.diags_array(alone.astype(float))).tocsr()  # L is 0 at a crossing without streets: W is 1
    A.eliminate_zeros()
    A.sort_indices()
    degree = np.diff(A.indptr)
    scale = sp.diags_array(1 / np.sqrt(degree))
    return scale @ A @ scale, A, degree


def spread_orders(most):
    """orders[k][r]: place of walker r among k evenly spaced points, so that the first walkers lie far apart."""
    bits = (most - 1).bit_length()
    reversed_bits = np.array([int(f"{r:0{bits}b}"[::-1], 2) for r in range(most)])
    orders = np.zeros((most + 1, most), dtype=int)
    for k in range(1, most + 1):
        orders[k, :k] = reversed_bits[:k].argsort().argsort()
    return orders


def systematic_points(rng, row, here):
    """Uniforms of the hops of walkers sorted by start, longest first: pi(r) / k + GOLDEN j + v modulo 1.

    k walkers from one start stand on its j-th node, r = 0 is the one that walks longest, and v is one uniform of
    the start.
    """
    order = np.lexsort((np.arange(len(row)), here, row))
    row, here = row[order], here[order]
    new_row = np.append(True, row[1:] != row[:-1])
    new_node = new_row | np.append(True, here[1:] != here[:-1])
    begin, group = np.flatnonzero(new_node), new_node.cumsum() - 1
    size = np.diff(np.append(begin, len(row)))[group]
    j = group - group[np.flatnonzero(new_row)][new_row.cumsum() - 1]
    v = rng.random(new_row.sum())[new_row.cumsum() - 1]
    points = np.empty(len(row))
    points[order] = ORDERS[size, np.arange(len(row)) - begin[group]] / size + GOLDEN * j + v
    return points % 1


ORDERS = spread_orders(WALKERS)


def walk(rng, A, degree, starts, p_halt, systematic):
    """(row, node, step, ratio) of all deposits: ratio = sqrt(d_start / d_here), the load times (1 - p_halt)^step."""
    row = np.repeat(np.arange(len(starts)), WALKERS)
    u = rng.random(len(row))
    if systematic:  # one walker in each of sixteen equal parts, the longest first
        u = (WALKERS - np.tile(np.arange(WALKERS), len(starts)) - u) / WALKERS
    length = np.floor(np.log1p(-u) / math.log(1 - p_halt)).astype(int)
    here = starts[row]
    yield row, here, 0, np.ones(len(row))
    for step in range(1, length.max() + 1):
        goes_on = length >= step
        row, here, length = row[goes_on], here[goes_on], length[goes_on]
        u = systematic_points(rng, row, here) if systematic else rng.random(len(row))
        here = A.indices[A.indptr[here] + np.floor(u * degree[here]).astype(int)]
        yield row, here, step, np.sqrt(degree[starts[row]] / degree[here])


def features(rng, A, degree, starts, p_halt, f, systematic):
    """Sparse features of the starts; f(step) is the modulation."""
    parts = [
        (row, here, ratio * (f(step) * (1 - p_halt) ** -step / WALKERS))
        for row, here, step, ratio in walk(rng, A, degree, starts, p_halt, systematic)
    ]
    row, here, value = (np.concatenate(of) for of in zip(*parts, strict=True))
    return sp.coo_array((value, (row, here)), shape=(len(starts), len(degree))).tocsr()


def relative(estimate, exact):
    return np.linalg.norm(estimate - exact) / np.linalg.norm(exact)


def heat(W, v):
    """exp(-(I - W) / 2) v by its Taylor series, whose term k is at most (1/2)^k / k! of v."""
    term = total = v
    for k in range(1, 20):
        term = W @ term * (0.5 / k)
        total = total + term
    return math.exp(-0.5) * total


def product_error(rng, side):
    """Relative error of K v by features of two sets of walks, K the diffusion kernel of sigma = 1."""
    W, A, degree = city(rng, side)
    v, nodes = rng.normal(size=len(degree)), np.arange(len(degree))
    phi, psi = (
        features(rng, A, degree, nodes, 0.1, lambda k: math.exp(-0.25) * 0.25**k / math.factorial(k), True)
        for _ in range(2)
    )
    return relative(phi @ (psi.T @ v), heat(W, v))


def posterior_mean(factors, seen, y, noise):
    """K_seen^T (K_seen,seen + noise I)^(-1) y in data space, K = root^(-2) known by the factors of root."""

    def kernel(b):
        right = np.zeros(factors.shape[0])
        right[seen] = b
        return factors.solve(factors.solve(right))

    system = LinearOperator((len(seen),) * 2, lambda b: kernel(b)[seen] + noise * b, dtype=float)
    b, failed = cg(system, y, rtol=1e-5)
    assert not failed
    return kernel(b)


def value_errors(rng, side, walks):
    """Relative errors, at the crossings that were not seen, of the exact posterior mean and of those by walks.

    Values have the covariance (I + 25 L)^(-2); a tenth of the crossings is seen with noise of a tenth of their
    variance. The modulation (1/26) (25/26)^k cancels the loads of walks with p_halt = 1/26: each visit adds
    sqrt(d_start / d_here) / 26.
    """
    W, A, degree = city(rng, side)
    n = len(degree)
    root = (sp.eye_array(n) + 25 * (sp.eye_array(n) - W)).tocsc()
    factors = splu(root, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0, options={"SymmetricMode": True})
    h = factors.solve(rng.normal(size=n))
    seen = rng.permutation(n)[: n // 10]
    hidden = np.setdiff1d(np.arange(n), seen)
    noise = 0.1 * h.var()
    y = h[seen] + math.sqrt(noise) * rng.normal(size=len(seen))
    mean = posterior_mean(factors, seen, y, noise)
    errors = [relative(mean[hidden], h[hidden])]
    for systematic in (True, False) if walks else ():
        phi = features(rng, A, degree, seen, 1 / 26, lambda k: (25 / 26) ** k / 26, systematic)
        gram = (phi @ phi.T).toarray() + noise * np.eye(len(seen))
        b = phi.T @ cho_solve(cho_factor(gram), y)
        mean = np.zeros(len(hidden))
        for row, here, _, ratio in walk(rng, A, degree, hidden, 1 / 26, systematic):
            mean += np.bincount(row, b[here] * ratio, minlength=len(hidden)) / (26 * WALKERS)
        errors.append(relative(mean, h[hidden]))
    return errors


def row_of(what, pattern, drawn, nodes):
    """One number: the mean of cities, with its error and that of one city of a million crossings.

    What a city adds to a mean is independent of what another adds, so that variances fall as 1 / crossings.
    """
    drawn = np.array(drawn)
    deviation = drawn.std(ddof=1)
    return what, PAGE, pattern, drawn.mean(), deviation * math.sqrt(1 / len(drawn) + nodes / 1e6)


def numbers():
    """(what, place, pattern, own, error) of each."""
    rng, rows, last = np.random.default_rng(0), [], r"[\d.]+ \| [\d.]+ \| ([\d.]+) \|"
    for side, draws in ((80, 8), (160, 3)):
        drawn = [product_error(rng, side) for _ in range(draws)]
        pattern = rf"product: walks of all nodes \| {last}"
        rows.append(row_of(f"product by walks, {side} x {side}", pattern, drawn, side**2))
    for side, draws, walks in ((80, 10, True), (160, 3, True), (320, 4, False)):
        drawn = np.array([value_errors(rng, side, walks) for _ in range(draws)])
        for of, way in zip(drawn.T, ("sparse system", "systematic walkers", "independent walkers"), strict=False):
            rows.append(row_of(f"values, {way}, {side} x {side}", rf"values: {way} \| {last}", of, side**2))
    return rows
