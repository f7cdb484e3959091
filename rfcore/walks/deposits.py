"""Deposits of walks: on the host, or summed by step in JAX for learned modulations."""

from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int

from rfcore import checks, graphs
from rfcore.graphs import Graph
from rfcore.walks import engine, hops, modulation, reach, streams
from rfcore.walks.assembly import assembled
from rfcore.walks.lengths import Lengths
from rfcore.walks.operator import Operator
from rfcore.walks.streams import Key


class Deposits(eqx.Module):
    """Entries (row, node, step, load), from which any modulation f makes features in one pass.

    ::

        phi_ij = 1/n_walks sum over the entries (i, j, k) of  load f(k)

    Arrays are NumPy's where :func:`simulate` made them, and JAX's where :func:`by_step` did. A pytree: pass
    it to compiled functions as an argument (captured, it would become a constant of the compiled code).
    """

    row: Int[Array | np.ndarray, " n"]
    """Start that the walk belongs to."""
    node: Int[Array | np.ndarray, " n"]
    step: Int[Array | np.ndarray, " n"]
    """Number of hops so far."""
    load: Float[Array | np.ndarray, " n"]
    """Load; the step-0 deposits of all walks of a row coincide and are one entry with load n_walks."""
    n_walks: int = eqx.field(static=True)
    """Walks of each row, over which features are means; 1 where loads are means already."""
    n_rows: int = eqx.field(static=True)
    n_nodes: int = eqx.field(static=True)
    """Number of nodes of the graph, N."""
    n_steps: int = eqx.field(static=True)
    """1 + the greatest step: how many values of f matter."""
    is_normalised: bool = eqx.field(static=True)
    """Whether the weights were normalised and symmetric, as modulations of kernels need them."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, N)."""
        return self.n_rows, self.n_nodes

    def with_modulation(self, f: modulation.Modulation) -> "DepositFeatures":
        """Features under the modulation f in JAX, differentiable in what f holds."""
        table = modulation.values(f, self.n_steps, self.is_normalised)
        table = jnp.asarray(table if self.n_walks == 1 else table / self.n_walks)
        reach.check_deposits(f, self.n_steps - 1)
        return DepositFeatures(self, jnp.asarray(self.load) * table[self.step])


class DepositFeatures(Operator):
    """Walk features in JAX: deposits weighted by a modulation, from :meth:`Deposits.with_modulation`.

    They have the interface of :class:`rfcore.features.WalkFeatures`; products are JAX arrays, differentiable
    in the modulation and in the other factor. ``phi @ v`` and ``phi.T @ v`` cost O(entries); ``phi_1 @
    phi_2.T`` is dense, and makes both dense on the way. A JAX pytree.
    """

    deposits: Deposits
    values: Float[Array, " n"]
    """What each entry of the deposits adds."""
    is_transposed: bool = eqx.field(default=False, static=True)
    """Whether rows and columns are exchanged."""

    @property
    def shape(self) -> tuple[int, int]:
        """(number of rows, N); the other way round for a transpose."""
        n_rows, n_nodes = self.deposits.shape
        return (n_nodes, n_rows) if self.is_transposed else (n_rows, n_nodes)

    @property
    def dtype(self) -> np.dtype:
        """Dtype of the values."""
        return self.values.dtype

    @property
    def T(self) -> "DepositFeatures":
        """Transpose."""
        return replace(self, is_transposed=not self.is_transposed)

    def with_modulation(self, f: modulation.Modulation) -> "DepositFeatures":
        """Features of the same walks under another modulation."""
        return replace(self, values=self.deposits.with_modulation(f).values)

    def toarray(self) -> Float[Array, "n_rows n_columns"]:
        """Features as a dense JAX array."""
        return jnp.zeros(self.shape, self.values.dtype).at[self._places].add(self.values)

    def to_scipy(self) -> sp.csr_array:
        """Features as a SciPy CSR array on the host; their values must be known."""
        return sp.coo_array((np.asarray(self.values), tuple(map(np.asarray, self._places))), self.shape).tocsr()

    @property
    def _places(self) -> tuple[Int[Array | np.ndarray, " n"], Int[Array | np.ndarray, " n"]]:
        row, node = self.deposits.row, self.deposits.node
        return (node, row) if self.is_transposed else (row, node)

    def _times(self, other: Any) -> Float[Array, "..."]:
        if isinstance(other, DepositFeatures):
            return self.toarray() @ other.toarray()
        target, source = self._places
        values = self.values.reshape((-1,) + (1,) * (other.ndim - 1))
        return jax.ops.segment_sum(values * other[source], target, self.shape[0])

    def _after(self, other: Any) -> Float[Array, "..."]:
        return (self.T @ other.T).T

    @staticmethod
    def _factor(other: Any) -> Any:
        return other if isinstance(other, DepositFeatures) else jnp.asarray(checks.numbers(other, "what multiplies phi"))


