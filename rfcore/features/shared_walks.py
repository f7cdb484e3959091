"""Errors of Gram matrices whose rows and columns share their walks, as in Table 3 of Universal Graph Random Features."""

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
    """Squared relative errors of repeated estimates from one set of walks, for several modulations on the same walks.

    ::

        |phi phi^T - K|_F^2 / |K|_F^2

    Parameters
    ----------
    key : JAX PRNG key
    g : rfcore.graphs.Graph
    targets : sequence of arrays, shape (N, N)
        K, one per modulation.
    modulations : sequence of functions of an integer array
        f; walks on beta W leave f(k) beta^k of what walks on W leave, so that one graph serves all beta.
    n_walks : int
        Per node and repeat, independent.
    p_halt : float
    n_repeats : int

    Returns
    -------
    float64 array, shape (n_repeats, n_modulations)

    Raises
    ------
    ValueError
        If targets and modulations are not of one number, a target is no finite matrix of N by N that is not 0, or whatever
        :func:`rfcore.walks.simulate` refuses.

    Notes
    -----
    Universal Graph Random Features, Section 3.4 and Table 3. Shared walks bias the diagonal upwards; estimates of independent
    sets are those of :func:`rfcore.features.gram_errors`. phi phi^T is sparse, and what lies outside of it is |K|^2 less what
    lies inside.

    Examples
    --------
    >>> import jax, networkx
    >>> from rfcore import features, graphs, kernels
    >>> from rfcore.features.shared_walks import shared_errors
    >>> g = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> K, f = kernels.diffusion(g, 1.0), features.modulation.diffusion(1.0)
    >>> errors = shared_errors(jax.random.key(0), g, [K, K], [f, lambda k: 0.9 * f(k)], 64, 0.5, n_repeats=3)
    >>> errors.shape, bool(errors.max() < 0.1)
    ((3, 2), True)
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
    """Squared bias of one estimate from shared walks, off the diagonal and on it, relative to the kernel.

    ::

        |E phi phi^T - K|_F^2 / |K|_F^2

    Parameters
    ----------
    g : rfcore.graphs.Graph
    target : array, shape (N, N)
        K.
    f : function of an integer array
    n_walks : int
    p_halt : float
    n_terms : int
        Steps counted.

    Returns
    -------
    float64 array, shape (2,)
        Off the diagonal, on the diagonal. What the error of :func:`shared_errors` has beyond their sum is variance.

    Raises
    ------
    ValueError
        If the target is no finite matrix of N by N that is not 0, or whatever :func:`rfcore.theory.walk_feature_moments`
        refuses.

    Notes
    -----
    Ours: walks of different nodes are independent, and what a node's own walks add to the diagonal has a closed form.

    Examples
    --------
    >>> import networkx
    >>> from rfcore import features, graphs, kernels
    >>> from rfcore.features.shared_walks import shared_bias
    >>> g = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> K, f = kernels.diffusion(g, 1.0), features.modulation.diffusion(1.0)
    >>> off, on = shared_bias(g, K, f, 16, 0.5)
    >>> bool(off < 1e-12), bool(on > 1e-6)
    (True, True)
    """
    K = _target(target, checks.graph(g).n_nodes)
    mean, square = theory.walk_feature_moments(g, f, n_walks, p_halt, n_terms)
    bias = mean @ mean.T - K
    np.fill_diagonal(bias, 0.0)
    return np.array([np.sum(bias**2), np.sum((square.sum(axis=1) - np.diag(K)) ** 2)]) / np.sum(K**2)


def _errors(phi, K, n_repeats):
    """Of repeats below each other: a sum over the entries where walks meet, few enough at a time to stay in the cache."""
    rows, at_a_time = len(K) * n_repeats, len(K) * max(1, ROWS // len(K))
    parts = [_beyond(phi[first : first + at_a_time], K) for first in range(0, rows, at_a_time)]
    return 1 + np.concatenate(parts) / np.sum(K**2)


def _beyond(phi, K):
    """|phi phi^T - K|^2 - |K|^2 of repeats below each other."""
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
