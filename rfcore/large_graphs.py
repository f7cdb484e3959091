"""Random graphs that can be grown to ten million nodes, decided by a key like those of :mod:`rfcore.random_graphs`.

Time and memory are linear in the number of nodes. No real graph of that size can be shipped. A ring with chords is tame, and has
no two nodes far apart; communities whose degrees follow a power law have hubs with thousands of neighbours; streets have
distances. This module is imported by its own name, ``rfcore.large_graphs``.
"""

import numpy as np
import scipy.sparse as sp

from rfcore import checks, streams
from rfcore.graphs import Graph

PURPOSE = 10  # of the random stream; part of what a key means


def ring_with_chords(key, n):
    """A ring of n nodes with 2 n chords, each between two random nodes: mean degree 6.

    ::

        edges  (i, i + 1 mod n)  for every node i,  and 2 n pairs of independent uniform nodes

    Parameters
    ----------
    key : JAX PRNG key
    n : int
        Number of nodes, at least 3.

    Returns
    -------
    rfcore.graphs.Graph
        Connected. An edge that was drawn several times weighs as much; a chord may be a self-loop.

    Raises
    ------
    ValueError
        If the key is none or traced, or n < 3.

    Notes
    -----
    Ours; the small worlds of Newman and Watts, 1999, with many chords.

    Examples
    --------
    >>> import jax
    >>> from rfcore import large_graphs
    >>> large_graphs.ring_with_chords(jax.random.key(0), 1000).n_nodes
    1000
    """
    rng, n = _generator(key), checks.count(n, "n", least=3)
    ring = np.arange(n)
    i = np.append(ring, rng.integers(n, size=2 * n))
    j = np.append(ring + 1, rng.integers(n, size=2 * n)) % n
    return Graph.from_scipy(_symmetric(n, i, j))


def communities(key, n, n_communities=4, mixing=0.3):
    """3 n edges between nodes whose degrees follow a power law, most of them within a community.

    ::

        weight_i = min(U_i^(-2/3), 10 sqrt(n)),   U_i uniform:  a Pareto law of tail 3/2

    An edge takes its first end in proportion to the weights, its second end too: with probability 1 - mixing from the community
    of the first, else from all nodes.

    Parameters
    ----------
    key : JAX PRNG key
    n : int
        Number of nodes, at least 3.
    n_communities : int
    mixing : float
        Share of the edges that ignore communities, strictly between 0 and 1.

    Returns
    -------
    g : rfcore.graphs.Graph
        Unweighted, without self-loops; some nodes have no neighbour.
    community : int array, shape (n,)
        Of each node, in increasing order, each drawn uniformly.

    Raises
    ------
    ValueError
        If the key is none or traced, n < 3, n_communities < 1, or mixing is outside (0, 1).

    Notes
    -----
    Ours; a stochastic block model corrected for degrees (Karrer and Newman, 2011).

    Examples
    --------
    >>> import jax
    >>> from rfcore import large_graphs
    >>> g, community = large_graphs.communities(jax.random.key(0), 1000)
    >>> g.n_nodes, sorted(set(community.tolist()))
    (1000, [0, 1, 2, 3])
    """
    rng, n = _generator(key), checks.count(n, "n", least=3)
    n_communities, mixing = checks.count(n_communities, "n_communities"), checks.probability(mixing, "mixing")
    weight = np.minimum((1 - rng.random(n)) ** (-2 / 3), 10 * np.sqrt(n))
    community = np.sort(rng.integers(n_communities, size=n))
    total = np.append(0.0, np.cumsum(weight))
    border = total[np.searchsorted(community, np.arange(n_communities + 1))]

    def drawn(low, high):  # nodes in proportion to their weights, between two borders
        return np.searchsorted(total, low + (high - low) * rng.random(3 * n), side="right").clip(1, n) - 1

    i = drawn(0.0, total[-1])
    inside = rng.random(3 * n) > mixing
    low = np.where(inside, border[community[i]], 0.0)
    high = np.where(inside, border[community[i] + 1], total[-1])
    W = _symmetric(n, i, drawn(low, high))
    W.setdiag(0.0)
    W.data[:] = W.data > 0  # no parallel edges, no loops
    return Graph.from_scipy(W), community


def streets(key, side, p):
    """Crossings of a square city, side x side, whose streets are each open with probability p.

    The city closes on itself, on a torus. Node ``side * row + column`` is the crossing in that row and column, which has
    streets to its four neighbours: mean degree 4 p.

    Parameters
    ----------
    key : JAX PRNG key
    side : int
        At least 3; the graph has side^2 nodes.
    p : float
        Strictly between 0 and 1. From 1/2 on most nodes of a large city hang together.

    Returns
    -------
    rfcore.graphs.Graph
        Unweighted, without self-loops.

    Raises
    ------
    ValueError
        If the key is none or traced, side < 3, or p is outside (0, 1).

    Notes
    -----
    Bond percolation on a square lattice; the threshold 1/2 is Kesten's, 1980.

    Examples
    --------
    >>> import jax
    >>> from rfcore import large_graphs
    >>> large_graphs.streets(jax.random.key(0), 30, 0.8).n_nodes
    900
    """
    rng, side, p = _generator(key), checks.count(side, "side", least=3), checks.probability(p, "p")
    n = side**2
    node = np.arange(n).reshape(side, side)
    j = np.stack([np.roll(node, -1, axis=axis) for axis in (0, 1)]).ravel()
    i, is_open = np.tile(node.ravel(), 2), rng.random(2 * n) < p
    return Graph.from_scipy(_symmetric(n, i[is_open], j[is_open]))


def _generator(key):
    return streams.generator(streams.words(key), PURPOSE, 0)


def _symmetric(n, i, j):
    W = sp.coo_array((np.ones(len(i)), (i, j)), shape=(n, n)).tocsr()
    return W + W.T
