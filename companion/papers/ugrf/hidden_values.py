"""Values hidden at nodes of a graph, predicted from the others by a kernel of walks, and what that teaches.

The kernel is ``phi phi^T`` of one set of walks. Sharing the walks biases its diagonal alone, which is never
used: a node whose value is hidden has none to contribute. What is compared, or learned, is the modulation f.
Values have shape (N, c); ``known`` is a bool array, (N,). Errors are means of 1 - cos(angle) at hidden nodes.

Source: Universal Graph Random Features, Section 3.5.
"""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp

from rfcore import checks, features, walks
from rfcore.graphs import Graph
from rfcore.theory.walk_errors import counted
from rfcore.walks import Deposits, streams


class Lesson(NamedTuple):
    """What a modulation is learned from, in the order in which :func:`loss` takes it.

    The deposits are those of walks with one row per node.
    """

    deposits: Deposits
    values: np.ndarray
    """Shape (N, c)."""
    known: np.ndarray
    """Shape (N,), bool."""
    hidden: np.ndarray
    """The nodes that are not known."""


def hide(key, n_nodes, share=0.05):
    """Which nodes keep their values: all but a random share, 5 % in the paper."""
    n_hidden = round(share * n_nodes)
    if not 0 < n_hidden < n_nodes:
        raise ValueError(
            f"share = {share} of {n_nodes} nodes hides {n_hidden}; give one that hides some and leaves some"
        )
    known = np.ones(n_nodes, dtype=bool)
    known[streams.generator(streams.words(key), streams.Purpose.HIDDEN_NODES, 0).permutation(n_nodes)[:n_hidden]] = False
    return known


def lesson(key, g, values, n_copies, n_walks, p_halt, share=0.05):
    """One draw of walks and of hidden nodes on each of n_copies copies of a graph, side by side as one graph.

    A single draw on a small graph, as in the paper, is a noisy teacher; copies make the mean of many.
    """
    values = _of_nodes(values, g.n_nodes)
    copies = Graph.from_scipy(
        sp.block_diag([g.to_scipy()] * n_copies, format="csr"), is_normalised=g.is_normalised
    )
    walked, split = jax.random.split(key)
    deposits = walks.simulate(walked, copies, walks.lengths.draw(walked, copies.n_nodes, n_walks, p_halt, "iid"))
    known = np.concatenate([hide(one, g.n_nodes, share) for one in jax.random.split(split, n_copies)])
    return Lesson(features.by_step(deposits), np.tile(values, (n_copies, 1)), known, np.flatnonzero(~known))


def of_one_size(lessons):
    """The same lessons, with deposits of no load appended, so that what is compiled for one serves all."""
    stored = [one.deposits for one in lessons]
    length, n_steps = max(len(one.load) for one in stored), max(one.n_steps for one in stored)

    def padded(deposits):
        arrays = {name: np.asarray(getattr(deposits, name)) for name in ("row", "node", "step", "load")}
        arrays = {name: np.pad(array, (0, length - len(array))) for name, array in arrays.items()}
        return replace(deposits, **arrays, n_steps=n_steps)

    return [one._replace(deposits=padded(one.deposits)) for one in lessons]


def loss(f, deposits, values, known, hidden):
    """Error at the hidden nodes, differentiable in f; the other arguments are those of a :class:`Lesson`."""
    phi, hidden = deposits.with_modulation(f), checks.indices(hidden, "hidden", deposits.shape[0])
    sums = weighted_sums(lambda v: phi @ (phi.T @ v), values, known)
    return angular_error(sums[hidden], jnp.asarray(checks.numbers(values, "values"))[hidden])


def error(deposits, f, values, known):
    """Error at the nodes that are not known, of predictions by deposits with one row per node."""
    phi = _features(deposits, f)
    return _error(lambda v: phi @ (phi.T @ v), _of_nodes(values, phi.shape[0]), known)


def exact_error(g, f, values, known, n_terms=200):
    """The error to which :func:`error` tends as walks become more: without the noise of any.

    ::

        v_i = sum over known j of  (f(W) f(W)^T)_ij v_j,    f(W) = sum over k < n_terms of f(k) W^k

    Products with f(W) are summed from the far end (Horner), without the trailing f(k) below 1e-14 of the
    largest.
    """
    values = _of_nodes(values, g.n_nodes)
    table, W = counted(f, g, n_terms), g.to_scipy()
    table = table[: np.flatnonzero(np.abs(table) > 1e-14 * np.abs(table).max()).max(initial=0) + 1]

    def applied(W, v):
        total = np.zeros_like(v)
        for weight in table[::-1]:
            total = W @ total + weight * v
        return total

    return _error(lambda v: applied(W, applied(W.T, np.asarray(v))), values, known)


