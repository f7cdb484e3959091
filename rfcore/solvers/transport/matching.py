"""Permutations of bins of least cost: linear assignments, and searches where the cost is quadratic.

Permutations are int arrays (n,), for ``copulas.permutation(sigma)`` or ``coupling=sigma``. A cost seldom has
only one: costs within 2^-32 of the largest are equal; if a number that was added to all hides how they
differ, those within 2^-32 of the largest difference, or 2^-48 of the largest, which is rounding. Of equals
the one nearest to the reversal is taken, that of least sum_q q sigma(q), so that every processor and every
solver finds the same.
"""

from itertools import islice, permutations

import jax
import numpy as np
from scipy.optimize import linear_sum_assignment

from rfcore import checks
from rfcore.solvers.transport.objectives import products, quadratic_cost, square

MOST_BINS = 10  # for all permutations: 3.6 million


def assignment(costs):
    """Permutation of least cost: the optimal sigma-coupling.

    ::

        sigma = argmin sum_q c_{q, sigma(q)}

    The costs (n, n) are those of :func:`matching_costs` or :func:`pagerank_costs`; by
    :func:`scipy.optimize.linear_sum_assignment`, O(n^3). Exact but for differences that count as none: a
    number added to all costs changes nothing, but a huge cost that forbids a match hides how others differ.

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
    directions = np.asarray(jax.random.normal(key, (n_projections, U.shape[-1])), dtype=float)
    found = {tuple(assignment(U @ g)) for g in directions}
    sigmas = np.array(sorted(found))
    costs = _on_a_grid(np.array([quadratic_cost(U, sigma) for sigma in sigmas]))
    return sigmas[np.lexsort((sigmas @ np.arange(len(U)), costs))[0]]


def _on_a_grid(costs):
    """Whole multiples, whose sums are exact: what is equal but for rounding ties on all processors."""
    costs = np.ldexp(costs, -np.frexp(np.abs(costs).max())[1])  # of size 1: nothing below overflows
    largest, least = np.abs(costs).max(), costs.min()
    if costs.max() - least < largest / 2:
        costs, largest = costs - least, max(costs.max() - least, 2.0**-16 * largest)
    return np.rint(costs * (2.0**32 / largest)) if largest > 0 else costs
