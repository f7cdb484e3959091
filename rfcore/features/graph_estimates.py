"""Kernels of graphs and standard errors from repeats, each of two independent sets of walks: unbiased.

With heavy tails (large weights, small p_halt) a mean that missed the rare large values has too small an
error. Laws of walks: see :func:`rfcore.features.walk_features`. Returned are ``mean, se``, float64.
"""

import jax
import numpy as np

from rfcore import checks
from rfcore.features.errors import mean_and_se
from rfcore.features.of_walks import walk_features


def walk_product(
    key, g, f, v, n_walks, p_halt, n_repeats, coupling="iid", n_coupled_hops=0, nodes=None, executor=None, hops="independent"
):
    """Estimate of a kernel times vectors v, (N,) or (N, c): the rows ``nodes``, all by default.

    ::

        mean = sum_r x_r / R,   x_r = phi_r psi_r^T v,   se^2 = sum_r (x_r - mean)^2 / (R (R - 1))
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
    """As :func:`walk_product`, of the kernel between some nodes, x_r = phi_r psi_r^T; it is not symmetric."""

    def estimate(*keys):
        phi, psi = (
            walk_features(key, g, f, n_walks, p_halt, coupling, n_coupled_hops, nodes, executor, hops=hops) for key in keys
        )
        return (phi @ psi.T).toarray()

    return _repeated(key, estimate, n_repeats)


def _repeated(key, estimate, n_repeats):
    keys = jax.random.split(checks.key(key), (checks.count(n_repeats, "n_repeats", least=2), 2))
    return mean_and_se(np.stack([estimate(left, right) for left, right in keys]))
