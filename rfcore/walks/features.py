"""Graph random features on the host: walks from a node, each deposit weighted by a modulation of its step."""

from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np
import scipy.sparse as sp
from jax.typing import ArrayLike
from jaxtyping import Float, Int

from rfcore import checks
from rfcore.graphs import Graph
from rfcore.walks import engine, modulation, reach, streams
from rfcore.walks.assembly import assembled, stacked
from rfcore.walks.engine import Walkers
from rfcore.walks.exact_hops import with_exact_hops
from rfcore.walks.lengths import Drawn, Named, longest
from rfcore.walks.modulation import Modulation
from rfcore.walks.operator import Operator
from rfcore.walks.streams import Key

Nodes = Int[np.ndarray, " n"]
Table = Float[np.ndarray, " n_steps"]


class WalkFeatures(Operator):
    """Sparse features of nodes, stored on the host with everything that their walks depend on.

    ``phi @ v`` and ``phi.T @ v`` multiply in O(nonzeros). Products with other features, such as the estimate
    ``phi_1 @ phi_2.T`` of a kernel, and with SciPy sparse arrays are SciPy CSR arrays; those with dense
    arrays, on either side, are dense. Inside ``jax.jit`` and ``jax.grad`` use
    :func:`rfcore.features.by_step`.

    If only the kernel times a vector is needed, ``phi_1 @ (phi_2.T @ v)`` is noisier and slower than
    :func:`rfcore.kernels.expm_multiply` and :func:`rfcore.kernels.chebyshev_matvec`, which are exact.

    >>> import jax
    >>> from rfcore import features, graphs
    >>> g, f = graphs.Graph.from_edges([[0, 1], [1, 2]]).normalised(), features.modulation.diffusion(1.0)
    >>> phi = features.walk_features(jax.random.key(0), g, f, n_walks=16, p_halt=0.1)
    >>> phi
    WalkFeatures(shape=(3, 3), nonzeros=9, n_walks=16, p_halt=0.1)
    >>> (phi @ phi.T).shape, phi.toarray().shape, phi.to_scipy().format
    ((3, 3), (3, 3), 'csr')
    >>> other = phi.with_modulation(features.modulation.p_step(2.0, 2))  # of the same walks
    """

    matrix: sp.csr_array | sp.csc_array
    """One row per start node, one column per node."""
    walkers: Walkers
    nodes: Nodes
    """Start nodes, one row of features each."""
    exact_hops: int = 0
    """How many hops are no walks."""
    is_transposed: bool = False
    """Whether rows and columns are exchanged."""

    def __repr__(self) -> str:
        walked = f"n_walks={self.walkers.n_walks}, p_halt={self.walkers.p_halt}{f', exact_hops={h}' if (h := self.exact_hops) else ''}"
        return f"WalkFeatures(shape={self.shape}, nonzeros={self.matrix.nnz}, {walked})"

    @property
    def shape(self) -> tuple[int, int]:
        """(number of start nodes, N); the other way round for a transpose."""
        n, m = len(self.nodes), len(self.walkers.tables.node)
        return (m, n) if self.is_transposed else (n, m)

    @property
    def T(self) -> "WalkFeatures":
        """Transpose, which shares the memory of the features."""
        return replace(self, matrix=self.matrix.T, is_transposed=not self.is_transposed)

    def _times(self, other: Any) -> Any:
        return (self.matrix.tocsr() if sp.issparse(other) else self.matrix) @ other

    def _after(self, other: Any) -> Any:
        return other @ self.matrix

    @staticmethod
    def _factor(other: Any) -> Any:
        if isinstance(other, WalkFeatures):
            return other.matrix
        if sp.issparse(other):
            return checks.sparse(other, "what multiplies phi")
        if checks.is_traced(other):
            got = f"what multiplies phi has shape {other.shape} and no values yet, as inside jax.jit, and phi is of SciPy"
            raise ValueError(f"{got}; give features.by_step(deposits).with_modulation(f) for phi")
        return np.asarray(checks.numbers(other, "what multiplies phi"))

    def to_scipy(self) -> sp.csr_array | sp.csc_array:
        """Features as a SciPy CSR array; as a CSC array, without a copy, if this is a transpose."""
        return self.matrix

    def toarray(self) -> Float[np.ndarray, "n_rows n_columns"]:
        """Features as a dense NumPy array."""
        return self.matrix.toarray()

    def with_modulation(self, f: Modulation, executor: Executor | None = None) -> "WalkFeatures":
        """Features of the same walks under another modulation.

        The walks are a pure function of their key and are walked again: this takes the time of building and
        no memory. To weigh walks many times, keep their deposits: :func:`rfcore.features.by_step`.
        """
        matrix = _build(self.walkers, self.nodes, f, executor, self.exact_hops)
        return replace(self, matrix=matrix.T if self.is_transposed else matrix)


