"""The neural modulation function: a small network from the length of a walk to its weight."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int, PRNGKeyArray

from rfcore import checks


class Neural(eqx.Module):
    """Neural modulation: the function ``f(k)``, and a pytree of its parameters.

    ::

        f(k) = softplus(w2 . relu(w1 k + b1) + b2) > 0

    with one hidden layer; the paper's has a single unit. A unit whose relu is 0 at every length is dead: no
    gradient reaches it, and with all units dead f remains constant. One unit in four of :func:`random`
    starts dead (w1 and b1 both negative), others die in training; :func:`flat` starts with none.

    Source: Universal Graph Random Features, Eq. 16.
    """

    w1: Float[Array, "*runs hidden"]
    b1: Float[Array, "*runs hidden"]
    w2: Float[Array, "*runs hidden"]
    b2: Float[ArrayLike, "*runs"]

    def __call__(self, k: Int[ArrayLike, "*lengths"]) -> Float[Array, "*lengths"]:
        """Values at an integer array of lengths."""
        hidden = jax.nn.relu(jnp.asarray(k)[..., None] * self.w1 + self.b1)
        return jax.nn.softplus(hidden @ self.w2 + self.b2)


def random(key: PRNGKeyArray, hidden: int = 1) -> Neural:
    """Neural modulation with the usual random start of linear layers.

    w1 and b1 are uniform on (-1, 1), w2 and b2 on (-1, 1) / sqrt(hidden).
    """
    hidden = checks.count(hidden, "hidden")
    keys = jax.random.split(key, 4)
    w1, b1, w2 = (jax.random.uniform(k, (hidden,), minval=-1.0) for k in keys[:3])
    b2 = jax.random.uniform(keys[3], minval=-1.0)
    return Neural(w1, b1, w2 / hidden**0.5, b2 / hidden**0.5)


def flat(value: float = 1.0, hidden: int = 1) -> Neural:
    """Neural modulation that is constant, with every unit alive.

    ::

        f(k) = value > 0;   w1 = 1,  b1 = 1, 0, -1, ...,  w2 = 0

    Unit j of ``hidden`` has its kink at length j - 1.
    """
    value, hidden = checks.real(value, "value", above=0), checks.count(hidden, "hidden")
    inverse_softplus = value + jnp.log(-jnp.expm1(-value))
    return Neural(jnp.ones(hidden), 1.0 - jnp.arange(hidden), jnp.zeros(hidden), inverse_softplus)
