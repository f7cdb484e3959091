"""Walk features as a function of the modulation: fixed walks, aggregated once, that gradients pass through."""

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp

from rfcore import checks, walks


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class DepositsByStep:
    """Average load at every (row, node, step) that walks visited; linear in f, so that any f costs one pass.

    ::

        phi_ij = sum over the entries (i, j, k) of  load f(k)

    A JAX pytree: hand it to compiled functions as an argument (captured, it would become a constant of the
    compiled code). Memory is O(entries), at most the number of deposits.
    """

    row: jax.Array
    node: jax.Array
    step: jax.Array
    load: jax.Array
    shape: tuple[int, int] = field(metadata={"static": True})
    """(number of rows, N)."""
    n_steps: int = field(metadata={"static": True})
    """Number of values of f that matter: 1 + the greatest step."""
    is_normalised: bool = field(metadata={"static": True})
    """Whether the walks were on normalised weights."""

    def toarray(self, f):
        """Features under the modulation f: dense, shape ``shape``, differentiable in what f holds."""
        return jnp.zeros(self.shape).at[self.row, self.node].add(self._weighed(f))

    def matvec(self, f, v):
        """``toarray(f) @ v`` for v of shape (N,) or (N, c), without the dense features."""
        return self._product(f, v, "v", (self.node, self.row), self.shape[::-1])

    def rmatvec(self, f, u):
        """``toarray(f).T @ u`` for u of shape (n_rows,) or (n_rows, c), without the dense features."""
        return self._product(f, u, "u", (self.row, self.node), self.shape)

    def _product(self, f, v, name, places, lengths):
        v, (source, target), (n_in, n_out) = jnp.asarray(checks.numbers(v, name)), places, lengths
        if v.ndim not in (1, 2) or len(v) != n_in:  # JAX would take the last row for all those that are missing
            raise ValueError(f"{name} has shape {v.shape}; give {n_in} rows: shape ({n_in},) or ({n_in}, c)")
        values = self._weighed(f).reshape((-1,) + (1,) * (v.ndim - 1))
        return jax.ops.segment_sum(values * v[source], target, n_out)

    def _weighed(self, f):
        return self.load * jnp.asarray(checks.modulation(f, self.n_steps, self.is_normalised))[self.step]


def by_step(deposits):
    """Deposits of equal row, node and step added up, for modulations that change while walks stay.

    Parameters
    ----------
    deposits : rfcore.walks.Deposits
        From :func:`rfcore.walks.simulate`.

    Returns
    -------
    DepositsByStep, shape (deposits.n_rows, deposits.n_nodes)

    Raises
    ------
    ValueError
        If deposits are none.

    Examples
    --------
    >>> import jax, networkx
    >>> from rfcore import features, graphs, walks
    >>> from rfcore.couplings import walk_lengths
    >>> key, g = jax.random.key(0), graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> lengths = walk_lengths.draw(key, 34, 16, 0.5)
    >>> deposits = features.by_step(walks.simulate(key, g, lengths))
    >>> deposits.toarray(features.modulation.diffusion(1.0)).shape
    (34, 34)
    """
    n_rows, n_nodes = walks.checked(deposits).n_rows, deposits.n_nodes
    n_steps = int(deposits.step.max(initial=0)) + 1
    row_and_step = deposits.row.astype(np.int64) * n_steps + deposits.step
    total = sp.coo_array((deposits.load, (row_and_step, deposits.node)), (n_rows * n_steps, n_nodes)).tocsr()
    row, step = np.divmod(np.repeat(np.arange(n_rows * n_steps), np.diff(total.indptr)), n_steps)
    places = (jnp.asarray(a, dtype=jnp.int32) for a in (row, total.indices, step))
    load = jnp.asarray(total.data / deposits.n_walks)
    return DepositsByStep(*places, load, (n_rows, n_nodes), n_steps, deposits.is_normalised)
