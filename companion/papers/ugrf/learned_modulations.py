"""Modulations learned on a small graph: the loss of walks, two numbers for a network, many at once."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from companion.models import descent
from rfcore import walks
from rfcore.features import by_step
from rfcore.walks.losses import Form, form, gram

__all__ = ["Geometric", "best_scale", "learn_each", "loss_of_walks", "staircase"]


class Geometric(NamedTuple):
    """Modulation f(k) = c r^k, itself the function of an integer array and a pytree of its two numbers.

    On weights beta W it is c times the flat one on r beta W: a kernel of another length scale.
    """

    c: jax.Array
    r: jax.Array

    def __call__(self, k):
        """Values at an integer array of lengths."""
        return self.c * self.r ** jnp.asarray(k)


def loss_of_walks(key, g, target, n_walks, p_halt, n_repeats, n_steps=10):
    """Mean squared relative error of Gram matrices from shared walks, as a function of the modulation.

    Args:
        key: JAX PRNG key.
        g: graph, small: the cost is that of :func:`rfcore.walks.losses.form`, which this returns.
        target: the Gram matrix, (N, N).
        n_walks: number per node and repeat, independent, the same for rows and columns.
        p_halt: probability of stopping before each hop.
        n_repeats: number of repeats, over which the error is averaged.
        n_steps: steps counted.

    Source: Universal Graph Random Features, Section 3.4.
    """
    n = g.n_nodes
    target = gram(target, "target", n)
    nodes = np.tile(np.arange(n), n_repeats)
    of_lengths, of_hops = jax.random.split(key)
    lengths = walks.lengths.draw(of_lengths, len(nodes), n_walks, p_halt, "iid")
    stored = by_step(walks.simulate(of_hops, g, lengths, nodes=nodes))
    return form(stored, stored, target, n_steps)


def best_scale(loss, f):
    """The c for which c f has the least loss, and that least loss.

    ::

        loss(c f) = A c^4 - 2 B c^2 + 1,   c = sqrt(B / A)

    Args:
        loss: :class:`rfcore.walks.losses.Form`.
        f: modulation of values that are not negative, and not all 0.

    Raises ValueError if no c brings the loss below 1, that of c = 0.
    """
    once, twice = (float(loss(lambda k, c2=c2: np.sqrt(c2) * jnp.asarray(f(k)))) - 1 for c2 in (1.0, 2.0))
    A, B = twice / 2 - once, twice / 4 - once
    if not (A > 0 and B > 0):
        raise ValueError(f"f has no scale at which its loss is below 1 (A = {A:.3g}, B = {B:.3g}); give one of positive values")
    return float(np.sqrt(B / A)), float(1 - B**2 / A)


def staircase(steps_per_epoch, rate=0.01, decay=0.975):
    """Adam at a rate that decays once an epoch: the printed schedule.

    The paper does not say how many steps an epoch has, and it matters: the rates, about what Adam moves a
    parameter by in a step, add up to rate / (1 - decay) per step of an epoch, 0.4 by default.

    Args:
        steps_per_epoch: number of steps.
        rate: of the first epoch.
        decay: factor by which the rate falls each epoch, strictly between 0 and 1.

    Source: Universal Graph Random Features, Section 3.4.
    """
    steps = steps_per_epoch
    return optax.adam(optax.exponential_decay(rate, steps, decay, staircase=True))


def learn_each(starts, losses, n_steps, optimiser):
    """Many modulations, or pairs of them, learned at once, each as if alone.

    The sum of the losses falls as each would.

    Args:
        starts: pytrees of one structure, such as :func:`rfcore.features.neural.flat`, or tuples of two for a
            pair.
        losses: :class:`rfcore.walks.losses.Form`, one for all, or a sequence of one each.
        n_steps: number of steps.
        optimiser: one of optax that treats every parameter apart, such as ``optax.adam``.

    Returns:
        Pytree of the structure of one start, each leaf with a first axis over the starts.
    """
    starts = list(starts) if np.iterable(starts) else []
    if not starts:
        raise ValueError("starts has no start; give at least one, such as [neural.flat()]")
    shared = isinstance(losses, Form)
    each = [losses] if shared else list(losses) if np.iterable(losses) else []
    stacked = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf, dtype=float) for leaf in leaves]), *starts)
    data = losses if shared else jax.tree.map(lambda *leaves: jnp.stack(leaves), *each)
    return descent.learn(_sum_shared if shared else _sum_each, stacked, (data,), n_steps, optimiser).f


def _loss(f, form):
    return form(*f) if type(f) is tuple else form(f)


def _sum_shared(fs, form):
    return jnp.sum(jax.vmap(_loss, in_axes=(0, None))(fs, form))


def _sum_each(fs, forms):
    return jnp.sum(jax.vmap(_loss)(fs, forms))
