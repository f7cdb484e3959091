"""PageRank: where walks end that start everywhere; exactly, and by walks with coupled lengths and hops.

::

    rho^T P~ = rho^T,   sum_i rho_i = 1,   P~ = (1 - p_halt) P + p_halt / N
    P_ij = 1 / (number of neighbours of i)  for neighbours i, j
    rho_i = p_halt / N sum_j sum_k (1 - p_halt)^k (P^k)_ji

which is the share of walks that end at node i, when equally many start at every node and halt with
probability p_halt before each hop. Weights are not looked at; the graph may be directed.
"""

from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

from rfcore import checks, walks
from rfcore.walks import engine, streams


def exact(g, p_halt, dangling="stay"):
    """PageRank vector, float64 of shape (N,), from one sparse linear system.

    ::

        (I - (1 - p_halt) P^T) rho = p_halt / N 1

    Args:
        g, p_halt: graph; the probability of stopping before each hop, 1 minus networkx's ``alpha``.
        dangling: what a walk does at a node without neighbours, as for
            :meth:`rfcore.graphs.Graph.transitions`: "stay", or "uniform" as networkx has it.

    Source: Variance-Reducing Couplings, Eqs. 77 and 78.

    >>> import networkx
    >>> from companion.models import pagerank
    >>> from rfcore import graphs
    >>> star = graphs.Graph.from_networkx(networkx.star_graph(2))
    >>> pagerank.exact(star, 0.5).round(3).tolist()  # 4/9, 5/18, 5/18
    [0.444, 0.278, 0.278]
    """
    P, p_halt = g.transitions(dangling).to_scipy(), checks.probability(p_halt, "p_halt")
    system = sp.eye_array(g.n_nodes) - (1 - p_halt) * P.T
    return np.atleast_1d(spsolve(system.tocsc(), np.full(g.n_nodes, p_halt / g.n_nodes)))


def estimate(key, g, n_walks, p_halt, coupling="iid", n_repeats=None, dangling="stay"):
    """Unbiased estimate of the PageRank vector: the share of walks that end at each node.

    Args:
        key, g: JAX PRNG key, graph.
        n_walks, p_halt: walks from each node; the probability of stopping before each hop, in (0, 1).
        coupling: law of the walks of a node, as for :func:`rfcore.features.walk_features`.
        n_repeats: how many independent estimates; by default one, without a leading axis.
        dangling: as for :func:`exact`.

    Returns:
        float64 array, (N,) or (n_repeats, N), whose rows sum to 1.

    Source: Fogaras, Rácz, Csalogány and Sarlós (2005); Variance-Reducing Couplings, Eq. 79.

    >>> import jax, networkx
    >>> from companion.models import pagerank
    >>> from rfcore import graphs
    >>> g = graphs.Graph.from_networkx(networkx.karate_club_graph())
    >>> rho = pagerank.estimate(jax.random.key(0), g, 1000, 0.3, coupling="systematic")
    >>> bool(abs(rho - pagerank.exact(g, 0.3)).max() < 0.002)
    True
    """
    n_nodes, repeats = (
        g.n_nodes,
        1 if n_repeats is None else n_repeats,
    )
    # Of weights (1 - p_halt) P every load is 1: it cannot overflow.
    kept = 1 - walks.lengths.halting(p_halt)
    walkers = engine.walkers(key, g.transitions(dangling).scaled(kept), n_walks, p_halt, coupling)
    starts, ends = np.tile(np.arange(n_nodes), repeats), np.zeros(repeats * n_nodes)
    chunks = streams.chunks(len(starts), walkers.n_walks)
    found = streams.in_chunks(partial(_ends, walkers), [starts[rows] for rows in chunks])
    for rows, (row, node) in zip(chunks, found, strict=True):
        ends += np.bincount((rows.start + row) // n_nodes * n_nodes + node, minlength=len(ends))
    rho = ends.reshape(repeats, n_nodes) / (n_nodes * walkers.n_walks)
    return rho[0] if n_repeats is None else rho


def _ends(walkers, chunk, starts):
    """Row and last node of every walk of a chunk, on a graph without dead ends."""
    n_rows = len(starts)
    row, node, _, counts = engine.walk_anew(walkers, chunk, starts)
    # Walkers stand in the order of their lengths, the longest first: those that end at a step are its last.
    first = np.concatenate([[n_rows], n_rows + np.cumsum(counts[1:])])[: len(counts)]
    last = [np.arange(begin + after, begin + now) for begin, now, after in zip(first, counts[1:], [*counts[2:], 0], strict=False)]
    ended = np.concatenate([np.empty(0, dtype=int), *last])
    hopped = np.bincount(row[n_rows : n_rows + sum(counts[1:2])], minlength=n_rows)
    stayed = np.repeat(np.arange(n_rows), walkers.n_walks - hopped)
    return np.concatenate([row[ended], stayed]), np.concatenate([node[ended], starts[stayed]])