class StreamedFeatures(Operator):
    """Features that are never stored: every product simulates the same walks again, chunk by chunk.

    They equal :class:`WalkFeatures` to rounding, and take the memory of a few chunks in addition to the graph
    and the vectors. They multiply dense arrays, on either side; a product takes less time than building
    features, and more than a product with stored ones. Where workers share no memory, on processes or a
    cluster, the graph and the vector travel with every chunk.
    """

    walkers: Walkers
    nodes: Nodes
    """Start nodes, one row of features each."""
    f: Modulation
    executor: Executor | None = None
    is_transposed: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """(number of start nodes, N); the other way round for a transpose."""
        n, m = len(self.nodes), len(self.walkers.tables.node)
        return (m, n) if self.is_transposed else (n, m)

    @property
    def T(self) -> "StreamedFeatures":
        """Transpose, of the same walks."""
        return replace(self, is_transposed=not self.is_transposed)

    def _times(self, other: Any) -> Float[np.ndarray, "..."]:
        table = _table(self.walkers, self.f, longest(self.walkers.p_halt), is_new=False)
        columns = np.asarray(other, dtype=float).reshape(len(other), prod(np.shape(other)[1:]))
        rows = streams.chunks(len(self.nodes), self.walkers.n_walks)
        factors = [columns[some] if self.is_transposed else columns for some in rows]
        work = partial(_product, self.walkers, table, self.is_transposed)
        out = np.zeros((self.shape[0], columns.shape[1]))
        done = streams.in_chunks(work, [self.nodes[some] for some in rows], factors, executor=self.executor)
        for some, (places, values) in zip(rows, done, strict=True):
            if self.is_transposed:
                for column, summands in zip(out.T, values, strict=True):
                    np.add.at(column, places, summands)  # in the order of the walks, however many threads
            else:
                out[some] = values
        return out.reshape(len(out), *np.shape(other)[1:])

    def _after(self, other: Any) -> Float[np.ndarray, "..."]:
        return self.T._times(other.T).T

    @staticmethod
    def _factor(other: Any) -> Any:
        if sp.issparse(other) or isinstance(other, Operator):
            got = f"what multiplies phi is of type {type(other).__name__}, and phi is walked anew for every product"
            raise ValueError(f"{got}; give a dense vector or matrix, or phi of walk_features(..., stored=True)")
        return WalkFeatures._factor(other)

    def to_scipy(self) -> sp.csr_array | sp.csc_array:
        """Features as a SciPy CSR array, stored after all; as a CSC array if this is a transpose."""
        matrix = _build(self.walkers, self.nodes, self.f, self.executor)
        return matrix.T if self.is_transposed else matrix

    def toarray(self) -> Float[np.ndarray, "n_rows n_columns"]:
        """Features as a dense NumPy array."""
        return self.to_scipy().toarray()

    def with_modulation(self, f: Modulation, executor: Executor | None = None) -> "StreamedFeatures":
        """Features of the same walks under another modulation, which is checked now."""
        _table(self.walkers, f, longest(self.walkers.p_halt))
        return replace(self, f=f, executor=_checked(executor))


