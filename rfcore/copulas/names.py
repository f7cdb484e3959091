"""Copulas by name, and the joint distribution of two of their draws."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import jax
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Int

from rfcore import checks
from rfcore.copulas.copula import Copula, Correlated, DifferentStrata
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
