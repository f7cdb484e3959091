"""Small graphs that more than one module walks on, and what walks on them must leave."""

import jax
import numpy as np

from companion import evidence
from rfcore import walks
from rfcore.graphs import Graph

DEAD_ENDS = Graph.from_scipy(
    np.array(
        [
            [0.0, 0.7, 0.2, 0.4, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.0],
            [0.5, 0.0, 0.3, -0.2, 0.0],
            [0.6, 0.1, 0.1, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.0],
        ]
    )
)
"""Directed, with a weight below 0, a self-loop and two nodes without a neighbour."""

UNEVEN = Graph.from_scipy(
    np.array(
        [
            [0.0, 2.0, 0.5, 0.0, 0.0],
            [2.0, 0.3, 1.0, 0.0, 0.0],
            [0.5, 1.0, 0.0, 3.0, 0.0],
            [0.0, 0.0, 3.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.0],
        ]
    )
)
"""Weighted degrees far from the numbers of neighbours, a self-loop and an isolated node."""


def on_dead_ends(coupling):
    """The decision whether four walkers a node deposit, in the mean, the powers 0 to 3 of the weights of ``DEAD_ENDS``."""
    nodes, W = np.tile(np.arange(5), 4000), DEAD_ENDS.to_scipy().toarray()
    lengths = walks.lengths.draw(jax.random.key(8), len(nodes), 4, 0.3, coupling)
    deposits = walks.simulate(jax.random.key(8), DEAD_ENDS, lengths, nodes)
    found = np.zeros((4, len(nodes), 5))
    early = deposits.step < 4
    step, row, node, load = (a[early] for a in (deposits.step, deposits.row, deposits.node, deposits.load))
    np.add.at(found, (step, row, node), load / 4)
    powers = np.stack([np.linalg.matrix_power(W, k) for k in range(4)])
    return evidence.unbiased(found.reshape(4, 4000, 5, 5).transpose(1, 0, 2, 3), powers, smallest_bias=0.1)
