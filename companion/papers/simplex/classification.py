"""How well positive features classify a table: accuracies of many draws of coupled blocks of frequencies.

A test point takes the class with most votes of training points, weighted by the Gaussian kernel. Blocks are
independent, so that votes of several add up: one draw of ten blocks of d gives the accuracy of m = d, 2 d,
..., 10 d features.

Source: Simplex Random Features, Section 5.3 and Appendix B.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from companion import datasets
from companion.models import regression
from rfcore import features

# All their points are so close to the origin, so scaled, that no feature underflows in single precision.
NEAR = ("car", "cmc", "nursery", "wifi", "chess")

# Every dimension is a compilation; at this level of optimisation it takes half as long, and the draws no longer.
light = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 1})


class Task(NamedTuple):
    """A split of a table whose points are scaled; from :func:`task`."""

    x_train: jax.Array
    """Shape (n, d)."""
    targets: jax.Array
    """One-hot labels of the training points, shape (n, c)."""
    x_test: jax.Array
    """Shape (l, d)."""
    labels: jax.Array
    """Of the test points, shape (l,)."""


class Accuracies(NamedTuple):
    """Of many draws of blocks of frequencies; from :func:`accuracies`."""

    alone: np.ndarray
    """Of every block by itself, shape (n_draws, n_couplings, n_blocks)."""
    together: np.ndarray
    """Of the first 1, 2, ..., n_blocks blocks of a draw, shape (n_draws, n_couplings, n_blocks)."""
    votes: np.ndarray
    """Scores of all blocks of ``batch`` draws, added up, shape (n_draws / batch, n_couplings, l, c)."""


def task(part, n_classes, sigma, dtype=np.float64):
    """Classifying the test part of a ``datasets.Split`` from its training part, points times sigma."""
    largest = max(part.y_train.max(), part.y_test.max())
    if largest >= n_classes:
        raise ValueError(f"n_classes = {n_classes} for labels up to {largest}; give at least {largest + 1}")
    targets = np.eye(n_classes)[part.y_train]
    arrays = (jnp.asarray(a, dtype) for a in (sigma * part.X_train, targets, sigma * part.X_test))
    return Task(*arrays, jnp.asarray(part.y_test))


def public_task(table, seed=42, double=False):
    """A table as the public code of Simplex Random Features splits (seed 42) and scales it.

    Unless ``double``, in single precision where points are near the origin, and no feature underflows: half
    the time.
    """
    sigmas = {entry.name: entry.sigma for entry in datasets.entries("classification") if entry.sigma}
    single = not double and table.name in NEAR
    part = datasets.split(table, seed=seed)
    return task(part, len(table.classes), sigmas[table.name], np.float32 if single else np.float64)


def accuracies(key, task, couplings, n_draws, n_blocks=1, width=None, batch=10):
    """Accuracies of positive features whose frequencies are drawn again and again, in blocks.

    ::

        votes of a block W:  phi_W(x)^T sum_i phi_W(x_i) y_i,   x_i training points, y_i their one-hot labels
        phi_W(x)_j = exp(w_j^T x - |x|^2),   together: votes of the first blocks, added up

    All couplings, functions (key, m, d), draw from the same keys, so that differences between them are
    paired. Draws are compiled apart from what is done with them, in which blocks come one by one and stay in
    the cache. A block has width frequencies in as many dimensions; above d, points are padded with zeros
    (Appendix B.2).
    """
    couplings = _functions(couplings)
    n_draws, n_blocks, batch = (
        value for value, name in ((n_draws, "n_draws"), (n_blocks, "n_blocks"), (batch, "batch"))
    )
    if n_draws % batch:
        raise ValueError(f"n_draws = {n_draws} is no multiple of batch = {batch}; give one")
    d = task.x_train.shape[1]
    width = d if width is None else width
    parts = []
    for keys in jax.random.split(key, n_draws).reshape(-1, batch):
        omega = _draw(keys, couplings, width, n_blocks)[..., :d].astype(task.x_train.dtype)
        parts.append(jax.tree.map(np.asarray, _evaluate(task, omega)))
    alone, together, votes = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
    return Accuracies(alone, together, votes)


def majority(task):
    """Accuracy of always answering the commonest training class: the limit sigma = 0 of every kernel."""
    return float(np.mean(np.asarray(task.labels) == np.asarray(task.targets).sum(axis=0).argmax()))


def exact(task):
    """Accuracy of the kernel itself: what infinitely many features give."""
    votes = np.asarray(regression.scores_exact(task.x_train, task.targets, task.x_test))
    return float(np.mean(votes.argmax(axis=1) == np.asarray(task.labels)))


def mean_v(task):
    """Mean length of x + y over training points x and test points y, on which the gain of a coupling hangs.

    Source: Simplex Random Features, Table 2.
    """
    return float(_mean_v(task))


def _functions(couplings):
    return tuple(draw for draw in couplings)


@partial(light, static_argnames=("couplings", "d", "n_blocks"))
def _draw(keys, couplings, d, n_blocks):
    """Frequencies in blocks of d, shape (draws, couplings, blocks, d, d)."""

    def one(key):
        return jnp.stack([draw(key, n_blocks * d, d) for draw in couplings])

    return jax.vmap(one)(keys).reshape(len(keys), len(couplings), n_blocks, d, d)


@light
def _evaluate(task, omega):
    """Accuracies of blocks alone and together, and the votes of all blocks of all draws."""

    def votes_of(block):
        phi, phi_test = features.positive(task.x_train, block), features.positive(task.x_test, block)
        return regression.scores(phi, task.targets, phi_test)

    votes = jax.lax.map(votes_of, omega.reshape(-1, *omega.shape[-2:]))
    votes = votes.reshape(*omega.shape[:-2], *votes.shape[1:])
    together = jnp.cumsum(votes, axis=-3)
    shares = (jnp.mean(jnp.argmax(v, axis=-1) == task.labels, axis=-1, dtype=float) for v in (votes, together))
    return *shares, together[..., -1, :, :].sum(axis=0, keepdims=True)


@light
def _mean_v(task):
    def of_test_point(y):
        return jnp.mean(jnp.linalg.norm(task.x_train + y, axis=1))

    return jnp.mean(jax.lax.map(of_test_point, task.x_test, batch_size=16))
