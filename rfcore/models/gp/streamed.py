"""Posterior means where neither a kernel nor the features of all nodes fit into memory.

The features of the n nodes that were seen are sparse and few. They hold all that the observations say, as one weight per feature;
a prediction is a product of features with these weights, and features for that may be walked chunk by chunk
(``features.walk_features(..., stored=False)``). This module is imported by its own name, ``rfcore.models.gp.streamed``.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg

from rfcore import checks
from rfcore.features import WalkFeatures
from rfcore.models.gp.exact import vector
from rfcore.models.gp.of_features import posterior_mean


def mean_weights(phi, y, noise, rtol=None, max_steps=None):
    """Posterior mean of the weights of a Gaussian process h = phi b, b ~ N(0, I).

    ::

        b = phi^T (phi phi^T + s^2 I)^(-1) y,     E[h(asked) | y] = phi_asked b

    The features ``phi_asked`` of other nodes may be any that multiply a vector, :class:`rfcore.features.StreamedFeatures`
    among them. Their walks may, and for an unbiased kernel between asked and seen nodes should, have a key of their own.

    Parameters
    ----------
    phi : WalkFeatures or scipy sparse array, shape (n, m)
        Features of the nodes that were seen, one row each.
    y : array, shape (n,)
        Observations, of noise s^2.
    noise : float
        s^2, above 0.
    rtol, max_steps
        As for :func:`rfcore.models.gp.posterior_mean`.

    Returns
    -------
    float64 array, shape (m,)

    Raises
    ------
    ValueError
        If phi is no finite sparse array, y does not have one finite value per row, noise or rtol is not above 0, or max_steps < 1.
    RuntimeError
        If max_steps are not enough.

    Notes
    -----
    Rasmussen and Williams, 2006, Eqs. 2.11 and 2.12; conjugate gradients on the n observations, O(entries of phi) a step.

    Examples
    --------
    >>> import jax, networkx, numpy as np
    >>> from rfcore import features, graphs
    >>> from rfcore.models.gp import streamed
    >>> g = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> seen, all_nodes = jax.random.split(jax.random.key(0))
    >>> what = g, features.modulation.diffusion(2.0), 64, 0.1
    >>> b = streamed.mean_weights(features.walk_features(seen, *what, nodes=np.arange(20)), np.ones(20), 0.1)
    >>> (features.walk_features(all_nodes, *what, stored=False) @ b).shape
    (34,)
    """
    if not (isinstance(phi, WalkFeatures) or sp.issparse(phi)):
        got = f"phi is of type {type(phi).__name__}"
        raise ValueError(f"{got}; give features of the nodes that were seen, of walk_features(..., nodes=seen), or a sparse array")
    phi = checks.sparse(phi.to_scipy() if isinstance(phi, WalkFeatures) else phi, "phi")
    y, (n, m) = vector(y), phi.shape
    if n != len(y):
        raise ValueError(f"y has shape {y.shape}, phi {phi.shape}; give one value per row of phi")
    # The weights are what the process is at nodes whose features are unit vectors.
    both = sp.vstack([phi, sp.eye_array(m, format="csr")], format="csr")
    return np.asarray(posterior_mean(both, y, noise, np.arange(n), n + np.arange(m), rtol, max_steps))


def mean_by_products(product, n, y, noise, seen, rtol=1e-8, max_steps=None):
    """Posterior mean at all nodes for a kernel that is known by its products with vectors.

    ::

        mean = K e,     e = x at the seen nodes and 0 elsewhere,     (K_ss + s^2 I) x = y

    Each step of conjugate gradients takes one product with the whole kernel, such as
    :func:`rfcore.kernels.chebyshev_product`.

    Parameters
    ----------
    product : function of an array of shape (n,)
        v -> K v, for symmetric positive semidefinite K.
    n : int
        Number of nodes.
    y : array, shape (n_seen,)
    noise : float
        s^2, above 0.
    seen : int array, shape (n_seen,)
        Nodes of the observations.
    rtol : float
        Where to stop: norm of the residual over that of y.
    max_steps : int, optional
        Ten times n_seen by default.

    Returns
    -------
    float64 array, shape (n,)

    Raises
    ------
    ValueError
        If product is no function or gives another shape, a node is not in the graph, y does not have one finite value per node that
        was seen, noise or rtol is not above 0, or n or max_steps < 1.
    RuntimeError
        If max_steps are not enough.

    Notes
    -----
    Rasmussen and Williams, 2006, Eq. 2.25; ``scipy.sparse.linalg.cg``.

    Examples
    --------
    >>> import networkx, numpy as np
    >>> from rfcore import graphs, kernels, models
    >>> from rfcore.models.gp import streamed
    >>> g, y, seen = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised(), np.ones(20), np.arange(20)
    >>> heat = kernels.spectral.diffusion(1.0)
    >>> mean = streamed.mean_by_products(lambda v: kernels.chebyshev_product(g, heat, v, 16), 34, y, 0.1, seen)
    >>> bool(np.allclose(mean[20:], models.gp.posterior(kernels.diffusion(g, 1.0), y, 0.1, seen).mean, atol=1e-4))
    True
    """
    checks.function(product, "product", "lambda v: kernels.chebyshev_product(g, function, v, degree)")
    n, noise, rtol = checks.count(n, "n"), float(checks.real(noise, "noise", above=0)), checks.real(rtol, "rtol", above=0)
    y, seen = np.asarray(vector(y), dtype=float), checks.indices(seen, "seen", n, empty=True)
    if len(y) != len(seen):
        raise ValueError(f"y has shape {y.shape}, seen {np.shape(seen)}; give one value per node that was seen")
    max_steps = 10 * len(y) if max_steps is None else checks.count(max_steps, "max_steps")

    def everywhere(x):
        column = np.zeros(n)
        np.add.at(column, seen, x)
        found = np.asarray(product(column))
        if found.shape != (n,):
            raise ValueError(f"product maps shape ({n},) to {found.shape}; give a function that keeps it")
        return found

    system = LinearOperator((len(y), len(y)), matvec=lambda x: everywhere(x)[seen] + noise * x, dtype=float)
    x, unfinished = cg(system, y, rtol=rtol, maxiter=max_steps)
    if unfinished:
        raise RuntimeError(f"The maximum number of solver steps was reached, {max_steps}; give more max_steps, or noise")
    return everywhere(x)
