"""Laws by their names, and a law of its own for each coordinate."""

from dataclasses import dataclass

import jax
import numpy as np

from rfcore import checks
from rfcore.couplings.copulas.matched import matched
from rfcore.couplings.copulas.nets import halton, sobol
from rfcore.couplings.copulas.sources import draw, sizes
from rfcore.couplings.copulas.strata import comonotone, independent, reversal, stratified, systematic


def by_coordinate(*laws):
    """A law of its own for each coordinate; ``independent`` in the coordinates after the last.

    Args:
        *laws: copulas or their names, of coordinate 0, 1, ...

    Walks whose lengths are independent and whose first hops are stratified:

    >>> from rfcore.couplings import copulas
    >>> law = copulas.by_coordinate("iid", "stratified")
    """
    return _ByCoordinate(tuple(named(law, "laws") for law in laws))


def named(coupling, name="coupling"):
    """Copula by its name; a permutation becomes its law, and a function stands for itself.

    Args:
        coupling: "iid", "reversal", "comonotone", "stratified", "systematic", "sobol", "halton"; int array,
            as :func:`rfcore.couplings.copulas.permutation` takes it; or function.
        name: what a complaint calls the argument.
    """
    if callable(coupling):
        return coupling
    if isinstance(coupling, list | tuple | np.ndarray | jax.Array):
        return matched(coupling, name)
    return _BY_NAME[checks.choice(coupling, name, tuple(_BY_NAME))]


_BY_NAME = {
    "iid": independent,
    "reversal": reversal,
    "comonotone": comonotone,
    "stratified": stratified,
    "systematic": systematic,
    "sobol": sobol,
    "halton": halton,
}
NAMES = tuple(_BY_NAME)


@dataclass(frozen=True)
class _ByCoordinate:
    laws: tuple

    def __call__(self, uniform, shape):
        uniform, blocks, m, k = sizes(uniform, shape)
        own = [draw(law, uniform, (*blocks, m, 1)) for law in self.laws[:k]]
        rest = uniform((*blocks, m, k - len(own)))
        return rest.__array_namespace__().concat([*own, rest], axis=-1)
