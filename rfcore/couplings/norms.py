"""Joint laws of the lengths of frequencies, each chi_d (the length of a N(0, I_d) vector): ``(key, m, d) -> (m,)``."""

import jax
import jax.numpy as jnp

from rfcore import checks


def independent(key, m, d):
    """Independent chi_d lengths.

    ::

        w_i = |g_i|,  g_i ~ N(0, I_d)

    Parameters
    ----------
    key : JAX PRNG key
    m, d : int

    Returns
    -------
    array, shape (m,), in the default float dtype

    Raises
    ------
    ValueError
        If m < 0 or d < 1, or the key is no JAX key.

    Notes
    -----
    The chi law of the length of a normal vector, as in Simplex Random Features.

    Examples
    --------
    >>> import jax
    >>> from rfcore import couplings
    >>> couplings.norms.independent(jax.random.key(0), 5, 3).shape
    (5,)
    """
    m, d = checks.count(m, "m", least=0), checks.count(d, "d")
    # m d normals rather than m gammas: JAX's gamma sampler takes seconds to compile for every new shape.
    return jnp.linalg.norm(jax.random.normal(checks.key(key), (m, d)), axis=1)
