"""The walk engine, independent of kernels: from start nodes and lengths to deposits.

A walk of length l from a node leaves a deposit at every step 0, ..., l: the node where it is and its load,
which starts at 1 and is multiplied at each hop by

::

    (number of neighbours) x (weight of the edge) / (1 - p_halt)

so that the expected sum of the loads deposited at node j and step k by a walk from i is (W^k)_ij, for every
k. Walks are not traced: they run in NumPy on the host, with walkers sorted by length so that arrays shrink as
walks end.

Source: General Graph Random Features, 2023, Algorithm 1; Universal Graph Random Features, Algorithm 1.
"""

from functools import cache
from weakref import WeakKeyDictionary

import equinox as eqx
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float, Int

from rfcore import checks, graphs
from rfcore.graphs import Graph
from rfcore.walks import hops, lengths, streams
from rfcore.walks.hops import Uniforms
from rfcore.walks.lengths import Coupling, Drawn
from rfcore.walks.streams import Key, Purpose

Steps = tuple[Int[np.ndarray, " n"], Int[np.ndarray, " n"], Float[np.ndarray, " n"], list[int]]
"""Row, node and load of the deposits in the order of the steps, and how many there are of each step."""


class Tables(eqx.Module):
    """A graph in the layout that walks use, in float64 (whole numbers below 2^53 are exact).

    All data needed to follow an edge are in one cache line, because walks are bound by memory latency:
    separate tables of edges and nodes would double it.
    """

    node: Float[np.ndarray, "N 2"]
    """First edge and number of neighbours of each node."""
    edge: Float[np.ndarray, "n_edges 4"]
    """Neighbour, what the load is multiplied by, and the neighbour's row of ``node``."""
    dead_ends: bool
    """Whether some node has no neighbour."""
    is_normalised: bool
    """Whether the weights are normalised."""
    for_kernels: bool
    """Whether they are symmetric, too, as modulations of kernels need them."""


class Walkers(eqx.Module):
    """Everything that walks depend on except their start nodes: what a worker needs to run them."""

    words: int
    """Of the key: see :mod:`rfcore.walks.streams`."""
    tables: Tables
    n_walks: int
    p_halt: float
    coupling: Coupling


def walkers(key: Key, g: Graph, n_walks: int, p_halt: float, coupling: lengths.Named = "stratified") -> Walkers:
    """:class:`Walkers` from the arguments of :func:`rfcore.features.walk_features`, checked."""
    words, g, n_walks = streams.words(key), graphs.checked(g), checks.count(n_walks, "n_walks")
    p_halt = lengths.halting(p_halt)
    return Walkers(words, tables(g, p_halt), n_walks, p_halt, lengths.named(coupling))


def start_nodes(g: Graph, nodes: Int[ArrayLike, " n"] | list[int] | range | None) -> Int[np.ndarray, " n"]:
    """``nodes`` as an int64 array of nodes of g; all of them if None."""
    n_nodes = graphs.checked(g).n_nodes
    return np.arange(n_nodes) if nodes is None else np.asarray(checks.indices(nodes, "nodes", n_nodes, empty=True))


def tables(g: Graph, p_halt: float) -> Tables:
    """The tables of a graph, which take O(edges) operations.

    They are cached for the lifetime of the graph, or until another p_halt is used: otherwise features of a
    few nodes of a large graph would cost as much as those of all nodes.
    """
    kept = _KEPT.get(g)
    if kept is None or kept[0] != p_halt:
        kept = _KEPT[g] = p_halt, _tabulated(g, p_halt)
    return kept[1]


_KEPT: WeakKeyDictionary[Graph, tuple[float, Tables]] = WeakKeyDictionary()


def _tabulated(g: Graph, p_halt: float) -> Tables:
    node = np.column_stack([g.indptr[:-1], g.neighbour_counts]).astype(float)
    edge = np.empty((len(g.indices), 4))
    edge[:, 0], edge[:, 2:] = g.indices, node[g.indices]
    np.multiply(np.repeat(g.neighbour_counts / (1 - p_halt), g.neighbour_counts), g.weights, out=edge[:, 1])
    return Tables(node, edge, not g.neighbour_counts.all(), g.is_normalised, g.is_normalised and g.is_symmetric)


def walk_anew(
    walkers: Walkers, chunk: int, nodes: Int[np.ndarray, " n_rows"], last_step: int | None = None, drawn: Drawn | None = None
) -> Steps:
    """:func:`walk_chunk`, with lengths drawn before or drawn now."""
    drawn = drawn or draw(walkers, chunk, len(nodes))
    return walk_chunk(walkers.words, walkers.tables, chunk, nodes, drawn, last_step)


