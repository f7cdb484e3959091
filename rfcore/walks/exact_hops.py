"""Walk features whose first hops are exact: a power series for short lengths, walks for long ones.

::

    Phi = sum_{k < h} f(k) W^k + W^h Psi,     E[Psi] = sum_k f(k + h) W^k

Psi are walk features of all nodes within h hops, under what is left of f. The walks of a node are shared by
all rows that see it, so that rows of one Phi depend on each other, and E[Phi_1 Phi_2^T] is the kernel for two
keys, as ever. Each hop fills in: rows have the nonzeros of W^h Psi.
"""

from collections.abc import Callable

import equinox as eqx
import numpy as np
import scipy.sparse as sp
from jax.typing import ArrayLike
from jaxtyping import Int

from rfcore.walks import modulation
from rfcore.walks.engine import Walkers
from rfcore.walks.modulation import Modulation, Values


class Later(eqx.Module):
    """A modulation from some length on: ``f(k + hops)``."""

    f: Modulation
    hops: int = eqx.field(static=True)

    @property
    def for_normalised(self) -> bool:
        """Whether it is that of a kernel of normalised weights."""
        return getattr(self.f, "for_normalised", False)

    def __call__(self, k: Int[ArrayLike, "..."]) -> Values:
        """Values at an integer array of lengths."""
        return self.f(k + self.hops)


def with_exact_hops(
    walkers: Walkers,
    nodes: Int[np.ndarray, " n"],
    f: Modulation,
    hops: int,
    walked: Callable[[Int[np.ndarray, " n_far"], Modulation], sp.csr_array],
) -> sp.csr_array:
    """Features of some nodes, (n, N).

    Args:
        hops: h.
        walked: features of nodes under a modulation, by walks alone.
    """
    tables = walkers.tables
    n_nodes, counts = len(tables.node), tables.node[:, 1].astype(int)
    weights = tables.edge[:, 1] * ((1 - walkers.p_halt) / np.repeat(counts, counts))
    indptr = np.concatenate([[0], np.cumsum(counts)])
    W = sp.csr_array((weights, tables.edge[:, 0].astype(np.int32), indptr), shape=(n_nodes, n_nodes))
    values = modulation.on_host(f, hops, tables.for_kernels)
    power = sp.csr_array((np.ones(len(nodes)), nodes, np.arange(len(nodes) + 1)), shape=(len(nodes), n_nodes))
    phi = sp.csr_array(power.shape)
    for value in values[:hops]:
        phi, power = phi + value * power, sp.csr_array(power @ W)
    far = np.unique(power.indices)
    return sp.csr_array(phi + power[:, far] @ walked(far, Later(f, hops)))
