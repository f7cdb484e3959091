"""Random graphs that a key decides: the same on all machines and versions of Python, NumPy and networkx.

networkx's generators promise no such thing: the same seed gives other graphs in other versions. The graphs
are unweighted, without self-loops, and need not be connected.
"""

import numpy as np
import scipy.sparse as sp

from rfcore.graphs import Graph
from rfcore.walks import streams


def erdos_renyi(key, n, p):
    """Erdős–Rényi graph: every pair of n nodes is an edge with probability p, independently of the others.

    Source: E. N. Gilbert, "Random graphs", Annals of Mathematical Statistics 30 (1959), 1141-1144.
    """
    rng = streams.generator(streams.words(key), streams.Purpose.RANDOM_GRAPH, 0)
    i, j = np.triu_indices(n, 1)
    drawn = rng.random(len(i)) < p
    return _graph(n, i[drawn], j[drawn])


def regular(key, n, degree):
    """Graph of n nodes that all have ``degree`` neighbours, by the pairing of Steger and Wormald.

    Every node has ``degree`` ends of edges. All ends are paired at random; a pair that would be a self-loop
    or an edge twice is undone, and its ends are paired anew, together with the others that were undone. Where
    none of these could be joined any more everything begins again. For n large against ``degree`` all such
    graphs are about equally likely. networkx's ``random_regular_graph`` has the same algorithm.

    Raises ValueError if n times the degree is odd.

    Source: Steger and Wormald, Combinatorics, Probability and Computing 8 (1999), 377-396.
    """
    rng = streams.generator(streams.words(key), streams.Purpose.RANDOM_GRAPH, 0)
    if degree >= n or n * degree % 2:
        raise ValueError(f"degree = {degree} for n = {n} nodes; give a degree below n, and an even number of ends n * degree")
    edges = None
    while edges is None:
        edges = _pairing(rng, n, degree)
    return _graph(n, edges // n, edges % n)


def _pairing(rng, n, degree):
    """Edges (i, j), i < j, as n i + j; None if the pairing got stuck."""
    edges, ends = np.empty(0, dtype=np.int64), np.repeat(np.arange(n), degree)
    while len(ends):
        # argsort of uniforms, since what a generator's permutation draws may change between versions of NumPy
        pairs = np.sort(ends[np.argsort(rng.random(len(ends)), kind="stable")].reshape(-1, 2), axis=1)
        codes = pairs @ np.array([n, 1])
        kept = np.zeros(len(codes), dtype=bool)
        kept[np.unique(codes, return_index=True)[1]] = True  # the first of equal pairs
        kept &= (pairs[:, 0] < pairs[:, 1]) & ~np.isin(codes, edges)
        edges, ends = np.concatenate([edges, codes[kept]]), pairs[~kept].ravel()
        left = np.unique(ends)
        first, second = np.triu_indices(len(left), 1)
        if len(ends) and np.isin(left[first] * n + left[second], edges).all():
            return None
    return edges


def _graph(n, i, j):
    W = sp.coo_array((np.ones(len(i)), (i, j)), shape=(n, n)).tocsr()
    return Graph.from_scipy(W + W.T)
