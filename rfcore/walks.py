"""The walk engine, which knows no kernel: lengths in, and how hops are coupled; deposits out.

A walk of length l from a node leaves a deposit at every step 0, ..., l: the node where it is and its load,
which starts at 1 and is multiplied at each hop by

::

    (number of neighbours) x (weight of the edge) / (1 - p_halt)

so that the expected sum of the loads deposited at node j and step k by a walk from i is (W^k)_ij, for every
k. Walks are data, not a traced computation: NumPy on the host, walkers sorted by length so that arrays shrink
as walks end.

Source: General Graph Random Features, 2023, Algorithm 1; Universal Graph Random Features, Algorithm 1.
"""

from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from rfcore import checks, streams
from rfcore.couplings import walk_hops, walk_lengths
from rfcore.couplings.walk_lengths import Lengths
from rfcore.graphs import Graph

# The rest is for the features, in their loop.
__all__ = ["Deposits", "Recipe", "checked", "recipe", "simulate", "start_nodes"]

PURPOSE = 2

# glibc gives freed memory back to the system, and fresh pages cost a third of the time on a graph like cora. Once a block
# of nearly 32 MB has been freed, it keeps up to 64 MB for the next call. The block is never touched.
np.empty(31 * 2**17)


class Deposits(NamedTuple):
    """What walks left behind: four arrays of one length, an entry per deposit, and where the walks were.

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
    n_walks: int
    """Walks of each row."""
    n_rows: int
    """Number of rows."""
    n_nodes: int
    """Number of nodes of the graph, N."""
    is_normalised: bool
    """Whether its weights were normalised and symmetric, as modulations of kernels need them."""


class Hops(NamedTuple):
    """A graph as walkers use it, in float64 (whole numbers below 2^53 are exact).

    All that an edge leads to stands in one cache line, because a walk waits for memory: a table of the edges
    and another of the nodes would make it wait twice.
    """

    node: np.ndarray
    """First edge and number of neighbours of each node, shape (N, 2)."""
    edge: np.ndarray
    """Neighbour, what the load is multiplied by, and the neighbour's row of ``node``; shape (n_edges, 4)."""
    dead_ends: bool
    """Whether some node has no neighbour."""


class Walkers(NamedTuple):
    """What a worker needs to know to walk any chunk of start nodes."""

    words: Any
    tables: Hops
    n_walks: int
    p_halt: float
    law: Callable

    def lengths(self, chunk, n_rows):
        """Lengths of the walks of a chunk, from a stream of its own."""
        rng = streams.generator(self.words, walk_lengths.PURPOSE, chunk)
        return self.law(rng, n_rows, self.n_walks, self.p_halt)

    def walk(self, chunk, nodes, last_step=None, lengths=None):
        """:func:`walk_chunk`, with lengths that were drawn before or are drawn now."""
        lengths = lengths or self.lengths(chunk, len(nodes))
        return walk_chunk(self.words, chunk, self.tables, nodes, lengths, last_step)


class Recipe(NamedTuple):
    """All that the walks of features depend on."""

    words: Any
    """Of the key: see :mod:`rfcore.streams`."""
    g: Graph
    n_walks: int
    p_halt: float
    law: Callable
    """Of the walks of a node, as :func:`rfcore.couplings.walk_lengths.named` gives it."""
    nodes: np.ndarray
    """Start nodes, one row of features each."""

    def walkers(self):
        """What a worker needs of this."""
        return Walkers(self.words, hops_of(self.g, self.p_halt), self.n_walks, self.p_halt, self.law)

    def chunks(self):
        """Slices of the start nodes, walked chunk by chunk."""
        return streams.chunks(len(self.nodes), self.n_walks)


def recipe(key, g, n_walks, p_halt, coupling="iid", nodes=None):
    """:class:`Recipe` from the arguments of :func:`rfcore.features.walk_features`, checked."""
    words, g, n_walks = streams.words(key), checks.graph(g), checks.count(n_walks, "n_walks")
    return Recipe(words, g, n_walks, walk_lengths.halting(p_halt), walk_lengths.named(coupling), start_nodes(g, nodes))


