"""Table 3 of Universal Graph Random Features: its eight graphs, the kernel estimated, and errors."""

from functools import cache, lru_cache, partial

import jax
import networkx as nx
import numpy as np

from companion import datasets, random_graphs
from companion.gram_errors import gram_error
from rfcore import checks, kernels, theory, walks
from rfcore.features import weigh
from rfcore.graphs import Graph
from rfcore.walks import losses

NAMES = (
    "erdos_renyi_small", "erdos_renyi_large", "binary_tree", "d_regular", "karate", "dolphins", "football", "eurosis",
)  # fmt: skip
"""In the order of the table: 20, 100, 127, 100, 34, 62, 115 and 1272 nodes."""


def draw(name, key):
    """One of the eight graphs, normalised; drawn anew with each key if it is random.

    The paper does not print edge probabilities, for which we take 0.2 and 0.04, nor which d-regular graph it
    has, for which we draw one of degree 4.
    """
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
    if not g.is_normalised:
        raise ValueError("g has weights that are not normalised; give g.normalised()")
    beta = checks.probability(beta, "beta")
    return kernels.matrix_function(g, lambda w: (1 - beta * w) ** -2)


def errors(key, g, readings, n_walks, p_halt, n_repeats=1):
    """Squared relative errors, (n_repeats, n_readings), of pairs (modulation f, beta), from the same walks.

    A walk on beta W leaves beta^k times what it leaves on W at step k, so that walks on W serve every beta.
    Each error is that of :func:`companion.papers.ugrf.eight_graphs.shared_errors` against its :func:`target`.
    """
    pairs = list(readings) if np.iterable(readings) else []
    targets = [_kept_target(g, beta) for _, beta in pairs]
    fs = [partial(_on_scaled, f, beta) for f, beta in pairs]
    return shared_errors(key, g, targets, fs, n_walks, p_halt, n_repeats)


def _on_scaled(f, beta, k):
    return np.asarray(f(k)) * beta**k


_kept_target = lru_cache(maxsize=64)(target)  # batch after batch on the graphs that are not random


@cache
def _fixed(name):
    G = nx.balanced_tree(2, 6) if name == "binary_tree" else datasets.graph(name, fallback=True)
    return Graph.from_networkx(G).normalised()


def shared_errors(key, g, targets, modulations, n_walks, p_halt, n_repeats=1):
    """Squared relative errors of repeated estimates from one set of walks, for modulations on the same walks.

    ::

        |phi phi^T - K|_F^2 / |K|_F^2

    Shared walks bias the diagonal upwards; :func:`companion.gram_errors.gram_errors` has independent sets.
    Walks on beta W leave f(k) beta^k of what walks on W leave, so that one graph serves all beta.

    Args:
        targets: K, (N, N), one per modulation.

    Returns:
        float64 array, (n_repeats, n_modulations).

    Source: Universal Graph Random Features, Section 3.4 and Table 3.
    """
    n = g.n_nodes
    modulations = list(modulations) if np.iterable(modulations) else [modulations]
    targets = list(targets) if np.iterable(targets) else [targets]
    if len(targets) != len(modulations):
        raise ValueError(f"targets has {len(targets)} matrices for {len(modulations)} modulations; give one each")
    targets = [np.asarray(losses.gram(K, "targets", n)) for K in targets]
    nodes = np.tile(np.arange(n), n_repeats)
    of_lengths, of_hops = jax.random.split(key)
    lengths = walks.lengths.draw(of_lengths, len(nodes), n_walks, p_halt, "iid")
    deposits = walks.simulate(of_hops, g, lengths, nodes=nodes)
    phis = (weigh(deposits, f) for f in modulations)
    return np.stack([gram_error((phi, phi), K, squared=True) for phi, K in zip(phis, targets, strict=True)], axis=1)


def shared_bias(g, target, f, n_walks, p_halt, n_terms=16):
    """Squared bias ``|E phi phi^T - K|_F^2 / |K|_F^2`` of one estimate: off the diagonal, and on it, (2,).

    Errors of :func:`shared_errors` beyond their sum are variance. n_terms steps are counted.
    """
    K = losses.gram(target, "target", g.n_nodes)
    mean, square = theory.walk_feature_moments(g, f, n_walks, p_halt, n_terms)
    bias = mean @ mean.T - K
    np.fill_diagonal(bias, 0.0)
    return np.array([np.sum(bias**2), np.sum((square.sum(axis=1) - np.diag(K)) ** 2)]) / np.sum(K**2)
