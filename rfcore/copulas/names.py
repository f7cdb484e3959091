"""Copulas by name, their draws, and the joint distribution of two of these."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import jax
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Int, PRNGKeyArray

from rfcore import checks
from rfcore.copulas.copula import Copula, Correlated, DifferentStrata, Levels, Uniform
from rfcore.copulas.gaussians import Gaussian
from rfcore.copulas.nets import halton, sobol
from rfcore.copulas.strata import (
    Permutation,
    antithetic,
    comonotone,
    independent,
    permutation,
    stratified,
    systematic,
)
from rfcore.copulas.uniforms import uniforms

COPULAS: dict[str, Copula] = {
    "independent": independent,
    "antithetic": antithetic,
    "comonotone": comonotone,
    "stratified": stratified,
    "systematic": systematic,
    "sobol": sobol,
    "halton": halton,
    # Synonyms that the papers use.
    "iid": independent,
    "pnc": antithetic,
    "positive_monotone": comonotone,
    "reversal": antithetic,
}


def named(
    copula: str | Callable | Int[ArrayLike, "*k n"] | Sequence[int] | Sequence[Sequence[int]], name: str = "copula"
) -> Any:
    """The copula of a name or of a permutation; a record or function is returned as it is.

    Args:
        copula: a key of ``COPULAS``; a permutation, as :func:`permutation` takes it; or a copula.
        name: name of the argument, for the error message.
    """
    if callable(copula):
        return copula
    if isinstance(copula, list | tuple | np.ndarray | jax.Array):
        return permutation(copula, name)
    return COPULAS[cast(str, checks.choice(copula, name, COPULAS))]


def draw(
    copula: str | Callable | Int[ArrayLike, "*k n"] | Sequence[int],
    uniform: PRNGKeyArray | Uniform,
    shape: tuple[int, ...],
) -> Levels:
    """Draws of a copula: m coupled points of the cube [0, 1)^k, perhaps in several independent blocks.

    ::

        mean over i of f(u_i),   u = draw("sobol", key, (m, k))      estimates the integral of f over the cube

    It is unbiased with any copula, since each point is uniform, and better than with independent points where
    the points spread and f is smooth.

    Args:
        copula: as for :func:`named`; of a function of your own, the shape and known values are checked.
        uniform: a JAX key, or a source of uniforms: ``rng.random`` of NumPy, or :func:`uniforms`.
        shape: (m, k) for m points in k dimensions, or (..., m, k) for independent blocks of them.

    >>> import jax
    >>> from rfcore import copulas
    >>> u = copulas.draw("sobol", jax.random.key(0), (64, 8))
    >>> u.shape, bool(abs(u.mean() - 0.5) < 1e-3)
    ((64, 8), True)
    """
    shape = tuple(checks.count(n, "shape", least=0) for n in shape)
    if len(shape) < 2:
        raise ValueError(f"shape = {shape}; give (m, k), m points in k dimensions, or (..., m, k)")
    u = named(copula)(uniform if callable(uniform) else uniforms(uniform), shape)
    if np.shape(u) != shape:
        raise ValueError(f"copula maps shape {shape} to an array of shape {np.shape(u)}; give one uniform per entry")
    return checks.levels(u, "copula")


def pairs(copula: Any, name: str = "copula") -> Correlated | DifferentStrata | Permutation | Gaussian:
    """Joint distribution of two draws of a copula, from which closed forms follow.

    Args:
        copula: as for :func:`named`.
        name: name of the argument, for the error message.

    Returns:
        The copula itself if it is a permutation's or a Gaussian one. Raises ValueError where no closed form
        is known.
    """
    found = named(copula, name)
    if isinstance(found, Permutation | Gaussian):
        return found
    known = getattr(found, "pairs", None)
    if known is None:
        names = ", ".join(sorted(name for name, one in COPULAS.items() if one.pairs))
        raise ValueError(f"{name} = {copula!r} has no closed form; give {names}, a permutation or copulas.gaussian(...)")
    return known
