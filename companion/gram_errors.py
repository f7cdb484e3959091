"""How far estimates of Gram matrices are from the truth, and what independent repeats know of it themselves.

Products of positive features are as skew as log-normals: far from the origin repeats that have missed the few
large ones have a mean and a standard error that are both too small.
"""

from itertools import pairwise

import jax
import numpy as np
import scipy.sparse as sp
from tqdm import tqdm

from rfcore import checks
from rfcore.features import walk_features
from rfcore.walks import losses, modulation

ROWS = 2**11  # of features multiplied at a time


def gram_errors(
    key, graphs, kernels_and_modulations, walkers, p_halt, n_repeats, coupling="iid", executor=None
):
    """Relative errors of kernels estimated by walks, over graphs, kernels and numbers of walkers per node.

    ::

        |phi psi^T - K|_F / |K|_F       phi, psi: two independent sets of walks in every repeat

    All kernels share the walks; repeats, graphs and numbers of walkers have their own. Couplings are compared
    by calls with the same key.

    Args:
        graphs: sequence or dict of :class:`rfcore.graphs.Graph`, normalised where the modulations need it.
        kernels_and_modulations: pairs (what computes K of a graph, the modulation f), f * f its power series.
        walkers: numbers of walks from each node.

    Returns:
        float64 array, (n_repeats, n_graphs, n_kernels, n_numbers_of_walkers).

    Source: Universal Graph Random Features, Figure 2.
    """
    graphs, pairs = (
        list(given.values() if isinstance(given, dict) else given) for given in (graphs, kernels_and_modulations)
    )
    for _, f in pairs:
        modulation.values(f, 1, graphs[0].is_normalised, "kernels_and_modulations")
    errors = np.empty((n_repeats, len(graphs), len(pairs), len(walkers)))
    for i, g in enumerate(tqdm(graphs, desc="graphs", leave=False, delay=1)):
        name = "kernels_and_modulations: a kernel"
        targets = [losses.gram(kernel(g), name, g.n_nodes) for kernel, _ in pairs]
        nodes = np.tile(np.arange(g.n_nodes), n_repeats)
        for j, n_walks in enumerate(walkers):
            keys = jax.random.split(jax.random.fold_in(jax.random.fold_in(key, i), j))
            left, right = (
                walk_features(one, g, pairs[0][1], n_walks, p_halt, coupling, nodes, executor) for one in keys
            )
            for k, ((_, f), target) in enumerate(zip(pairs, targets, strict=True)):
                if k:
                    left, right = (phi.with_modulation(f, executor) for phi in (left, right))
                errors[:, i, k, j] = gram_error((left.to_scipy(), right.to_scipy()), target)
    return errors


def gram_error(estimate, target, relative=True, squared=False):
    """Error of an estimate of a Gram matrix, in the Frobenius norm.

    ::

        |estimate - K|_F / |K|_F,   without |K|_F if not relative, and its square if squared

    Args:
        estimate: (..., n, n), of NumPy or JAX; or (n, n) of SciPy, if K is sparse too; or a pair of sparse
            features of n_repeats below each other, (n_repeats n, m), whose products are then never dense.
        target: K, (n, n), not 0.

    Returns:
        (...), or (n_repeats,).
    """
    if sp.issparse(target):
        square, size = (x.multiply(x).sum() for x in (sp.csr_array(estimate) - target, target))
    else:
        target = losses.gram(target, "target")
        size = (target**2).sum()
        if isinstance(estimate, tuple):
            square = np.maximum(size + _beyond(*estimate, np.asarray(target)), 0)
        else:
            estimate = checks.numbers(estimate, "estimate")
            if estimate.shape[-2:] != target.shape:
                raise ValueError(f"estimate has shape {estimate.shape}; give matrices of the target's shape, {target.shape}")
            square = ((estimate - target) ** 2).sum(axis=(-2, -1))
    square = square / size if relative else square
    return square if squared else square**0.5


def _beyond(left, right, K):
    """``|phi psi^T - K|^2 - |K|^2`` of repeats, in parts that fit the cache."""
    n = len(K)
    if left.shape != right.shape or left.shape[0] % n:
        got = f"estimate has features of shapes {left.shape} and {right.shape}, target {n} rows"
        raise ValueError(f"{got}; give as many of both, those of one repeat below those of another")
    step = n * max(1, ROWS // n)
    parts = [slice(first, first + step) for first in range(0, left.shape[0], step)]
    return np.concatenate([_beyond_at_once(left[part], right[part], K) for part in parts])


def _beyond_at_once(left, right, K):
    """phi psi^T is sparse, and what lies outside of it is K's: sums over the entries where walks meet."""
    n, n_repeats = len(K), left.shape[0] // len(K)
    G = _apart(left, n) @ _apart(right, n).T
    # Where K_ij stands for each entry: n i + j, with columns that begin anew in each repeat.
    row_of_K = n * (np.arange(n) - np.arange(n_repeats)[:, None])
    places = np.repeat(row_of_K.ravel(), np.diff(G.indptr))
    places += G.indices
    beyond = K.take(places)
    beyond *= -2
    beyond += G.data
    beyond *= G.data
    return np.array([beyond[a:b].sum() for a, b in pairwise(G.indptr[::n])])  # no BLAS, whose threads wake for nothing


def _apart(phi, n):
    """Features of repeats below each other as the blocks of a diagonal."""
    repeat = np.repeat(np.arange(phi.shape[0] // n), np.diff(phi.indptr[::n]))
    shape = phi.shape[0], phi.shape[0] // n * phi.shape[1]
    return sp.csr_array((phi.data, phi.indices + phi.shape[1] * repeat, phi.indptr), shape=shape)


def mean_and_se(estimates):
    """Mean of independent repeats along axis 0, for couplings that join all frequencies too, and its error.

    ::

        mean = sum_r estimates_r / R,   se^2 = sum_r (estimates_r - mean)^2 / (R (R - 1))
    """
    estimates = checks.finite(checks.numbers(estimates, "estimates"), "estimates")
    if estimates.ndim == 0 or len(estimates) < 2:
        raise ValueError(f"estimates has shape {estimates.shape}; give at least two independent repeats along axis 0")
    return estimates.mean(axis=0), estimates.std(axis=0, ddof=1) / np.sqrt(len(estimates))
