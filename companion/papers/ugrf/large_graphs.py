"""Random graphs that can be grown to ten million nodes, decided by a key like :mod:`companion.random_graphs`.

Time and memory are linear in the number of nodes. No real graph of that size can be shipped. A ring with
chords is tame, and has no two nodes far apart; communities whose degrees follow a power law have hubs with
thousands of neighbours; streets have distances.
"""

import numpy as np
import scipy.sparse as sp

from rfcore.graphs import Graph
from rfcore.walks import streams


def ring_with_chords(key, n):
    """A connected ring of n nodes, at least 3, with 2 n chords, each between two random nodes: mean degree 6.

    ::

        edges  (i, i + 1 mod n)  for every node i,  and 2 n pairs of independent uniform nodes

    An edge that was drawn several times weighs as much; a chord may be a self-loop.

    Source: the small worlds of Newman and Watts, 1999, with many chords.
    """
    rng = _generator(key)
    ring = np.arange(n)
    i = np.append(ring, rng.integers(n, size=2 * n))
    j = np.append(ring + 1, rng.integers(n, size=2 * n)) % n
    return Graph.from_scipy(_symmetric(n, i, j))


def communities(key, n, n_communities=4, mixing=0.3):
    """3 n edges between nodes whose degrees follow a power law, most of them within a community.

    ::

        weight_i = min(U_i^(-2/3), 10 sqrt(n)),   U_i uniform:  a Pareto law of tail 3/2

    An edge takes its first end in proportion to the weights, its second end too: with probability 1 - mixing
    from the community of the first, else from all nodes.

    Args:
        key: JAX PRNG key.
        n, n_communities: number of nodes, at least 3; number of communities.
        mixing: share of the edges that ignore communities, strictly between 0 and 1.

    Returns:
        Graph, unweighted, without self-loops, with some nodes without neighbours; and the community of each
        node, an int array (n,) in increasing order, each drawn uniformly.

    Source: a stochastic block model corrected for degrees (Karrer and Newman, 2011).
    """
    rng = _generator(key)
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

    The city closes on itself, on a torus: side^2 nodes, side at least 3, of mean degree 4 p. Node
    ``side * row + column`` is the crossing in that row and column, which has streets to its four neighbours.
    From p = 1/2 on, most nodes of a large city hang together. The graph is unweighted, without self-loops.

    Source: bond percolation on a square lattice; the threshold 1/2 is Kesten's, 1980.
    """
    rng = _generator(key)
    n = side**2
    node = np.arange(n).reshape(side, side)
    j = np.stack([np.roll(node, -1, axis=axis) for axis in (0, 1)]).ravel()
    i, is_open = np.tile(node.ravel(), 2), rng.random(2 * n) < p
    return Graph.from_scipy(_symmetric(n, i[is_open], j[is_open]))


def _generator(key):
    return streams.generator(streams.words(key), streams.Purpose.SAMPLED_NODES, 0)


def _symmetric(n, i, j):
    W = sp.coo_array((np.ones(len(i)), (i, j)), shape=(n, n)).tocsr()
    return W + W.T
