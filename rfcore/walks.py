"""The walk engine: lengths in, deposits out. It knows no kernel.

A walk of length l from a node leaves a deposit at every step 0, ..., l: the node where it is and its load, which
starts at 1 and is multiplied at each hop by

::

    (number of neighbours) x (weight of the edge) / (1 - p_halt)

so that the expected sum of the loads deposited at node j and step k by a walk from i is (W^k)_ij, for every k.
Walks are data, not a traced computation: NumPy on the host, walkers sorted by length so that arrays shrink as walks
end. General Graph Random Features (Choromanski, 2023), Algorithm 1; Universal Graph Random Features, Algorithm 1.
"""

from typing import NamedTuple

import numpy as np

from rfcore import checks, streams

PURPOSE = 2


class Deposits(NamedTuple):
    """What walks left behind: four arrays of the same length, one entry a deposit.

    The step-0 deposits of all walks of a row coincide and stand as one entry with load n_walks.
    """

    row: np.ndarray
    """Which row of ``lengths`` (which start) the walk belongs to, int32."""
    node: np.ndarray
    """Node of the deposit, int32."""
    step: np.ndarray
    """Number of hops so far, int32."""
    load: np.ndarray
    """Load, float64."""


def simulate(key, g, lengths, p_halt, nodes=None):
    """Walks of given lengths on a graph.

    Parameters
    ----------
    key : JAX PRNG key
    g : rfcore.graphs.Graph
        Usually ``graph.normalised()``. A walk ends early at a node without neighbours.
    lengths : int array, shape (n_rows, n_walks)
        From :func:`rfcore.couplings.walk_lengths.draw`.
    p_halt : float
        What the lengths were drawn with; the loads divide by 1 - p_halt at each hop.
    nodes : int array, shape (n_rows,), optional
        Node at which the walks of each row start; by default row i starts at node i.

    Returns
    -------
    Deposits

    Raises
    ------
    ValueError
        If shapes do not fit, lengths are negative, nodes are not in the graph, or p_halt is outside (0, 1).
    """
    p_halt, words = checks.probability(p_halt, "p_halt"), streams.words(key)
    lengths = np.asarray(lengths)
    if lengths.ndim != 2 or not np.issubdtype(lengths.dtype, np.integer) or lengths.min(initial=0) < 0:
        raise ValueError(f"lengths has shape {lengths.shape}, dtype {lengths.dtype}; give whole numbers >= 0, a row a start")
    nodes = start_nodes(g, nodes)
    if len(nodes) != len(lengths):
        raise ValueError(f"lengths has {len(lengths)} rows for {len(nodes)} start nodes; give one row a start")
    parts = []
    for chunk, rows in enumerate(streams.chunks(*lengths.shape)):
        part = walk(streams.generator(words, PURPOSE, chunk), g, nodes[rows], lengths[rows], p_halt)
        parts.append(part._replace(row=part.row + np.int32(rows.start)))
    return Deposits(*map(np.concatenate, zip(*parts, strict=True)))


def walk(rng, g, nodes, lengths, p_halt):
    """One chunk of :func:`simulate`, on a NumPy generator, with arguments taken as checked."""
    n_rows, n_walks = lengths.shape
    flat = lengths.ravel()
    order = np.argsort(-flat, kind="stable")
    remaining = flat[order]
    row = (order // n_walks).astype(np.int32)
    node = nodes.astype(np.int32)[row]
    load = np.ones(len(row))
    multiplier = g.weights * np.repeat(g.neighbour_counts, g.neighbour_counts) / (1 - p_halt)
    # One gather brings a node's first edge and its number of neighbours from the same cache line.
    first_and_count = np.stack([g.indptr[:-1], g.neighbour_counts], axis=1)
    has_dead_ends = bool(np.any(g.neighbour_counts == 0))

    rows, visited, loads = [np.arange(n_rows, dtype=np.int32)], [nodes.astype(np.int32)], [np.full(n_rows, float(n_walks))]
    for step in range(1, int(flat.max(initial=0)) + 1):
        alive = np.searchsorted(-remaining, -step, side="right")
        remaining, row, node, load = remaining[:alive], row[:alive], node[:alive], load[:alive]
        first, count = first_and_count[node].T
        if has_dead_ends:
            moves = count > 0
            remaining, row, load, first, count = (a[moves] for a in (remaining, row, load, first, count))
        edge = first + (rng.random(len(row)) * count).astype(np.int64)
        node, load = g.indices[edge], load * multiplier[edge]
        rows.append(row)
        visited.append(node)
        loads.append(load)
    steps = np.repeat(np.arange(len(rows), dtype=np.int32), [len(r) for r in rows])
    return Deposits(np.concatenate(rows), np.concatenate(visited), steps, np.concatenate(loads))


def start_nodes(g, nodes):
    """``nodes`` as an int64 array of nodes of g; all of them if None."""
    if nodes is None:
        return np.arange(g.n_nodes)
    nodes = np.asarray(nodes)
    if nodes.ndim != 1 or not np.issubdtype(nodes.dtype, np.integer):
        raise ValueError(f"nodes has shape {nodes.shape} and dtype {nodes.dtype}; give a vector of node numbers")
    if len(nodes) and not (nodes.min() >= 0 and nodes.max() < g.n_nodes):
        raise ValueError(f"nodes has values in [{nodes.min()}, {nodes.max()}]; the graph has nodes 0 to {g.n_nodes - 1}")
    return nodes.astype(np.int64)
