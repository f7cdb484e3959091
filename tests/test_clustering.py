"""Kernel k-means minimises what it says, and the error counts pairs."""

import itertools

import jax
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rounding import rounding
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from companion.models import clustering
from rfcore import features, kernels
from rfcore.features import modulation
from rfcore.graphs import Graph

CAVES = Graph.from_networkx(nx.connected_caveman_graph(3, 8))
TRUTH = np.repeat(np.arange(3), 8)


def spread(points, labels):
    """Sum of squared distances to the centres, from the points themselves."""
    return sum(np.sum((points[labels == c] - points[labels == c].mean(axis=0)) ** 2) for c in np.unique(labels))


@given(seed=st.integers(0, 2**31))
def test_with_the_linear_kernel_it_is_k_means(seed):
    rng = np.random.default_rng(seed)
    points, labels = rng.normal(size=(12, 2)), rng.integers(3, size=12)
    found = clustering.kernel_k_means(points @ points.T, labels, 3, max_iterations=50)
    assert found.converged
    assert spread(points, found.labels) <= spread(points, labels) + rounding(100, np.sum(points**2))  # sums of 24 squares
    # A fixed point of Lloyd's algorithm: everyone is with the nearest centre.
    names = np.unique(found.labels)
    centres = np.stack([points[found.labels == c].mean(axis=0) for c in names])
    distances = np.sum((points[:, None] - centres) ** 2, axis=2)
    assert np.array_equal(names[distances.argmin(axis=1)], found.labels)


@given(seed=st.integers(0, 2**31))
def test_labels_around_nodes_are_those_of_the_nearest_point(seed):
    rng = np.random.default_rng(seed)
    points, nodes = rng.normal(size=(12, 2)), rng.choice(12, 3, replace=False)
    nearest = np.sum((points[:, None] - points[nodes]) ** 2, axis=2).argmin(axis=1)
    assert np.array_equal(clustering.labels_around(points @ points.T, nodes, 12), nearest)
    assert np.array_equal(clustering.labels_around(lambda Z: points @ (points.T @ Z), nodes, 12), nearest)


def test_spread_falls_with_every_assignment():
    points = np.random.default_rng(0).normal(size=(60, 3))
    labels = clustering.initial_labels(jax.random.key(0), 60, 4)
    last = clustering.kernel_k_means(points @ points.T, labels, 4)
    after = (clustering.kernel_k_means(points @ points.T, labels, 4, n) for n in range(1, last.n_iterations))
    spreads = [spread(points, labels), *(spread(points, clusters.labels) for clusters in after)]
    assert last.n_iterations > 3
    assert np.all(np.diff(spreads) < 0)


def test_product_and_matrix_and_features_agree():
    f, labels = modulation.exponential(0.3), (TRUTH + (np.arange(24) % 4 == 0)) % 3
    exact = clustering.kernel_k_means(kernels.exponential(CAVES, 0.3), labels, 3)
    assert clustering.pair_error(exact.labels, TRUTH) < 0.03
    phi, psi = (features.walk_features(jax.random.key(key), CAVES, f, 400, 0.1) for key in (0, 1))
    estimated = clustering.kernel_k_means(lambda Z: phi @ (psi.T @ Z), labels, 3)
    dense = clustering.kernel_k_means(phi.toarray() @ psi.toarray().T, labels, 3)
    assert np.array_equal(estimated.labels, dense.labels)
    assert clustering.pair_error(estimated.labels, exact.labels) < 0.03


def test_empty_clusters_stay_empty_and_cycles_end():
    labels = np.array([0, 0, 2, 2])
    found = clustering.kernel_k_means(np.diag([1.0, 1.0, 5.0, 5.0]), labels, 3)
    assert 1 not in found.labels
    # Not positive semidefinite: each prefers the other's cluster, for ever.
    cycling = clustering.kernel_k_means(np.array([[-1.0, 1.0], [1.0, -1.0]]), np.array([0, 1]), 2, max_iterations=7)
    assert (cycling.n_iterations, cycling.converged) == (7, False)


@given(seed=st.integers(0, 2**31), n=st.integers(2, 15))
def test_pair_error_counts_pairs(seed, n):
    first, second = np.random.default_rng(seed).integers(4, size=(2, n))
    pairs = list(itertools.combinations(range(n), 2))
    wrong = sum((first[i] == first[j]) != (second[i] == second[j]) for i, j in pairs)
    assert clustering.pair_error(first, second) == pytest.approx(wrong / len(pairs))
    assert clustering.pair_error(first, 9 - first) == 0


def test_initial_labels_are_uniform_and_depend_on_the_key():
    labels = clustering.initial_labels(jax.random.key(0), 9000, 3)
    assert np.abs(np.bincount(labels) - 3000).max() < 4 * np.sqrt(9000 * 2 / 9)
    assert not np.array_equal(labels, clustering.initial_labels(jax.random.key(1), 9000, 3))


def test_k_means_finds_the_optimum_of_scikit_learn():
    """On points of a plane: the inertia of scikit-learn's best of as many starts; a product does as a matrix."""
    X, _ = make_blobs(300, centers=6, cluster_std=0.5, random_state=0)
    theirs = KMeans(6, n_init=10, random_state=0).fit(X)
    ours = clustering.k_means(jax.random.key(0), X @ X.T, 6)
    inertia = sum(np.sum((X[ours.labels == c] - X[ours.labels == c].mean(axis=0)) ** 2) for c in range(6))
    assert inertia <= theirs.inertia_ * (1 + 1e-9)
    assert clustering.pair_error(ours.labels, theirs.labels_) == 0
    product = clustering.k_means(jax.random.key(0), lambda Z: X @ (X.T @ Z), 6, diagonal=np.sum(X**2, axis=1))
    assert clustering.pair_error(product.labels, ours.labels) == 0  # of equal optima rounding may choose another


def test_k_means_starts_far_apart():
    """One start by k-means++ separates what a random start mostly does not; equal nodes are no trouble."""
    X = np.repeat(np.array([[0.0], [10.0], [20.0], [30.0]]), 5, axis=0)
    labels = [clustering.k_means(jax.random.key(seed), X @ X.T, 4, n_init=1).labels for seed in range(20)]
    assert all(clustering.pair_error(found, np.repeat(np.arange(4), 5)) == 0 for found in labels)
    assert len(clustering.k_means(jax.random.key(0), np.ones((4, 4)), 3, n_init=2).labels) == 4


def test_k_means_of_a_float64_kernel_is_float64_whatever_x64_is():
    """Far from the origin float32 has squares to the next half alone, and would start anywhere."""
    X = 3000 + np.repeat([[0.0], [0.1], [0.2], [0.3]], 5, axis=0)
    with jax.enable_x64(False):
        found = [clustering.k_means(jax.random.key(seed), X @ X.T, 4, n_init=1).labels for seed in range(20)]
    assert all(clustering.pair_error(labels, np.repeat(np.arange(4), 5)) == 0 for labels in found)