def simulate(key: Key, g: Graph, lengths: Lengths, nodes: Int[ArrayLike, " n"] | list[int] | range | None = None) -> Deposits:
    """Walks of given lengths on a graph.

    A walk ends early at a node without neighbours.

    Args:
        g: graph, usually ``graph.normalised()``.
        lengths: from :func:`rfcore.walks.lengths.draw`, or ``walks.Lengths(values, p_halt)`` with one row per
            start.
        nodes: the start of the walks of each row; by default row i starts at node i.

    The mean load at node j and step k estimates (W^k)_ij:

    >>> import jax, networkx, numpy as np
    >>> from rfcore import graphs, walks
    >>> key, g = jax.random.key(0), graphs.Graph.from_networkx(networkx.path_graph(3)).normalised()
    >>> left = walks.simulate(key, g, walks.lengths.draw(key, 3, 10_000, 0.5))
    >>> estimate = left.load[(left.row == 0) & (left.node == 0) & (left.step == 2)].sum() / 10_000
    >>> bool(np.isclose(estimate, (g.to_scipy() @ g.to_scipy())[0, 0], atol=0.05))
    True
    """
    words, nodes = streams.words(key), engine.start_nodes(graphs.checked(g), nodes)
    lengths = _checked(lengths, len(nodes))
    n_rows, n_walks = lengths.values.shape
    rows, tables = streams.chunks(n_rows, n_walks), engine.tables(g, lengths.p_halt)
    drawn = [(lengths.values[some], hops.of_rows(lengths.hops, some)) for some in rows]
    parts = [[np.empty(0, dtype) for dtype in (np.int32, np.int32, np.int32, float)]]
    walked = streams.in_chunks(partial(engine.walk_chunk, words, tables), [nodes[some] for some in rows], drawn)
    parts += [_by_entry(some.start, *steps) for some, steps in zip(rows, walked, strict=True)]
    row, node, step, load = map(np.concatenate, zip(*parts, strict=True))
    n_steps = 1 + int(step.max(initial=0))
    return Deposits(row, node, step, load, n_walks, n_rows, g.n_nodes, n_steps, tables.for_kernels)


def _by_entry(first_row: int, row: np.ndarray, node: np.ndarray, load: np.ndarray, counts: list[int]) -> list[np.ndarray]:
    return [row + np.int32(first_row), node, np.repeat(np.arange(len(counts), dtype=np.int32), counts), load]


def _checked(lengths: Lengths, n_starts: int) -> Lengths:
    """Lengths with int32 values and, for given first hops, uniforms of matching shape."""
    if not isinstance(lengths, Lengths):
        got = f"lengths is of type {type(lengths).__name__}"
        raise ValueError(f"{got}; give walks.lengths.draw(...), or walks.Lengths(values, p_halt) for values of yours")
    values, p_halt = np.asarray(lengths.values), float(checks.probability(lengths.p_halt, "p_halt"))
    if values.ndim != 2 or not np.issubdtype(values.dtype, np.integer) or values.shape[1] == 0:
        got = f"lengths has shape {values.shape}, dtype {values.dtype}"
        raise ValueError(f"{got}; give whole numbers, one row per start and one column per walk, at least one")
    if len(values) != n_starts:
        raise ValueError(f"lengths has {len(values)} rows for {n_starts} start nodes; give one row per start")
    if values.size and not (values.min() >= 0 and values.max() < 2**31):
        raise ValueError(f"lengths has values in [{values.min()}, {values.max()}]; give 0 to 2^31 - 1")
    given = lengths.hops
    if isinstance(given, hops.Given):
        uniforms = np.asarray(checks.numbers(given.uniforms, "lengths.hops"), dtype=float)
        if uniforms.ndim != 3 or uniforms.shape[:2] != values.shape:
            got = f"lengths.hops has shape {uniforms.shape} for lengths of shape {values.shape}"
            raise ValueError(f"{got}; give (*lengths.shape, n_hops)")
        given = hops.Given(checks.levels(uniforms, "lengths.hops"))
    elif not callable(given):
        raise ValueError(f"lengths.hops = {given!r}; give hops that can walk, such as walks.hops.Systematic()")
    return Lengths(values.astype(np.int32, copy=False), p_halt, given)