def simulate(key, g, lengths, nodes=None):
    """Walks of given lengths on a graph.

    A walk ends early at a node without neighbours.

    Args:
        key: JAX PRNG key.
        g: graph, usually ``graph.normalised()``.
        lengths: (n_rows, n_walks), from :func:`rfcore.couplings.walk_lengths.draw`; they say p_halt, and how
            hops are coupled.
        nodes: (n_rows,), the start of the walks of each row; by default row i starts at node i.

    The mean load at node j and step k estimates (W^k)_ij:

    >>> import jax, networkx, numpy as np
    >>> from rfcore import graphs, walks
    >>> from rfcore.couplings import walk_lengths
    >>> key, g = jax.random.key(0), graphs.Graph.from_networkx(networkx.path_graph(3)).normalised()
    >>> row, node, step, load, *_ = walks.simulate(key, g, walk_lengths.draw(key, 3, 10_000, 0.5))
    >>> estimate = load[(row == 0) & (node == 0) & (step == 2)].sum() / 10_000
    >>> bool(np.isclose(estimate, (g.to_scipy() @ g.to_scipy())[0, 0], atol=0.05))
    True
    """
    words, nodes = streams.words(key), start_nodes(checks.graph(g), nodes)
    lengths, p_halt, hops = _checked(lengths, len(nodes))
    tables, parts = hops_of(g, p_halt), [[np.empty(0, dtype) for dtype in (np.int32, np.int32, np.int32, float)]]
    for chunk, rows in enumerate(streams.chunks(*lengths.shape)):
        given = Lengths(lengths[rows], p_halt, hops[rows] if isinstance(hops, np.ndarray) else hops)
        row, node, load, counts = walk_chunk(words, chunk, tables, nodes[rows], given)
        step = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        parts.append([row + np.int32(rows.start), node, step, load])
    row, node, step, load = map(np.concatenate, zip(*parts, strict=True))
    return Deposits(row, node, step, load, lengths.shape[1], len(lengths), g.n_nodes, g.is_normalised and g.is_symmetric)


def checked(deposits):
    """``deposits``, if they are some, and lie in the rows and nodes that they name."""
    if not isinstance(deposits, Deposits):
        raise ValueError(f"deposits is of type {type(deposits).__name__}; give those of walks.simulate(...)")
    for name, places, n in (("row", deposits.row, deposits.n_rows), ("node", deposits.node, deposits.n_nodes)):
        if len(places) and not (places.min() >= 0 and places.max() < n):
            raise ValueError(f"deposits.{name} has values up to {places.max()}; give 0 to {n - 1}, or another deposits.n_{name}s")
    return deposits


def _checked(lengths, n_starts):
    """Values of lengths as signed whole numbers, their p_halt, and how their hops are coupled."""
    if not isinstance(lengths, Lengths):
        got = f"lengths is of type {type(lengths).__name__}"
        raise ValueError(f"{got}; give walk_lengths.draw(...), or walk_lengths.Lengths(values, p_halt) for values of yours")
    values, p_halt = np.asarray(lengths.values), checks.probability(lengths.p_halt, "p_halt")
    if values.ndim != 2 or not np.issubdtype(values.dtype, np.integer) or values.shape[1] == 0:
        got = f"lengths has shape {values.shape}, dtype {values.dtype}"
        raise ValueError(f"{got}; give whole numbers, one row per start and one column per walk, at least one")
    if len(values) != n_starts:
        raise ValueError(f"lengths has {len(values)} rows for {n_starts} start nodes; give one row per start")
    if values.size and not (values.min() >= 0 and values.max() < 2**31):
        raise ValueError(f"lengths has values in [{values.min()}, {values.max()}]; give 0 to 2^31 - 1")
    if lengths.hops is None or callable(lengths.hops) or isinstance(lengths.hops, str):
        return values.astype(np.int32, copy=False), p_halt, lengths.hops and walk_hops.named(lengths.hops)
    hops = np.asarray(checks.numbers(lengths.hops, "lengths.hops"), dtype=float)
    if hops.ndim != 3 or hops.shape[:2] != values.shape:
        raise ValueError(f"lengths.hops has shape {hops.shape} for lengths of shape {values.shape}; give (*lengths.shape, n_hops)")
    if hops.size and not (hops.min() >= 0 and hops.max() < 1):
        raise ValueError(f"lengths.hops has values in [{hops.min()}, {hops.max()}]; give uniforms of at least 0 and below 1")
    return values.astype(np.int32, copy=False), p_halt, hops


def hops_of(g, p_halt):
    """The tables of :class:`Hops`, which take O(edges) operations.

    They are kept as long as the graph is, or until it is walked with another p_halt: features of a few nodes
    of a large graph would otherwise cost what the whole graph does.
    """
    kept = _KEPT.get(g)
    if kept is None or kept[0] != p_halt:
        kept = _KEPT[g] = p_halt, _tabulated(g, p_halt)
    return kept[1]


_KEPT = WeakKeyDictionary()


