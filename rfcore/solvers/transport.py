"""Couplings of the lengths of walks as optimal transport between quantile bins.

A permutation sigma of n bins couples the walks of a pair: if the first length is in bin q of the geometric
distribution, the second is in bin sigma(q) (``copulas.permutation(sigma)``, or ``coupling=sigma`` of any
walks). Its cost determines the variance of an estimate. Three steps, each usable alone:

1. the mean deposits of walks of a bin: :func:`bin_spectra` (all nodes, symmetric weights, exact),
   :func:`bin_features` (some nodes of any graph, exact);
2. the cost of two bins together: :func:`pair_products`, of which :func:`matching_costs` are the squares
   (Eq. 56) and :func:`quadratic_cost` takes sums (Eq. 55); :func:`pagerank_costs` (Eq. 82), from which
   :func:`pagerank_mse` computes errors;
3. a permutation: :func:`assignment` (Eq. 56, exact), :func:`exhaustive` and :func:`by_projections`
   (Eq. 55).

For a pair of start nodes i, j, with s_q(i) = psi^(q^(i)) + psi^(sigma(q)^(i)) and u_q(i) = vec(s_q(i)
s_q(i)^T),

::

    Eq. 55:  sum_{q, r} (s_q(i) . s_r(j))^2 = (sum_q u_q(i)) . (sum_q u_q(j))
    Eq. 56:  sum_q      (s_q(i) . s_q(j))^2 =  sum_q u_q(i)  .  u_q(j)

Summed over all pairs of a set of start nodes, i = j included, both are squares. With U_q the sum of the
u_q(i) over the set,

::

    Eq. 55:  |sum_q U_q|^2          Eq. 56:  sum_q |U_q|^2

so the paper's result for i = j holds for the average over all pairs, which its experiments use.

Optimal permutations are seldom unique, since bins of equal length can be exchanged: compare costs, not
permutations. Costs within 2^-32 of the largest count as equal; if a constant added to all of them hides their
differences, those within 2^-32 of the largest difference, or 2^-48 of the largest cost, which is rounding.
Ties go to the permutation nearest to the reversal, that of least sum_q q sigma(q), so that every processor
and every solver finds the same one. Where neither modulation nor weights are negative the reversal of the
bins is optimal for Eqs 55 and 56, for every pair of start nodes, and no coupling of two lengths has a smaller
variance.

Arrays are float64. Equations are those of Variance-Reducing Couplings, Section 4 and Appendices C and E.
"""

from collections.abc import Sequence
from itertools import islice, permutations

import jax
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float, Int, PRNGKeyArray
from scipy.optimize import linear_sum_assignment

from rfcore import checks, copulas, graphs, kernels, walks
from rfcore.graphs import Graph
from rfcore.theory.walk_errors import bin_survival, counted
from rfcore.walks.modulation import Modulation

MOST_BINS = 10  # for all permutations: 3.6 million


def bin_spectra(g: Graph, f: Modulation, n_bins: int, p_halt: float, n_terms: int = 100) -> Float[np.ndarray, "n_bins N"]:
    """Eigenvalues of the mean deposits Psi_q of walks of bin q, for symmetric weights: all nodes, exactly.

    ::

        Psi_q = sum_k f(k) h_q(k) W^k,    h_q(k) = P(length >= k | bin q) / P(length >= k)
        Psi_q = V diag(x_q) V^T,    x_qa = sum_k f(k) h_q(k) l_a^k,    W = V diag(l) V^T

    Averaged over its directions a walk deposits f(k) W^k / P(length >= k) at every step k that it makes; h is
    :func:`rfcore.theory.bin_survival`, in closed form where the paper simulates. Sums over all pairs of start
    nodes need no more than eigenvalues, since bins share their eigenvectors: see :func:`pair_products`.

    Raises ValueError if weights are not symmetric.

    Args:
        g: the graph that is walked, usually ``graph.normalised()``.
        f: modulation, of which f(0), ..., f(n_terms - 1) are counted.

    Source: Variance-Reducing Couplings, Eqs 52 and 54.
    """
    shares, eigenvalues = _shares(g, f, n_bins, p_halt, n_terms), kernels.spectrum(g)[0]
    return shares @ eigenvalues ** np.arange(shares.shape[1])[:, None]


