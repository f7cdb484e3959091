"""Uniforms of a JAX key, and the draw of a copula from them."""

import jax
import numpy as np

from rfcore import checks


def uniforms(key):
    """Source of independent uniforms on (0, 1) in JAX, for one draw of a copula.

    ::

        u = (j + 1/2) 2^-23 in float32, (j + 1/2) 2^-52 in float64, j a uniform whole number

    so that neither u nor 1 - u, which is exact, is ever 0 or 1.

    Returns:
        A function ``shape -> u`` in the default float dtype, each call of which folds its number into the
        key.

    Make the source where it is used: one that is carried into a compiled function counts the calls of the
    tracing.

    >>> import jax
    >>> from rfcore import copulas
    >>> pairs = copulas.reversal(copulas.uniforms(jax.random.key(0)), (5, 2, 1))
    >>> bool((pairs.sum(axis=1) == 1).all())
    True
    """
    return _Uniforms(key)


class _Uniforms:
    def __init__(self, key):
        self.key, self.n_calls = key, 0

    def __call__(self, shape):
        self.n_calls += 1
        u = jax.random.uniform(jax.random.fold_in(self.key, self.n_calls), shape)
        return u + eps(u) / 2


def draw(law, uniform, shape):
    """Draw of a law that may be anybody's: its shape is checked, and its values where they are known."""
    u = law(uniform, shape)
    if np.shape(u) != tuple(shape):
        raise ValueError(f"law maps shape {shape} to an array of shape {np.shape(u)}; give one uniform per entry")
    return checks.levels(u, "law")


def eps(u):
    """Distance from 1 to the next number in the precision of u."""
    return float(np.finfo(u.dtype).eps)


def below_one(u):
    """The largest number below 1 in the precision of u."""
    return 1 - eps(u) / 2
