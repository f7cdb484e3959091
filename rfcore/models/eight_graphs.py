"""The eight graphs of Table 3 of Universal Graph Random Features, the kernel estimated there, and the errors of it."""

from functools import cache, lru_cache, partial

import networkx as nx
import numpy as np

from rfcore import checks, datasets, kernels, random_graphs
from rfcore.features.shared_walks import shared_errors
from rfcore.graphs import Graph

__all__ = ["NAMES", "draw", "errors", "target"]

NAMES = (
    "erdos_renyi_small", "erdos_renyi_large", "binary_tree", "d_regular", "karate", "dolphins", "football", "eurosis",
)  # fmt: skip
"""In the order of the table: 20, 100, 127, 100, 34, 62, 115 and 1272 nodes."""


def draw(name, key):
    """One of the eight graphs, normalised: drawn anew with each key if it is random.

    Parameters
    ----------
    name : str
        Of ``NAMES``.
    key : JAX PRNG key
        The tree and the four graphs that are data do not depend on it.

    Returns
    -------
    rfcore.graphs.Graph

    Raises
    ------
    ValueError
        If the name is none of the eight, or the key no JAX key.

    Notes
    -----
    Universal Graph Random Features, Table 3. It does not print edge probabilities, for which we take 0.2 and 0.04, nor which
    d-regular graph it has, for which we draw one of degree 4.

    Examples
    --------
    >>> import jax
    >>> from rfcore.models import eight_graphs
    >>> eight_graphs.draw("binary_tree", jax.random.key(0)).n_nodes
    127
    """
    checks.choice(name, "name", NAMES)
    key = checks.key(key)
    if name == "d_regular":
        return random_graphs.regular(key, 100, 4).normalised()
    if name.startswith("erdos_renyi"):
        n, p = (20, 0.2) if name == "erdos_renyi_small" else (100, 0.04)
        return random_graphs.erdos_renyi(key, n, p).normalised()
    return _fixed(name)


def target(g, beta):
    """The kernel of the table over its constant: on weights beta W the modulation f(k) = 1 estimates it without bias.

    ::

        (I - beta W)^-2 = (sum_k beta^k W^k)^2 = (1 + sigma^2)^2 (I + sigma^2 L)^-2,   beta = sigma^2 / (1 + sigma^2)

    Parameters
    ----------
    g : rfcore.graphs.Graph
        Undirected and normalised: W.
    beta : float
        Strictly between 0 and 1.

    Returns
    -------
    float64 array, shape (N, N)

    Raises
    ------
    ValueError
        If g is directed or not normalised, or beta is outside (0, 1).

    Notes
    -----
    Universal Graph Random Features, Section 3.4: the 2-regularised Laplacian kernel.

    Examples
    --------
    >>> import jax, numpy as np
    >>> from rfcore import kernels
    >>> from rfcore.models import eight_graphs
    >>> g = eight_graphs.draw("binary_tree", jax.random.key(0))
    >>> bool(np.allclose(eight_graphs.target(g, 0.5), 4 * kernels.regularised_laplacian(g, 1.0, 2)))  # sigma = 1
    True
    """
    beta = checks.probability(beta, "beta")
    if not checks.graph(g).is_normalised:
        raise ValueError("g has weights that are not normalised; give g.normalised()")
    return kernels.function_of_weights(g, lambda w: (1 - beta * w) ** -2)


def errors(key, g, readings, n_walks, p_halt, n_repeats=1):
    """Squared relative errors for several modulations and length scales, all from the same walks.

    A walk on beta W leaves beta^k times what it leaves on W at step k, so that walks on W serve every beta.

    Parameters
    ----------
    key : JAX PRNG key
    g : rfcore.graphs.Graph
        Undirected and normalised: W.
    readings : sequence of (function of an integer array, float)
        A modulation f on weights beta W, and beta, strictly between 0 and 1.
    n_walks : int
        Per node and repeat, independent, the same for rows and columns.
    p_halt : float
    n_repeats : int

    Returns
    -------
    float64 array, shape (n_repeats, n_readings)
        As :func:`rfcore.features.shared_walks.shared_errors`, each against its :func:`target`.

    Raises
    ------
    ValueError
        If readings are no such pairs, g is directed or not normalised, or whatever :func:`rfcore.walks.simulate` refuses.

    Notes
    -----
    Universal Graph Random Features, Table 3.

    Examples
    --------
    >>> import jax
    >>> from rfcore.features import neural
    >>> from rfcore.models import eight_graphs
    >>> g, flat = eight_graphs.draw("erdos_renyi_small", jax.random.key(0)), neural.flat()
    >>> errors = eight_graphs.errors(jax.random.key(1), g, [(flat, 0.2), (flat, 0.4)], 16, 0.5, n_repeats=3)
    >>> errors.shape, bool(errors[:, 0].mean() < errors[:, 1].mean())
    ((3, 2), True)
    """
    pairs = list(readings) if np.iterable(readings) else []
    if not pairs or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise ValueError(f"readings = {readings!r}; give pairs of a modulation and a beta, such as [(neural.flat(), 0.4)]")
    for f, beta in pairs:
        checks.function(f, "readings", "neural.flat() as the first of a pair")
        checks.probability(beta, "readings")
    targets = [_kept_target(checks.graph(g), beta) for _, beta in pairs]
    fs = [partial(_on_scaled, f, beta) for f, beta in pairs]
    return shared_errors(key, g, targets, fs, n_walks, p_halt, n_repeats)


def _on_scaled(f, beta, k):
    return np.asarray(f(k)) * beta**k


_kept_target = lru_cache(maxsize=64)(target)  # batch after batch on the graphs that are not random


@cache
def _fixed(name):
    G = nx.balanced_tree(2, 6) if name == "binary_tree" else datasets.graph(name, fallback=True)
    return Graph.from_networkx(G).normalised()