def bin_features(
    g: Graph,
    f: Modulation,
    n_bins: int,
    p_halt: float,
    nodes: Int[ArrayLike, " n_starts"] | list[int] | range | None = None,
    n_terms: int = 100,
) -> Float[np.ndarray, "n_bins n_starts N"]:
    """Rows of Psi_q (:func:`bin_spectra`) for some start nodes, exactly; weights need not be symmetric.

    Row i is psi^(q^(i)) of Eq. 54. O(n_terms n_starts (edges + n_bins N)) time.
    """
    shares, nodes = _shares(g, f, n_bins, p_halt, n_terms), walks.start_nodes(g, nodes)
    W = g.to_scipy()
    rows = np.zeros((len(nodes), g.n_nodes))
    rows[np.arange(len(nodes)), nodes] = 1.0
    psi = np.zeros((n_bins, *rows.shape))
    for share in shares.T:
        psi += share[:, None, None] * rows
        rows = rows @ W
    return psi


def _shares(g: Graph, f: Modulation, n_bins: int, p_halt: float, n_terms: int) -> Float[np.ndarray, "n_bins steps"]:
    """f(k) h_q(k) of the steps that count."""
    values = counted(f, g, n_terms)
    return bin_survival(n_bins, p_halt, len(values)) * values


def pair_products(psi: Float[ArrayLike, "n *starts N"]) -> Float[np.ndarray, "n n D"]:
    """Matrices U for all pairs of bins, symmetric in the bins; costs are inner products of them.

    ::

        U_qr = sum_i vec(s_i s_i^T) = vec((Psi_q + Psi_r)^T (Psi_q + Psi_r)),   D = N^2
        s_i = psi^(q^(i)) + psi^(r^(i))

    For eigenvalues psi (n, N), from :func:`bin_spectra`, U_qr are those of the product, D = N numbers with
    the same inner products. Otherwise psi is (n, n_starts, N), and random projections of U to fewer numbers
    keep its inner products on average (Eqs 62 and 63).

    Source: Variance-Reducing Couplings, Eq. 60; the sum over start nodes is ours.
    """
    psi = np.asarray(checks.finite(checks.numbers(psi, "psi"), "psi"))
    if psi.ndim not in (2, 3) or not psi.size:
        raise ValueError(f"psi has shape {psi.shape}; give (bins, starts, N), or (bins, N) for eigenvalues")
    if psi.ndim == 2:
        return (psi[:, None] + psi) ** 2
    n, _, n_nodes = psi.shape
    U = np.empty((n, n, n_nodes, n_nodes))
    for q in range(n):
        for r in range(q + 1):
            s = psi[q] + psi[r]
            U[q, r] = U[r, q] = s.T @ s
    return U.reshape(n, n, -1)


def matching_costs(U: Float[ArrayLike, "n n D"], V: Float[ArrayLike, "n n D"] | None = None) -> Float[np.ndarray, "n n"]:
    """Cost c_qr = U_qr . V_qr of matching bin q with bin r; Eq. 56 sums c_{q, sigma(q)} over q.

    U and V are :func:`pair_products` of the start nodes i and j. V is U by default, which sums over all pairs
    of a set: divided by the number of pairs it is their average.

    Source: Variance-Reducing Couplings, Eq. 56.
    """
    return np.einsum("qrd,qrd->qr", *_both(U, V))


def quadratic_cost(
    U: Float[ArrayLike, "n n D"], sigma: Int[ArrayLike, " n"] | Sequence[int], V: Float[ArrayLike, "n n D"] | None = None
) -> float:
    """The objective that the matching cost approximates, with all pairs of bins instead of single bins.

    ::

        (sum_q U_{q, sigma(q)}) . (sum_q V_{q, sigma(q)})

    U and V as for :func:`matching_costs`.

    Source: Variance-Reducing Couplings, Eqs 55 and 61.
    """
    U, V = _both(U, V)
    q, sigma = np.arange(len(U)), _permutation(sigma, len(U))
    return float(U[q, sigma].sum(axis=0) @ V[q, sigma].sum(axis=0))


