"""What pairs of bins cost: the objectives of Eqs 55, 56 and 82 for permutations of the bins.

For a pair of start nodes i, j, with s_q(i) = psi^(q^(i)) + psi^(sigma(q)^(i)) and u_q(i) = vec(s_q(i)
s_q(i)^T),

::

    Eq. 55:  sum_{q, r} (s_q(i) . s_r(j))^2 = (sum_q u_q(i)) . (sum_q u_q(j))
    Eq. 56:  sum_q      (s_q(i) . s_q(j))^2 =  sum_q u_q(i)  .  u_q(j)

Summed over all pairs of a set of start nodes, i = j included, both are squares. With U_q the sum of the
u_q(i) over the set,

::

    Eq. 55:  |sum_q U_q|^2          Eq. 56:  sum_q |U_q|^2

so that what the paper shows for i = j holds for the average over all pairs, which its experiments take.
Arrays are float64.
"""

import numpy as np

from rfcore import checks, copulas, graphs, walks
from rfcore.theory import bin_survival


def pair_products(psi):
    """U of every pair of bins, (n, n, N^2), symmetric in the bins: what costs are inner products of.

    ::

        U_qr = sum_i vec(s_i s_i^T) = vec((Psi_q + Psi_r)^T (Psi_q + Psi_r))
        s_i = psi^(q^(i)) + psi^(r^(i))

    Of eigenvalues psi (n, N), from :func:`bin_spectra`, U_qr are those of the product, N numbers in place of
    N^2 with the same inner products. Otherwise psi is (n, n_starts, N), and
    random projections of U to r numbers in place of N^2 keep its inner products on average (Eqs 62 and 63).

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


def matching_costs(U, V=None):
    """Cost c_qr = U_qr . V_qr of matching bin q with bin r; Eq. 56 sums c_{q, sigma(q)} over q.

    U and V are :func:`pair_products` of the start nodes i and j. V is U by default, which sums over all pairs
    of a set: divided by the number of pairs it is their average.

    Source: Variance-Reducing Couplings, Eq. 56.
    """
    return np.einsum("qrd,qrd->qr", *products(U, V))


def quadratic_cost(U, sigma, V=None):
    """The objective that the matching cost stands in for: all pairs of bins, not those of one bin alone.

    ::

        (sum_q U_{q, sigma(q)}) . (sum_q V_{q, sigma(q)})

    U and V as for :func:`matching_costs`.

    Source: Variance-Reducing Couplings, Eqs 55 and 61.
    """
    U, V = products(U, V)
    q, sigma = np.arange(len(U)), one_permutation(sigma, len(U))
    return float(U[q, sigma].sum(axis=0) @ V[q, sigma].sum(axis=0))


def products(U, V=None):
    """U and V as float64 arrays of one shape (n, n, D); V is U by default."""
    given = []
    for name, array in (("U", U), ("V", U if V is None else V)):
        array = np.asarray(checks.finite(checks.numbers(array, name), name))
        if array.ndim != 3 or array.shape[0] != array.shape[1] or not array.size or (given and array.shape != given[0].shape):
            raise ValueError(f"{name} has shape {array.shape}; give (n, n, D), as of pair_products(psi), and one shape for both")
        given.append(array)
    return given


def pagerank_costs(g, n_bins, p_halt):
    """Cost of matching bin q with bin r for PageRank: how likely such walks are to end together.

    ::

        c_qr = sum_ij P_q(j -> i) P_r(j -> i),   P_q = sum_l P(length = l | bin q) P^l

    with P the transitions of the walk, uniform on the neighbours of a node whatever the weights; without
    neighbours a walk stays. The variance of the estimate, summed over all nodes i, is a constant plus
    1 / (N^2 n_bins m) times the sum of c_{q, sigma(q)}, m the even number of walks of a node: no
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


def pagerank_mse(costs, n_nodes, n_walks=2, sigma=None):
    """Mean squared error of an estimate of the PageRank vector, from the costs of :func:`pagerank_costs`.

    ::

        E |rho_hat - rho|^2 = (N - 2 S + 1/n sum_q c_{q, sigma(q)}) / (N^2 m)
        S = 1/n^2 sum_qr c_qr = sum_ij P(j -> i)^2

    with N - S in place of the bracket for independent walks: S is how likely two independent walks of a node
    are to end together, summed over the nodes.

    Args:
        costs: shape (n, n).
        n_nodes: N, nodes of the graph.
        n_walks: m, walks of each node; even, since they walk in pairs.
        sigma: permutation of the bins; None for independent walks.
    """
    costs = square(costs)
    n, n_nodes, n_walks = len(costs), checks.count(n_nodes, "n_nodes"), checks.count(n_walks, "n_walks")
    if n_walks % 2:
        raise ValueError(f"n_walks = {n_walks}; give an even number, since walks are coupled in pairs")
    together = costs.mean()
    coupled = together if sigma is None else costs[np.arange(n), one_permutation(sigma, n)].mean()
    return float(n_nodes - 2 * together + coupled) / (n_nodes**2 * n_walks)


def square(costs):
    """Costs as a finite square float64 matrix."""
    costs = np.asarray(checks.finite(checks.numbers(costs, "costs"), "costs"), dtype=float)
    if costs.ndim != 2 or costs.shape[0] != costs.shape[1] or not costs.size:
        raise ValueError(f"costs has shape {costs.shape}; give a square matrix, one row and one column per bin")
    return costs


def one_permutation(sigma, n):
    """The one permutation of n bins that sigma is."""
    sigmas = np.array(copulas.permutation(sigma).sigmas)
    if sigmas.shape != (1, n):
        raise ValueError(f"sigma = {sigma!r}; give one permutation of 0, ..., {n - 1}, the bins")
    return sigmas[0]
