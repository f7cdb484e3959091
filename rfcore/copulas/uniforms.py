"""Uniforms from a JAX key, and what their precision allows."""

import jax
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from rfcore import checks
from rfcore.copulas.copula import Levels, Uniform


def uniforms(key: PRNGKeyArray) -> Uniform:
    """Source of independent uniforms on (0, 1) in JAX, for one draw of a copula.

    ::

        u = (j + 1/2) 2^-23 in float32, (j + 1/2) 2^-52 in float64, j a uniform whole number

    so that neither u nor 1 - u, which is exact, is ever 0 or 1.

    They have the default float dtype. Call number i folds i into the key. Create a source where it is used:
    inside a compiled function, one from outside counts the calls made while tracing.

    >>> import jax
    >>> from rfcore import copulas
    >>> pairs = copulas.antithetic(copulas.uniforms(jax.random.key(0)), (5, 2, 1))
    >>> bool((pairs.sum(axis=1) == 1).all())
    True
    """
    return _Uniforms(checks.key(key))


class _Uniforms:
    def __init__(self, key: PRNGKeyArray) -> None:
        self.key, self.n_calls = key, 0

    def __call__(self, shape: tuple[int, ...]) -> Float[Array, "..."]:
        self.n_calls += 1
        u = jax.random.uniform(jax.random.fold_in(self.key, self.n_calls), shape)
        return u + eps(u) / 2


def eps(u: Levels) -> float:
    """Distance from 1 to the next number in the precision of u."""
    return float(np.finfo(u.dtype).eps)


def below_one(u: Levels) -> float:
    """The largest number below 1 in the precision of u."""
    return 1 - eps(u) / 2
