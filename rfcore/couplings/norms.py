"""Joint laws of the lengths of frequencies, each chi_d (the length of a N(0, I_d) vector): ``(key, m, d) -> (m,)``."""

import jax
import jax.numpy as jnp

from rfcore import checks


def independent(key, m, d):
    """Independent chi_d lengths.

    ::

        w = sqrt(2 g),  g ~ Gamma(d / 2)

    Parameters
    ----------
    key : JAX PRNG key
    m, d : int

    Returns
    -------
    array, shape (m,)
    """
    m, d = checks.count(m, "m", least=0), checks.count(d, "d")
    return jnp.sqrt(2 * jax.random.gamma(key, d / 2, (m,)))
