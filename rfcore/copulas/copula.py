"""The base class of copulas, and the joint distributions of two draws that closed forms use."""

import abc
from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

Levels = Float[Array | np.ndarray, "..."]
Uniform = Callable[[tuple[int, ...]], Levels]
"""Fresh independent uniforms of a shape, which a copula may write to."""


class Correlated(eqx.Module):
    """Each pair has the levels of two correlated normals: 0 is independent, -1 opposite, 1 equal."""

    partners: float
    """Correlation of draws 2i and 2i + 1 of a block."""
    others: float
    """Correlation of all other pairs."""


class DifferentStrata(eqx.Module):
    """Any two draws are uniform on two different strata, out of as many as a block has draws."""


class Copula(eqx.Module):
    """Joint distribution of uniforms: ``copula(uniform, shape) -> u``, see :mod:`rfcore.copulas`."""

    pairs: ClassVar[Correlated | DifferentStrata | None] = None
    """Joint distribution of two draws of a block, where closed forms know it."""

    @abc.abstractmethod
    def __call__(self, uniform: Uniform, shape: tuple[int, ...]) -> Levels:
        """A draw of the given shape (..., m, k), from the independent uniforms that ``uniform`` makes."""
