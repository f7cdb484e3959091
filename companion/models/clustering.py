"""Kernel k-means on the nodes of a graph, and how much two clusterings disagree.

k-means ends in the local optimum near its start: compare kernels from the *same* initial labels. A kernel is
a matrix, (N, N), or the product ``Z -> K Z`` with an (N, c) array, such as
``lambda Z: phi_1 @ (phi_2.T @ Z)``: O(nonzeros) with features. Labels are int64 arrays of shape (N,).
"""

from typing import NamedTuple

import jax
import numpy as np

from rfcore import checks


class Clusters(NamedTuple):
    """Where kernel k-means ended."""

    labels: np.ndarray
    """Cluster of each node, 0 to n_clusters - 1, int64 array of shape (N,)."""
    n_iterations: int
    """Number of assignments made."""
    converged: bool
    """Whether the last assignment changed nothing."""


def initial_labels(key, n_nodes, n_clusters):
    """Labels drawn uniformly and independently (the paper does not say how its labels start)."""
    return np.asarray(jax.random.randint(key, (n_nodes,), 0, n_clusters), dtype=np.int64)


def labels_around(kernel, nodes, n_nodes):
    """Labels of the nearest of some nodes in feature space: another start for k-means.

    ::

        label of i = argmin_c  K_cc - 2 K_ic      the squared distance of i to node c, minus K_ii

    Args:
        kernel: symmetric.
        nodes, n_nodes: the nodes c, an integer array; N.
    """
    nodes = checks.indices(nodes, "nodes", n_nodes)
    chosen = np.zeros((n_nodes, len(nodes)))
    chosen[nodes, np.arange(len(nodes))] = 1
    to_nodes = _product(kernel, n_nodes)(chosen)
    return (to_nodes[nodes, np.arange(len(nodes))] - 2 * to_nodes).argmin(axis=1)


def kernel_k_means(kernel, labels, n_clusters, max_iterations=100):
    """Kernel k-means from given labels.

    ::

        label of i = argmin_c  -2/|c| sum_{j in c} K_ij + 1/|c|^2 sum_{j, l in c} K_jl

    which is the squared distance of i to the centre of c in feature space, minus K_ii. The sum of squared
    distances never rises if K is symmetric and positive semidefinite. An empty cluster stays empty.

    Args:
        kernel: as in the module's docstring; an estimate phi_1 phi_2^T is not symmetric, and labels may
            cycle.
        labels: where to start, 0 to n_clusters - 1.
        n_clusters, max_iterations: counts; the second ends a cycle.

    Returns:
        Clusters.

    Source: Dhillon, Guan and Kulis, Kernel k-means (2004); Universal Graph Random Features, Section 3.3.

    >>> import numpy as np
    >>> from companion.models import clustering
    >>> X = np.array([[0.0], [0.2], [1.0], [1.1]])
    >>> clustering.kernel_k_means(X @ X.T, np.array([0, 1, 1, 1]), 2).labels.tolist()
    [0, 0, 1, 1]
    """
    labels = _labels(labels, "labels")
    if len(labels) and not (labels.min() >= 0 and labels.max() < n_clusters):
        raise ValueError(f"labels has values {labels.min()} to {labels.max()}; give 0 to {n_clusters - 1}")
    product = _product(kernel, len(labels))
    for iteration in range(1, max_iterations + 1):
        members = np.eye(n_clusters)[labels]
        sizes = members.sum(axis=0)
        centres = members / np.maximum(sizes, 1)
        to_centres = product(centres)
        distances = np.where(sizes > 0, np.sum(centres * to_centres, axis=0) - 2 * to_centres, np.inf)
        previous, labels = labels, distances.argmin(axis=1)
        if np.array_equal(labels, previous):
            return Clusters(labels, iteration, True)
    return Clusters(labels, max_iterations, False)


