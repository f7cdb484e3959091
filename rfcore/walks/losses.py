"""Errors of estimates of a Gram matrix as functions of the modulation: losses for learning modulations.

Walks stay fixed, as stored by :func:`rfcore.features.by_step`. :func:`errors` costs a pass over them; on a
small graph it is best to compute the mean of the errors once, as a polynomial of f (:func:`form`), and
minimise it from any number of starts, by any optimiser for JAX, such as those of optax.
"""

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from rfcore import checks
from rfcore.walks import modulation
from rfcore.walks.deposits import Deposits
from rfcore.walks.modulation import Modulation


def errors(
    f1: Modulation, f2: Modulation, left: Deposits, right: Deposits, target: Float[ArrayLike, "n n"]
) -> Float[Array, " n_repeats"]:
    """Squared relative errors of repeated estimates of a Gram matrix.

    ::

        |Phi_1(f1) Phi_2(f2)^T - K|^2 / |K|^2

    Args:
        f1, f2: modulations; the same twice for a symmetric pair.
        left, right: walks behind Phi_1 and Phi_2, (n_repeats n, N), repeats one below the other, from
            ``features.by_step``; the same twice for shared walks, whose diagonal is biased upwards.
        target: the matrix K, not zero.

    Source: Universal Graph Random Features, Section 3.4, whose Table 3 has squared errors of shared walks.
    """
    target = jnp.asarray(gram(target, "target"))
    shape = (_repeats(left, right, target), len(target), left.shape[1])
    phi1, phi2 = (walks.with_modulation(f).toarray().reshape(shape) for f, walks in ((f1, left), (f2, right)))
    return ((phi1 @ phi2.transpose(0, 2, 1) - target) ** 2).sum(axis=(-2, -1)) / (target**2).sum()


class Form(eqx.Module):
    """The mean of :func:`errors` of given walks as a polynomial of the values of f1 and f2.

    ::

        error = sum_abcd T_(ab)(cd) f1(a) f2(b) f1(c) f2(d) - 2 sum_ab m_(ab) f1(a) f2(b) + 1

    A JAX pytree of two arrays whose size depends on neither the graph nor the number of walks.
    """

    quartic: Float[Array, "*stack k k"]
    """T, with k = n_steps^2."""
    quadratic: Float[Array, "*stack k"]
    """m."""
    is_normalised: bool = eqx.field(static=True)
    """Whether the walks were on normalised weights."""

    def __call__(self, f1: Modulation, f2: Modulation | None = None) -> Float[Array, ""]:
        """Mean error of the pair, or of f1 with itself if f2 is None."""
        n_steps = round(len(self.quadratic) ** 0.5)
        first = jnp.asarray(modulation.values(f1, n_steps, self.is_normalised, "f1"))
        second = first if f2 is None else jnp.asarray(modulation.values(f2, n_steps, self.is_normalised, "f2"))
        products = jnp.outer(first, second).ravel()
        return products @ (self.quartic @ products) - 2 * self.quadratic @ products + 1


def form(left: Deposits, right: Deposits, target: Float[ArrayLike, "n n"], n_steps: int | None = None) -> Form:
    """The mean of :func:`errors` as a polynomial, whose evaluation needs no pass over the walks.

    ::

        G_ab = P_a Q_b^T,   P_k, Q_k the loads at step k of left and right
        T_(ab)(cd) = <G_ab, G_cd> / |K|^2,   m_(ab) = <G_ab, K> / |K|^2

    averaged over the repeats. O(n_steps^4 n^2) time a repeat and O(n_steps^2 n^2) memory on the host: for
    graphs of some hundred nodes at most.

    Args:
        left, right, target: as in :func:`errors`.
        n_steps: steps counted, all by default; exact for modulations that vanish from there on. Forms of one
            shape stack.
    """
    target = np.asarray(gram(target, "target"), dtype=float)
    n_repeats, longest = _repeats(left, right, target), max(left.n_steps, right.n_steps)
    n_steps = longest if n_steps is None else checks.count(n_steps, "n_steps")
    scale = np.sum(target**2)
    quartic, quadratic = np.zeros((n_steps**2, n_steps**2)), np.zeros(n_steps**2)
    for P, Q in zip(_loads_by_step(left, n_repeats, n_steps), _loads_by_step(right, n_repeats, n_steps), strict=True):
        products = np.einsum("anj,bmj->abnm", P, Q, optimize=True).reshape(n_steps**2, -1)
        quartic += products @ products.T
        quadratic += products @ target.ravel()
    quartic, quadratic = (jnp.asarray(total / (n_repeats * scale)) for total in (quartic, quadratic))
    return Form(quartic, quadratic, left.is_normalised and right.is_normalised)


def _loads_by_step(walks: Deposits, n_repeats: int, n_steps: int) -> Iterator[Float[np.ndarray, "n_steps n N"]]:
    """Dense mean loads of one repeat after the other."""
    row, node, step, load = (np.asarray(a) for a in (walks.row, walks.node, walks.step, walks.load))
    n, early = walks.n_rows // n_repeats, step < n_steps
    row, node, step, load = (a[early] for a in (row, node, step, load))
    for first in range(0, n * n_repeats, n):
        here = slice(*np.searchsorted(row, [first, first + n]))  # entries are sorted by row
        loads = np.zeros((n_steps, n, walks.n_nodes))
        loads[step[here], row[here] - first, node[here]] = load[here]
        yield loads


def _repeats(left: Deposits, right: Deposits, target: Any) -> int:
    for name, walks in (("left", left), ("right", right)):
        if not isinstance(walks, Deposits) or isinstance(walks.row, np.ndarray):
            raise ValueError(f"{name} is of type {type(walks).__name__}; give features.by_step(walks.simulate(...))")
    n = len(target)
    if left.shape != right.shape or left.n_rows % n:
        got = f"left has shape {left.shape}, right {right.shape}, target {n} rows"
        raise ValueError(f"{got}; walk from the target's nodes, the same number of times on both sides")
    return left.n_rows // n


def gram(x: Any, name: str, n: int | None = None) -> Any:
    """``x`` as a finite matrix, n by n or square, that is not 0, since errors are relative to it."""
    x = checks.finite(checks.numbers(x, name), name)
    n = n or (len(x) if x.ndim else 1) or 1
    if x.shape != (n, n) or not (checks.is_traced(x) or np.any(x)):
        raise ValueError(f"{name} has shape {x.shape}; give a matrix of {n} by {n} that is not 0")
    return x
