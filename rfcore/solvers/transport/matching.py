"""Permutations of bins of least cost: linear assignments, and searches where the cost is quadratic.

Permutations are int arrays (n,), for ``copulas.permutation(sigma)`` or ``coupling=sigma``. A cost seldom has
only one: costs within 2^-32 of the largest are equal, and of equals the one nearest to the reversal is taken,
that of least sum_q q sigma(q), so that every processor and every solver finds the same.
"""

from itertools import islice, permutations

import jax
import numpy as np
from scipy.optimize import linear_sum_assignment

from rfcore import checks
from rfcore.solvers.transport.objectives import products, quadratic_cost, square

MOST_BINS = 10  # for all permutations: 3.6 million


def assignment(costs):
    """Permutation of least cost, exactly: the optimal sigma-coupling.

    ::

        sigma = argmin sum_q c_{q, sigma(q)}

    The costs (n, n) are those of :func:`matching_costs` or :func:`pagerank_costs`; by
    :func:`scipy.optimize.linear_sum_assignment`, O(n^3).

    Source: Variance-Reducing Couplings, Definition 4.2.

    >>> from rfcore.solvers import transport
    >>> transport.assignment([[16.0, 81.0], [81.0, 256.0]]).tolist()
    [1, 0]
    """
    costs = _on_a_grid(square(costs))
    n = len(costs)
    ranks = np.outer(np.arange(n), np.arange(n))
    return linear_sum_assignment(costs + ranks / 2.0 ** (3 * n.bit_length()))[1]  # their sum stays below one step


def exhaustive(U, V=None):
    """Permutation of least :func:`quadratic_cost` of U and V among all of them, for up to ten bins.

    Source: Variance-Reducing Couplings, Eq. 55 and Figure 8.
    """
    U, V = products(U, V)
    n = len(U)
    if n > MOST_BINS:
        raise ValueError(f"U has shape {U.shape}; give at most {MOST_BINS} bins, for all their permutations are tried")
    gram = _on_a_grid(U.reshape(n * n, -1) @ V.reshape(n * n, -1).T)
    least, best, all_of_them = (np.inf, 0), None, permutations(range(n))
    while some := list(islice(all_of_them, 20_000)):
        sigmas = np.array(some)
        chosen = np.arange(n) * n + sigmas
        costs = gram[chosen[:, :, None], chosen[:, None, :]].sum(axis=(1, 2))
        cheapest = sigmas[costs == costs.min()]
        from_reversal = cheapest @ np.arange(n)
        if (rank := (costs.min(), from_reversal.min())) < least:
            least, best = rank, cheapest[from_reversal.argmin()]
    return best


def by_projections(key, U, n_projections):
    """Permutation of small quadratic cost for i = j, from assignments under random projections.

    ::

        for each of n_projections g ~ N(0, I):  the assignment of least  sum_q U_{q, sigma(q)} . g
        the best of them in |sum_q U_{q, sigma(q)}|^2

    U is :func:`pair_products` of one start node or of all pairs of a set. A search without a guarantee: on
    small problems mostly as good as :func:`exhaustive`. The condition of Lemma C.2, that no direction is
    nearly orthogonal to the optimal sum and to another one, cannot be met for N > 1: some direction is
    orthogonal to any two vectors of more than two entries. And the assignment takes the *least* projection,
    which of the others may be negative.

    Source: Variance-Reducing Couplings, Lemma C.2.
    """
    (U, _), n_projections = products(U), checks.count(n_projections, "n_projections")
    directions = np.asarray(jax.random.normal(checks.key(key), (n_projections, U.shape[-1])), dtype=float)
    found = {tuple(assignment(U @ g)) for g in directions}
    sigmas = np.array(sorted(found))
    costs = _on_a_grid(np.array([quadratic_cost(U, sigma) for sigma in sigmas]))
    return sigmas[np.lexsort((sigmas @ np.arange(len(U)), costs))[0]]


def _on_a_grid(costs):
    """Whole multiples, whose sums are exact: what is equal but for rounding ties on all processors."""
    largest = np.abs(costs).max(initial=0.0)
    return np.rint(costs * (2.0**32 / largest)) if largest > 0 else costs


def assignments(psi, n_walks, max_sweeps=20):
    """Permutations for groups of more than two walks, matched in turn until the cost stays.

    ::

        cost = sum_q |sum_i vec(s_i s_i^T)|^2
        s_i = psi^(q^(i)) + psi^(sigma_2(q)^(i)) + ... + psi^(sigma_m(q)^(i))

    Given the others, the best permutation of one walk is an assignment. Each is solved for in turn: first as
    walks are added, then over and over. The cost never rises; what it stays at is a local minimum, for two
    walks the least. Variance-Reducing Couplings, Section 4.1, leaves more than two walks open: this is an
    axial m-dimensional assignment, hard from m = 3 on.

    Args:
        psi: as for :func:`pair_products`.
        n_walks: m, at least 2.
        max_sweeps: most times that all permutations are solved for again.

    Returns:
        Int array (n_walks - 1, n): sigma_2, ..., sigma_m.

    Source: Spieksma, "Multi index assignment problems" (2000).
    """
    psi = np.asarray(checks.finite(checks.numbers(psi, "psi"), "psi"))
    if psi.ndim not in (2, 3) or not psi.size:
        raise ValueError(f"psi has shape {psi.shape}; give (bins, starts, N), or (bins, N) for eigenvalues")
    n_walks, max_sweeps = checks.count(n_walks, "n_walks", least=2), checks.count(max_sweeps, "max_sweeps")
    bins, before = np.arange(len(psi)), np.inf
    sigmas, total = [bins.copy()], psi.copy()
    for _ in range(n_walks - 1):
        sigmas.append(assignment(_group_costs(total, psi)))
        total = total + psi[sigmas[-1]]
    for _ in range(max_sweeps if n_walks > 2 else 0):
        for sigma in sigmas:
            others = total - psi[sigma]
            costs = _group_costs(others, psi)
            sigma[:] = assignment(costs)
            total = others + psi[sigma]
        if not costs[bins, sigma].sum() < before:
            break
        before = costs[bins, sigma].sum()
    return np.array(sigmas)[1:, sigmas[0].argsort()]  # by the bins of the first walk


def _group_costs(others, psi):
    """Cost of each sum of other walks with each bin of one walk more."""
    if psi.ndim == 2:
        return ((others[:, None] + psi) ** 4).sum(axis=-1)
    costs = np.empty(2 * psi.shape[:1])
    for q, row in enumerate(others):
        s = row + psi
        costs[q] = ((s @ s.transpose(0, 2, 1)) ** 2).sum(axis=(1, 2))
    return costs
