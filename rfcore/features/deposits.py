"""Walk features as a differentiable function of the modulation: fixed walks, aggregated once."""

from dataclasses import dataclass, field, replace

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp

from rfcore import checks, walks
from rfcore.features import reach
from rfcore.features.operator import Operator


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class DepositsByStep:
    """Average load at every (row, node, step) visited, from which any f makes features in one pass.

    ::

        phi_ij = sum over the entries (i, j, k) of  load f(k)

    A JAX pytree: hand it to compiled functions as an argument (captured, it would become a constant of the
    compiled code). Memory is O(entries), at most the number of deposits.

    Attributes:
        row, node, step, load: one value per entry.
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
    """Whether the walks were on normalised weights of an undirected graph."""

    def with_modulation(self, f):
        """Features under the modulation f: :class:`DepositFeatures`, differentiable in what f holds."""
        table = jnp.asarray(checks.modulation(f, self.n_steps, self.is_normalised))
        reach.check_deposits(f, self.n_steps - 1)
        return DepositFeatures(self, self.load * table[self.step])


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class DepositFeatures(Operator):
    """Walk features in JAX: deposits weighted by a modulation, from :meth:`DepositsByStep.with_modulation`.

    They speak the language of :class:`rfcore.features.WalkFeatures`; products are JAX arrays, differentiable
    in the modulation and in the other factor. ``phi @ v`` and ``phi.T @ v`` cost O(entries); ``phi_1 @
    phi_2.T`` is dense, and makes both dense on the way. A JAX pytree.

    Attributes:
        deposits: a DepositsByStep.
        is_transposed: whether rows and columns are exchanged.
    """

    deposits: DepositsByStep
    values: jax.Array
    """What each entry of the deposits adds."""
    is_transposed: bool = field(default=False, metadata={"static": True})

    @property
    def shape(self):
        """(number of rows, N); the other way round for a transpose."""
        return self.deposits.shape[:: -1 if self.is_transposed else 1]

    @property
    def dtype(self):
        """Of the values."""
        return self.values.dtype

    @property
    def T(self):
        """Transpose, DepositFeatures too."""
        return replace(self, is_transposed=not self.is_transposed)

    def with_modulation(self, f):
        """Features of the same walks under another modulation."""
        return replace(self, values=self.deposits.with_modulation(f).values)

    def toarray(self):
        """Features as a dense JAX array."""
        return jnp.zeros(self.shape, self.values.dtype).at[self._places].add(self.values)

    def to_scipy(self):
        """Features as a scipy CSR array on the host; their values must be known."""
        return sp.coo_array((np.asarray(self.values), tuple(map(np.asarray, self._places))), self.shape).tocsr()

    @property
    def _places(self):
        places = self.deposits.row, self.deposits.node
        return places[:: -1 if self.is_transposed else 1]

    def _times(self, other):
        if isinstance(other, DepositFeatures):
            return self.toarray() @ other.toarray()
        target, source = self._places
        values = self.values.reshape((-1,) + (1,) * (other.ndim - 1))
        return jax.ops.segment_sum(values * other[source], target, self.shape[0])

    def _after(self, other):
        return (self.T @ other.T).T

    @staticmethod
    def _factor(other):
        """What stands beside features in a product: such features, or a dense array."""
        return other if isinstance(other, DepositFeatures) else jnp.asarray(checks.numbers(other, "what multiplies phi"))


def by_step(deposits):
    """Deposits of equal row, node and step added up, for modulations that change while walks stay.

    Raises ValueError if a load overflows the default float of JAX, as on large weights in float32.

    Args:
        deposits: from :func:`rfcore.walks.simulate`.

    Returns:
        DepositsByStep.

    Source: Universal Graph Random Features, Section 2.1, learns f on walks that stay.

    >>> import jax, networkx
    >>> from rfcore import couplings, features, graphs, walks
    >>> key, g = jax.random.key(0), graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> deposits = features.by_step(walks.simulate(key, g, couplings.walk_lengths.draw(key, 34, 16, 0.5)))
    >>> total = lambda f: deposits.with_modulation(features.modulation.from_values(f)).toarray().sum()
    >>> float(jax.grad(total)(jax.numpy.ones(2))[0])  # f(0) is added once at each of the 34 nodes
    34.0
    """
    n_rows, n_nodes = walks.checked(deposits).n_rows, deposits.n_nodes
    n_steps = int(deposits.step.max(initial=0)) + 1
    row_and_step = deposits.row.astype(np.int64) * n_steps + deposits.step
    total = sp.coo_array((deposits.load, (row_and_step, deposits.node)), (n_rows * n_steps, n_nodes)).tocsr()
    row, step = np.divmod(np.repeat(np.arange(n_rows * n_steps), np.diff(total.indptr)), n_steps)
    places = (jnp.asarray(a, dtype=jnp.int32) for a in (row, total.indices, step))
    with np.errstate(over="ignore"):
        load = (total.data / deposits.n_walks).astype(jnp.result_type(float))
    if not np.isfinite(load).all():
        got = f"deposits has loads up to {np.abs(total.data).max() / deposits.n_walks:.1e}, which overflow {load.dtype}"
        raise ValueError(f"{got}; give those of walks on g.normalised() or smaller weights, or set jax_enable_x64")
    return DepositsByStep(*places, jnp.asarray(load), (n_rows, n_nodes), n_steps, deposits.is_normalised)