def checked(deposits: Deposits) -> Deposits:
    """``deposits``, if they are :class:`Deposits` with rows and nodes in range."""
    if not isinstance(deposits, Deposits):
        raise ValueError(f"deposits is of type {type(deposits).__name__}; give those of walks.simulate(...)")
    for name, places, n in (("row", deposits.row, deposits.n_rows), ("node", deposits.node, deposits.n_nodes)):
        if len(places) and not (places.min() >= 0 and places.max() < n):
            raise ValueError(f"deposits.{name} has values up to {places.max()}; give 0 to {n - 1}, or another deposits.n_{name}s")
    return deposits


def weigh(deposits: Deposits, f: modulation.Modulation) -> sp.csr_array:
    """Features on the host, a SciPy CSR array: the last step of ``walk_features`` for stored walks.

    Source: Universal Graph Random Features, Algorithm 1.

    >>> import jax, networkx
    >>> from rfcore import features, graphs, walks
    >>> key, g = jax.random.key(0), graphs.Graph.from_networkx(networkx.path_graph(3)).normalised()
    >>> deposits = walks.simulate(key, g, walks.lengths.draw(key, 3, 16, 0.5))
    >>> phi = features.weigh(deposits, features.modulation.diffusion(1.0))
    """
    longest = int(checked(deposits).step.max(initial=0))
    table = modulation.on_host(f, longest, deposits.is_normalised) / deposits.n_walks
    reach.check_deposits(f, longest)
    row, node = np.asarray(deposits.row), np.asarray(deposits.node)
    return assembled((row, node, np.asarray(deposits.load * table[deposits.step])), deposits.shape)


def by_step(deposits: Deposits) -> Deposits:
    """Mean load at every (row, node, step) visited, in JAX, for fixed walks and varying modulations.

    Memory is O(entries), at most the number of deposits; entries are sorted by row. Raises ValueError if a
    load overflows the default float of JAX, as on large weights in float32.

    Source: Universal Graph Random Features, Section 2.1, learns f on walks that stay.

    >>> import jax, networkx
    >>> from rfcore import features, graphs, walks
    >>> key, g = jax.random.key(0), graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> deposits = features.by_step(walks.simulate(key, g, walks.lengths.draw(key, 34, 16, 0.5)))
    >>> total = lambda f: deposits.with_modulation(features.modulation.from_values(f)).toarray().sum()
    >>> float(jax.grad(total)(jax.numpy.ones(2))[0])  # f(0) is added once at each of the 34 nodes
    34.0
    """
    n_rows, n_nodes = checked(deposits).shape
    n_steps = int(deposits.step.max(initial=0)) + 1
    row_and_step = deposits.row.astype(np.int64) * n_steps + deposits.step
    total = sp.coo_array((deposits.load, (row_and_step, deposits.node)), (n_rows * n_steps, n_nodes)).tocsr()
    row, step = np.divmod(np.repeat(np.arange(n_rows * n_steps), np.diff(total.indptr)), n_steps)
    with np.errstate(over="ignore"):
        load = (total.data / deposits.n_walks).astype(jnp.result_type(float))
    if not np.isfinite(load).all():
        got = f"deposits has loads up to {np.abs(total.data).max() / deposits.n_walks:.1e}, which overflow {load.dtype}"
        raise ValueError(f"{got}; give those of walks on g.normalised() or smaller weights, or set jax_enable_x64")
    row, node, step = (jnp.asarray(a, dtype=jnp.int32) for a in (row, total.indices, step))
    return replace(deposits, row=row, node=node, step=step, load=jnp.asarray(load), n_walks=1, n_steps=n_steps)
