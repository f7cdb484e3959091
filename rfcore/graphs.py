"""A graph as three arrays (compressed sparse rows), from networkx, scipy or trimesh."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from rfcore import checks


@dataclass(frozen=True, eq=False)
class Graph:
    """Weighted graph on nodes 0, ..., n_nodes - 1, in the layout of :class:`scipy.sparse.csr_array`.

    The neighbours of node i are ``indices[indptr[i]:indptr[i + 1]]`` in increasing order, and ``weights``
    holds the edge weights in the same places. An undirected edge stands twice. Weights may be negative; zeros
    are dropped, since a walk can never use them. A self-loop makes a node its own neighbour. Its arrays are
    read-only: what is computed from them is kept. Build one with :meth:`from_networkx`, :meth:`from_scipy`,
    :meth:`from_edges` or :meth:`from_mesh`.

    Attributes:
        indptr: int64, (n_nodes + 1,).
        indices: int32 or int64, (n_edges,).
        weights: float64, (n_edges,).
        is_normalised: whether the weights are those that :meth:`normalised` makes; modulations that are named
            after a kernel walk on such graphs only.

    >>> import networkx
    >>> from rfcore import graphs
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(3))
    >>> g.n_nodes, g.indices.tolist(), g.normalised().weights.round(3).tolist()
    (3, [1, 0, 2, 1], [0.707, 0.707, 0.707, 0.707])
    """

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    is_normalised: bool = False

    def __post_init__(self):
        indptr = checks.indices(self.indptr, "indptr", 2**63)
        indices = checks.indices(self.indices, "indices", 2**63, empty=True)
        weights = self.weights
        if not isinstance(weights, np.ndarray) or weights.dtype != float or np.ma.isMaskedArray(weights):
            weights = np.asarray(checks.numbers(weights, "weights"), dtype=float)
        checks.finite(weights, "weights")
        if indptr[0] or indptr[-1] != len(indices) or np.any(indptr[1:] < indptr[:-1]):
            got = f"indptr = {indptr!r}, indices has shape {indices.shape}"
            raise ValueError(f"{got}; give an indptr that goes up from 0 to the number of indices")
        checks.indices(indices, "indices", len(indptr) - 1, empty=True)
        starts = indptr[(indptr > 0) & (indptr < len(indices))]
        falls = indices[1:] <= indices[:-1]
        falls[starts - 1] = False
        if falls.any():
            mend = "give the neighbours of a node in increasing order, each once"
            raise ValueError(f"indices = {indices!r}; {mend}")
        if weights.shape != indices.shape:
            got = f"weights has shape {weights.shape}"
            raise ValueError(f"{got}; give one number per edge, shape {indices.shape}")
        for name, x in (("indptr", self.indptr), ("indices", self.indices), ("weights", weights)):
            object.__setattr__(self, name, _read_only(np.asarray(x).view()))

    @classmethod
    def from_scipy(cls, W, is_normalised=False):
        """Graph with the given weighted adjacency matrix, N x N, scipy sparse or dense.

        Args:
            W: ``W[i, j]`` is the weight of the edge from i to j; duplicate entries are added.
            is_normalised: a promise, which is not looked into, that W is D^(-1/2) A D^(-1/2) already, because
                it was made of the weights of normalised graphs, such as several of them side by side.

        >>> import scipy.sparse as sp
        >>> from rfcore import graphs
        >>> graphs.Graph.from_scipy(sp.coo_array(([1.0, 2.0], ([0, 1], [1, 0])))).weights.tolist()
        [1.0, 2.0]
        """
        if not isinstance(is_normalised, bool | np.bool_):
            raise ValueError(f"is_normalised = {is_normalised!r}; give True or False")
        if hasattr(W, "number_of_nodes") or isinstance(W, Graph):
            raise ValueError(f"W is of type {type(W).__name__}; give a matrix (Graph.from_networkx takes networkx graphs)")
        W = checks.sparse(W, "W") if sp.issparse(W) else checks.finite(np.asarray(checks.numbers(W, "W")), "W")
        if W.ndim != 2 or W.shape[0] != W.shape[1]:
            raise ValueError(f"W has shape {W.shape}; give a square matrix, one row and one column per node")
        if W.shape[0] == 0:
            raise ValueError("W has shape (0, 0); a graph needs at least one node")
        W = sp.csr_array(W, dtype=float, copy=True)
        W.sum_duplicates()
        W.eliminate_zeros()
        checks.finite(W.data, "the sum of duplicate entries of W")
        return cls(W.indptr.astype(np.int64), W.indices, W.data, bool(is_normalised))

    @classmethod
    def from_networkx(cls, G, weight=None):
        """Graph with the nodes of G in G's order.

        Args:
            G: networkx Graph or DiGraph; parallel edges of a multigraph must be merged before.
            weight: edge attribute to read weights from. None: every edge weighs 1, whatever attributes G
                carries (networkx's karate club carries weights that the papers do not use).

        >>> import networkx
        >>> from rfcore import graphs
        >>> set(graphs.Graph.from_networkx(networkx.karate_club_graph()).weights.tolist())
        {1.0}
        """
        import networkx as nx

        if not isinstance(G, nx.Graph):
            raise ValueError(f"G is of type {type(G).__name__}; give a networkx graph (Graph.from_scipy takes matrices)")
        if G.number_of_nodes() == 0:
            raise ValueError("G has no nodes; a graph needs at least one")
        if G.is_multigraph():
            raise ValueError("G is a multigraph; merge parallel edges first, for example with networkx.Graph(G)")
        if weight is not None:
            for i, j, attributes in G.edges(data=True):
                if weight not in attributes:
                    raise ValueError(f"weight = {weight!r}, but edge ({i!r}, {j!r}) has no such attribute; set it on all")
                checks.real(attributes[weight], f"{weight} of edge ({i!r}, {j!r})")
        return cls.from_scipy(nx.to_scipy_sparse_array(G, weight=weight, dtype=float, format="csr"))

    @classmethod
    def from_edges(cls, edges, n_nodes=None, weights=None):
        """Graph from an edge index, as PyTorch Geometric and others keep it.

        Args:
            edges: whole numbers, (2, E): edge e goes from ``edges[0, e]`` to ``edges[1, e]``. An undirected
                edge stands twice, once in each direction.
            n_nodes: by default one more than the largest number of ``edges``; nodes without edges at the end
                need it.
            weights: (E,), of which those of a repeated edge are added; None: every edge weighs 1, however
                often it stands.

        >>> from rfcore import graphs
        >>> graphs.Graph.from_edges([[0, 1, 1, 2], [1, 0, 2, 1]]).indices.tolist()
        [1, 0, 2, 1]
        """
        if n_nodes is None:
            edges = checks.indices(edges, "edges", 2**31, empty=True, several=True)
            if not edges.size:
                raise ValueError("n_nodes = None, and edges has none; say how many nodes there are")
            n_nodes = int(edges.max()) + 1
        n_nodes = checks.count(n_nodes, "n_nodes")
        edges = np.asarray(checks.indices(edges, "edges", n_nodes, empty=True, several=True))
        if edges.ndim != 2 or len(edges) != 2:
            raise ValueError(f"edges has shape {edges.shape}; give an edge index, shape (2, E)")
        if weights is not None:
            weights = np.asarray(checks.vector(weights, "weights", edges.shape[1], "edge"), dtype=float)
        else:
            edges = np.unique(edges, axis=1)
        values = np.ones(edges.shape[1]) if weights is None else weights
        return cls.from_scipy(sp.coo_array((values, tuple(edges)), shape=(n_nodes, n_nodes)))

    @classmethod
    def from_mesh(cls, mesh, nodes="vertices"):
        """Unweighted graph of a triangle mesh.

        Args:
            mesh: ``trimesh.Trimesh``.
            nodes: "vertices", joined by mesh edges, or "faces", joined when they share an edge, each with
                each where there are more than two. The edge of a degenerate face from a vertex to itself
                counts for neither.

        >>> import trimesh
        >>> from rfcore import graphs
        >>> set(graphs.Graph.from_mesh(trimesh.creation.box(), nodes="faces").neighbour_counts.tolist())
        {3}
        """
        checks.choice(nodes, "nodes", ("vertices", "faces"))
        if not (hasattr(mesh, "vertices") and hasattr(mesh, "faces")):
            raise ValueError(f"mesh is of type {type(mesh).__name__}; give a trimesh.Trimesh")
        n = len(getattr(mesh, nodes))
        if n == 0:
            raise ValueError(f"mesh has no {nodes}; a graph needs at least one node")
        sides = np.sort(np.asarray(mesh.faces, dtype=np.int64)[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        face, is_edge = np.repeat(np.arange(len(mesh.faces)), 3), sides[:, 0] < sides[:, 1]
        edges, edge = np.unique(sides[is_edge], axis=0, return_inverse=True)
        every = np.arange(len(edges))
        joined = {
            "vertices": (edges.ravel(), np.repeat(every, 2)),
            "faces": (face[is_edge], edge.ravel()),
        }[nodes]
        of_edge = sp.coo_array((np.ones(len(joined[0])), joined), shape=(n, len(edges))).tocsr()
        W = (of_edge @ of_edge.T).tocsr()
        W.setdiag(0.0)
        W.eliminate_zeros()
        W.data[:] = 1.0  # two faces may share more than one edge
        return cls.from_scipy(W)

    @property
    def n_nodes(self):
        """Number of nodes, N."""
        return len(self.indptr) - 1

    @cached_property
    def neighbour_counts(self):
        """Number of neighbours of each node, int64, (N,): what a walk multiplies its load by."""
        return _read_only(np.diff(self.indptr))

    @cached_property
    def degrees(self):
        """Weighted degree sum_j W_ij of each node, float64, (N,): what normalisation divides by."""
        with np.errstate(over="ignore"):  # an infinite degree cannot be normalised by, which is said there
            return _read_only(self.to_scipy().sum(axis=1))

    @cached_property
    def is_symmetric(self):
        """Whether W equals its transpose exactly."""
        W = self.to_scipy()
        return (W != W.T).nnz == 0

    def to_scipy(self):
        """Weighted adjacency matrix as a scipy CSR array, (N, N); read-only (``.copy()`` it to change it)."""
        return sp.csr_array((self.weights, self.indices, self.indptr), shape=(self.n_nodes, self.n_nodes))

    def normalised(self):
        """Graph with symmetrically normalised weights.

        ::

            W_ij / sqrt(d_i d_j),  d_i = sum_j W_ij

        An isolated node keeps its empty row. The spectral radius of an undirected graph with positive weights
        becomes 1. A graph that is normalised is returned as it is.

        Raises ValueError if a node with edges has a weighted degree that is not positive (negative weights,
        or a directed edge to a node without outgoing edges), or so small (below 2.2e-308) or large that it or
        its inverse overflows.
        """
        if self.is_normalised:
            return self
        W = self.to_scipy()
        touched = (self.neighbour_counts > 0) | (np.bincount(self.indices, minlength=self.n_nodes) > 0)
        bad = np.flatnonzero(touched & ~((self.degrees >= np.finfo(float).tiny) & np.isfinite(self.degrees)))
        if len(bad):
            raise ValueError(
                f"node {bad[0]} has edges but the weighted degree {self.degrees[bad[0]]:g} (and {len(bad) - 1} more "
                "such nodes); 1 / sqrt(d_i d_j) is not defined or overflows: scale the weights yourself and use "
                "Graph.from_scipy"
            )
        scale = np.where(touched, 1 / np.sqrt(np.where(touched, self.degrees, 1.0)), 0.0)
        rows = np.repeat(np.arange(self.n_nodes), self.neighbour_counts)
        # The two scales first: this product is the same for (i, j) and (j, i) to the last bit.
        weights = W.data * (scale[rows] * scale[self.indices])
        return Graph(self.indptr, self.indices, weights, is_normalised=True)

    def scaled(self, factor):
        """Graph with every weight times a number, such as -1 (growth of dx/dt = L x in place of its decay).

        It is not normalised, unless this one is and the factor is 1.

        Raises ValueError if a weight becomes 0 (its edge would
        be gone) or infinite.
        """
        factor = checks.real(factor, "factor")
        with np.errstate(over="ignore", under="ignore"):
            weights = self.weights * factor
        if not (np.all(weights) and np.all(np.isfinite(weights))):
            kind = "leaves no edges" if factor == 0 else "makes weights 0 or infinite"
            raise ValueError(f"factor = {factor} {kind}; give another number")
        return Graph(self.indptr, self.indices, weights, self.is_normalised and factor == 1)

    def transitions(self, dangling="stay"):
        """Graph whose weights are the transitions of a simple random walk, whatever the weights were.

        ::

            P_ij = 1 / (number of neighbours of i),   so that every row sums to 1

        Args:
            dangling: what a walk does at a node without neighbours: "stay", or "uniform", hop to any of the N
                nodes, as networkx has it; each such node then has N edges.
        """
        checks.choice(dangling, "dangling", ("stay", "uniform"))
        dead_ends, shape = np.flatnonzero(self.neighbour_counts == 0), 2 * (self.n_nodes,)
        ends = dead_ends[:, None] if dangling == "stay" else np.arange(self.n_nodes)
        rows, columns = (x.ravel() for x in np.broadcast_arrays(dead_ends[:, None], ends))
        onward = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
        P = sp.csr_array(sp.csr_array((np.ones(len(self.indices)), self.indices, self.indptr), shape=shape) + onward)
        P.data /= np.repeat(np.diff(P.indptr), np.diff(P.indptr))
        return Graph.from_scipy(P)


def _read_only(array):
    array.setflags(write=False)
    return array
