"""Where the uniforms of a copula come from, and what its draws are held to."""

from dataclasses import dataclass

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
    >>> from rfcore.couplings import copulas
    >>> pairs = copulas.reversal(copulas.uniforms(jax.random.key(0)), (5, 2, 1))
    >>> bool((pairs.sum(axis=1) == 1).all())
    True
    """
    return _Uniforms(checks.key(key))


class _Uniforms:
    def __init__(self, key):
        self.key, self.n_calls = key, 0

    def __call__(self, shape):
        self.n_calls += 1
        u = jax.random.uniform(jax.random.fold_in(self.key, self.n_calls), shape)
        return u + eps(u) / 2


def draw(law, uniform, shape):
    """Draw of a law that may be anybody's: its shape is checked, and its values where they are known."""
    checks.function(law, "law", "couplings.copulas.reversal")
    uniform, blocks, m, k = sizes(uniform, shape)
    u = law(uniform, (*blocks, m, k))
    if np.shape(u) != (*blocks, m, k):
        raise ValueError(f"law maps shape {shape} to an array of shape {np.shape(u)}; give one uniform per entry")
    return checks.levels(u, "law")


def sizes(uniform, shape):
    """``(uniform, blocks, m, k)`` of a shape ``(*blocks, m, k)``; anybody's uniforms become checked ones."""
    checks.function(uniform, "uniform", "couplings.copulas.uniforms(key)")
    if not isinstance(shape, tuple | list) or len(shape) < 2:
        raise ValueError(f"shape = {shape!r}; give a tuple (..., m, k): blocks, m draws in each, k coordinates")
    *blocks, m, k = (checks.count(size, "shape", least=0) for size in shape)
    known = isinstance(uniform, _Uniforms | _Checked) or (
        isinstance(getattr(uniform, "__self__", None), np.random.Generator) and uniform.__name__ == "random"
    )
    return uniform if known else _Checked(uniform), blocks, m, k


@dataclass(frozen=True)
class _Checked:
    """Anybody's uniforms: what comes is looked at."""

    uniform: object

    def __call__(self, shape):
        u = self.uniform(shape)
        if np.shape(u) != tuple(shape) or getattr(u, "dtype", np.dtype(int)).kind != "f":
            kind = getattr(u, "dtype", type(u).__name__)
            got = f"uniform maps shape {shape} to {kind} of shape {np.shape(u)}"
            raise ValueError(f"{got}; give uniforms of that shape, such as np.random.default_rng(0).random")
        return checks.levels(u, "uniform")


def eps(u):
    """Distance from 1 to the next number in the precision of u."""
    return float(np.finfo(u.dtype).eps)


def below_one(u):
    """The largest number below 1 in the precision of u."""
    return 1 - eps(u) / 2