def pagerank_costs(g: Graph, n_bins: int, p_halt: float) -> Float[np.ndarray, "n_bins n_bins"]:
    """Cost of matching bin q with bin r for PageRank: the probability that such walks end together.

    ::

        c_qr = sum_ij P_q(j -> i) P_r(j -> i),   P_q = sum_l P(length = l | bin q) P^l

    with P the transitions of the walk, uniform on the neighbours of a node whatever the weights; at a node
    without neighbours the walk stays. The variance of the estimate, summed over all nodes i, is a constant
    plus 1 / (N^2 n_bins m) times the sum of c_{q, sigma(q)}, m the even number of walks of a node: no
    approximation is made. Lengths are summed until fewer than 2^-53 of all walks are left: O(N^2
    (edges / N + n_bins) / p_halt) time, n_bins N^2 numbers.

    Raises ValueError if p_halt, the probability of stopping before each hop, is below 1.8e-8.

    Source: Variance-Reducing Couplings, Eq. 82, summed over the node v_i as well.
    """
    P, p_halt = graphs.checked(g).transitions().to_scipy(), walks.lengths.halting(p_halt)
    k = np.arange(walks.lengths.longest(p_halt) + 2)
    at_least = bin_survival(n_bins, p_halt, len(k)) * (1 - p_halt) ** k  # P(length >= k | bin)
    shares = at_least[:, :-1] - at_least[:, 1:]
    ends, power = np.zeros((len(shares), g.n_nodes, g.n_nodes)), np.eye(g.n_nodes)
    for share in shares.T:
        q = np.flatnonzero(share)
        ends[q] += share[q, None, None] * power
        power = P @ power
    ends = ends.reshape(len(shares), -1)
    return ends @ ends.T


def pagerank_mse(
    costs: Float[ArrayLike, "n n"] | Sequence[Sequence[float]],
    n_nodes: int,
    n_walks: int = 2,
    sigma: Int[ArrayLike, " n"] | Sequence[int] | None = None,
) -> float:
    """Mean squared error of an estimate of the PageRank vector, from the costs of :func:`pagerank_costs`.

    ::

        E |rho_hat - rho|^2 = (N - 2 S + 1/n sum_q c_{q, sigma(q)}) / (N^2 m)
        S = 1/n^2 sum_qr c_qr = sum_ij P(j -> i)^2

    with N - S in place of the bracket for independent walks: S is the probability that two independent walks
    of a node end together, summed over the nodes.

    Args:
        n_nodes: N, nodes of the graph.
        n_walks: m, walks of each node; even, since they walk in pairs.
        sigma: permutation of the bins; None for independent walks.
    """
    costs = _over_bins(costs, "costs", 2)
    n, n_nodes, n_walks = len(costs), checks.count(n_nodes, "n_nodes"), checks.count(n_walks, "n_walks")
    if n_walks % 2:
        raise ValueError(f"n_walks = {n_walks}; give an even number, since walks are coupled in pairs")
    together = costs.mean()
    coupled = together if sigma is None else costs[np.arange(n), _permutation(sigma, n)].mean()
    return float(n_nodes - 2 * together + coupled) / (n_nodes**2 * n_walks)


def assignment(costs: Float[ArrayLike, "n n"] | Sequence[Sequence[float]]) -> Int[np.ndarray, " n"]:
    """Permutation of least cost: the optimal sigma-coupling.

    ::

        sigma = argmin sum_q c_{q, sigma(q)}

    The costs are those of :func:`matching_costs` or :func:`pagerank_costs`; by
    :func:`scipy.optimize.linear_sum_assignment`, O(n^3). Exact up to differences that count as ties: a
    constant added to all costs changes nothing, but a huge cost that forbids a match hides the differences of
    the others.

    Source: Variance-Reducing Couplings, Definition 4.2.

    >>> from rfcore.solvers import transport
    >>> transport.assignment([[16.0, 81.0], [81.0, 256.0]]).tolist()
    [1, 0]
    """
    costs = _on_a_grid(_over_bins(costs, "costs", 2))
    n = len(costs)
    ranks = np.outer(np.arange(n), np.arange(n))
    return linear_sum_assignment(costs + ranks / 2.0 ** (3 * n.bit_length()))[1]  # the sum of these terms stays below one step


