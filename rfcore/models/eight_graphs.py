"""The eight graphs of Table 3 of Universal Graph Random Features."""

from functools import cache

import networkx as nx

from rfcore import checks, datasets, random_graphs
from rfcore.graphs import Graph

__all__ = ["NAMES", "draw"]

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


@cache
def _fixed(name):
    G = nx.balanced_tree(2, 6) if name == "binary_tree" else datasets.graph(name, fallback=True)
    return Graph.from_networkx(G).normalised()
