"""Graph random features: walks from a node, each deposit weighed by a modulation of its step."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from rfcore import checks, streams, walks
from rfcore.couplings import walk_lengths


@dataclass(frozen=True, eq=False)
class WalkFeatures:
    """Sparse features, one row a start node and one column a node, with the recipe of their walks.

    ``phi @ v`` and ``phi.T @ v`` multiply in O(nonzeros); ``phi.with_modulation(f)`` weighs the same walks anew.
    """

    matrix: sp.csr_array
    recipe: tuple

    @property
    def shape(self):
        """(number of start nodes, N)."""
        return self.matrix.shape

    @property
    def T(self):
        """Transpose, a scipy sparse array."""
        return self.matrix.T

    def __matmul__(self, v):
        return self.matrix @ np.asarray(v)

    def to_scipy(self):
        """Features as a scipy CSR array."""
        return self.matrix

    def toarray(self):
        """Features as a dense NumPy array."""
        return self.matrix.toarray()

    def with_modulation(self, f):
        """Features of the same walks under another modulation.

        The walks are a pure function of their key and are walked again rather than stored: this costs the time of
        building and no memory.
        """
        return replace(self, matrix=_build(*self.recipe, f))


def walk_features(key, g, f, n_walks, p_halt, coupling="iid", nodes=None, executor=None):
    """Universal graph random features.

    ::

        phi(i)_j = 1/n_walks sum over the walks from i, over their steps k at node j, of  load_k f(k)

    so that E[phi_1 phi_2^T] = sum_k (f * f)(k) W^k for two *independent* sets of walks (two keys) and symmetric W.
    phi phi^T with one set is positive semidefinite, but its diagonal is biased upwards.

    Parameters
    ----------
    key : JAX PRNG key
    g : rfcore.graphs.Graph
        Graph whose weights W are; usually ``graph.normalised()``.
    f : function of an integer array
        Modulation, from :mod:`rfcore.features.modulation`.
    n_walks : int
        Walks from each node.
    p_halt : float
        Probability of stopping before each hop, strictly between 0 and 1.
    coupling : "iid"
        Joint law of the lengths of one node's walks (:mod:`rfcore.couplings.walk_lengths`).
    nodes : int array, optional
        Nodes to compute features of, one row each; repeats are independent. All nodes by default.
    executor : concurrent.futures.Executor, optional
        Where chunks of walks run; by default as many threads as cores. The result does not depend on it.

    Returns
    -------
    WalkFeatures, shape (len(nodes), N), float64

    Raises
    ------
    ValueError
        If n_walks < 1, p_halt is outside (0, 1), the coupling is unknown, f is not finite, a node is not in the
        graph, or the key is no JAX key.

    Notes
    -----
    Universal Graph Random Features, Algorithm 1 and Theorem 2.1.

    Examples
    --------
    >>> import jax, networkx
    >>> from rfcore import features, graphs
    >>> g = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> phi = features.walk_features(jax.random.key(0), g, features.modulation.diffusion(1.0), 16, 0.1)
    >>> phi.shape
    (34, 34)
    """
    recipe = (
        streams.words(key),
        g,
        checks.count(n_walks, "n_walks"),
        checks.probability(p_halt, "p_halt"),
        walk_lengths.named(coupling),
        walks.start_nodes(g, nodes),
        executor,
    )
    return WalkFeatures(_build(*recipe, f), recipe)


def weigh(deposits, f, n_walks, shape):
    """Features from deposits: the last of the three steps, for those who keep the walks.

    Parameters
    ----------
    deposits : rfcore.walks.Deposits
    f : function of an integer array
    n_walks : int
        Walks from each row, which the sums are divided by.
    shape : (int, int)
        Number of rows and of nodes.

    Returns
    -------
    scipy CSR array of the given shape

    Raises
    ------
    ValueError
        If f is not finite.
    """
    return _assemble(deposits, _table(f, int(deposits.step.max(initial=0))) / n_walks, shape)


def _build(words, g, n_walks, p_halt, coupling, nodes, executor, f):
    table = _table(f, walk_lengths.longest(p_halt)) / n_walks
    pieces = streams.chunks(len(nodes), n_walks)
    jobs = [(words, chunk, g, nodes[rows], n_walks, p_halt, coupling, table) for chunk, rows in enumerate(pieces)]
    if not jobs:
        return sp.csr_array((0, g.n_nodes))
    if len(jobs) == 1:
        return _chunk(*jobs[0])
    if executor is not None:
        return sp.vstack(list(executor.map(_chunk, *zip(*jobs, strict=True))), format="csr")
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return sp.vstack(list(threads.map(_chunk, *zip(*jobs, strict=True))), format="csr")


def _chunk(words, chunk, g, nodes, n_walks, p_halt, coupling, table):
    lengths = coupling(streams.generator(words, walk_lengths.PURPOSE, chunk), len(nodes), n_walks, p_halt)
    deposits = walks.walk(streams.generator(words, walks.PURPOSE, chunk), g, nodes, lengths, p_halt)
    return _assemble(deposits, table, (len(nodes), g.n_nodes))


def _assemble(deposits, table, shape):
    values = deposits.load * table[deposits.step]
    return sp.coo_array((values, (deposits.row, deposits.node)), shape=shape).tocsr()


def _table(f, longest):
    if not callable(f):
        raise ValueError(f"f = {f!r}; give a function of an integer array, such as features.modulation.diffusion(1.0)")
    table = np.asarray(f(np.arange(longest + 1)), dtype=float)
    if table.shape != (longest + 1,):
        raise ValueError(f"f maps {longest + 1} lengths to an array of shape {table.shape}; give one value a length")
    return checks.finite(table, "f")