def draw(walkers: Walkers, chunk: int, n_rows: int) -> Drawn:
    """Lengths of the walks of a chunk, and their hops."""
    return lengths.of_chunk(walkers.words, walkers.coupling, walkers.n_walks, walkers.p_halt, chunk, n_rows)


def walk_chunk(
    words: int, tables: Tables, chunk: int, nodes: Int[np.ndarray, " n_rows"], drawn: Drawn, last_step: int | None = None
) -> Steps:
    """:func:`walk` of one chunk on its own stream; hops that are coupled during the walk have another."""
    values, how = drawn
    rng = rng_of_hops = streams.generator(words, Purpose.WALKS, chunk)
    if not isinstance(how, hops.Independent | hops.Given):  # which draw nothing
        rng_of_hops = streams.generator(words, Purpose.HOPS, chunk)
    return walk(rng, tables, nodes, values, last_step, hops.started(how, rng_of_hops, *values.shape))


def walk(
    rng: np.random.Generator,
    tables: Tables,
    nodes: Int[np.ndarray, " n_rows"],
    lengths: Int[np.ndarray, "n_rows n_walks"],
    last_step: int | None = None,
    uniforms: Uniforms | None = None,
) -> Steps:
    """One chunk of walks on a NumPy generator, without checks of the arguments.

    ``uniforms`` are those of the hops (:mod:`rfcore.walks.hops`), independent by default. Deposits after
    ``last_step`` are left out, which does not change those up to it.

    Raises ValueError if loads overflow.
    """
    _keep_freed_memory()
    try:
        with np.errstate(over="raise"):
            return _walk(rng, tables, nodes, lengths, last_step, uniforms or hops.Independent()(rng, *lengths.shape))
    except FloatingPointError:
        mend = "walk on g.normalised(), or on smaller weights, or give a greater p_halt"
        raise ValueError(f"g has weights under which loads overflow float64; {mend}") from None


@cache
def _keep_freed_memory() -> None:
    """Let glibc keep up to 64 MB for the next call, as it does once a block of 32 MB was freed.

    The block is never touched. Without it glibc would give freed memory back to the system, and fresh pages
    take a fifth of the time on a graph like cora.
    """
    np.empty(31 * 2**17)


def _walk(
    rng: np.random.Generator,
    tables: Tables,
    nodes: Int[np.ndarray, " n_rows"],
    lengths: Int[np.ndarray, "n_rows n_walks"],
    last_step: int | None,
    uniforms: Uniforms | None,
) -> Steps:
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
    size = n_rows + sum(alive)  # the number of deposits if there are no dead ends
    rows, visited, loads = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32), np.empty(size)
    rows[:n_rows], visited[:n_rows], loads[:n_rows] = np.arange(n_rows), nodes, n_walks

    row, load = (order // n_walks).astype(np.int32), np.ones(len(order))
    here = nodes[row]
    at = tables.node.take(here, axis=0)  # its last two columns: first edge and number of neighbours
    counts, start = [n_rows], n_rows
    for step in range(longest):
        stay = slice(alive[step])
        if tables.dead_ends:
            stay = (at[stay, -1] > 0).nonzero()[0]
            ends = ends[stay]
            alive[step:] = ends.searchsorted(steps[step:], side="right").tolist()
        row, load, at = row[stay], load[stay], at[stay]
        if not len(row):  # all remaining walkers are at dead ends
            break
        new = slice(start, start + len(row))
        if uniforms is not None:
            order = order[stay]
            given = uniforms(step, order, row, here[stay])
            if given is None:
                uniforms = None
                rng.random(out=loads[start:])  # the uniform of each hop is stored where its load will be
            else:
                loads[new] = given
        # A uniform is at most 1 - 2^-53, so that the product rounds to less than the number of neighbours.
        edge = loads[new]
        edge *= at[:, -1]
        np.floor(edge, out=edge)
        edge += at[:, -2]
        at = tables.edge.take(edge.astype(np.intp), axis=0, mode="clip")  # skips the check of the bounds, which always hold
        rows[new] = row
        here = visited[new]
        here[:] = at[:, 0]
        load = np.multiply(load, at[:, 1], out=edge)
        start = new.stop
        counts.append(len(row))
    return rows[:start], visited[:start], loads[:start], counts
