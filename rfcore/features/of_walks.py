"""Graph random features: walks from a node, each deposit weighed by a modulation of its step."""

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import repeat, starmap
from math import prod

import numpy as np
import scipy.sparse as sp

from rfcore import checks, walks
from rfcore.couplings import walk_lengths
from rfcore.features import reach
from rfcore.features.assembly import assembled, stacked
from rfcore.features.operator import Operator


@dataclass(frozen=True, eq=False)
class WalkFeatures(Operator):
    """Sparse features of nodes, stored on the host with the recipe of their walks.

    ``phi @ v`` and ``phi.T @ v`` multiply in O(nonzeros). Products with other features, such as the estimate
    ``phi_1 @ phi_2.T`` of a kernel, and with scipy sparse arrays are scipy CSR arrays; those with dense
    arrays, on either side, are dense. Inside ``jax.jit`` and ``jax.grad`` use
    :class:`rfcore.features.DepositFeatures`.

    If all that is wanted is the kernel times a vector, ``phi_1 @ (phi_2.T @ v)`` is the noisier way and the
    slower one: :func:`rfcore.kernels.expm_multiply` and :func:`rfcore.kernels.chebyshev_matvec` give
    it exactly.

    Attributes:
        matrix: one row per start node, one column per node.
        recipe: :class:`rfcore.walks.Recipe`, from which the walks can be walked again.
        is_transposed: whether rows and columns are exchanged.

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

    matrix: sp.csr_array
    recipe: walks.Recipe
    is_transposed: bool = False

    def __repr__(self):
        walked = f"n_walks={self.recipe.n_walks}, p_halt={self.recipe.p_halt}"
        return f"WalkFeatures(shape={self.shape}, nonzeros={self.matrix.nnz}, {walked})"

    @property
    def shape(self):
        """(number of start nodes, N); the other way round for a transpose."""
        return self.matrix.shape

    @property
    def T(self):
        """Transpose, WalkFeatures too; it shares the memory of the features."""
        return replace(self, matrix=self.matrix.T, is_transposed=not self.is_transposed)

    def _times(self, other):
        return (self.matrix.tocsr() if sp.issparse(other) else self.matrix) @ other

    def _after(self, other):
        return other @ self.matrix

    @staticmethod
    def _factor(other):
        """What stands beside features in a product: a scipy sparse array, or a dense one."""
        if isinstance(other, WalkFeatures):
            return other.matrix
        if sp.issparse(other):
            return checks.sparse(other, "what multiplies phi")
        if checks.is_traced(other):
            got = f"what multiplies phi has shape {other.shape} and no values yet, as inside jax.jit, and phi is of SciPy"
            raise ValueError(f"{got}; give features.by_step(deposits).with_modulation(f) for phi")
        return np.asarray(checks.numbers(other, "what multiplies phi"))

    def to_scipy(self):
        """Features as a scipy CSR array; as a CSC array, without a copy, if this is a transpose."""
        return self.matrix

    def toarray(self):
        """Features as a dense NumPy array."""
        return self.matrix.toarray()

    def with_modulation(self, f, executor=None):
        """Features of the same walks under another modulation.

        The walks are a pure function of their key and are walked again: this costs the time of building and
        no memory. To weigh walks many times, keep their deposits: :func:`rfcore.features.by_step`.
        """
        matrix = _build(self.recipe, f, executor)
        return replace(self, matrix=matrix.T if self.is_transposed else matrix)


@dataclass(frozen=True, eq=False)
class StreamedFeatures(Operator):
    """Features that are never stored: every product walks the same walks again, chunk by chunk.

    They equal :class:`WalkFeatures` to rounding, and take the memory of a few chunks beside the graph and the
    vectors. They multiply dense arrays, on either side; a product costs less time than building features, and
    more than a product with built ones. Where workers share no memory, on processes or a cluster, the graph
    and the vector travel with every chunk.
    """

    recipe: walks.Recipe
    f: object
    executor: object = None
    is_transposed: bool = False

    @property
    def shape(self):
        """(number of start nodes, N); the other way round for a transpose."""
        shape = len(self.recipe.nodes), self.recipe.g.n_nodes
        return shape[::-1] if self.is_transposed else shape

    @property
    def T(self):
        """Transpose, of the same walks."""
        return replace(self, is_transposed=not self.is_transposed)

    def _times(self, other):
        return _streamed(self.recipe, self.f, self.executor, other, self.is_transposed)

    def _after(self, other):
        return self.T._times(other.T).T

    @staticmethod
    def _factor(other):
        if sp.issparse(other) or isinstance(other, Operator):
            got = f"what multiplies phi is of type {type(other).__name__}, and phi is walked anew for every product"
            raise ValueError(f"{got}; give a dense vector or matrix, or phi of walk_features(..., stored=True)")
        return WalkFeatures._factor(other)

    def to_scipy(self):
        """Features as a scipy CSR array, stored after all; as a CSC array if this is a transpose."""
        matrix = _build(self.recipe, self.f, self.executor)
        return matrix.T if self.is_transposed else matrix

    def toarray(self):
        """Features as a dense NumPy array."""
        return self.to_scipy().toarray()

    def with_modulation(self, f, executor=None):
        """Features of the same walks under another modulation."""
        return _to_be_streamed(self.recipe, f, executor, self.is_transposed)


def walk_features(
    key,
    g,
    f,
    n_walks,
    p_halt,
    coupling="stratified",
    nodes=None,
    executor=None,
    stored=True,
):
    """Universal graph random features, whose products estimate a kernel between the nodes of a graph.

    ::

        phi(i)_j = 1/n_walks sum over the walks from i, over their steps k at node j, of  load_k f(k)

        E[phi_1 phi_2^T] = sum_k (f * f)(k) W^k    for independent sets of walks (two keys), symmetric W

    ``phi phi^T`` with one set is positive semidefinite, but its diagonal is biased upwards.

    **A product with a kernel has a better way**: :func:`rfcore.kernels.expm_multiply` for the diffusion
    kernel, or SciPy's ``expm_multiply``, and :func:`rfcore.kernels.chebyshev_matvec` for others.
    They are exact, and on 10^5 nodes of degree 6 ``expm_multiply`` takes .03 s, where a product of features
    takes .02 s after 1.3 s of walks and is 8 % off. Walks pay where features themselves are wanted, where f
    is learned, or where the graph is met by walking alone.

    **Walks must get to where f is.** On normalised weights the n_walks of a node reach, on average, the share

    ::

        sum_k |f(k)| (1 - (1 - (1 - p_halt)^k)^n_walks) / sum_k |f(k)|

    Estimates are good where it is near 1. Below 1/2 they are mostly worse than 0 would be (karate, 64 walks,
    relative errors: .15 at .97, .4 at .75, 2 at .34, 5 at .15), which a warning says. Below 1/20 features are
    nearly all 0 there, which is a ValueError. The mend is a p_halt of about 1 / (2 hops), for the hops at
    which |f| has half its sum; a sum without an end has none but an f that ends.

    Raises ValueError, too, if f is of a kernel (:func:`rfcore.features.modulation.of_kernel`) and g is
    directed or not normalised, or if p_halt is below 1.8e-8.

    Args:
        key: JAX PRNG key.
        g: :class:`rfcore.graphs.Graph` with the weights W; usually ``g.normalised()``.
        f: modulation, a function of an integer array of lengths, from :mod:`rfcore.features.modulation`.
        n_walks: walks from each node.
        p_halt: probability of stopping before each hop, strictly between 0 and 1.
        coupling: joint law of the walks of one node, "iid", "reversal", "stratified", "systematic", ..., an
            int array or a function (:func:`rfcore.couplings.walk_lengths.named`). Means do not depend on it,
            errors do. Stratified lengths cost what independent ones do (1.02 times at p_halt = 0.1, 1.1 times
            at 0.5); "systematic" has the smallest errors that we have measured, at about twice the cost of a
            walk.
        nodes: int array of start nodes, one row each; repeats are independent. All nodes by default. Walks
            belong to a place in ``nodes``: of [5, 6] they are not those of rows 5 and 6 of all nodes.
        executor: a concurrent.futures.Executor (of threads, by default; of processes; a cluster's), on which
            the result does not depend. What a lost worker was doing is done again.
        stored: False for features that are walked again for every product because they would not fit into
            memory: 10^7 nodes with 16 walks of ten hops have 20 GB of them.

    Returns:
        WalkFeatures, or StreamedFeatures if not stored, float64, (len(nodes), N).

    Source: Universal Graph Random Features, Algorithm 1 and Theorem 2.1.

    >>> import jax, networkx
    >>> from rfcore import features, graphs, kernels
    >>> g = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> f, keys = features.modulation.diffusion(1.0), jax.random.split(jax.random.key(0))
    >>> phi, psi = (features.walk_features(key, g, f, n_walks=1000, p_halt=0.1) for key in keys)
    >>> bool(abs((phi @ psi.T).toarray() - kernels.diffusion(g, 1.0)).max() < 0.1)
    True
    """
    recipe = walks.recipe(key, g, n_walks, p_halt, coupling, nodes)
    if not stored:
        return _to_be_streamed(recipe, f, executor)
    return WalkFeatures(_build(recipe, f, executor), recipe)


def weigh(deposits, f):
    """Features from deposits: the last of the three steps, for those who keep the walks.

    Args:
        deposits: from :func:`rfcore.walks.simulate`.
        f: modulation, as for :func:`walk_features`.

    Returns:
        scipy CSR array, (deposits.n_rows, deposits.n_nodes).

    Source: Universal Graph Random Features, Algorithm 1.

    >>> import jax, networkx
    >>> from rfcore import couplings, features, graphs, walks
    >>> key, g = jax.random.key(0), graphs.Graph.from_networkx(networkx.path_graph(3)).normalised()
    >>> deposits = walks.simulate(key, g, couplings.walk_lengths.draw(key, 3, 16, 0.5))
    >>> phi = features.weigh(deposits, features.modulation.diffusion(1.0))
    """
    longest = int(walks.checked(deposits).step.max(initial=0))
    table = modulation_table(f, longest, deposits.is_normalised) / deposits.n_walks
    reach.check_deposits(f, longest)
    entries = deposits.row, deposits.node, deposits.load * table[deposits.step]
    return assembled(entries, (deposits.n_rows, deposits.n_nodes))


def _build(recipe, f, executor):
    _checked(executor)
    _, g, n_walks, p_halt, _, nodes = recipe
    walkers, chunks = recipe.walkers(), [nodes[rows] for rows in recipe.chunks()]
    if len(chunks) < 2:  # over in some milliseconds, of which the table may be most
        lengths = walkers.lengths(0, len(nodes))
        # A power of two, since a modulation in JAX is compiled anew for each size.
        size = 1 << int(lengths.values.max(initial=0)).bit_length()
        table = _table(f, recipe, min(size - 1, walk_lengths.longest(p_halt)))
        return assembled(_entries(walkers, 0, nodes, table, lengths), (len(nodes), g.n_nodes))
    table = _table(f, recipe, walk_lengths.longest(p_halt))
    n_deposits = int(len(nodes) * (1 + n_walks * (1 - p_halt) / p_halt))  # on average
    # Threads share the graph. To other workers it travels with each job: a job is as many chunks as it takes
    # for the features that come back to be as large as the graph that went there.
    threads = executor is None or isinstance(executor, ThreadPoolExecutor)
    sent = 0 if threads else walkers.tables.node.nbytes + walkers.tables.edge.nbytes
    together = 1 + len(chunks) * sent // (1 + 12 * n_deposits)
    todo = [
        (walkers, first, chunks[first : first + together], table) for first in range(0, len(chunks), together)
    ]
    with nullcontext(executor) if executor or len(todo) < 2 else ThreadPoolExecutor(os.cpu_count()) as pool:
        done = pool.map(_rows, *zip(*todo, strict=True)) if len(todo) > 1 else starmap(_rows, todo)
        return stacked(done, len(nodes), g.n_nodes, n_deposits)


def _checked(executor):
    if executor is not None and (isinstance(executor, type) or not callable(getattr(executor, "map", None))):
        raise ValueError(f"executor = {executor!r}; give one, such as concurrent.futures.ThreadPoolExecutor(4)")
    return executor


def _to_be_streamed(recipe, f, executor, is_transposed=False):
    """What a product would complain of is found now."""
    _table(f, recipe, walk_lengths.longest(recipe.p_halt))
    return StreamedFeatures(recipe, f, _checked(executor), is_transposed)


def _streamed(recipe, f, executor, other, is_transposed):
    """Features, or their transpose, times a dense vector or matrix, from one chunk of walks after another."""
    g, nodes, chunks = recipe.g, recipe.nodes, recipe.chunks()
    walkers, table = recipe.walkers(), _table(f, recipe, walk_lengths.longest(recipe.p_halt), is_new=False)
    columns = np.asarray(other, dtype=float).reshape(len(other), prod(np.shape(other)[1:]))
    out = np.zeros((g.n_nodes if is_transposed else len(nodes), columns.shape[1]))
    factors = [columns[rows] for rows in chunks] if is_transposed else repeat(columns)
    todo = [
        (walkers, chunk, nodes[rows], table, factor, is_transposed)
        for (chunk, rows), factor in zip(enumerate(chunks), factors, strict=False)
    ]
    with nullcontext(executor) if executor else ThreadPoolExecutor(os.cpu_count()) as pool:
        for rows, (places, values) in zip(chunks, pool.map(_product, *zip(*todo, strict=True)), strict=True):
            if is_transposed:
                for column, summands in zip(out.T, values, strict=True):
                    np.add.at(column, places, summands)  # in the order of the walks, however many threads
            else:
                out[rows] = values
    return out.reshape(len(out), *np.shape(other)[1:])


def _product(walkers, chunk, nodes, table, factor, is_transposed):
    """What a chunk adds to a product: rows; or the nodes that its walks reach, and what they bring there."""
    row, node, values = _entries(walkers, chunk, nodes, table)
    if is_transposed:
        return node, [values * column[row] for column in factor.T]
    return None, np.stack([np.bincount(row, values * column[node], minlength=len(nodes)) for column in factor.T], axis=1)


def _rows(walkers, first, chunks, table):
    """Features of consecutive chunks of start nodes, the first of which is chunk number ``first``."""
    n_rows, n_nodes = sum(map(len, chunks)), len(walkers.tables.node)
    numbered = enumerate(chunks, start=first)
    matrices = (
        assembled(_entries(walkers, chunk, nodes, table), (len(nodes), n_nodes)) for chunk, nodes in numbered
    )
    return stacked(matrices, n_rows, n_nodes)


def _entries(walkers, chunk, nodes, table, lengths=None):
    row, node, values, counts = walkers.walk(chunk, nodes, len(table) - 1, lengths)
    values *= np.repeat(table[: len(counts)], counts)
    return row, node, values


def _table(f, recipe, longest, is_new=True):
    _, g, n_walks, p_halt, *_ = recipe
    table = modulation_table(f, longest, g.is_normalised and g.is_symmetric)
    if is_new and g.is_normalised:
        reach.check_walks(f, table, n_walks, p_halt)
    table = table / n_walks
    return table[: np.flatnonzero(table).max(initial=0) + 1]  # walks need not go on where f vanishes for good


def modulation_table(f, longest, is_normalised):
    """f(0), ..., f(longest) as a finite float64 array, for walks on weights that are normalised or not."""
    return np.asarray(checks.modulation(f, longest + 1, is_normalised), dtype=float)
