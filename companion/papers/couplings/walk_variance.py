"""The variance of one walk, split by what it is drawn from: its length, its first hop, its second, ..."""

import numpy as np

from rfcore import checks
from rfcore.theory.walk_errors import counted
from rfcore.walks.lengths import halting


def walk_variance(g, f, p_halt, n_terms=100, of="kernel"):
    """Law of total variance of a walk's feature: what its length says of it, then its first hop, and so on.

    With Y_i the feature of a single walk from node i and M = sum_k f(k) W^k (left out for ``of="features"``),

    ::

        d_0 = sum_i E |M (E[Y_i | length] - E Y_i)|^2
        d_t = sum_i E |M (E[Y_i | length, hops 1, ..., t] - E[Y_i | length, hops 1, ..., t - 1])|^2

    m walks per node err by (d_0 + d_1 + ...) / m in phi M, and phi_1 phi_2^T of two independent sets by twice
    that, up to a term in 1 / m^2. If lengths and the first t hops are coupled in any way, and later hops
    independent, (d_(t + 1) + ...) / m of it remains, since given these coordinates walks are independent: the
    partial sums are floors. Weights must be symmetric. All eigenvalues are computed, for thousands of nodes.

    Given its length, a walk at v after t hops with load x is expected to leave x G(v) from there on; hop t
    from j adds

    ::

        x^2 (1 - p)^-2 (sum_v deg_j W_jv^2 |M G(v)|^2 - |M (W G)_j|^2),   p = p_halt
        G(v) = sum_(a <= length - t) f(t + a) (W^a)_v / (1 - p)^a

    which takes no more than the diagonals of powers of W times M^2.
    """
    p_halt = halting(p_halt)
    checks.choice(of, "of", ("kernel", "features"))
    if not g.is_symmetric:
        raise ValueError("g has weights that are not symmetric; give a graph of undirected edges")
    values, q = counted(f, g, n_terms, p_halt), 1 - p_halt
    n, W = len(values), g.to_scipy()
    squares = W.power(2).multiply(g.neighbour_counts[:, None]).tocsr()

    eigenvalues, vectors = np.linalg.eigh(W.toarray())
    response = np.polynomial.polynomial.polyval(eigenvalues, values)
    weight = response**2 if of == "kernel" else np.ones(len(eigenvalues))
    # diag(W^s M^2) for s = 0, ..., 2 n, a row each
    returns = (eigenvalues ** np.arange(2 * n + 1)[:, None] * weight) @ (vectors**2).T

    chance = p_halt * q ** np.arange(n)
    chance[-1] = q ** (n - 1)  # steps past the last that counts make no difference

    visits = np.ones(g.n_nodes)  # sum over starts of the squared loads at step t - 1, for q = 1
    parts = np.empty(n)
    parts[0] = chance @ _squares(values, q, returns).sum(axis=1) - np.sum(weight * response**2)
    for t in range(1, n):
        onward, before = _squares(values[t:], q, returns), _squares(values[t:], q, returns[2:])
        spread = visits @ (squares @ onward.T - before.T)
        parts[t] = (chance[t:] * q ** (-2.0 * t)) @ spread
        visits = visits @ squares
    return np.append(np.maximum(parts, 0), np.zeros(n_terms - n))


def _squares(values, q, returns):
    """sum_(a, b <= l) c_a c_b returns[a + b] with c_a = values[a] / q^a, for l = 0, 1, ...: a row each."""
    c = values * q ** -np.arange(len(values), dtype=float)
    added = np.empty((len(c), returns.shape[1]))
    for last in range(len(c)):
        added[last] = c[last] * (2 * c[:last] @ returns[last : 2 * last] + c[last] * returns[2 * last])
    return added.cumsum(axis=0)
