"""Values hidden at some nodes of a graph, predicted from the others by a kernel made of walks, and what is learned from that.

The kernel is ``phi phi^T`` of one set of walks. Sharing the walks biases its diagonal alone, which is never used: a node whose
value is hidden has none to contribute. What is compared, or learned, is the modulation f. This module is imported by its own
name, ``rfcore.models.hidden_values``.
"""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp

from rfcore import checks, features, streams, walks
from rfcore.couplings import walk_lengths
from rfcore.features.deposits import DepositsByStep
from rfcore.graphs import Graph
from rfcore.models import interpolation
from rfcore.theory.graph import counted

PURPOSE = 11  # of the random stream; part of what a key means


class Lesson(NamedTuple):
    """What a modulation is learned from, in the order in which :func:`loss` takes it.

    Notes
    -----
    Universal Graph Random Features, Section 3.5.
    """

    deposits: DepositsByStep
    values: np.ndarray
    """Shape (N, c)."""
    known: np.ndarray
    """Shape (N,), bool."""
    hidden: np.ndarray
    """The nodes that are not known."""


def hide(key, n_nodes, share=0.05):
    """Which nodes keep their values: all but a random share.

    Parameters
    ----------
    key : JAX PRNG key
    n_nodes : int
    share : float
        Of the nodes, between 0 and 1; rounded to a whole number of nodes.

    Returns
    -------
    bool array, shape (n_nodes,)

    Raises
    ------
    ValueError
        If share is outside (0, 1), or hides no node or all.

    Notes
    -----
    Universal Graph Random Features, Section 3.5, hides 5 %.

    Examples
    --------
    >>> import jax
    >>> from rfcore.models import hidden_values
    >>> int(hidden_values.hide(jax.random.key(0), 40).sum())
    38
    """
    n_nodes, share = checks.count(n_nodes, "n_nodes"), checks.probability(share, "share")
    n_hidden = round(share * n_nodes)
    if not 0 < n_hidden < n_nodes:
        raise ValueError(
            f"share = {share} of {n_nodes} nodes hides {n_hidden}; give one that hides some and leaves some"
        )
    known = np.ones(n_nodes, dtype=bool)
    known[streams.generator(streams.words(key), PURPOSE, 0).permutation(n_nodes)[:n_hidden]] = False
    return known


def lesson(key, g, values, n_copies, n_walks, p_halt, share=0.05):
    """One draw of walks and of hidden nodes on each of several copies of a graph, side by side as one graph.

    A single draw on a small graph is a noisy teacher; copies make the mean of many.

    Parameters
    ----------
    key : JAX PRNG key
    g : rfcore.graphs.Graph
    values : array, shape (N, c)
    n_copies, n_walks : int
        Walks of each node.
    p_halt : float
    share : float
        As for :func:`hide`.

    Returns
    -------
    Lesson
        Of ``n_copies N`` nodes.

    Raises
    ------
    ValueError
        As for :func:`hide`, or if g is no graph, values do not fit it, or a count is below 1.

    Notes
    -----
    Ours; Universal Graph Random Features, Section 3.5, has a single graph.

    Examples
    --------
    >>> import jax, networkx, numpy as np
    >>> from rfcore.graphs import Graph
    >>> from rfcore.models import hidden_values
    >>> g = Graph.from_networkx(networkx.cycle_graph(20)).normalised()
    >>> hidden_values.lesson(jax.random.key(0), g, np.ones((20, 1)), 3, 4, 0.5).known.shape
    (60,)
    """
    values, n_copies = _of_nodes(values, checks.graph(g).n_nodes), checks.count(n_copies, "n_copies")
    copies = Graph.from_scipy(
        sp.block_diag([g.to_scipy()] * n_copies, format="csr"), is_normalised=g.is_normalised
    )
    walked, split = jax.random.split(checks.key(key))
    deposits = walks.simulate(walked, copies, walk_lengths.draw(walked, copies.n_nodes, n_walks, p_halt))
    known = np.concatenate([hide(one, g.n_nodes, share) for one in jax.random.split(split, n_copies)])
    return Lesson(features.by_step(deposits), np.tile(values, (n_copies, 1)), known, np.flatnonzero(~known))


