"""Exact moments of graph random features and of the kernel estimates made of them.

The loads of a walk have a closed second moment. With W the weights, deg the numbers of neighbours and p = p_halt,

::

    E[load_k at j] = (W^k)_ij,   E[load_k^2 at j] = (V^k)_ij,   V_ij = deg_i W_ij^2 / (1 - p),

and past step k a walk goes on as a fresh one would: E[load_k^2 at u, times what the load grows by up to v, l hops
on] = (V^k)_iu (W^l)_uv. All moments below are sums of these over the steps, cut at ``n_terms``; that is exact for a
modulation that vanishes from there on. Where the sum over the steps diverges with growing ``n_terms`` the moment
does not exist. Dense, O(n_terms N^3): for small graphs.

Two walks of a node are independent given their lengths, and K_kl (:func:`joint_survival`) says how much likelier than
independent ones they are to make k and l hops: 1 where lengths are independent. Coupled lengths take O(n_terms^2 N^2) more.
"""

import numpy as np

from rfcore import checks
from rfcore.theory.joint_survival import joint_survival


def walk_feature_moments(g, f, n_walks, p_halt, n_terms=100, coupling="iid"):
    """Mean and mean square of every entry of :func:`rfcore.features.walk_features` with independent hops.

    ::

        E[phi] = F = sum_k f(k) W^k
        E[phi_ij^2] = 1/n_walks sum_k (V^k)_ij [f(k)^2 + 2 f(k) sum_{l >= 1} f(k + l) (W^l)_jj]
                      + (1 - 1/n_walks) sum_kl f(k) f(l) K_kl (W^k)_ij (W^l)_ij

    where K is :func:`joint_survival`, so that the last sum is F_ij^2 for independent lengths.
    The sum over j of E[phi_ij^2] - E[phi_ij]^2 is by how much phi phi^T of one shared set of walks is too large on
    the diagonal.

    Parameters
    ----------
    g : rfcore.graphs.Graph
        The graph that is walked, usually ``graph.normalised()``.
    f : function of an integer array
    n_walks : int
    p_halt : float
    n_terms : int
        Steps counted: f(0), ..., f(n_terms - 1).
    coupling : "iid" | "reversal" | "antithetic" | "stratified" or a permutation
        Joint law of the lengths of a node's walks.

    Returns
    -------
    (float64 array, float64 array), shape (N, N) each

    Raises
    ------
    ValueError
        If n_walks or n_terms < 1, p_halt is outside (0, 1), f is not finite, or for normalised weights only and those of
        g are not, or the coupling is none of these.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> import networkx, numpy as np
    >>> from rfcore import features, graphs, kernels, theory
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(3)).normalised()
    >>> f = features.modulation.diffusion(1.0)
    >>> mean, square = theory.walk_feature_moments(g, f, 8, 0.5)
    >>> bool(np.allclose(mean @ mean.T, kernels.diffusion(g, 1.0))), bool(np.all(square >= mean**2))
    (True, True)
    """
    n_walks, values, W, V = _arguments(g, f, n_walks, p_halt, n_terms)
    returns, mean = np.empty((len(values), len(W))), np.zeros(W.shape)
    power = np.eye(len(W))
    for k, value in enumerate(values):
        returns[k] = np.diag(power)
        mean += value * power
        power = power @ W
    square, power = np.zeros(W.shape), np.eye(len(W))
    for k, value in enumerate(values):
        onward = value + 2 * (values[k + 1 :] @ returns[1 : len(values) - k])
        square += power * (value * onward)
        power = power @ V
    pairs = mean**2 if _is_iid(coupling) else np.einsum("kij,kij->ij", *_pairs(values, W, coupling, n_walks, p_halt))
    return mean, square / n_walks + (1 - 1 / n_walks) * pairs


