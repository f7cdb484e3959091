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

    Parameters
    ----------
    key : JAX PRNG key
    g : rfcore.graphs.Graph
        Undirected; its weights are W.
    y : array, shape (N,), or function of a time
        Source.
    t : float
        When x is wanted.
    times : Times
        Within [0, t]; a row per repeat, or one set.
    n_walks : int
        Walks from each node.
    p_halt : float
        Probability of stopping before each hop.
    shift : float
        M = W + shift I.
    shared : bool
        Whether Psi_j = Phi_j, as the paper has it: half the work, and a bias in the diagonal.

    Returns
    -------
    float64 array, shape (N,), or (n_repeats, N): independent estimates

    Raises
    ------
    ValueError
        As :func:`rfcore.features.walk_features`; if y has another shape, shift is not finite, or a time is outside
        [0, t].

    Notes
    -----
    Universal Graph Random Features, Eq. 14. Repeats are copies of the graph side by side, which are one graph: walks never
    leave the copy in which they start. A copy's weights are multiplied by (t - s) / t, which does the same as another
    modulation (Section 3.5), so that repeats may differ in their times.

    Examples
    --------
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
