"""A graph as three arrays (compressed sparse rows), from networkx, scipy or trimesh."""

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

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
        indices: int32 or int64, (n,), n the number of entries of W.
        weights: float64, (n,).
        is_normalised: whether the weights are those that :meth:`normalised` makes; modulations that are named
            after a kernel walk on such graphs only.
        nodes: tuple of networkx's labels of nodes 0, ..., n_nodes - 1; None where there were none.

    >>> import networkx
    >>> from rfcore import graphs
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(3))
    >>> g.n_nodes, g.indices.tolist(), g.normalised().weights.round(3).tolist()
    (3, [1, 0, 2, 1], [0.707, 0.707, 0.707, 0.707])
    >>> g
    Graph(n_nodes=3, n_edges=2, is_normalised=False)
    """

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    is_normalised: bool = False
    nodes: tuple | None = None

    def __post_init__(self):
        for name in ("indptr", "indices", "weights"):
            object.__setattr__(self, name, _read_only(np.asarray(getattr(self, name)).view()))

    def __repr__(self):
        n, loops = len(self.indices), np.count_nonzero(self.to_scipy().diagonal())
        edges = f"n_edges={(n + loops) // 2}" if self.is_symmetric else f"n_directed_edges={n}"
        return f"Graph(n_nodes={self.n_nodes}, {edges}, is_normalised={self.is_normalised})"

    @classmethod
    def from_scipy(cls, W, is_normalised=False):
        """Graph with the given weighted adjacency matrix, N x N, scipy sparse or dense.

        Args:
            W: ``W[i, j]`` is the weight of the edge from i to j; duplicate entries are added. A matrix with
                one triangle alone is a directed graph: ``W + W.T`` makes an undirected one of it.
            is_normalised: a promise, which is not looked into, that W is D^(-1/2) A D^(-1/2) already, because
                it was made of the weights of normalised graphs, such as several of them side by side.

        >>> import scipy.sparse as sp
        >>> from rfcore import graphs
        >>> graphs.Graph.from_scipy(sp.coo_array(([1.0, 2.0], ([0, 1], [1, 0])))).weights.tolist()
        [1.0, 2.0]
        """
        W = checks.sparse(W, "W") if sp.issparse(W) else checks.finite(np.asarray(checks.numbers(checks.known(W, "W"), "W")), "W")
        if W.ndim != 2 or W.shape[0] != W.shape[1]:
            raise ValueError(f"W has shape {W.shape}; give a square matrix, one row and one column per node")
        if W.shape[0] == 0:
            raise ValueError("W has shape (0, 0); a graph needs at least one node")
        W = sp.csr_array(W, dtype=float, copy=True)
        W.sum_duplicates()
        W.eliminate_zeros()
        checks.finite(W.data, "the sum of duplicate entries of W")
        return cls(W.indptr.astype(np.int64), W.indices, W.data, is_normalised)

    @classmethod
    def from_networkx(cls, G, weight=None, nodes=None):
        """Graph with the nodes of G in the order in which they were added, or a given one, and their labels.

        Args:
            G: networkx Graph or DiGraph; parallel edges of a multigraph must be merged before.
            weight: edge attribute to read weights from. None: every edge weighs 1, whatever attributes G
                carries (networkx's karate club carries weights that the papers do not use). Weights are
                conductances, large where nodes are close: of lengths, such as those of roads, take the
                inverse, set by ``networkx.set_edge_attributes``.
            nodes: labels of the nodes 0, 1, ..., as networkx's ``nodelist``: of some of the nodes alone, the
                graph is what G has between them. None: all of G in G's order, with a warning where labels are
                0, ..., N - 1 in another order.

        >>> import networkx
        >>> from rfcore import graphs
        >>> set(graphs.Graph.from_networkx(networkx.karate_club_graph()).weights.tolist())
        {1.0}
        """
        import networkx as nx

        if not hasattr(G, "is_multigraph"):
            got = f"G is of type {type(G).__name__}"
            raise ValueError(f"{got}; give a networkx Graph, or a matrix to Graph.from_scipy")
        if G.is_multigraph():
            raise ValueError("G is a multigraph; merge parallel edges first, for example with networkx.Graph(G)")
        lacking = [edge for *edge, value in G.edges(data=weight) if value is None] if weight else []
        if lacking:
            raise ValueError(f"weight = {weight!r}, but edge {lacking[0]} has no such attribute; set it on all")
        if not len(G):
            raise ValueError("G has no nodes; a graph needs at least one")
        labels = list(G if nodes is None else nodes if np.iterable(nodes) else [])
        strange = [label for label in labels if label not in G]
        if strange or not 0 < len(labels) == len(set(labels)):
            wrong = f"has {strange[0]!r}, which is not in G" if strange else f"= {nodes!r}"
            raise ValueError(f"nodes {wrong}; give labels of nodes of G, one at least, and each once")
        numbers = range(len(labels))
        if nodes is None and labels != list(numbers) and set(labels) == set(numbers):
            first = f"G has the nodes 0 to {len(labels) - 1} in another order, so that node 0 is {labels[0]}"
            warnings.warn(f"{first}; give nodes=range({len(labels)}), or nodes=list(G) for G's order", stacklevel=2)
        W = nx.to_scipy_sparse_array(G, nodelist=labels, weight=weight, dtype=float, format="csr")
        return replace(cls.from_scipy(W), nodes=tuple(labels))

    @classmethod
    def from_edges(cls, edges, n_nodes=None, weights=None, directed=False):
        """Graph from an edge list or index, as tables and PyTorch Geometric keep it.

        Args:
            edges: whole numbers, (2, E): edge e joins ``edges[0, e]`` and ``edges[1, e]``, once or in both
                directions, which is the same undirected graph.
            n_nodes: by default one more than the largest number of ``edges``; nodes without edges at the end
                need it.
            weights: (E,), of which those of an edge that is repeated in one direction are added; None: every
                edge weighs 1, however often it stands. Raises ValueError if the two directions of an
                undirected edge weigh differently.
            directed: whether edge e goes from ``edges[0, e]`` to ``edges[1, e]`` alone.

        >>> from rfcore import graphs
        >>> graphs.Graph.from_edges([[0, 1], [1, 2]]).indices.tolist()
        [1, 0, 2, 1]
        """
        n_nodes = n_nodes if n_nodes is None else checks.count(n_nodes, "n_nodes")
        edges = np.asarray(checks.indices(edges, "edges", 2**31 if n_nodes is None else n_nodes, empty=True, several=True))
        if edges.ndim != 2 or len(edges) != 2:
            mend = ", here np.array(edges).T" if edges.ndim == 2 and edges.shape[1] == 2 else ""
            raise ValueError(f"edges has shape {edges.shape}; give an edge list, shape (2, E){mend}")
        if n_nodes is None and not edges.size:
            raise ValueError("n_nodes = None, and edges has none; say how many nodes there are")
        n_nodes = int(edges.max()) + 1 if n_nodes is None else n_nodes
        weights = checks.known(weights, "weights")
        values = np.ones(edges.shape[1]) if weights is None else checks.vector(weights, "weights", edges.shape[1], "edge")
        W = sp.csr_array(sp.coo_array((np.asarray(values, dtype=float), tuple(edges)), shape=(n_nodes, n_nodes)))
        if weights is None:
            W.data[:] = 1.0
        if not directed:
            of_both = W.multiply((W != 0).T)
            if (abs(of_both - of_both.T) > 100 * np.finfo(float).eps * abs(of_both)).nnz:
                raise ValueError("weights of the two directions of an edge differ; give directed=True, or each edge once")
            W = W + W.T - of_both
        return cls.from_scipy(W)

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
            raise ValueError(f"mesh is of type {type(mesh).__name__}; give a trimesh.Trimesh, as trimesh.load_mesh(path) returns")
        vertices = np.asarray(checks.numbers(mesh.vertices, "mesh.vertices"))
        triangles = checks.indices(mesh.faces, "mesh.faces", len(vertices), empty=True, several=True)
        if triangles.ndim != 2 or triangles.shape[1] != 3:
            raise ValueError(f"mesh.faces has shape {triangles.shape}; give a mesh of triangles, shape (F, 3)")
        n = len(vertices if nodes == "vertices" else triangles)
        merged = 1e-8 * min(1, np.abs(vertices[np.isfinite(vertices)]).max(initial=0) or 1)  # as trimesh's, or less if all is small
        n_places = len(np.unique(np.round(vertices / merged), axis=0))
        if n_places < len(vertices):
            warnings.warn(
                f"mesh has {len(vertices)} vertices at {n_places} places: where surfaces meet, as at hard edges, they "
                "are not joined; for one node a place call mesh.merge_vertices(merge_norm=True, merge_tex=True) first",
                stacklevel=2,
            )
        sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        face, is_edge = np.repeat(np.arange(len(triangles)), 3), sides[:, 0] < sides[:, 1]
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
        """Whether W equals its transpose, up to the rounding of products (100 eps of its largest entry)."""
        return checks.is_symmetric(self.to_scipy())

    def to_scipy(self):
        """Weighted adjacency matrix as a scipy CSR array, (N, N); read-only (``.copy()`` it to change it)."""
        return sp.csr_array((self.weights, self.indices, self.indptr), shape=(self.n_nodes, self.n_nodes))

    def normalised(self):
        """Graph with symmetrically normalised weights.

        ::

            W_ij / sqrt(d_i d_j),  d_i = sum_j W_ij

        The spectral radius of an undirected graph with positive weights becomes 1. An isolated node gets a
        self-loop of weight 1, so that its row of the Laplacian I - W is 0, as networkx and SciPy have it. A
        graph that is normalised is returned as it is.

        Raises ValueError if a node with edges has a weighted degree that is not positive (negative weights,
        or a directed edge to a node without outgoing edges), or so small (below 2.2e-308) or large that it or
        its inverse overflows.

        >>> from rfcore import graphs
        >>> graphs.Graph.from_edges([[0, 0], [1, 2]]).normalised().to_scipy().toarray().round(3)
        array([[0.   , 0.707, 0.707],
               [0.707, 0.   , 0.   ],
               [0.707, 0.   , 0.   ]])
        """
        if self.is_normalised:
            return self
        isolated = (self.neighbour_counts == 0) & (np.bincount(self.indices, minlength=self.n_nodes) == 0)
        if isolated.any():
            joined = Graph.from_scipy(self.to_scipy() + sp.diags_array(isolated.astype(float)))
            return replace(joined, nodes=self.nodes).normalised()
        bad = np.flatnonzero(~((self.degrees >= np.finfo(float).tiny) & np.isfinite(self.degrees)))
        if len(bad):
            raise ValueError(
                f"node {bad[0]} has edges but the weighted degree {self.degrees[bad[0]]:g} (and {len(bad) - 1} more "
                "such nodes), so that 1 / sqrt(d_i d_j) is not defined or overflows; give edges in both directions "
                "(W + W.T of a triangle), or scale the weights yourself and use Graph.from_scipy"
            )
        scale, rows = 1 / np.sqrt(self.degrees), np.repeat(np.arange(self.n_nodes), self.neighbour_counts)
        # The two scales first: this product is the same for (i, j) and (j, i) to the last bit.
        weights = self.weights * (scale[rows] * scale[self.indices])
        return replace(self, weights=weights, is_normalised=True)

    def scaled(self, factor):
        """Graph with every weight times a number, such as -1 (growth of dx/dt = L x in place of its decay).

        It is not normalised, unless this one is and the factor is 1.

        Raises ValueError if a weight becomes 0 (its edge would
        be gone) or infinite.
        """
        factor = checks.real(checks.known(factor, "factor"), "factor")
        with np.errstate(over="ignore", under="ignore"):
            weights = self.weights * factor
        if not (np.all(weights) and np.all(np.isfinite(weights))):
            kind = "leaves no edges" if factor == 0 else "makes weights 0 or infinite"
            raise ValueError(f"factor = {factor} {kind}; give another number")
        return replace(self, weights=weights, is_normalised=self.is_normalised and factor == 1)

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
        return replace(Graph.from_scipy(P), nodes=self.nodes)


def checked(value: Any, name: str = "g") -> Graph:
    """``value``, if it is a graph and no matrix, network or mesh."""
    if isinstance(value, Graph):
        return value
    maker = "from_networkx" if hasattr(value, "nodes") else "from_mesh" if hasattr(value, "faces") else "from_scipy"
    got = f"{name} is of type {type(value).__module__.split('.')[0]} {type(value).__name__}"
    raise ValueError(f"{got}; give a Graph, here perhaps graphs.Graph.{maker}({name})")


def _read_only(array):
    array.setflags(write=False)
    return array
