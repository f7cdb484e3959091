"""A graph as three arrays (compressed sparse rows), from networkx, scipy or trimesh."""

import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from jax.typing import ArrayLike
from jaxtyping import Bool, Float64, Int, Int64, Real, Shaped

from rfcore import checks


@dataclass(frozen=True, eq=False)
class Graph:
    """Weighted graph on nodes 0, ..., n_nodes - 1, in the layout of :class:`scipy.sparse.csr_array`.

    The neighbours of node i are ``indices[indptr[i]:indptr[i + 1]]``, in increasing order, and the weights of
    its edges ``weights[indptr[i]:indptr[i + 1]]``. An undirected edge is stored in both directions. Weights
    may be negative; zeros are dropped, since no walk uses them. A self-loop makes a node its own neighbour.
    The arrays are read-only, since degrees and the like are computed from them once. Build a graph with
    :meth:`from_networkx`, :meth:`from_scipy`, :meth:`from_edges` or :meth:`from_mesh`.

    Attributes:
        indptr: start of each node's neighbours, and the number of entries of W last: n_nodes + 1 integers.
        indices: neighbours, one per entry of W.
        weights: edge weights, in the same order.
        is_normalised: whether the weights are those of :meth:`normalised`; modulations that are named after
            a kernel require such a graph.
        nodes: networkx's labels of nodes 0, ..., n_nodes - 1; None for a graph from another source.

    >>> import networkx
    >>> from rfcore import graphs
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(3))
    >>> g.n_nodes, g.indices.tolist(), g.normalised().weights.round(3).tolist()
    (3, [1, 0, 2, 1], [0.707, 0.707, 0.707, 0.707])
    >>> g
    Graph(n_nodes=3, n_edges=2, is_normalised=False)
    """

    indptr: Int64[np.ndarray, " _"]
    indices: Int[np.ndarray, " n"]
    weights: Float64[np.ndarray, " n"]
    is_normalised: bool = False
    nodes: tuple[Hashable, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("indptr", "indices", "weights"):
            object.__setattr__(self, name, _read_only(np.asarray(getattr(self, name)).view()))

    def __repr__(self) -> str:
        n, loops = len(self.indices), np.count_nonzero(self.to_scipy().diagonal())
        edges = f"n_edges={(n + loops) // 2}" if self.is_symmetric else f"n_directed_edges={n}"
        return f"Graph(n_nodes={self.n_nodes}, {edges}, is_normalised={self.is_normalised})"

    @classmethod
    def from_scipy(
        cls, W: sp.sparray | sp.spmatrix | Real[ArrayLike, "N N"] | Bool[ArrayLike, "N N"], is_normalised: bool = False
    ) -> "Graph":
        """Graph with the given weighted adjacency matrix, SciPy sparse or dense.

        Args:
            W: ``W[i, j]`` is the weight of the edge from i to j; duplicate entries are added. A matrix with
                one triangle only is a directed graph: ``W + W.T`` is the undirected one.
            is_normalised: whether W is already D^(-1/2) A D^(-1/2), as for a matrix of several normalised
                graphs in diagonal blocks. This is not checked.

        >>> import scipy.sparse as sp
        >>> from rfcore import graphs
        >>> graphs.Graph.from_scipy(sp.coo_array(([1.0, 2.0], ([0, 1], [1, 0])))).weights.tolist()
        [1.0, 2.0]
        """
        W = checks.sparse(W, "W") if sp.issparse(W) else checks.finite(np.asarray(checks.numbers(checks.known(W, "W"), "W")), "W")
        if W.ndim != 2 or W.shape[0] != W.shape[1]:  # pyright: ignore[reportOptionalSubscript]  # SciPy is untyped: a sparse array's shape is inferred as None, too
            raise ValueError(f"W has shape {W.shape}; give a square matrix, one row and one column per node")
        if W.shape[0] == 0:  # pyright: ignore[reportOptionalSubscript]
            raise ValueError("W has shape (0, 0); a graph needs at least one node")
        W = sp.csr_array(W, dtype=float, copy=True)
        W.sum_duplicates()
        W.eliminate_zeros()
        checks.finite(W.data, "the sum of duplicate entries of W")
        return cls(W.indptr.astype(np.int64), W.indices, W.data, is_normalised)

    @classmethod
    def from_networkx(cls, G: Any, weight: str | None = None, nodes: Iterable[Hashable] | None = None) -> "Graph":
        """Graph with the nodes of G, in the order in which they were added or a given one, and their labels.

        Args:
            G: networkx Graph or DiGraph; parallel edges of a multigraph must be merged beforehand.
            weight: edge attribute that holds the weights. None: every edge has weight 1, whatever its
                attributes (networkx's karate club has weights that the papers do not use). Weights are
                conductances, large between close nodes: for lengths, such as those of roads, set their
                inverses with ``networkx.set_edge_attributes``.
            nodes: labels of the nodes 0, 1, ..., like networkx's ``nodelist``; if they are only some of the
                nodes, the graph is the induced subgraph. None: all nodes of G in its order, with a warning if
                the labels are 0, ..., N - 1 in another order.

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
        W = nx.to_scipy_sparse_array(G, nodelist=labels, weight=weight, dtype=float, format="csr")  # pyright: ignore[reportArgumentType]  # the stubs lack None
        return replace(cls.from_scipy(W), nodes=tuple(labels))

    @classmethod
    def from_edges(
        cls,
        edges: Int[ArrayLike, "2 E"] | Sequence[Sequence[int]],
        n_nodes: int | None = None,
        weights: Real[ArrayLike, " E"] | Sequence[float] | None = None,
        directed: bool = False,
    ) -> "Graph":
        """Graph from an edge list, such as the ``edge_index`` of PyTorch Geometric.

        Args:
            edges: edge e joins ``edges[0, e]`` and ``edges[1, e]``. An undirected edge may be listed once or
                in both directions.
            n_nodes: by default one more than the largest entry of ``edges``; to be given if the last nodes
                have no edges.
            weights: weight of each edge; those of an edge that is repeated in one direction are added. None:
                every edge has weight 1, even if it is repeated. Raises ValueError if the two directions of
                an undirected edge have different weights.
            directed: whether edge e goes only from ``edges[0, e]`` to ``edges[1, e]``.

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
            of_both = W.multiply((W != 0).T)  # pyright: ignore[reportAttributeAccessIssue]  # SciPy is untyped: inferred as bool
            if (abs(of_both - of_both.T) > 100 * np.finfo(float).eps * abs(of_both)).nnz:
                raise ValueError("weights of the two directions of an edge differ; give directed=True, or each edge once")
            W = W + W.T - of_both
        return cls.from_scipy(W)

    @classmethod
    def from_mesh(cls, mesh: Any, nodes: Literal["vertices", "faces"] = "vertices") -> "Graph":
        """Unweighted graph of a triangle mesh.

        Args:
            mesh: ``trimesh.Trimesh``.
            nodes: "vertices", joined by mesh edges, or "faces", of which any two that share an edge are
                joined. An edge of a degenerate face from a vertex to itself is ignored in both cases.

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
        merged = 1e-8 * min(1, np.abs(vertices[np.isfinite(vertices)]).max(initial=0) or 1)  # the tolerance of trimesh, or less for a small mesh
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
    def n_nodes(self) -> int:
        """Number of nodes, N."""
        return len(self.indptr) - 1

    @cached_property
    def neighbour_counts(self) -> Int64[np.ndarray, " N"]:
        """Number of neighbours of each node, by which a walk multiplies its load when it leaves."""
        return _read_only(np.diff(self.indptr))

    @cached_property
    def degrees(self) -> Float64[np.ndarray, " N"]:
        """Weighted degree sum_j W_ij of each node, by which weights are normalised."""
        with np.errstate(over="ignore"):  # ``normalised`` raises an error for an infinite degree
            return _read_only(self.to_scipy().sum(axis=1))

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether W equals its transpose, up to the rounding of products (100 eps of its largest entry)."""
        return checks.is_symmetric(self.to_scipy())

    def to_scipy(self) -> sp.csr_array:
        """Weighted adjacency matrix as a SciPy CSR array, (N, N); read-only (``.copy()`` it to change it)."""
        return sp.csr_array((self.weights, self.indices, self.indptr), shape=(self.n_nodes, self.n_nodes))

    def normalised(self) -> "Graph":
        """Graph with symmetrically normalised weights.

        ::

            W_ij / sqrt(d_i d_j),  d_i = sum_j W_ij

        The spectral radius of an undirected graph with positive weights becomes 1. An isolated node gets a
        self-loop of weight 1, so that its row of the Laplacian I - W is 0, as in networkx and SciPy. A graph
        that is already normalised is returned unchanged.

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
        # The product of the scales first, so that the weights of (i, j) and (j, i) agree to the last bit.
        weights = self.weights * (scale[rows] * scale[self.indices])
        return replace(self, weights=weights, is_normalised=True)

    def scaled(self, factor: float) -> "Graph":
        """Graph with every weight times a number, such as -1 (growth of dx/dt = L x in place of its decay).

        The result is not normalised, unless this graph is and the factor is 1.

        Raises ValueError if a weight becomes 0, which would remove its edge, or infinite.
        """
        factor = checks.real(checks.known(factor, "factor"), "factor")
        with np.errstate(over="ignore", under="ignore"):
            weights = self.weights * factor
        if not (np.all(weights) and np.all(np.isfinite(weights))):
            kind = "leaves no edges" if factor == 0 else "makes weights 0 or infinite"
            raise ValueError(f"factor = {factor} {kind}; give another number")
        return replace(self, weights=weights, is_normalised=self.is_normalised and factor == 1)

    def transitions(self, dangling: Literal["stay", "uniform"] = "stay") -> "Graph":
        """Graph of the transition probabilities of a simple random walk, whatever the weights of this one.

        ::

            P_ij = 1 / (number of neighbours of i),   so that every row sums to 1

        Args:
            dangling: where a walk moves from a node without neighbours: "stay", nowhere, or "uniform", to any
                of the N nodes, as in networkx's PageRank; each such node then has N edges.
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
    """``value``, if it is a :class:`Graph`, not a matrix, networkx graph or mesh."""
    if isinstance(value, Graph):
        return value
    maker = "from_networkx" if hasattr(value, "nodes") else "from_mesh" if hasattr(value, "faces") else "from_scipy"
    got = f"{name} is of type {type(value).__module__.split('.')[0]} {type(value).__name__}"
    raise ValueError(f"{got}; give a Graph, here perhaps graphs.Graph.{maker}({name})")


def _read_only(array: Shaped[np.ndarray, "*shape"]) -> Shaped[np.ndarray, "*shape"]:
    array.setflags(write=False)
    return array
