"""Posterior means where neither a kernel nor the features of all nodes fit into memory.

The features of the n nodes that were seen are sparse and few, and hold all that the observations say as one
weight per feature. A prediction is a product of features with these weights, which may be walked chunk by
chunk (``features.walk_features(..., stored=False)``). Imported by its own name,
``rfcore.models.gp.streamed``.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg

from rfcore import checks
from rfcore.features import WalkFeatures
from rfcore.models.gp.exact import vector
from rfcore.models.gp.of_features import posterior_mean


def mean_weights(phi, y, noise, rtol=None, max_steps=None):
    """Posterior mean of the weights of a Gaussian process h = phi b, b ~ N(0, I), by conjugate gradients.

    ::

        b = phi^T (phi phi^T + s^2 I)^(-1) y,     E[h(asked) | y] = phi_asked b

    ``phi_asked`` may be any features that multiply a vector, such as
    :class:`rfcore.features.StreamedFeatures`; for an unbiased kernel between asked and seen nodes its walks
    should have a key of their own.

    Args:
        phi: WalkFeatures or SciPy sparse, (n, m), one row per seen node.
        y, noise: observations, (n,); the variance s^2.
        rtol, max_steps: as for :func:`rfcore.models.gp.posterior_mean`.

    Raises RuntimeError if max_steps are not enough.

    Source: Rasmussen and Williams (2006), Eqs. 2.11 and 2.12.
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
    """Posterior mean at all n nodes for a kernel that is known by its products with vectors.

    ::

        mean = K e,     e = x at the seen nodes and 0 elsewhere,     (K_ss + s^2 I) x = y

    Args:
        product: v -> K v, K symmetric and positive semidefinite, such as
            :func:`rfcore.kernels.chebyshev_product`; one product per step of conjugate gradients.
        n, y, noise, seen: number of nodes; observations, (n_seen,); the variance s^2; their nodes.
        rtol, max_steps: largest norm of the residual over that of y; by default 10 n_seen steps.

    Raises RuntimeError if max_steps are not enough.

    Source: Rasmussen and Williams (2006), Eq. 2.25.
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