def walk_features(
    key: Key,
    g: Graph,
    f: Modulation,
    n_walks: int,
    p_halt: float,
    coupling: Named = "stratified",
    nodes: Int[ArrayLike, " n"] | list[int] | range | None = None,
    executor: Executor | None = None,
    stored: bool = True,
    exact_hops: int = 0,
) -> WalkFeatures | StreamedFeatures:
    """Universal graph random features, whose products estimate a kernel between the nodes of a graph.

    ::

        phi(i)_j = 1/n_walks sum over the walks from i, over their steps k at node j, of  load_k f(k)

        E[phi_1 phi_2^T] = sum_k (f * f)(k) W^k    for independent sets of walks (two keys), symmetric W

    ``phi phi^T`` with one set is positive semidefinite, but its diagonal is biased upwards.

    **For a product with a kernel there are better methods**: :func:`rfcore.kernels.expm_multiply` for the
    diffusion kernel, or SciPy's ``expm_multiply``, and :func:`rfcore.kernels.chebyshev_matvec` for others.
    They are exact, and on 10^5 nodes of degree 6 ``expm_multiply`` takes .03 s, where a product of features
    takes .02 s after 1.3 s of walks and is 8 % off. Walks are worthwhile where features themselves are
    needed, where f is learned, or where the graph can only be explored by walking.

    **Walks must reach the lengths at which f is large.** On normalised weights the n_walks of a node reach,
    on average, the share

    ::

        sum_k |f(k)| (1 - (1 - (1 - p_halt)^k)^n_walks) / sum_k |f(k)|

    Estimates are good where it is near 1. Below 1/2 they are mostly worse than 0 would be (karate, 64 walks,
    relative errors: .15 at .97, .4 at .75, 2 at .34, 5 at .15), with a warning. Below 1/20 features are
    nearly all 0, and ValueError is raised. The remedy is a p_halt of about 1 / (2 hops), for the hops at
    which |f| has half its sum; if that sum has no effective end, only an f that ends.

    Raises ValueError, too, if f is that of a kernel (:func:`rfcore.walks.modulation.of_kernel`) and g is
    directed or not normalised, or if p_halt is below 1.8e-8.

    Args:
        g: graph with the weights W; usually ``g.normalised()``.
        f: modulation, a function of an integer array of lengths, from :mod:`rfcore.walks.modulation`.
        n_walks: walks from each node.
        p_halt: probability of stopping before each hop, strictly between 0 and 1.
        coupling: coupling of the walks of one node: "iid", "reversal", "stratified", "systematic", ..., a
            permutation, a copula or a :class:`rfcore.walks.Coupling` (:func:`rfcore.walks.lengths.named`).
            Means do not depend on it, errors do. Stratified lengths cost what independent ones do (1.02 times
            at p_halt = 0.1, 1.1 times at 0.5); "systematic" has the smallest errors that we have measured, at
            about twice the cost of a walk.
        nodes: start nodes, one row each; repeats are independent. All nodes by default. Walks belong to a
            place in ``nodes``: those of [5, 6] are not those of rows 5 and 6 of all nodes.
        executor: of threads, by default; of processes; or that of a cluster. The result does not depend on
            it. What a lost worker was doing is done again.
        stored: False for features that are walked again for every product because they would not fit into
            memory: 10^7 nodes with 16 walks of ten hops have 20 GB of them.
        exact_hops: h, of stored features: lengths below h are a power series, and walks go on from there
            (:mod:`rfcore.walks.exact_hops`). At sigma = 1 one hop leaves a twentieth of the error of as many
            independent walks, for two to four times the nonzeros.

    Returns:
        Features in float64, (len(nodes), N); StreamedFeatures if not stored.

    Source: Universal Graph Random Features, Algorithm 1 and Theorem 2.1.

    >>> import jax, networkx
    >>> from rfcore import features, graphs, kernels
    >>> g = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> f, keys = features.modulation.diffusion(1.0), jax.random.split(jax.random.key(0))
    >>> phi, psi = (features.walk_features(key, g, f, n_walks=1000, p_halt=0.1) for key in keys)
    >>> bool(abs((phi @ psi.T).toarray() - kernels.diffusion(g, 1.0)).max() < 0.1)
    True
    """
    walkers = engine.walkers(key, g, n_walks, p_halt, coupling)
    nodes, exact_hops = engine.start_nodes(g, nodes), checks.count(exact_hops, "exact_hops", least=0)
    if stored:
        return WalkFeatures(_build(walkers, nodes, f, executor, exact_hops), walkers, nodes, exact_hops)
    if exact_hops:
        raise ValueError(f"exact_hops = {exact_hops} and stored = False; give one of the two: with hops features are stored")
    return StreamedFeatures(walkers, nodes, f).with_modulation(f, executor)


