"""Kernels of graphs estimated from repeated walks, with the standard errors of the estimates: ``mean, se``.

Each repeat is a pair of independent sets of walks, so that its estimate is unbiased, the diagonal included; the mean over
the repeats is too, and they show how far it may be off. ``(mean - truth) / se`` follows Student's law of n_repeats - 1
degrees of freedom as far as one estimate is normal: with heavy tails (large weights, small p_halt) a mean that has
missed the rare large ones comes with a standard error that is too small.
"""

import jax
import numpy as np

from rfcore import checks
from rfcore.features.estimates import mean_and_se
from rfcore.features.graph import walk_features


def walk_product(
    key, g, f, v, n_walks, p_halt, n_repeats, coupling="iid", n_coupled_hops=0, nodes=None, executor=None, hops="independent"
):
    """Estimate of a kernel times vectors, and its standard error; the kernel is never formed.

    ::

        mean = sum_r x_r / R,   x_r = phi_r psi_r^T v,   se^2 = sum_r (x_r - mean)^2 / (R (R - 1))

    Parameters
    ----------
    key : JAX PRNG key
    g : rfcore.graphs.Graph
    f : function of an integer array
        Modulation; E[phi psi^T] = sum_k (f * f)(k) W^k for symmetric W.
    v : array, shape (N,) or (N, c)
    n_walks, p_halt, coupling, n_coupled_hops, executor, hops
        As for :func:`rfcore.features.walk_features`. A repeat walks n_walks times from each node, twice.
    n_repeats : int
        R, at least 2.
    nodes : int array, shape (n,), optional
        Rows of the product that are wanted; all by default.

    Returns
    -------
    mean, se : float64 arrays, shape (n,) or (n, c)

    Raises
    ------
    ValueError
        As :func:`rfcore.features.walk_features`; if v has not one finite row per node or n_repeats < 2.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> import jax, networkx, numpy as np
    >>> from rfcore import features, graphs, kernels
    >>> g, f = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised(), features.modulation.diffusion(1.0)
    >>> mean, se = features.walk_product(jax.random.key(0), g, f, np.ones(34), 64, 0.1, n_repeats=10)
    >>> bool(np.all(abs(mean - kernels.diffusion(g, 1.0) @ np.ones(34)) < 5 * se))
    True
    """
    v = np.asarray(checks.finite(checks.numbers(v, "v"), "v"))
    if v.ndim not in (1, 2) or len(v) != checks.graph(g).n_nodes:
        raise ValueError(f"v has shape {v.shape}; give one row per node, here {g.n_nodes}")

    walks = g, f, n_walks, p_halt, coupling, n_coupled_hops

    def estimate(left, right):
        halfway = walk_features(right, *walks, executor=executor, hops=hops).T @ v
        return walk_features(left, *walks, nodes, executor, hops=hops) @ halfway

    return _repeated(key, estimate, n_repeats)


def walk_gram(
    key, g, f, nodes, n_walks, p_halt, n_repeats, coupling="iid", n_coupled_hops=0, executor=None, hops="independent"
):
    """Estimate of a kernel between some nodes, and the standard error of every entry.

    ::

        mean = sum_r K_r / R,   K_r = phi_r psi_r^T,   se^2 = sum_r (K_r - mean)^2 / (R (R - 1))

    Parameters
    ----------
    key : JAX PRNG key
    g : rfcore.graphs.Graph
    f : function of an integer array
        Modulation; E[phi psi^T] = sum_k (f * f)(k) W^k for symmetric W.
    nodes : int array, shape (n,)
        Where walks start; elsewhere nobody walks.
    n_walks, p_halt, coupling, n_coupled_hops, executor, hops
        As for :func:`rfcore.features.walk_features`. A repeat walks n_walks times from each node, twice.
    n_repeats : int
        R, at least 2.

    Returns
    -------
    mean, se : float64 arrays, shape (n, n)
        Not symmetric: both sides have walks of their own.

    Raises
    ------
    ValueError
        As :func:`rfcore.features.walk_features`; if n_repeats < 2.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> import jax, networkx
    >>> from rfcore import features, graphs
    >>> g, f = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised(), features.modulation.diffusion(1.0)
    >>> mean, se = features.walk_gram(jax.random.key(0), g, f, [0, 1, 33], 64, 0.1, n_repeats=10)
    >>> mean.shape, bool((se < 0.1).all())
    ((3, 3), True)
    """

    def estimate(*keys):
        phi, psi = (
            walk_features(key, g, f, n_walks, p_halt, coupling, n_coupled_hops, nodes, executor, hops=hops) for key in keys
        )
        return (phi @ psi.T).toarray()

    return _repeated(key, estimate, n_repeats)


def _repeated(key, estimate, n_repeats):
    keys = jax.random.split(checks.key(key), (checks.count(n_repeats, "n_repeats", least=2), 2))
    return mean_and_se(np.stack([estimate(left, right) for left, right in keys]))
