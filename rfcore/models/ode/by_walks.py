"""Solutions whose exponentials are products of walk features."""

import jax
import numpy as np
import scipy.sparse as sp

from rfcore import checks
from rfcore.features import modulation, walk_features
from rfcore.graphs import Graph
from rfcore.models.ode.exact import bounded, source
from rfcore.models.ode.times import within


def estimate(key, g, y, t, times, n_walks, p_halt, shift=0.0, shared=False):
    """Solution by walks, fresh ones for every time and every repeat.

    ::

        x(t) = sum_j weight_j exp(shift (t - s_j)) Phi_j Psi_j^T y(s_j),   E[Phi_j Psi_j^T] = exp(W (t - s_j))

    Repeats are copies of the graph side by side, whose weights are multiplied by (t - s) / t, which does the
    same as another modulation: so repeats may differ in their times.

    Args:
        key, g, y: JAX PRNG key; graph; source, (N,) or a function of a time.
        t, times: when x is wanted; Times within [0, t], a row per repeat or one set.
        n_walks, p_halt: walks from each node; the probability of stopping before each hop.
        shift: M = W + shift I.
        shared: whether Psi_j = Phi_j, as in the paper: half the work, and a bias in the diagonal.

    Returns:
        float64 array, (N,), or (n_repeats, N) of independent estimates.

    Source: Universal Graph Random Features, Eq. 14 and Section 3.5.

    >>> import jax, networkx, numpy as np
    >>> from rfcore import graphs
    >>> from rfcore.models import ode
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(2)).normalised()
    >>> y, times = np.array([1.0, 0.0]), ode.midpoint_times(1.0, 8)
    >>> found = ode.estimate(jax.random.key(0), g, y, 1.0, times, 1000, 0.3, shift=-1.0)
    >>> bool(np.allclose(found, ode.solution(g, y, 1.0, shift=-1.0), atol=0.1))
    True
    """
    key, shift, y = checks.key(key), checks.real(shift, "shift"), source(y, checks.graph(g))
    t = checks.real(t, "t", least=0)
    time, weight, repeated = within(times, t)
    f, weights, x = modulation.exponential(t), g.to_scipy(), np.zeros((len(time), g.n_nodes))
    for j in range(time.shape[1]):
        left = t - time[:, j]
        copies = Graph.from_scipy(sp.block_diag([weights * (rest / t if t else 0.0) for rest in left]))
        of_rows, of_columns = jax.random.split(jax.random.fold_in(key, j))
        phi = walk_features(of_rows, copies, f, n_walks, p_halt)
        psi = phi if shared else walk_features(of_columns, copies, f, n_walks, p_halt)
        with np.errstate(over="ignore", invalid="ignore"):
            found = phi @ (psi.T @ np.concatenate([y(s) for s in time[:, j]]))
            x += (weight[:, j] * np.exp(shift * left))[:, None] * found.reshape(x.shape)
    return bounded(x if repeated else x[0])
