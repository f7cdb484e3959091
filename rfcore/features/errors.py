"""How far estimates of Gram matrices are from the truth, and what independent repeats know of it themselves.

Products of positive features are as skew as log-normals: far from the origin repeats that have missed the few
large ones have a mean and a standard error that are both too small.
"""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from rfcore import checks, kernels
from rfcore.features.exponentials import positive
from rfcore.features.of_walks import walk_features

AT_ONCE = 2**22  # entries of a stack of dense features


def gram_errors(
    key, graphs, kernels_and_modulations, walkers, p_halt, n_repeats, coupling="iid", executor=None
):
    """Relative errors of kernels estimated by walks, over graphs, kernels and numbers of walkers per node.

    ::

        |phi psi^T - K|_F / |K|_F       phi, psi: two independent sets of walks in every repeat

    All kernels share the walks; repeats, graphs and numbers of walkers have their own. Couplings are compared
    by calls with the same key. Products are in single precision: distrust errors below 1e-6.

    Args:
        graphs: sequence or dict of :class:`rfcore.graphs.Graph`, normalised where the modulations need it.
        kernels_and_modulations: pairs (what computes K of a graph, the modulation f), f * f its power series.
        walkers: numbers of walks from each node.

    Returns:
        float64 array, (n_repeats, n_graphs, n_kernels, n_numbers_of_walkers).

    Source: Universal Graph Random Features, Figure 2.
    """
    graphs = [checks.graph(g, "graphs") for g in _members(graphs, "graphs", "graphs")]
    pairs = _members(kernels_and_modulations, "kernels_and_modulations", "pairs of functions")
    if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
        raise ValueError(f"kernels_and_modulations = {pairs!r}; give pairs: a function that computes K of a graph, a modulation")
    for kernel, f in pairs:
        checks.function(kernel, "kernels_and_modulations", "lambda g: kernels.diffusion(g, 1.0)")
        checks.modulation(f, 1, graphs[0].is_normalised, "kernels_and_modulations")
    walkers = [checks.count(n, "walkers") for n in _members(walkers, "walkers", "whole numbers")]
    n_repeats = checks.count(n_repeats, "n_repeats")
    errors = np.empty((n_repeats, len(graphs), len(pairs), len(walkers)))
    for i, g in enumerate(tqdm(graphs, desc="graphs", leave=False, delay=1)):
        targets = [_target(kernel, g) for kernel, _ in pairs]
        nodes = np.tile(np.arange(g.n_nodes), n_repeats)
        for j, n_walks in enumerate(walkers):
            keys = jax.random.split(jax.random.fold_in(jax.random.fold_in(checks.key(key), i), j))
            left, right = (
                walk_features(one, g, pairs[0][1], n_walks, p_halt, coupling, nodes, executor) for one in keys
            )
            for k, ((_, f), target) in enumerate(zip(pairs, targets, strict=True)):
                if k:
                    left, right = (phi.with_modulation(f, executor) for phi in (left, right))
                errors[:, i, k, j] = _relative(left.to_scipy(), right.to_scipy(), target)
    return errors


def _members(given, name, what):
    members = list(given.values()) if isinstance(given, Mapping) else given
    if isinstance(members, str) or not np.iterable(members) or not len(members := list(members)):
        raise ValueError(f"{name} = {given!r}; give a sequence of at least one: {what}")
    return members


def _target(kernel, g):
    name = "kernels_and_modulations: a kernel"
    target = np.asarray(checks.finite(checks.numbers(kernel(g), name), name))
    if target.shape != (g.n_nodes, g.n_nodes) or not target.any():
        raise ValueError(f"{name} has shape {target.shape}; give a matrix of {g.n_nodes} by {g.n_nodes} that is not 0")
    return target


def _relative(left, right, target):
    """Of repeats below each other. Single precision halves the time of the products."""
    n, narrow = len(target), target.astype(np.float32)
    left, right = (rows.astype(np.float32) for rows in (left, right))
    found, step = [], n * max(1, AT_ONCE // n**2)
    for first in range(0, left.shape[0], step):
        a, b = (rows[first : first + step].toarray().reshape(-1, n, n) for rows in (left, right))
        found.append(np.linalg.norm(a @ b.transpose(0, 2, 1) - narrow, axis=(1, 2)))
    return np.concatenate(found) / np.linalg.norm(target)


def euclidean_gram_errors(key, x, couplings, widths, feature_map=positive, kernel=kernels.gaussian):
    """Relative errors of one estimate of a Gram matrix by each coupling, as features are added.

    ::

        |phi_m phi_m^T - K|_F / |K|_F   phi_m = feature_map(x, omega[:m]),   omega one draw of max(widths)

    The first m frequencies of a draw are a draw of m only for stacks of independent blocks: not for
    ``halton`` or ``sobol``. All couplings take the same key and share rotations: differences are less noisy
    than errors. Returned is (n_couplings, n_widths), jit-able and vmap-able over keys and points.

    Source: Simplex Random Features, Figure 7.
    """
    key, x = checks.key(key), checks.points(x, "x")
    members = [
        checks.function(draw, "couplings", "couplings.simplex") for draw in _members(couplings, "couplings", "couplings")
    ]
    widths = [checks.count(m, "widths") for m in _members(widths, "widths", "whole numbers")]
    checks.function(feature_map, "feature_map", "features.positive")
    exact = checks.function(kernel, "kernel", "kernels.gaussian")(x, x)

    def errors(draw):
        omega = draw(key, max(widths), x.shape[1])
        grams = (phi @ phi.T for phi in (feature_map(x, omega[:m]) for m in widths))
        return jnp.stack([jnp.linalg.norm(gram - exact) for gram in grams]) / jnp.linalg.norm(exact)

    return jnp.stack([errors(draw) for draw in members])


def mean_and_se(estimates):
    """Mean of independent repeats along axis 0, for couplings that join all frequencies too, and its error.

    ::

        mean = sum_r estimates_r / R,   se^2 = sum_r (estimates_r - mean)^2 / (R (R - 1))
    """
    estimates = checks.finite(checks.numbers(estimates, "estimates"), "estimates")
    if estimates.ndim == 0 or len(estimates) < 2:
        raise ValueError(f"estimates has shape {estimates.shape}; give at least two independent repeats along axis 0")
    return estimates.mean(axis=0), estimates.std(axis=0, ddof=1) / np.sqrt(len(estimates))
