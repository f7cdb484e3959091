"""Algorithm 1 line by line, in plain Python: what the engine is tested against, and timed against.

One walker at a time, one step at a time, a coin for each step. The paper hops first and halts afterwards,
which throws the last hop away; here a walker halts first. Universal Graph Random Features, Algorithm 1.
"""

from typing import NamedTuple

from rfcore import walks
from rfcore.walks import modulation


class Lists(NamedTuple):
    """A graph as Python lists, which a loop reads faster than arrays.

    Attributes:
        neighbours, weights: of each edge.
    """

    first: list
    """First edge of each node, and the number of edges."""
    neighbours: list
    weights: list
    is_normalised: bool


def as_lists(g):
    """First edges, neighbours and weights of a graph as :class:`Lists`."""
    return Lists(g.indptr.tolist(), g.indices.tolist(), g.weights.tolist(), g.is_normalised)


def walk_features(rng, lists, f, n_walks, p_halt, nodes):
    """Features in law as of :func:`rfcore.features.walk_features`: for each of some nodes a dict by node."""
    first, neighbours, weights, is_normalised = lists
    table = modulation.on_host(f, walks.lengths.longest(p_halt), is_normalised).tolist()
    features = []
    for start in nodes:
        feature = {}
        for _ in range(n_walks):
            node, load, step = start, 1.0, 0
            while True:
                feature[node] = feature.get(node, 0.0) + load * table[step] / n_walks
                count = first[node + 1] - first[node]
                if count == 0 or rng.random() < p_halt:
                    break
                edge = first[node] + int(rng.random() * count)
                load *= count * weights[edge] / (1 - p_halt)
                node, step = neighbours[edge], step + 1
        features.append(feature)
    return features
