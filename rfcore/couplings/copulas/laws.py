"""The registry: every law of uniforms by its name, and what two of its draws are to each other.

A new law is its function and one row of ``LAWS``. By its name it is then known to norms, to lengths and hops
of walks and to plots; closed forms of errors (:mod:`rfcore.theory.norm_costs`,
:func:`rfcore.theory.joint_survival`) follow from its pairs.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import numpy as np

from rfcore import checks
from rfcore.couplings.copulas.correlated import Gaussian
from rfcore.couplings.copulas.nets import halton, sobol
from rfcore.couplings.copulas.sources import draw, sizes
from rfcore.couplings.copulas.strata import (
    Matched,
    comonotone,
    independent,
    matched,
    reversal,
    stratified,
    systematic,
)


class Correlated(NamedTuple):
    """Pairs at the levels of two normals with a correlation; 0 is independent, -1 opposite, 1 equal."""

    partners: float
    """Correlation of draws 2i and 2i + 1 of a block."""
    others: float
    """Correlation of all other pairs."""


class DifferentStrata(NamedTuple):
    """Any two draws are uniform on two different ones of as many strata as a block has draws."""


class Law(NamedTuple):
    """A row of the registry."""

    draw: object
    """The copula, a function ``(uniform, shape) -> u``."""
    pairs: object = None
    """:class:`Correlated` or :class:`DifferentStrata`; None where no closed form of an error is known."""
    aliases: tuple = ()
    """Names by which papers call it, here and there."""


LAWS = {
    "independent": Law(independent, Correlated(0, 0), ("iid",)),
    "reversal": Law(reversal, Correlated(-1, 0), ("pnc",)),
    "comonotone": Law(comonotone, Correlated(1, 1), ("positive_monotone",)),
    "stratified": Law(stratified, DifferentStrata()),
    "systematic": Law(systematic),
    "sobol": Law(sobol),
    "halton": Law(halton),
}
"""The registry: a row per law of uniforms, by the name that it has everywhere."""
NAMES = {name: law for law, row in LAWS.items() for name in (law, *row.aliases)}


def named(coupling, name="coupling"):
    """Copula by its name; a permutation becomes its law, and a function stands for itself.

    Args:
        coupling: a name or an alias of ``LAWS``; int array, as
            :func:`rfcore.couplings.copulas.permutation` takes it; or function.
        name: what a complaint calls the argument.
    """
    if callable(coupling):
        return coupling
    if isinstance(coupling, list | tuple | np.ndarray | jax.Array):
        return matched(coupling, name)
    return LAWS[NAMES[checks.choice(coupling, name, tuple(NAMES))]].draw


def pairs(law, name="law"):
    """What two draws of a law are to each other, from which its closed forms follow.

    Args:
        law: as :func:`named` takes it.
        name: what a complaint calls the argument.

    Returns:
        :class:`Correlated` or :class:`DifferentStrata`, from the registry; the law itself where it is that of
        a permutation or a Gaussian copula. Raises ValueError for a law of which no closed form is known.
    """
    copula = named(law, name)
    if isinstance(copula, Matched | Gaussian):
        return copula
    known = {row.draw: row.pairs for row in LAWS.values() if row.pairs is not None}
    if copula not in known:
        mend = ", ".join(name for name, row in LAWS.items() if row.pairs is not None)
        raise ValueError(
            f"{name} = {law!r} has no closed form; give {mend}, a permutation or copulas.gaussian(...)"
        )
    return known[copula]


def by_coordinate(*laws):
    """A law of its own for each coordinate; ``independent`` in the coordinates after the last.

    Args:
        *laws: copulas or their names, of coordinate 0, 1, ...

    Walks whose lengths are independent and whose first hops are stratified:

    >>> from rfcore.couplings import copulas
    >>> law = copulas.by_coordinate("independent", "stratified")
    """
    return _ByCoordinate(tuple(named(law, "laws") for law in laws), max(len(laws), 1))


def over(law, n_coordinates):
    """A law of n_coordinates coordinates of a draw, which it couples together.

    Args:
        law: copula or its name.
        n_coordinates: at least 1. Of walks 1 is the length alone, 3 the length and two hops.

    Sobol' points in three dimensions, for the length and the first two hops of each walk of a node:

    >>> from rfcore.couplings import copulas
    >>> law = copulas.over("sobol", 3)
    """
    return _Over(named(law, "law"), checks.count(n_coordinates, "n_coordinates"))


@dataclass(frozen=True)
class _ByCoordinate:
    laws: tuple
    n_coordinates: int

    def __call__(self, uniform, shape):
        uniform, blocks, m, k = sizes(uniform, shape)
        own = [draw(law, uniform, (*blocks, m, 1)) for law in self.laws[:k]]
        rest = uniform((*blocks, m, k - len(own)))
        return rest.__array_namespace__().concat([*own, rest], axis=-1)


@dataclass(frozen=True)
class _Over:
    law: object
    n_coordinates: int

    def __call__(self, uniform, shape):
        return draw(self.law, uniform, shape)
