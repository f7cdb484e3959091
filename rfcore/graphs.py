"""A graph as three arrays (compressed sparse rows), from networkx, scipy or trimesh."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from rfcore import checks


@dataclass(frozen=True, eq=False)
class Graph:
    """Weighted graph on nodes 0, ..., n_nodes - 1.

    The neighbours of node i are ``indices[indptr[i]:indptr[i + 1]]`` in increasing order, and ``weights`` holds
    the edge weights in the same places. An undirected edge stands twice. Weights may be negative; zeros are
    dropped, since a walk can never use them. A self-loop makes a node its own neighbour. Build one with
    :meth:`from_networkx`, :meth:`from_scipy` or :meth:`from_mesh`.

    Parameters
    ----------
    indptr : int64 array, shape (n_nodes + 1,)
    indices : int32 or int64 array, shape (n_edges,)
    weights : float64 array, shape (n_edges,)
    """

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray

    @classmethod
    def from_scipy(cls, W):
        """Graph with the given weighted adjacency matrix.

        Parameters
        ----------
        W : scipy sparse or dense array, shape (N, N)
            ``W[i, j]`` is the weight of the edge from i to j. Duplicate entries are added.

        Raises
        ------
        ValueError
            If W is not square, is empty, or holds NaN or infinite weights.
        """
        if not sp.issparse(W):
            W = np.asarray(W, dtype=float)
        if W.ndim != 2 or W.shape[0] != W.shape[1]:
            raise ValueError(f"W has shape {W.shape}; give a square matrix, one row and one column a node")
        if W.shape[0] == 0:
            raise ValueError("W has shape (0, 0); a graph needs at least one node")
        W = sp.csr_array(W, dtype=float, copy=True)
        checks.finite(W.data, "W")
        W.sum_duplicates()
        W.eliminate_zeros()
        return cls(W.indptr.astype(np.int64), W.indices, W.data)

    @classmethod
    def from_networkx(cls, G, weight=None):
        """Graph with the nodes of G in G's order.

        Parameters
        ----------
        G : networkx.Graph or networkx.DiGraph
        weight : str, optional
            Edge attribute to read weights from. Without it every edge weighs 1, whatever attributes G carries
            (networkx's karate club carries weights that the papers do not use).

        Raises
        ------
        ValueError
            If G has no nodes, is a multigraph, or an edge lacks the attribute.
        """
        import networkx as nx

        if G.number_of_nodes() == 0:
            raise ValueError("G has no nodes; a graph needs at least one")
        if G.is_multigraph():
            raise ValueError("G is a multigraph; merge parallel edges first, for example with networkx.Graph(G)")
        if weight is not None:
            for i, j, attributes in G.edges(data=True):
                if weight not in attributes:
                    raise ValueError(f"weight = {weight!r}, but edge ({i!r}, {j!r}) has no such attribute; set it on all")
        return cls.from_scipy(nx.to_scipy_sparse_array(G, weight=weight, dtype=float, format="csr"))

    @classmethod
    def from_mesh(cls, mesh, nodes="vertices"):
        """Unweighted graph of a triangle mesh.

        Parameters
        ----------
        mesh : trimesh.Trimesh
        nodes : "vertices" or "faces"
            Vertices are joined by mesh edges; faces are joined when they share an edge.

        Raises
        ------
        ValueError
            If ``nodes`` is neither, or the mesh has none of them.
        """
        checks.choice(nodes, "nodes", ("vertices", "faces"))
        n, edges = {
            "vertices": (len(mesh.vertices), mesh.edges_unique),
            "faces": (len(mesh.faces), mesh.face_adjacency),
        }[nodes]
        if n == 0:
            raise ValueError(f"mesh has no {nodes}; a graph needs at least one node")
        i, j = np.asarray(edges, dtype=np.int64).reshape(-1, 2).T
        W = sp.coo_array((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(n, n)).tocsr()
        W.data[:] = 1.0  # two faces may share more than one edge
        return cls.from_scipy(W)

    @property
    def n_nodes(self):
        """Number of nodes, N."""
        return len(self.indptr) - 1

    @cached_property
    def neighbour_counts(self):
        """Number of neighbours of each node, int64 array of shape (N,): what a walk multiplies its load by."""
        return np.diff(self.indptr)

    @cached_property
    def degrees(self):
        """Weighted degree sum_j W_ij of each node, float64 array of shape (N,): what normalisation divides by."""
        return self.to_scipy().sum(axis=1)

    @cached_property
    def is_symmetric(self):
        """Whether W equals its transpose exactly."""
        W = self.to_scipy()
        return (W != W.T).nnz == 0

    def to_scipy(self):
        """Weighted adjacency matrix as a scipy CSR array, shape (N, N)."""
        return sp.csr_array((self.weights, self.indices, self.indptr), shape=(self.n_nodes, self.n_nodes))

    def normalised(self):
        """Graph with symmetrically normalised weights.

        ::

            W_ij / sqrt(d_i d_j),  d_i = sum_j W_ij

        An isolated node keeps its empty row. The spectral radius of an undirected graph with positive weights
        becomes 1.

        Raises
        ------
        ValueError
            If a node with edges has a weighted degree that is not positive (negative weights, or a directed
            edge to a node without outgoing edges).
        """
        W = self.to_scipy()
        touched = (self.neighbour_counts > 0) | (np.bincount(self.indices, minlength=self.n_nodes) > 0)
        bad = np.flatnonzero(touched & ~(self.degrees > 0))
        if len(bad):
            raise ValueError(
                f"node {bad[0]} has edges but the weighted degree {self.degrees[bad[0]]:g} (and {len(bad) - 1} more "
                "such nodes); sqrt(d_i d_j) is not defined: scale the weights yourself and use Graph.from_scipy"
            )
        scale = np.where(touched, 1 / np.sqrt(np.where(touched, self.degrees, 1.0)), 0.0)
        rows = np.repeat(np.arange(self.n_nodes), self.neighbour_counts)
        # The two scales first: this product is the same for (i, j) and (j, i) to the last bit.
        return Graph(self.indptr, self.indices, W.data * (scale[rows] * scale[self.indices]))

    def scaled(self, factor):
        """Graph with every weight multiplied by a number, such as -1 (the growth of dx/dt = L x in place of its decay).

        Raises
        ------
        ValueError
            If the factor is 0 (there would be no edges) or not finite.
        """
        factor = checks.real(factor, "factor")
        if factor == 0:
            raise ValueError("factor = 0.0 leaves no edges; give another number")
        return Graph(self.indptr, self.indices, self.weights * factor)