def of_one_size(lessons):
    """The same lessons, with deposits of no load appended, so that what is compiled for one serves all.

    Parameters
    ----------
    lessons : sequence of Lesson

    Returns
    -------
    list of Lesson

    Raises
    ------
    ValueError
        If there is none, or one is no Lesson.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> import jax, networkx, numpy as np
    >>> from rfcore.graphs import Graph
    >>> from rfcore.models import hidden_values
    >>> g = Graph.from_networkx(networkx.cycle_graph(20)).normalised()
    >>> keys = jax.random.split(jax.random.key(0))
    >>> pair = hidden_values.of_one_size([hidden_values.lesson(key, g, np.ones((20, 1)), 3, 4, 0.5) for key in keys])
    >>> pair[0].deposits.load.shape == pair[1].deposits.load.shape
    True
    """
    if (
        not isinstance(lessons, list | tuple)
        or not lessons
        or not all(isinstance(one, Lesson) for one in lessons)
    ):
        raise ValueError(f"lessons = {lessons!r}; give a list of what hidden_values.lesson returned")
    stored = [one.deposits for one in lessons]
    length, n_steps = max(len(one.load) for one in stored), max(one.n_steps for one in stored)

    def padded(deposits):
        arrays = {name: np.asarray(getattr(deposits, name)) for name in ("row", "node", "step", "load")}
        arrays = {name: np.pad(array, (0, length - len(array))) for name, array in arrays.items()}
        return replace(deposits, **arrays, n_steps=n_steps)

    return [one._replace(deposits=padded(one.deposits)) for one in lessons]


def loss(f, deposits, values, known, hidden):
    """Mean of 1 - cos(angle) between hidden values and what the others predict, differentiable in f.

    Parameters
    ----------
    f : function of an integer array
        Modulation, such as one of :mod:`rfcore.features.neural`.
    deposits, values, known, hidden
        As in a :class:`Lesson`.

    Returns
    -------
    scalar array

    Raises
    ------
    ValueError
        As :func:`rfcore.models.interpolation.weighted_sums` and :func:`rfcore.models.interpolation.angular_error`.

    Notes
    -----
    Universal Graph Random Features, Section 3.5.

    Examples
    --------
    >>> import jax, networkx, numpy as np
    >>> from rfcore.features import neural
    >>> from rfcore.graphs import Graph
    >>> from rfcore.models import hidden_values
    >>> g = Graph.from_networkx(networkx.cycle_graph(20)).normalised()
    >>> taught = hidden_values.lesson(jax.random.key(0), g, np.ones((20, 1)), 3, 64, 0.5)
    >>> round(float(hidden_values.loss(neural.flat(), *taught)), 6)
    0.0
    """
    if not isinstance(deposits, DepositsByStep):
        raise ValueError(f"deposits = {deposits!r}; give what rfcore.features.by_step returned")
    phi, hidden = deposits.with_modulation(f), checks.indices(hidden, "hidden", deposits.shape[0])
    sums = interpolation.weighted_sums(lambda v: phi @ (phi.T @ v), values, known)
    return interpolation.angular_error(sums[hidden], jnp.asarray(values)[hidden])


def error(deposits, f, values, known):
    """Mean of 1 - cos(angle) at the nodes that are not known, of predictions by walks.

    Parameters
    ----------
    deposits : rfcore.walks.Deposits
        From :func:`rfcore.walks.simulate`, one row per node.
    f : function of an integer array
        Modulation.
    values : array, shape (N, c)
    known : bool array, shape (N,)

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If shapes do not fit, deposits are none, or every node is known.

    Notes
    -----
    Universal Graph Random Features, Section 3.5.

    Examples
    --------
    >>> import jax, networkx, numpy as np
    >>> from rfcore import features, graphs, walks
    >>> from rfcore.couplings import walk_lengths
    >>> from rfcore.models import hidden_values
    >>> key, g = jax.random.key(0), graphs.Graph.from_networkx(networkx.cycle_graph(20)).normalised()
    >>> deposits = walks.simulate(key, g, walk_lengths.draw(key, 20, 64, 0.5))
    >>> known = hidden_values.hide(key, 20)
    >>> round(hidden_values.error(deposits, features.modulation.diffusion(1.0), np.ones((20, 1)), known), 6)
    0.0
    """
    phi = _features(deposits, f)
    return _error(lambda v: phi @ (phi.T @ v), _of_nodes(values, phi.shape[0]), known)