def _table(walkers: Walkers, f: Modulation, last: int, is_new: bool = True) -> Table:
    """f(0), f(1), ... over n_walks, up to the last that is not 0; a new f is checked for its reach."""
    table = modulation.on_host(f, last, walkers.tables.for_kernels)
    if is_new and walkers.tables.is_normalised:
        reach.check_walks(f, table, walkers.n_walks, walkers.p_halt)
    table = table / walkers.n_walks
    return table[: np.flatnonzero(table).max(initial=0) + 1]  # walks need not go on where f vanishes for good


def _build(
    walkers: Walkers, nodes: Nodes, f: Modulation, executor: Executor | None, exact_hops: int = 0
) -> sp.csr_array:
    _checked(executor)
    if exact_hops:
        return with_exact_hops(walkers, nodes, f, exact_hops, lambda far, later: _build(walkers, far, later, executor))
    n_rows, n_nodes = len(nodes), len(walkers.tables.node)
    chunks = [nodes[rows] for rows in streams.chunks(n_rows, walkers.n_walks)]
    if len(chunks) < 2:  # takes some milliseconds, most of them perhaps for the table
        drawn = engine.draw(walkers, 0, n_rows)
        # A power of two, since a modulation in JAX is compiled anew for each size.
        size = 1 << int(drawn[0].max(initial=0)).bit_length()
        table = _table(walkers, f, min(size - 1, longest(walkers.p_halt)))
        return assembled(_entries(walkers, table, 0, nodes, drawn), (n_rows, n_nodes))
    table = _table(walkers, f, longest(walkers.p_halt))
    n_deposits = int(n_rows * (1 + walkers.n_walks * (1 - walkers.p_halt) / walkers.p_halt))  # on average
    # Threads share the graph. To other workers it travels with each job: a job is as many chunks as it takes
    # for the features that come back to be as large as the graph that went there.
    threads = executor is None or isinstance(executor, ThreadPoolExecutor)
    sent = 0 if threads else walkers.tables.node.nbytes + walkers.tables.edge.nbytes
    together = 1 + len(chunks) * sent // (1 + 12 * n_deposits)
    parts = streams.in_chunks(partial(_rows, walkers, table), chunks, executor=executor, together=together)
    return stacked(parts, n_nodes, n_deposits)


def _checked(executor: Any) -> Executor | None:
    if executor is not None and (isinstance(executor, type) or not callable(getattr(executor, "map", None))):
        raise ValueError(f"executor = {executor!r}; give one, such as concurrent.futures.ThreadPoolExecutor(4)")
    return executor


def _rows(walkers: Walkers, table: Table, chunk: int, nodes: Nodes) -> sp.csr_array:
    """Features of a chunk of start nodes."""
    return assembled(_entries(walkers, table, chunk, nodes), (len(nodes), len(walkers.tables.node)))


def _product(
    walkers: Walkers, table: Table, is_transposed: bool, chunk: int, nodes: Nodes, factor: Float[np.ndarray, "m c"]
) -> tuple[Int[np.ndarray, " k"] | None, Any]:
    """Contribution of a chunk to a product: rows; or the nodes its walks reach, and what to add there."""
    row, node, values = _entries(walkers, table, chunk, nodes)
    if is_transposed:
        return node, [values * column[row] for column in factor.T]
    return None, np.stack([np.bincount(row, values * column[node], minlength=len(nodes)) for column in factor.T], axis=1)


def _entries(
    walkers: Walkers, table: Table, chunk: int, nodes: Nodes, drawn: Drawn | None = None
) -> tuple[Int[np.ndarray, " k"], Int[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    row, node, values, counts = engine.walk_anew(walkers, chunk, nodes, len(table) - 1, drawn)
    values *= np.repeat(table[: len(counts)], counts)
    return row, node, values