def _tabulated(g, p_halt):
    node = np.column_stack([g.indptr[:-1], g.neighbour_counts]).astype(float)
    edge = np.empty((len(g.indices), 4))
    edge[:, 0], edge[:, 2:] = g.indices, node[g.indices]
    np.multiply(np.repeat(g.neighbour_counts / (1 - p_halt), g.neighbour_counts), g.weights, out=edge[:, 1])
    return Hops(node, edge, not g.neighbour_counts.all())


def walk_chunk(words, chunk, tables, nodes, lengths, last_step=None):
    """:func:`walk` of one chunk, on a stream of its own, and another for a law of hops."""
    rng = streams.generator(words, PURPOSE, chunk)
    if callable(lengths.hops):
        uniforms = lengths.hops(streams.generator(words, walk_hops.PURPOSE, chunk), *lengths.values.shape)
    else:
        uniforms = first_hops(lengths.hops)
    return walk(rng, tables, nodes, lengths.values, last_step, uniforms)


def first_hops(hops):
    """Uniforms for :func:`walk` from those of the first hops, (n_rows, n_walks, n_hops), or from None."""
    if hops is None:
        return walk_hops.independent(None, 0, 0)
    by_hop = np.moveaxis(hops, 2, 0).reshape(hops.shape[2], -1)

    def uniforms(step, walkers, rows, nodes):
        return by_hop[step].take(walkers, mode="clip") if step < len(by_hop) else None

    return uniforms


def walk(rng, hops, nodes, lengths, last_step=None, uniforms=None):
    """One chunk of walks on a NumPy generator, with arguments taken as checked.

    ``uniforms`` says where those of the hops come from: see :func:`rfcore.couplings.walk_hops.independent`,
    the default. Deposits after ``last_step`` are left out; those up to it do not change by that.

    Raises ValueError if loads overflow.

    Returns:
        Row, node and load of the deposits in the order of the steps, and how many there are of each step.
    """
    try:
        with np.errstate(over="raise"):
            return _walk(rng, hops, nodes, lengths, last_step, uniforms or first_hops(None))
    except FloatingPointError:
        mend = "walk on g.normalised(), or on smaller weights, or give a greater p_halt"
        raise ValueError(f"g has weights under which loads overflow float64; {mend}") from None


def _walk(rng, hops, nodes, lengths, last_step, uniforms):
    n_rows, n_walks = lengths.shape
    ends = -lengths.ravel()
    longest = -int(ends.min(initial=0))
    if longest < 2**15:
        ends = ends.astype(np.int16)  # which NumPy sorts in linear time
    order = ends.argsort(kind="stable")
    ends = ends[order]
    if last_step is not None:
        longest = min(longest, last_step)
    steps = -np.arange(1, longest + 1, dtype=ends.dtype)
    alive = ends.searchsorted(steps, side="right").tolist()
    size = n_rows + sum(alive)  # what there is without dead ends
    rows, visited, loads = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32), np.empty(size)
    rows[:n_rows], visited[:n_rows], loads[:n_rows] = np.arange(n_rows), nodes, n_walks

    row, load = (order // n_walks).astype(np.int32), np.ones(len(order))
    here = nodes[row]
    at = hops.node.take(here, axis=0)  # its last two columns: first edge and number of neighbours
    counts, start = [n_rows], n_rows
    for step in range(longest):
        stay = slice(alive[step])
        if hops.dead_ends:
            stay = (at[stay, -1] > 0).nonzero()[0]
            ends = ends[stay]
            alive[step:] = ends.searchsorted(steps[step:], side="right").tolist()
        row, load, at = row[stay], load[stay], at[stay]
        if not len(row):  # all who would hop stand at dead ends
            break
        new = slice(start, start + len(row))
        if uniforms is not None:
            order = order[stay]
            given = uniforms(step, order, row, here[stay])
            if given is None:
                uniforms = None
                rng.random(out=loads[start:])  # the uniform of each hop stands where its load will
            else:
                loads[new] = given
        # A uniform is at most 1 - 2^-53, so that the product rounds to less than the number of neighbours.
        edge = loads[new]
        edge *= at[:, -1]
        np.floor(edge, out=edge)
        edge += at[:, -2]
        at = hops.edge.take(edge.astype(np.intp), axis=0, mode="clip")  # spares a pass over the bounds, which hold
        rows[new] = row
        here = visited[new]
        here[:] = at[:, 0]
        load = np.multiply(load, at[:, 1], out=edge)
        start = new.stop
        counts.append(len(row))
    return rows[:start], visited[:start], loads[:start], counts


def start_nodes(g, nodes):
    """``nodes`` as an int64 array of nodes of g; all of them if None."""
    checks.graph(g)
    if nodes is None:
        return np.arange(g.n_nodes)
    return checks.indices(nodes, "nodes", g.n_nodes, empty=True)
