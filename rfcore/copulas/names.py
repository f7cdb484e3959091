"""Copulas by name, and what is known of their pairs."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import numpy as np

from rfcore import checks
from rfcore.copulas.gaussians import Gaussian
from rfcore.copulas.nets import halton, sobol
from rfcore.copulas.strata import (
    Matched,
    comonotone,
    independent,
    permutation,
    reversal,
    stratified,
    systematic,
)
from rfcore.copulas.uniforms import draw


class Correlated(NamedTuple):
    """Pairs at the levels of two normals with a correlation; 0 is independent, -1 opposite, 1 equal."""

    partners: float
    """Correlation of draws 2i and 2i + 1 of a block."""
    others: float
    """Correlation of all other pairs."""


class DifferentStrata(NamedTuple):
    """Any two draws are uniform on two different ones of as many strata as a block has draws."""


COPULAS = {
    "independent": independent,
    "reversal": reversal,
    "comonotone": comonotone,
    "stratified": stratified,
    "systematic": systematic,
    "sobol": sobol,
    "halton": halton,
}
ALIASES = {"iid": "independent", "pnc": "reversal", "positive_monotone": "comonotone"}
"""Names by which papers call them, here and there."""
NAMES = (*COPULAS, *ALIASES)
# Those of which closed forms of errors are known, besides permutations and Gaussian copulas.
PAIRS = {
    independent: Correlated(0, 0),
    reversal: Correlated(-1, 0),
    comonotone: Correlated(1, 1),
    stratified: DifferentStrata(),
}


def named(coupling, name="coupling"):
    """Copula by its name; a permutation becomes its copula, and a function stands for itself.

    Args:
        coupling: a name of ``COPULAS`` or ``ALIASES``; int array, as :func:`permutation` takes it; function.
        name: what a complaint calls the argument.
    """
    if callable(coupling):
        return coupling
    if isinstance(coupling, list | tuple | np.ndarray | jax.Array):
        return permutation(coupling, name)
    checks.choice(coupling, name, NAMES)
    return COPULAS[ALIASES.get(coupling, coupling)]


def pairs(law, name="law"):
    """What two draws of a copula are to each other, from which its closed forms follow.

    Args:
        law: as :func:`named` takes it.
        name: what a complaint calls the argument.

    Returns:
        :class:`Correlated` or :class:`DifferentStrata`; the copula itself where it is that of a permutation
        or a Gaussian one. Raises ValueError where no closed form is known.
    """
    copula = named(law, name)
    if isinstance(copula, Matched | Gaussian):
        return copula
    if copula not in PAIRS:
        known = ", ".join(known.__name__ for known in PAIRS)
        raise ValueError(f"{name} = {law!r} has no closed form; give {known}, a permutation or copulas.gaussian(...)")
    return PAIRS[copula]


def over(law, n_coordinates):
    """A copula of n_coordinates coordinates of a draw, which it couples together.

    Args:
        law: copula or its name.
        n_coordinates: of walks 1 is the length alone, 3 the length and two hops.

    Sobol' points in three dimensions, for the length and the first two hops of each walk of a node:

    >>> from rfcore import copulas
    >>> law = copulas.over("sobol", 3)
    """
    return _Over(named(law, "law"), checks.count(n_coordinates, "n_coordinates"))


@dataclass(frozen=True)
class _Over:
    law: object
    n_coordinates: int

    def __call__(self, uniform, shape):
        return draw(self.law, uniform, shape)