def directions_in_turn(key, deposits, f, values, n_groups=20):
    """Predicted directions of all values, (N, c), hidden in turn in n_groups random groups of nodes.

    Rows have length 1, or are zero where no walk met a value. Deposits are those of :func:`error`.
    """
    phi = _features(deposits, f)
    n_nodes, values = phi.shape[0], _of_nodes(values, phi.shape[0])
    if not 2 <= n_groups <= n_nodes:
        raise ValueError(f"n_groups = {n_groups} for {n_nodes} nodes; give from 2 to {n_nodes}")
    order, predicted = streams.generator(streams.words(key), streams.Purpose.HIDDEN_NODES, 0).permutation(n_nodes), np.zeros_like(values)
    for group in np.array_split(order, n_groups):
        known = np.ones(n_nodes, dtype=bool)
        known[group] = False
        predicted[group] = weighted_sums(lambda v: phi @ (phi.T @ v), values, known)[group]
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
    sums = np.asarray(weighted_sums(product, values, known))
    hidden = ~np.asarray(known)
    if not hidden.any():
        raise ValueError(f"known = {known!r} hides no node; give a mask with a False in it")
    return float(angular_error(sums[hidden], values[hidden]))


def _of_nodes(values, n_nodes):
    values = np.asarray(checks.numbers(values, "values"), dtype=float)
    return values


def weighted_sums(kernel, values, known):
    """Sums v_i = sum over known j of K_ij v_j for every node i, not normalised, (N, c).

    The kernel is a matrix or the product ``v -> K v``: ``lambda v: phi_1 @ (phi_2.T @ v)`` with features,
    which are ``deposits.with_modulation(f)`` where gradients of f are wanted. ``known`` is a bool array,
    (N,).
    """
    values = jnp.asarray(checks.numbers(values, "values"))
    if values.ndim != 2:
        raise ValueError(f"values has shape {values.shape}; give one row per node, shape (N, c)")
    known = known if isinstance(known, jax.Array) else np.asarray(known)
    if known.shape != values.shape[:1] or known.dtype != bool:
        got = f"known has shape {known.shape} and dtype {known.dtype}"
        raise ValueError(f"{got}; give one bool per row of values, shape {values.shape[:1]}")
    masked = jnp.where(known[:, None], values, 0.0)
    if not callable(kernel):
        kernel = jnp.asarray(checks.numbers(kernel, "kernel"))
        if kernel.shape != (len(values), len(values)):
            raise ValueError(f"kernel has shape {kernel.shape}, values {values.shape}; give one row and column per node")
        return kernel @ masked
    sums = jnp.asarray(kernel(masked))
    if sums.shape != values.shape:
        raise ValueError(f"kernel(v) has shape {sums.shape} for v of shape {values.shape}; give K v")
    return sums


def angular_error(predicted, truth):
    """Mean of 1 - cos(angle) between rows; a row of zeros points nowhere, and its cosine counts as 0."""
    predicted, truth = checks.points(predicted, "predicted"), checks.points(truth, "truth")
    if predicted.shape != truth.shape or len(truth) == 0:
        raise ValueError(f"predicted has shape {predicted.shape}, truth {truth.shape}; give equal shapes, with rows")
    return 1 - jnp.mean(jnp.sum(_directions(predicted) * _directions(truth), axis=1))


def _directions(rows):
    # Of entries below 4 squares neither under- nor overflow. By a power of two, which rounds nothing.
    largest = jax.lax.stop_gradient(jnp.max(jnp.abs(rows), axis=1, keepdims=True))
    largest = jnp.where(largest > 0, largest, 2.0)  # makes 1
    rows = rows / jnp.maximum(largest / (4 * jnp.frexp(largest)[0]), jnp.finfo(rows.dtype).tiny)
    square = jnp.sum(rows**2, axis=1, keepdims=True)
    return rows / jnp.sqrt(jnp.where(square > 0, square, 1.0))
