"""Errors of Gram matrices whose rows and columns share walks (Universal Graph Random Features, Table 3)."""

from itertools import pairwise

import jax
import numpy as np
import scipy.sparse as sp

from rfcore import checks, theory, walks
from rfcore.couplings import walk_lengths
from rfcore.features.graph import weigh

__all__ = ["shared_bias", "shared_errors"]

ROWS = 2**11  # of features multiplied at a time


def shared_errors(key, g, targets, modulations, n_walks, p_halt, n_repeats=1):
    """Squared relative errors of repeated estimates from one set of walks, for modulations on the same walks.

    ::

        |phi phi^T - K|_F^2 / |K|_F^2

    Shared walks bias the diagonal upwards; :func:`rfcore.features.gram_errors` has independent sets. Walks on
    beta W leave f(k) beta^k of what walks on W leave, so that one graph serves all beta.

    Args:
        targets: K, (N, N), one per modulation.

    Returns:
        float64 array, (n_repeats, n_modulations).

    Source: Universal Graph Random Features, Section 3.4 and Table 3.
    """
    n_repeats, n = checks.count(n_repeats, "n_repeats"), checks.graph(g).n_nodes
    modulations = list(modulations) if np.iterable(modulations) else [modulations]
    targets = list(targets) if np.iterable(targets) else [targets]
    if len(targets) != len(modulations):
        raise ValueError(f"targets has {len(targets)} matrices for {len(modulations)} modulations; give one each")
    targets = [_target(K, n, "targets") for K in targets]
    for f in modulations:
        checks.function(f, "modulations", "lambda k: 0.5**k")
    nodes = np.tile(np.arange(n), n_repeats)
    of_lengths, of_hops = jax.random.split(checks.key(key))
    lengths = walk_lengths.draw(of_lengths, len(nodes), n_walks, p_halt)
    deposits = walks.simulate(of_hops, g, lengths, nodes=nodes)
    found = [_errors(weigh(deposits, f), K, n_repeats) for f, K in zip(modulations, targets, strict=True)]
    return np.stack(found, axis=1)


def shared_bias(g, target, f, n_walks, p_halt, n_terms=16):
    """Squared bias ``|E phi phi^T - K|_F^2 / |K|_F^2`` of one estimate: off the diagonal, and on it, (2,).

    Errors of :func:`shared_errors` beyond their sum are variance. n_terms steps are counted.
    """
    K = _target(target, checks.graph(g).n_nodes)
    mean, square = theory.walk_feature_moments(g, f, n_walks, p_halt, n_terms)
    bias = mean @ mean.T - K
    np.fill_diagonal(bias, 0.0)
    return np.array([np.sum(bias**2), np.sum((square.sum(axis=1) - np.diag(K)) ** 2)]) / np.sum(K**2)


def _errors(phi, K, n_repeats):
    """Of repeats below each other: sums over the entries where walks meet, in parts that fit the cache."""
    rows, at_a_time = len(K) * n_repeats, len(K) * max(1, ROWS // len(K))
    parts = [_beyond(phi[first : first + at_a_time], K) for first in range(0, rows, at_a_time)]
    return 1 + np.concatenate(parts) / np.sum(K**2)


def _beyond(phi, K):
    """``|phi phi^T - K|^2 - |K|^2`` of repeats; phi phi^T is sparse, and what lies outside of it is K's."""
    n, n_repeats = len(K), phi.shape[0] // len(K)
    repeat = np.repeat(np.arange(n_repeats), np.diff(phi.indptr[::n]))
    apart = sp.csr_array((phi.data, phi.indices + n * repeat, phi.indptr), shape=(phi.shape[0],) * 2)
    G = apart @ apart.T
    # Where K_ij stands for each entry: n i + j, with columns that begin anew in each repeat.
    row_of_K = n * (np.arange(n) - np.arange(n_repeats)[:, None])
    places = np.repeat(row_of_K.ravel(), np.diff(G.indptr))
    places += G.indices
    beyond = K.take(places)
    beyond *= -2
    beyond += G.data
    beyond *= G.data
    return np.array([beyond[a:b].sum() for a, b in pairwise(G.indptr[::n])])  # no BLAS, whose threads wake for nothing


def _target(K, n, name="target"):
    K = np.asarray(checks.finite(checks.numbers(K, name), name))
    if K.shape != (n, n) or not K.any():
        raise ValueError(f"{name} has shape {K.shape}; give a matrix of {n} by {n} that is not 0")
    return K
