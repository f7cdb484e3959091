"""How far repeated estimates of Gram matrices are from the truth: the experiments behind most figures of the papers."""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from rfcore import checks, kernels
from rfcore.features.exponentials import positive
from rfcore.features.graph import walk_features

AT_ONCE = 2**22  # entries of a stack of dense features


def gram_errors(
    key, graphs, kernels_and_modulations, walkers, p_halt, n_repeats, coupling="iid", n_coupled_hops=0, executor=None
):
    """Relative errors of kernel matrices estimated by walks, over graphs, kernels and numbers of walkers.

    ::

        |phi psi^T - K|_F / |K|_F       phi, psi: two independent sets of walks in every repeat

    All kernels are estimated from the same walks, and so are couplings from the same key; repeats, graphs and numbers of
    walkers have walks of their own.

    Parameters
    ----------
    key : JAX PRNG key
    graphs : sequence or dict of rfcore.graphs.Graph
        Normalised ones, where the modulations are for those.
    kernels_and_modulations : sequence or dict of (function, function)
        Pairs: what computes K of a graph, and the modulation f with f * f its power series.
    walkers : sequence of int
        Numbers of walks from each node.
    p_halt, coupling, n_coupled_hops, executor
        As for :func:`rfcore.features.walk_features`.
    n_repeats : int

    Returns
    -------
    float64 array, shape (n_repeats, n_graphs, n_kernels, n_numbers_of_walkers)
        Products are made in single precision, so that errors below 1e-6 are not to be trusted.

    Raises
    ------
    ValueError
        As :func:`rfcore.features.walk_features`; if there is no graph, no pair or no number of walkers, or a kernel is not a
        finite N by N matrix.

    Notes
    -----
    Universal Graph Random Features, Figure 2.

    Examples
    --------
    >>> import jax, networkx
    >>> from rfcore import features, graphs, kernels
    >>> g = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> diffusion = (lambda g: kernels.diffusion(g, 1.0), features.modulation.diffusion(1.0))
    >>> errors = features.gram_errors(jax.random.key(0), [g], [diffusion], [4, 64], 0.1, n_repeats=10)
    >>> errors.shape, bool(errors[..., 1].mean() < errors[..., 0].mean() / 2)
    ((10, 1, 1, 2), True)
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
                walk_features(one, g, pairs[0][1], n_walks, p_halt, coupling, n_coupled_hops, nodes, executor) for one in keys
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

        |phi_m phi_m^T - K|_F / |K|_F       phi_m = feature_map(x, omega[:m]),   omega one draw of max(widths) frequencies

    The first m frequencies of a draw are a draw of m, since a draw is a stack of independent blocks. All couplings are given the
    same key, so that those built from the same rotations share them: differences are much less noisy than errors.

    Parameters
    ----------
    key : JAX PRNG key
    x : array, shape (n, d)
        Points.
    couplings : sequence or dict of functions (key, m, d) -> (m, d)
        Whose draws are stacks of independent blocks (not :func:`rfcore.couplings.halton` or ``sobol``, whose frequencies all
        belong together).
    widths : sequence of int
        Numbers of features m.
    feature_map : function (x, omega) -> features
    kernel : function (x, x) -> array, shape (n, n)

    Returns
    -------
    array, shape (n_couplings, n_widths), in the dtype of the features
        jit-able and vmap-able over keys and points.

    Raises
    ------
    ValueError
        If there is no coupling or no width, or something given is of the wrong kind.

    Notes
    -----
    Simplex Random Features, Figure 7.

    Examples
    --------
    >>> import jax
    >>> from rfcore import couplings, features
    >>> x = 0.1 * jax.random.normal(jax.random.key(0), (5, 8))
    >>> both, keys = (couplings.iid, couplings.simplex), jax.random.split(jax.random.key(1), 100)
    >>> errors = jax.vmap(lambda key: features.euclidean_gram_errors(key, x, both, (8, 64)))(keys)
    >>> errors.shape, bool((errors.mean(axis=0)[1] < errors.mean(axis=0)[0]).all())
    ((100, 2, 2), True)
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