def walk_gram_mse(g, f1, f2, n_walks, p_halt, n_terms=100, coupling="iid"):
    """Expected squared Frobenius error of phi_1 phi_2^T, from two independent sets of walks.

    ::

        sum_ij Var(phi_1(i) . phi_2(j)) = trace(A_1 A_2) - |F_1 F_2^T|^2,   A = sum_i E[phi(i) phi(i)^T],
        A = 1/n_walks (S + S^T - sum_k f(k)^2 diag(v_k)) + (1 - 1/n_walks) sum_kl f(k) f(l) K_kl (W^k)^T W^l,
        v_k = 1^T V^k,   S = sum_{k, l} f(k) f(k + l) diag(v_k) W^l

    where K is :func:`joint_survival`, so that the last sum is F^T F for independent lengths.

    Parameters
    ----------
    g : rfcore.graphs.Graph
        The graph that is walked, usually ``graph.normalised()``.
    f1, f2 : function of an integer array
        The pair of modulations; the error is against the kernel that they estimate.
    n_walks : int
        In each of the two sets.
    p_halt : float
    n_terms : int
        Steps counted: f(0), ..., f(n_terms - 1).
    coupling : "iid" | "reversal" | "antithetic" | "stratified" or a permutation
        Joint law of the lengths of a node's walks, in both sets.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If n_walks or n_terms < 1, p_halt is outside (0, 1), f is not finite, or for normalised weights only and those of
        g are not, or the coupling is none of these.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> import networkx
    >>> from rfcore import features, graphs, theory
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(3)).normalised()
    >>> f = features.modulation.diffusion(1.0)
    >>> few, many = (theory.walk_gram_mse(g, f, f, n, 0.5) for n in (100, 200))
    >>> round(few / many, 2)  # it falls like one over the number of walks
    2.0
    """
    (second1, mean1), (second2, mean2) = (
        _summed_second_moment(g, f, n_walks, p_halt, n_terms, coupling, name) for f, name in ((f1, "f1"), (f2, "f2"))
    )
    return float(np.sum(second1 * second2) - np.sum((mean1 @ mean2.T) ** 2))


def _summed_second_moment(g, f, n_walks, p_halt, n_terms, coupling, name):
    """sum_i E[phi(i) phi(i)^T], and E[phi]."""
    n_walks, values, W, V = _arguments(g, f, n_walks, p_halt, n_terms, name)
    weighed, visits = np.empty((len(values), len(W))), np.ones(len(W))
    for k, value in enumerate(values):
        weighed[k] = value * visits
        visits = visits @ V
    S, mean, power = np.zeros(W.shape), np.zeros(W.shape), np.eye(len(W))
    for hops, value in enumerate(values):
        S += (values[hops:] @ weighed[: len(values) - hops])[:, None] * power
        mean += value * power
        power = power @ W
    walk = S + S.T - np.diag(values @ weighed)
    if _is_iid(coupling):
        return walk / n_walks + (1 - 1 / n_walks) * (mean.T @ mean), mean
    pairs = sum(left.T @ right for left, right in zip(*_pairs(values, W, coupling, n_walks, p_halt), strict=True))
    return walk / n_walks + (1 - 1 / n_walks) * pairs, mean


def _is_iid(coupling):
    return isinstance(coupling, str) and coupling == "iid"


def _pairs(values, W, coupling, n_walks, p_halt):
    """f(k) W^k, and sum_l K_kl f(l) W^l."""
    terms = np.empty((len(values), *W.shape))
    power = np.eye(len(W))
    for k, value in enumerate(values):
        terms[k] = value * power
        power = power @ W
    return terms, np.tensordot(joint_survival(coupling, n_walks, p_halt, len(values)), terms, axes=1)


def _arguments(g, f, n_walks, p_halt, n_terms, name="f"):
    n_walks, p_halt = checks.count(n_walks, "n_walks"), checks.probability(p_halt, "p_halt")
    n_terms, is_normalised = checks.count(n_terms, "n_terms"), checks.graph(g).is_normalised
    values = np.asarray(checks.modulation(f, n_terms, is_normalised, name), dtype=float)
    values = values[: np.flatnonzero(values).max(initial=0) + 1]
    W = g.to_scipy().toarray()
    return n_walks, values, W, g.neighbour_counts[:, None] * W**2 / (1 - p_halt)
