"""A cosine as fast as a product, for Fourier features."""

import math

import jax
import jax.numpy as jnp


@jax.custom_jvp
def cosine_of_turns(u):
    """cos(2 pi u) of angles in turns, many times faster than XLA's cosine on a CPU.

    ::

        cos(2 pi u) = cos(2 pi r) = sin(2 pi s)   for   r = u - round(u) in [-1/2, 1/2],  s = 1/4 - |r|

    Accurate to two units in the last place of 1. Whole turns are subtracted without rounding error, which is
    what makes general cosines slow; the remainder of the sine's Taylor polynomial is below 1e-18 on the
    quarter turn.
    """
    s = 0.25 - jnp.abs(u - jnp.round(u))
    square, polynomial = s * s, jnp.zeros_like(u)
    for coefficient in reversed(_SINE_OF_TURNS):
        polynomial = polynomial * square + coefficient
    return polynomial * s


_SINE_OF_TURNS = [(-1) ** k * math.tau ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(12)]


@cosine_of_turns.defjvp
def _cosine_of_turns_jvp(primals, tangents):
    (u,), (du,) = primals, tangents
    return cosine_of_turns(u), -math.tau * cosine_of_turns(u - 0.25) * du
