"""Errors of estimates of a Gram matrix as functions of the modulation: what modulations are learned by.

Walks stay as they are, :class:`rfcore.features.DepositsByStep`. :func:`errors` costs a pass over them; on a
small graph the mean of the errors is best summed up once, as a polynomial of f (:func:`form`), and learned
from any number of starts. Any optimiser of JAX takes them, such as those of optax.
"""

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np

from rfcore import checks
from rfcore.features.deposits import DepositsByStep


def errors(f1, f2, left, right, target):
    """Squared relative errors of repeated estimates of a Gram matrix, an array (n_repeats,).

    ::

        |Phi_1(f1) Phi_2(f2)^T - K|^2 / |K|^2

    Args:
        f1, f2: modulations, functions of an integer array; the same twice for a symmetric pair.
        left, right: walks behind Phi_1 and Phi_2, (n_repeats n, N), repeats one below the other, from
            ``features.by_step``; the same twice for shared walks, whose diagonal is biased upwards.
        target: the matrix K, (n, n), not zero.

    Source: Universal Graph Random Features, Section 3.4, whose Table 3 has squared errors of shared walks.
    """
    target = jnp.asarray(checks.gram(target, "target"))
    shape = (_repeats(left, right, target), len(target), left.shape[1])
    phi1, phi2 = (walks.with_modulation(f).toarray().reshape(shape) for f, walks in ((f1, left), (f2, right)))
    return ((phi1 @ phi2.transpose(0, 2, 1) - target) ** 2).sum(axis=(-2, -1)) / (target**2).sum()


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class Form:
    """The mean of :func:`errors` of given walks as a polynomial of the values of f1 and f2.

    ::

        error = sum_abcd T_(ab)(cd) f1(a) f2(b) f1(c) f2(d) - 2 sum_ab m_(ab) f1(a) f2(b) + 1

    A JAX pytree of two arrays whose size knows neither the graph nor the number of walks.
    """

    quartic: jax.Array
    """T, shape (n_steps^2, n_steps^2)."""
    quadratic: jax.Array
    """m, shape (n_steps^2,)."""
    is_normalised: bool = field(metadata={"static": True})
    """Whether the walks were on normalised weights."""

    def __call__(self, f1, f2=None):
        """Mean error of the pair; of f1 with itself if there is no f2."""
        n_steps = round(len(self.quadratic) ** 0.5)
        first = jnp.asarray(checks.modulation(f1, n_steps, self.is_normalised, "f1"))
        second = first if f2 is None else jnp.asarray(checks.modulation(f2, n_steps, self.is_normalised, "f2"))
        products = jnp.outer(first, second).ravel()
        return products @ (self.quartic @ products) - 2 * self.quadratic @ products + 1


def form(left, right, target, n_steps=None):
    """Sum walks up for the mean of :func:`errors`, so that one evaluation no longer costs a pass over them.

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
    target = np.asarray(checks.gram(target, "target"), dtype=float)
    n_repeats, longest = _repeats(left, right, target), max(left.n_steps, right.n_steps)
    n_steps = longest if n_steps is None else checks.count(n_steps, "n_steps")
    scale = np.sum(target**2)
    quartic, quadratic = np.zeros((n_steps**2, n_steps**2)), np.zeros(n_steps**2)
    for P, Q in zip(*(_loads_by_step(walks, n_repeats, n_steps) for walks in (left, right)), strict=True):
        products = np.einsum("anj,bmj->abnm", P, Q, optimize=True).reshape(n_steps**2, -1)
        quartic += products @ products.T
        quadratic += products @ target.ravel()
    quartic, quadratic = (jnp.asarray(total / (n_repeats * scale)) for total in (quartic, quadratic))
    return Form(quartic, quadratic, left.is_normalised and right.is_normalised)


def _loads_by_step(walks, n_repeats, n_steps):
    """Dense loads (n_steps, n, N) of one repeat after the other."""
    row, node, step, load = (np.asarray(a) for a in (walks.row, walks.node, walks.step, walks.load))
    n = walks.shape[0] // n_repeats
    row, node, step, load = (a[step < n_steps] for a in (row, node, step, load))
    edges = np.searchsorted(row, n * np.arange(n_repeats + 1))  # entries are sorted by row
    for first, start, stop in zip(range(0, n * n_repeats, n), edges, edges[1:], strict=False):
        loads = np.zeros((n_steps, n, walks.shape[1]))
        loads[step[start:stop], row[start:stop] - first, node[start:stop]] = load[start:stop]
        yield loads


def _repeats(left, right, target):
    for name, walks in (("left", left), ("right", right)):
        if not isinstance(walks, DepositsByStep):
            raise ValueError(f"{name} is of type {type(walks).__name__}; give features.by_step(walks.simulate(...))")
    n = len(target)
    if left.shape != right.shape or left.shape[0] % n:
        got = f"left has shape {left.shape}, right {right.shape}, target {n} rows"
        raise ValueError(f"{got}; walk from the target's nodes, the same number of times on both sides")
    return left.shape[0] // n
