"""The block K[S, S] of a kernel between few nodes S of a large graph, in three ways, none of which forms K.

Walks start where one wants them, and so does a power series that is pushed out from the nodes; polynomials
multiply the whole graph, once per node and degree. f is a modulation.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from rfcore import features, kernels, walks
from rfcore.walks import modulation


def by_walks(key, g, f, n_walks, p_halt, nodes):
    """Block from two independent sets of walk features, phi_1 phi_2^T: unbiased, but not symmetric.

    Source: Universal Graph Random Features, Theorem 2.1.
    """
    first, second = jax.random.split(key)
    left, right = (features.walk_features(one, g, f, n_walks, p_halt, "iid", nodes) for one in (first, second))
    return (left @ right.T).toarray()


def by_columns(g, function, degree, nodes):
    """Block of a function of the weights, by :func:`rfcore.kernels.chebyshev_matvec` with columns of S."""
    nodes = walks.start_nodes(g, nodes)
    return kernels.chebyshev_matvec(g, function, _units(g, nodes), degree)[nodes]


def by_push(g, f, degree, nodes):
    """Block R R^T, R = sum over k <= degree of f(k) W^k[S, :]: walk features without their randomness."""
    nodes = walks.start_nodes(g, nodes)
    rows = kernels.power_series_rows(g, modulation.values(f, degree + 1, g.is_normalised), nodes)
    return (rows @ rows.T).toarray()


def powers(g, n_powers, nodes):
    """Blocks W^k[S, S] for k = 0, ..., n_powers - 1, of which every power series makes a kernel."""
    nodes, W = walks.start_nodes(g, nodes), g.to_scipy()
    column, found = _units(g, nodes), []
    for _ in range(n_powers):
        found.append(column[nodes])
        column = W @ column
    return jnp.asarray(np.stack(found))


def deposits(key, g, n_walks, p_halt, longest, nodes):
    """Deposits of walks from S, of at most ``longest`` hops, for modulations that are still to change.

    Nodes that no walk visited are left out, so that the features have few columns: products do not feel it.
    """
    nodes = walks.start_nodes(g, nodes)
    lengths = walks.lengths.draw(key, len(nodes), n_walks, p_halt, "iid")
    cut = replace(lengths, values=np.minimum(lengths.values, longest))
    found = walks.simulate(key, g, cut, nodes=nodes)
    visited, node = np.unique(found.node, return_inverse=True)
    return features.by_step(replace(found, node=node.astype(np.int32), n_nodes=len(visited)))


def _units(g, nodes):
    units = np.zeros((g.n_nodes, len(nodes)))
    units[nodes, np.arange(len(nodes))] = 1.0
    return units
