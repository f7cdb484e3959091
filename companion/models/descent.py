"""Gradient descent on any differentiable loss: how modulations are learned, among others.

Features are linear in their modulation f and walks do not depend on it, so that any differentiable loss of
the features is a differentiable loss of f. The steps are those of ``optax``.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from rfcore import checks


class Learned(NamedTuple):
    """What was learned, and the losses on the way."""

    f: Any
    """Like the f that was given."""
    losses: np.ndarray
    """Loss before each step, shape (n_steps,)."""


def learn(loss, f, data=(), n_steps=1000, optimiser=None, key=None):
    """Parameters that make a loss small, such as a modulation that makes the error of features small.

    Args:
        loss: function ``(f, *data) -> scalar``, or ``(f, key, *data) -> scalar`` if there is a key; for
            example a model's error as a function of ``deposits.with_modulation(f)``.
        f: pytree of numbers to start from, such as :func:`rfcore.features.neural.flat` or a pair of them.
        data: tuple of pytrees: all large arrays, so that none becomes a constant of the compiled code.
        n_steps: number of steps.
        optimiser: one of optax, ``optax.adam(0.01)`` by default. A schedule that decays too fast stops short:
            by 0.975 a step, no parameter moves further than about 0.4 in all.
        key: JAX PRNG key for a loss with noise of its own, split into one key a step.

    Raises FloatingPointError if a loss or a parameter is not finite.

    Source: Universal Graph Random Features, Section 3.4; Kingma and Ba, "Adam" (2015).

    >>> import optax
    >>> from companion.models import descent
    >>> learned = descent.learn(lambda x: (x - 3.0) ** 2, 1.0, n_steps=20, optimiser=optax.sgd(0.25))
    >>> round(float(learned.f), 3), round(float(learned.losses[0]), 3)
    (3.0, 4.0)
    """
    n_steps = checks.count(n_steps, "n_steps")
    f = jax.tree.map(lambda x: jnp.asarray(checks.numbers(x, "a parameter of f"), dtype=float), f)
    optimiser = optax.adam(0.01) if optimiser is None else optimiser
    if not (hasattr(optimiser, "init") and hasattr(optimiser, "update")):
        raise ValueError(f"optimiser = {optimiser!r}; give one of optax, such as optax.adam(0.01)")
    f, losses = descend(loss, optimiser, n_steps, f, tuple(data), key)
    losses = np.asarray(losses)
    if not np.all(np.isfinite(losses)):
        step = int(np.argmin(np.isfinite(losses)))
        raise FloatingPointError(f"the loss is {losses[step]} at step {step}; lower the learning rate")
    if not all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(f)):
        raise FloatingPointError("the last step left parameters that are not finite; lower the learning rate")
    return Learned(f, losses)


@partial(jax.jit, static_argnums=(0, 1, 2))
def descend(loss, optimiser, n_steps, f, data, key=None):
    """The compiled loop of :func:`learn`, without its checks: the last f, and the loss before each step."""

    def step(state, fresh):
        f, memory = state
        value, slope = jax.value_and_grad(loss)(f, *fresh, *data)
        update, memory = optimiser.update(slope, memory, f)
        return (optax.apply_updates(f, update), memory), value

    fresh = () if key is None else (jax.random.split(key, n_steps),)
    (f, _), losses = jax.lax.scan(step, (f, optimiser.init(f)), fresh, length=n_steps)
    return f, losses
