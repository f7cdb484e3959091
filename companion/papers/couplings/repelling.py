"""Repelling random walks: walkers who meet at a node leave it in blocks, in which no two take one edge.

The law needs to know how many neighbours a node has, so that there is one per graph:
``walks.Coupling(copulas.stratified, repelling.blocks(g))``, with lengths of any coupling (see
:mod:`rfcore.walks.hops`).
"""

from functools import partial

import numpy as np


def blocks(g):
    """Walkers of one start on a node of d neighbours leave in blocks of d, without replacement.

    ::

        k walkers in random order: floor(k / d) blocks of d, each of which takes a random permutation of the
        neighbours; the k mod d that are left take so many different ones, every choice equally likely

    This is the printed law. Each walker's hop is uniform, two of one block never take the same edge, and two
    of different blocks are independent. The law gives the middle of the interval of u that leads to the
    neighbour, so that it is a right law on this graph only; of the graph it uses the edges, not their
    weights. Who is left is drawn by Floyd's algorithm (Bentley and Floyd, 1987).

    Returns:
        A law of hops ``(rng, n_rows, n_walks) -> uniforms``.

    Source: "Repelling Random Walks" (Reid, Berger, Choromanski and Weller, 2024), Definition 3.1.
    """
    return partial(_law, _without_replacement, g.neighbour_counts)


def shifted(g):
    """The same with less randomness, as the authors' code has it: a block takes the neighbours in turn.

    ::

        k walkers, k > d: walker number b of a block goes to neighbour (b + floor(d v)) mod d
        k <= d: walker number r goes to neighbour floor(d ((r / k + v) mod 1)),    v uniform, one per block

    Those who are left after k > d walkers are a block that is not full. With k <= d this is systematic
    sampling, as :func:`rfcore.walks.hops.Systematic` has it for all k. The authors' walkers are
    numbered as they started; here they are in random order, which is the same for independent lengths.

    Source: https://github.com/isaac-reid/repelling_random_walks, ``utils.py``, 2024.
    """
    return partial(_law, _in_turn, g.neighbour_counts)


def _law(places, degrees, rng, n_rows, n_walks):
    def uniforms(step, walkers, rows, nodes):
        mixed = rng.permutation(len(rows))
        met = (rows[mixed].astype(np.int64) << 31) + nodes[mixed]
        by_node = met.argsort(kind="stable")
        order, met = mixed[by_node], met[by_node]
        first = np.append(True, met[1:] != met[:-1]).nonzero()[0]
        size, d = np.diff(np.append(first, len(met))), degrees[nodes[order[first]]]
        u = np.empty(len(met))
        u[order] = (places(rng, first, size, d) + 0.5) / np.repeat(d, size)
        return u

    return uniforms


def _without_replacement(rng, first, size, d):
    """Neighbour numbers of walkers who stand group by group, ``size`` of them at a node of degree ``d``."""
    rank = np.arange(size.sum()) - np.repeat(first, size)
    place = rank % np.repeat(d, size)  # of a full block every order of the walkers is equally likely
    left = size % d
    groups = np.argsort(-left, kind="stable")[: np.count_nonzero(left)]
    left, d, begin = left[groups], d[groups], (first + size - left)[groups]
    chosen = np.empty((len(groups), left.max(initial=0)), dtype=np.int64)
    for q in range(chosen.shape[1]):
        n = np.count_nonzero(left > q)  # the first of them
        most = d[:n] - left[:n] + q
        drawn = np.floor(rng.random(n) * (most + 1)).astype(np.int64)
        taken = (chosen[:n, :q] == drawn[:, None]).any(axis=1)
        chosen[:n, q] = np.where(taken, most, drawn)
        place[begin[:n] + q] = chosen[:n, q]
    return place


def _in_turn(rng, first, size, d):
    rank = np.arange(size.sum()) - np.repeat(first, size)
    size, d = np.repeat(size, size), np.repeat(d, size)
    v = rng.random(len(rank))[np.cumsum(rank % d == 0) - 1]  # one per block
    spaced = np.floor((rank / size + v) % 1 * d).astype(np.int64)
    return np.where(size > d, (rank + np.floor(v * d).astype(np.int64)) % d, spaced)