def exhaustive(U: Float[ArrayLike, "n n D"], V: Float[ArrayLike, "n n D"] | None = None) -> Int[np.ndarray, " n"]:
    """Permutation of least :func:`quadratic_cost` of U and V among all of them, for up to ten bins.

    Source: Variance-Reducing Couplings, Eq. 55 and Figure 8.
    """
    U, V = _both(U, V)
    n = len(U)
    if n > MOST_BINS:
        raise ValueError(f"U has shape {U.shape}; give at most {MOST_BINS} bins, for all their permutations are tried")
    gram = _on_a_grid(U.reshape(n * n, -1) @ V.reshape(n * n, -1).T)
    least, best, all_of_them = (np.inf, 0), np.arange(n), permutations(range(n))
    while some := list(islice(all_of_them, 20_000)):
        sigmas = np.array(some)
        chosen = np.arange(n) * n + sigmas
        costs = gram[chosen[:, :, None], chosen[:, None, :]].sum(axis=(1, 2))
        cheapest = sigmas[costs == costs.min()]
        from_reversal = cheapest @ np.arange(n)
        if (rank := (costs.min(), from_reversal.min())) < least:
            least, best = rank, cheapest[from_reversal.argmin()]
    return best


def by_projections(key: PRNGKeyArray, U: Float[ArrayLike, "n n D"], n_projections: int) -> Int[np.ndarray, " n"]:
    """Permutation of small quadratic cost for i = j, from assignments under random projections.

    ::

        for each of n_projections g ~ N(0, I):  the assignment of least  sum_q U_{q, sigma(q)} . g
        the best of them in |sum_q U_{q, sigma(q)}|^2

    U is :func:`pair_products` of one start node or of all pairs of a set. A search without a guarantee: on
    small problems mostly as good as :func:`exhaustive`. The condition of Lemma C.2, that no direction is
    nearly orthogonal to the optimal sum and to another one, cannot be met for N > 1: some direction is
    orthogonal to any two vectors of more than two entries. And the assignment takes the *least* projection,
    which may be a negative one of the others.

    Source: Variance-Reducing Couplings, Lemma C.2.
    """
    U, n_projections = _over_bins(U, "U", 3), checks.count(n_projections, "n_projections")
    directions = np.asarray(jax.random.normal(key, (n_projections, U.shape[-1])), dtype=float)
    found = {tuple(assignment(U @ g)) for g in directions}
    sigmas = np.array(sorted(found))
    costs = _on_a_grid(np.array([quadratic_cost(U, sigma) for sigma in sigmas]))
    return sigmas[np.lexsort((sigmas @ np.arange(len(U)), costs))[0]]


def _on_a_grid(costs: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Costs rounded to integers, whose sums are exact: costs equal up to rounding tie on all processors."""
    costs = np.ldexp(costs, -np.frexp(np.abs(costs).max())[1])  # of size 1: nothing below overflows
    largest, least = np.abs(costs).max(), costs.min()
    if costs.max() - least < largest / 2:
        costs, largest = costs - least, max(costs.max() - least, 2.0**-16 * largest)
    return np.rint(costs * (2.0**32 / largest)) if largest > 0 else costs


def _both(
    U: Float[ArrayLike, "n n D"], V: Float[ArrayLike, "n n D"] | None
) -> tuple[Float[np.ndarray, "n n D"], Float[np.ndarray, "n n D"]]:
    U, V = _over_bins(U, "U", 3), _over_bins(U if V is None else V, "V", 3)
    if U.shape != V.shape:
        raise ValueError(f"V has shape {V.shape}; give that of U, {U.shape}")
    return U, V


def _over_bins(
    array: Float[ArrayLike, "n n ..."] | Sequence[Sequence[float]], name: str, ndim: int
) -> Float[np.ndarray, "n n ..."]:
    """Finite numbers for each pair of bins."""
    array = np.asarray(checks.finite(checks.numbers(array, name), name), dtype=float)
    if array.ndim != ndim or array.shape[0] != array.shape[1] or not array.size:
        wanted = "a square matrix, one row and one column per bin" if ndim == 2 else "(n, n, D), as of pair_products(psi)"
        raise ValueError(f"{name} has shape {array.shape}; give {wanted}")
    return array


def _permutation(sigma: Int[ArrayLike, " n"] | Sequence[int], n: int) -> Int[np.ndarray, " n"]:
    sigmas = np.array(copulas.permutation(sigma).sigmas)
    if sigmas.shape != (1, n):
        raise ValueError(f"sigma = {sigma!r}; give one permutation of 0, ..., {n - 1}, the bins")
    return sigmas[0]
