"""Modulations learned by gradient descent on fixed walks.

Features are linear in f and walks do not depend on it, so that any differentiable loss of the features is a
differentiable loss of f. Walks come as :class:`rfcore.features.DepositsByStep`, data that the compiled descent
takes as arguments; it holds nothing of their size beyond the features themselves. Universal Graph Random Features,
Sections 2.1, 3.4 and 3.5.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from rfcore import checks


class Learned(NamedTuple):
    """A learned modulation, and the losses on the way."""

    f: Any
    """Like the f that was given."""
    losses: np.ndarray
    """Loss before each step, shape (n_steps,)."""


def learn(loss, f, data=(), n_steps=1000, optimiser=None):
    """Modulation that makes a loss small.

    Parameters
    ----------
    loss : function ``(f, *data) -> scalar``
        Differentiable; for example :func:`gram_error` with the same f on both sides, or a model's error as a
        function of ``deposits.toarray(f)``.
    f : pytree
        What to start from: :func:`rfcore.features.neural.flat`, an array of values that the loss hands to
        :func:`rfcore.features.modulation.from_values`, a pair of either.
    data : tuple of pytrees
        Walks, targets: all large arrays, so that none becomes a constant of the compiled code.
    n_steps : int
    optimiser : optax.GradientTransformation, optional
        ``optax.adam(0.01)`` by default. A schedule that decays too fast stops short: by 0.975 a step, no
        parameter moves further than about 0.4 in all.

    Returns
    -------
    Learned

    Raises
    ------
    FloatingPointError
        If a loss or a parameter is not finite.
    ValueError
        If n_steps < 1.
    """
    n_steps = checks.count(n_steps, "n_steps")
    f = jax.tree.map(lambda x: jnp.asarray(x, dtype=float), f)
    f, losses = descend(loss, optimiser or optax.adam(0.01), n_steps, f, tuple(data))
    losses = np.asarray(losses)
    if not np.all(np.isfinite(losses)):
        step = int(np.argmin(np.isfinite(losses)))
        raise FloatingPointError(f"the loss is {losses[step]} at step {step}; lower the learning rate")
    if not all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(f)):
        raise FloatingPointError("the last step left parameters that are not finite; lower the learning rate")
    return Learned(f, losses)


@partial(jax.jit, static_argnums=(0, 1, 2))
def descend(loss, optimiser, n_steps, f, data):
    """The compiled loop of :func:`learn`: the last f, and the loss before each step."""

    def step(state, _):
        f, memory = state
        value, slope = jax.value_and_grad(loss)(f, *data)
        update, memory = optimiser.update(slope, memory, f)
        return (optax.apply_updates(f, update), memory), value

    (f, _), losses = jax.lax.scan(step, (f, optimiser.init(f)), length=n_steps)
    return f, losses


def gram_error(f1, f2, left, right, target):
    """Squared relative error of the estimate of a Gram matrix, in Frobenius norm.

    ::

        |Phi_1(f1) Phi_2(f2)^T - K|^2 / |K|^2

    Parameters
    ----------
    f1, f2 : functions of an integer array
        Modulations; the same twice for a symmetric pair.
    left, right : DepositsByStep, shape (n, N)
        Walks behind Phi_1 and Phi_2; the same twice for shared walks, whose diagonal is biased upwards.
    target : array, shape (n, n)
        K.

    Returns
    -------
    scalar array

    Notes
    -----
    Universal Graph Random Features, Section 3.4. The numbers of its Table 3 are squared errors of shared walks.
    """
    error = left.toarray(f1) @ right.toarray(f2).T - target
    return jnp.sum(error**2) / jnp.sum(jnp.square(target))
