"""The block K[S, S] of a kernel between few nodes of a large graph, in three ways, none of which forms K.

Walks start where one wants them, and so does a power series that is pushed out from the nodes; polynomials multiply the whole
graph, once per node and degree. This module is imported by its own name, ``rfcore.models.blocks``.
"""

import jax
import jax.numpy as jnp
import numpy as np

from rfcore import checks, features, kernels, walks
from rfcore.couplings import walk_lengths


def by_walks(key, g, f, n_walks, p_halt, nodes):
    """Block of the kernel that a modulation stands for, from two independent sets of walk features.

    ::

        K[S, S] ~ phi_1 phi_2^T

    Parameters
    ----------
    key : JAX PRNG key
    g : rfcore.graphs.Graph
    f : function of an integer array
        Modulation, from :mod:`rfcore.features.modulation`.
    n_walks, p_halt
        As for :func:`rfcore.features.walk_features`.
    nodes : int array, shape (n,)
        S.

    Returns
    -------
    float64 array, shape (n, n)
        Unbiased; not symmetric.

    Raises
    ------
    ValueError
        As :func:`rfcore.features.walk_features`.

    Notes
    -----
    Universal Graph Random Features, Theorem 2.1.

    Examples
    --------
    >>> import jax, networkx
    >>> from rfcore import features, graphs
    >>> from rfcore.models import blocks
    >>> g = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> blocks.by_walks(jax.random.key(0), g, features.modulation.diffusion(1.0), 16, 0.1, [0, 5, 7]).shape
    (3, 3)
    """
    first, second = jax.random.split(checks.key(key))
    left, right = (features.walk_features(one, g, f, n_walks, p_halt, nodes=nodes) for one in (first, second))
    return (left @ right.T).toarray()


def by_columns(g, function, degree, nodes):
    """Block of a function of the weights, from Chebyshev products with the whole graph.

    ::

        f(W)[S, S],   columns f(W) e_i for i in S,   degree sparse products each

    Parameters
    ----------
    g : rfcore.graphs.Graph
    function, degree
        As for :func:`rfcore.kernels.chebyshev_product`.
    nodes : int array, shape (n,)
        S.

    Returns
    -------
    float64 array, shape (n, n)

    Raises
    ------
    ValueError
        As :func:`rfcore.kernels.chebyshev_product`, or if a node is not in the graph.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> import networkx, numpy as np
    >>> from rfcore import graphs, kernels
    >>> from rfcore.models import blocks
    >>> g, S = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised(), [0, 5, 7]
    >>> block = blocks.by_columns(g, kernels.spectral.diffusion(1.0), 14, S)
    >>> bool(np.allclose(block, kernels.diffusion(g, 1.0)[np.ix_(S, S)]))
    True
    """
    nodes = walks.start_nodes(g, nodes)
    return kernels.chebyshev_product(g, function, _units(g, nodes), degree)[nodes]


def by_push(g, f, degree, nodes):
    """Block of the kernel that a modulation stands for, from its power series, cut at a degree: walk features without their randomness.

    ::

        K[S, S] ~ R R^T,   R = sum over k <= degree of  f(k) W^k[S, :],   sparse

    Parameters
    ----------
    g : rfcore.graphs.Graph
        Undirected.
    f : function of an integer array
        Modulation, from :mod:`rfcore.features.modulation`.
    degree : int
        At least 1.
    nodes : int array, shape (n,)
        S.

    Returns
    -------
    float64 array, shape (n, n)

    Raises
    ------
    ValueError
        If f is not finite, or for normalised weights only and g is not normalised, degree < 1, or a node is not in the graph.

    Notes
    -----
    Ours, on :func:`rfcore.kernels.power_series_rows`.

    Examples
    --------
    >>> import networkx, numpy as np
    >>> from rfcore import features, graphs, kernels
    >>> from rfcore.models import blocks
    >>> g, S = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised(), [0, 5, 7]
    >>> block = blocks.by_push(g, features.modulation.diffusion(1.0), 12, S)
    >>> bool(np.allclose(block, kernels.diffusion(g, 1.0)[np.ix_(S, S)]))
    True
    """
    nodes, degree = walks.start_nodes(g, nodes), checks.count(degree, "degree")
    rows = kernels.power_series_rows(g, checks.modulation(f, degree + 1, g.is_normalised), nodes)
    return (rows @ rows.T).toarray()


def powers(g, n_powers, nodes):
    """Blocks of the powers of the weights, of which every power series makes a kernel.

    ::

        W^k[S, S],   k = 0, ..., n_powers - 1

    Parameters
    ----------
    g : rfcore.graphs.Graph
    n_powers : int
    nodes : int array, shape (n,)
        S.

    Returns
    -------
    JAX array, shape (n_powers, n, n)

    Raises
    ------
    ValueError
        If n_powers < 1, or a node is not in the graph.

    Notes
    -----
    Ours; as many products with the whole graph as there are powers, of n columns each.

    Examples
    --------
    >>> import networkx, numpy as np
    >>> from rfcore import graphs
    >>> from rfcore.models import blocks
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(3))
    >>> blocks.powers(g, 3, [0, 1])[2].tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    nodes, W = walks.start_nodes(g, nodes), g.to_scipy()
    column, found = _units(g, nodes), []
    for _ in range(checks.count(n_powers, "n_powers")):
        found.append(column[nodes])
        column = W @ column
    return jnp.asarray(np.stack(found))


def deposits(key, g, n_walks, p_halt, longest, nodes):
    """Deposits of walks from few nodes, on the nodes that were visited alone, for modulations that change while walks stay.

    Products between the features of S do not depend on how the other nodes are numbered: what no walk visited is left out, so that
    the features have few columns.

    Parameters
    ----------
    key : JAX PRNG key
    g : rfcore.graphs.Graph
    n_walks, p_halt
        As for :func:`rfcore.features.walk_features`.
    longest : int
        Walks end after so many hops at most: for modulations that vanish from then on.
    nodes : int array, shape (n,)
        S.

    Returns
    -------
    DepositsByStep, shape (n, number of nodes visited)

    Raises
    ------
    ValueError
        If the key is none or traced, n_walks or longest < 1, p_halt is outside (0, 1), or a node is not in the graph.

    Notes
    -----
    Ours; Universal Graph Random Features, Section 2.1, learns f on walks that stay.

    Examples
    --------
    >>> import jax, networkx
    >>> from rfcore import features, graphs
    >>> from rfcore.models import blocks
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(1000)).normalised()
    >>> stored = blocks.deposits(jax.random.key(0), g, 16, 0.5, 3, [0, 500])
    >>> phi = stored.with_modulation(features.modulation.from_values([1.0, 0.5, 0.2, 0.1]))
    >>> phi.shape[0], phi.shape[1] < 12
    (2, True)
    """
    nodes = walks.start_nodes(g, nodes)
    lengths = walk_lengths.draw(key, len(nodes), n_walks, p_halt)
    cut = lengths._replace(values=np.minimum(lengths.values, checks.count(longest, "longest")))
    found = walks.simulate(key, g, cut, nodes=nodes)
    visited, node = np.unique(found.node, return_inverse=True)
    return features.by_step(found._replace(node=node.astype(np.int32), n_nodes=len(visited)))


def _units(g, nodes):
    units = np.zeros((g.n_nodes, len(nodes)))
    units[nodes, np.arange(len(nodes))] = 1.0
    return units