def exact_error(g, f, values, known, n_terms=200):
    """The error to which :func:`error` tends as walks become more: without the noise of any.

    ::

        v_i = sum over known j of  (f(W) f(W)^T)_ij v_j,    f(W) = sum_k f(k) W^k

    Products with f(W) are summed from the far end (Horner), without the trailing f(k) below 1e-14 of the largest.

    Parameters
    ----------
    g : rfcore.graphs.Graph
    f : function of an integer array
        Modulation.
    values : array, shape (N, c)
    known : bool array, shape (N,)
    n_terms : int
        Steps counted: f(0), ..., f(n_terms - 1).

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If g is no graph, shapes do not fit, every node is known, or steps from n_terms on matter.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> import jax, networkx, numpy as np
    >>> from rfcore import features
    >>> from rfcore.graphs import Graph
    >>> from rfcore.models import hidden_values
    >>> g, known = Graph.from_networkx(networkx.cycle_graph(20)).normalised(), hidden_values.hide(jax.random.key(0), 20)
    >>> round(hidden_values.exact_error(g, features.modulation.diffusion(1.0), np.ones((20, 1)), known), 6)
    0.0
    """
    values = _of_nodes(values, checks.graph(g).n_nodes)
    table, W = counted(f, g, n_terms), g.to_scipy()
    table = table[: np.flatnonzero(np.abs(table) > 1e-14 * np.abs(table).max()).max(initial=0) + 1]

    def applied(W, v):
        total = np.zeros_like(v)
        for weight in table[::-1]:
            total = W @ total + weight * v
        return total

    return _error(lambda v: applied(W, applied(W.T, np.asarray(v))), values, known)


def directions_in_turn(key, deposits, f, values, n_groups=20):
    """Which way every node's value is predicted to point while it is hidden, one random group of nodes after another.

    Parameters
    ----------
    key : JAX PRNG key
        Of the groups, whose sizes differ by one at most.
    deposits : rfcore.walks.Deposits
        From :func:`rfcore.walks.simulate`, one row per node.
    f : function of an integer array
        Modulation.
    values : array, shape (N, c)
    n_groups : int
        From 2 to N.

    Returns
    -------
    array, shape (N, c)
        Rows of length 1, or of zeros where no walk met a value.

    Raises
    ------
    ValueError
        If shapes do not fit, deposits are none, or n_groups is outside that range.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> import jax, networkx, numpy as np
    >>> from rfcore import features, graphs, walks
    >>> from rfcore.couplings import walk_lengths
    >>> from rfcore.models import hidden_values
    >>> key, g = jax.random.key(0), graphs.Graph.from_networkx(networkx.cycle_graph(20)).normalised()
    >>> deposits = walks.simulate(key, g, walk_lengths.draw(key, 20, 64, 0.5))
    >>> f = features.modulation.diffusion(1.0)
    >>> bool(np.allclose(hidden_values.directions_in_turn(key, deposits, f, 3 * np.ones((20, 1))), 1.0))
    True
    """
    phi, n_groups = _features(deposits, f), checks.count(n_groups, "n_groups", least=2)
    n_nodes, values = phi.shape[0], _of_nodes(values, phi.shape[0])
    if n_groups > n_nodes:
        raise ValueError(f"n_groups = {n_groups} for {n_nodes} nodes; give {n_nodes} at most")
    order, predicted = streams.generator(streams.words(key), PURPOSE, 0).permutation(n_nodes), np.zeros_like(values)
    for group in np.array_split(order, n_groups):
        known = np.ones(n_nodes, dtype=bool)
        known[group] = False
        predicted[group] = interpolation.weighted_sums(lambda v: phi @ (phi.T @ v), values, known)[group]
    lengths = np.linalg.norm(predicted, axis=1, keepdims=True)
    return predicted / np.where(lengths > 0, lengths, 1.0)


def _features(deposits, f):
    phi = features.weigh(deposits, f)
    if phi.shape[0] != phi.shape[1]:
        raise ValueError(
            f"deposits are of {phi.shape[0]} rows on {phi.shape[1]} nodes; give one row per node"
        )
    return phi


def _error(product, values, known):
    sums = np.asarray(interpolation.weighted_sums(product, values, known))
    hidden = ~np.asarray(known)
    if not hidden.any():
        raise ValueError(f"known = {known!r} hides no node; give a mask with a False in it")
    return float(interpolation.angular_error(sums[hidden], values[hidden]))


def _of_nodes(values, n_nodes):
    values = np.asarray(checks.finite(checks.numbers(values, "values"), "values"), dtype=float)
    if values.ndim != 2 or values.shape[0] != n_nodes or values.shape[1] == 0:
        raise ValueError(f"values has shape {values.shape}; give one row per node, here {n_nodes}, of one number at least")
    return values
