"""Joint laws of the lengths of a node's walks, each geometric: ``P(length >= k) = (1 - p_halt)^k``.

A coupling here is a function ``(rng, n_nodes, n_walks, p_halt) -> lengths`` of shape (n_nodes, n_walks) on a NumPy
generator: walks are data, drawn on the host (see :mod:`rfcore.streams`). Nodes are always independent.
"""

from typing import NamedTuple

import numpy as np

from rfcore import checks, streams

PURPOSE = 1


class Lengths(NamedTuple):
    """Lengths of walks, with the law that they have: the loads of the walks depend on it."""

    values: np.ndarray
    """One row per start and one column per walk, whole numbers of at least 0."""
    p_halt: float
    """Probability of stopping before each hop."""


def draw(key, n_nodes, n_walks, p_halt, coupling="iid"):
    """Lengths of n_walks walks from each of n_nodes nodes.

    Parameters
    ----------
    key : JAX PRNG key
        The same key gives the lengths that :func:`rfcore.features.walk_features` uses.
    n_nodes, n_walks : int
    p_halt : float
        Probability of stopping before each hop, strictly between 0 and 1.
    coupling : "iid"
        Joint law of the lengths of one node's walks.

    Returns
    -------
    Lengths
        Its ``values`` are an int32 array of shape (n_nodes, n_walks).

    Raises
    ------
    ValueError
        If a count is below 1, p_halt outside (0, 1) or below 1.8e-8, the coupling unknown, or the key no JAX key.
    """
    n_nodes, n_walks = checks.count(n_nodes, "n_nodes"), checks.count(n_walks, "n_walks")
    p_halt, coupling, words = halting(p_halt), named(coupling), streams.words(key)
    values = np.concatenate([
        coupling(streams.generator(words, PURPOSE, chunk), rows.stop - rows.start, n_walks, p_halt)
        for chunk, rows in enumerate(streams.chunks(n_nodes, n_walks))
    ])
    return Lengths(values, p_halt)


def iid(rng, n_nodes, n_walks, p_halt):
    """Independent geometric lengths, by inverse CDF from one uniform each."""
    return _quantile(rng.random((n_nodes, n_walks)), p_halt)


def geometric_quantile(u, p_halt):
    """Length at level u of the geometric law.

    ::

        floor(log(1 - u) / log(1 - p_halt)),  0 <= u < 1

    Parameters
    ----------
    u : float64 array with values in [0, 1)
    p_halt : float

    Returns
    -------
    int32 array

    Raises
    ------
    ValueError
        If a level is outside [0, 1), or p_halt is outside (0, 1) or below 1.8e-8.
    """
    u, p_halt = np.asarray(checks.numbers(u, "u"), dtype=float), halting(p_halt)
    if not np.all((u >= 0) & (u < 1)):
        raise ValueError(f"u has values in [{u.min()}, {u.max()}]; give levels of at least 0 and below 1")
    return _quantile(u, p_halt)


def _quantile(u, p_halt):
    # Division and truncation: np.floor_divide takes an exact remainder, at several times the time.
    return (np.log1p(-u) / np.log1p(-p_halt)).astype(np.int32)


def halting(p_halt):
    """``p_halt`` as a probability whose longest walks have a length that int32 holds."""
    p_halt = checks.probability(p_halt, "p_halt")
    if longest(p_halt) >= 2**31:
        raise ValueError(f"p_halt = {p_halt}; walks of {longest(p_halt):.1e} hops are too long: give at least 1.8e-8")
    return p_halt


def longest(p_halt):
    """Greatest length that can be drawn: uniforms are multiples of 2^-53, so that 1 - u >= 2^-53.

    Nothing is truncated; the law of the lengths is geometric up to the resolution of float64 uniforms.
    """
    return int(53 * np.log(2) / -np.log1p(-p_halt)) + 1


def batch_size(n_walkers, p_halt, delta):
    """How many values of f suffice: all of n_walkers walks are shorter than b with probability 1 - delta.

    ::

        b >= log(1 - (1 - delta)^(1/n_walkers)) / log(1 - p_halt)

    Walks here are never cut: f is computed to the greatest length that was drawn, at most :func:`longest`. This is what
    it takes with high probability.

    Parameters
    ----------
    n_walkers : int
    p_halt, delta : float
        Strictly between 0 and 1.

    Returns
    -------
    int
        The smallest such b.

    Raises
    ------
    ValueError
        If n_walkers < 1, or p_halt or delta is outside (0, 1).

    Notes
    -----
    Universal Graph Random Features, Eqs 17 and 18.
    """
    n_walkers = checks.count(n_walkers, "n_walkers")
    p_halt, delta = checks.probability(p_halt, "p_halt"), checks.probability(delta, "delta")
    one_is_longer = -np.expm1(np.log1p(-delta) / n_walkers)
    return int(np.ceil(np.log(one_is_longer) / np.log1p(-p_halt)))


def named(coupling):
    """Coupling of walk lengths by its name."""
    checks.choice(coupling, "coupling", tuple(_BY_NAME))
    return _BY_NAME[coupling]


_BY_NAME = {"iid": iid}
