"""Table 3 of Universal Graph Random Features: its eight graphs, the kernel estimated, and errors."""

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
    """One of the eight graphs, normalised; drawn anew with each key if it is random.

    The paper does not print edge probabilities, for which we take 0.2 and 0.04, nor which d-regular graph it
    has, for which we draw one of degree 4.
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
    """The table's kernel over its constant; on weights beta W the modulation f(k) = 1 is unbiased for it.

    ::

        (I - beta W)^-2 = (1 + sigma^2)^2 (I + sigma^2 L)^-2,   beta = sigma^2 / (1 + sigma^2),   W normalised
    """
    beta = checks.probability(beta, "beta")
    if not checks.graph(g).is_normalised:
        raise ValueError("g has weights that are not normalised; give g.normalised()")
    return kernels.function_of_weights(g, lambda w: (1 - beta * w) ** -2)


def errors(key, g, readings, n_walks, p_halt, n_repeats=1):
    """Squared relative errors, (n_repeats, n_readings), of pairs (modulation f, beta), from the same walks.

    A walk on beta W leaves beta^k times what it leaves on W at step k, so that walks on W serve every beta.
    Each error is that of :func:`rfcore.features.shared_walks.shared_errors` against its :func:`target`.
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