def k_means(key, kernel, n_clusters, n_init=10, diagonal=None, max_iterations=100):
    """Kernel k-means from several starts by k-means++, of which the best is kept.

    ::

        next centre node i with chance proportional to  min_c |phi_i - phi_c|^2,   c the centre nodes so far
        best: least  sum_i K_ii - sum_c 1/|c| sum_{j, l in c} K_jl

    Args:
        key: JAX PRNG key.
        kernel: as in the module's docstring, symmetric.
        n_clusters, n_init, max_iterations: counts; the last of each start.
        diagonal: K_ii, (N,), which a product does not tell; of a matrix by default.

    Returns:
        Clusters.

    Source: Arthur and Vassilvitskii, "k-means++" (2007).

    >>> import jax, numpy as np
    >>> from companion.models import clustering
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]])
    >>> labels = clustering.k_means(jax.random.key(0), X @ X.T, 3).labels
    >>> bool(clustering.pair_error(labels, [0, 0, 1, 1, 2, 2]) == 0)
    True
    """
    if diagonal is None:
        with jax.enable_x64(True):  # the rest is float64, too
            diagonal = np.diag(checks.points(kernel, "kernel"))
    diagonal = np.asarray(checks.vector(diagonal, "diagonal"), dtype=float)
    product = _product(kernel, len(diagonal))
    if n_clusters > len(diagonal):
        raise ValueError(f"n_clusters = {n_clusters} for {len(diagonal)} nodes; give at most as many")
    found = []
    for start in jax.random.split(key, n_init):
        nodes = _spread_out(np.asarray(jax.random.uniform(start, (n_clusters,))), product, diagonal)
        clusters = kernel_k_means(kernel, labels_around(kernel, nodes, len(diagonal)), n_clusters, max_iterations)
        members = np.eye(n_clusters)[clusters.labels]
        within = np.sum(members * product(members), axis=0) / np.maximum(members.sum(axis=0), 1)
        found.append((diagonal.sum() - within.sum(), clusters))
    return min(found, key=lambda pair: pair[0])[1]


def _spread_out(u, product, diagonal):
    """Centre nodes by k-means++, at the levels u of their laws."""
    nodes, squares = [], np.ones(len(diagonal))
    for level in u:
        heights = np.cumsum(squares)
        # A level of the last height, all nodes being centres, stays a node.
        nodes.append(min(int(np.searchsorted(heights, level * heights[-1], side="right")), len(diagonal) - 1))
        column = product(np.eye(1, len(diagonal), nodes[-1]).T)[:, 0]
        away = np.maximum(diagonal - 2 * column + diagonal[nodes[-1]], 0)
        squares = away if len(nodes) == 1 else np.minimum(squares, away)
    return np.array(nodes)


def pair_error(labels, others):
    """Share of the N (N - 1) / 2 pairs of nodes that one clustering groups and the other separates.

    The names of the clusters do not matter.

    Source: Universal Graph Random Features, Eq. 15.

    >>> from companion.models import clustering
    >>> clustering.pair_error([0, 0, 1, 1], [1, 1, 0, 0]), clustering.pair_error([0, 0, 0], [0, 0, 1])
    (0.0, 0.6666666666666666)
    """
    labels, others = _labels(labels, "labels"), _labels(others, "others")
    if labels.shape != others.shape or len(labels) < 2:
        raise ValueError(f"labels has {len(labels)} nodes, others {len(others)}; give the same number, two or more")
    names, first = np.unique(labels, return_inverse=True)
    others_names, second = np.unique(others, return_inverse=True)
    table = np.bincount(first * len(others_names) + second, minlength=len(names) * len(others_names))
    table = table.reshape(len(names), len(others_names))
    in_first, in_second, in_both = (_pairs(n).sum() for n in (table.sum(axis=1), table.sum(axis=0), table))
    return float((in_first + in_second - 2 * in_both) / _pairs(len(labels)))


def _product(kernel, n_nodes):
    """The product with a kernel, whose results are checked."""
    if not callable(kernel):
        kernel = np.asarray(checks.numbers(kernel, "kernel"))
        if kernel.shape != (n_nodes, n_nodes):
            raise ValueError(f"kernel has shape {kernel.shape} for {n_nodes} nodes; give one row per node")

    def product(Z):
        KZ = np.asarray(checks.numbers(kernel(Z) if callable(kernel) else kernel @ Z, "kernel(Z)"))
        if checks.finite(KZ, "kernel(Z)").shape != Z.shape:
            raise ValueError(f"kernel(Z) has shape {KZ.shape} for Z of shape {Z.shape}; give K Z")
        return KZ

    return product


def _pairs(n):
    return n * (n - 1) // 2


def _labels(labels, name):
    labels = np.asarray(labels)
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise ValueError(f"{name} has shape {labels.shape}, dtype {labels.dtype}; give a vector of whole numbers")
    return labels.astype(np.int64)
