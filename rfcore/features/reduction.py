"""Fewer features: products of the reduced features of two nodes have the products of the features as their mean.

::

    E[(Phi_1 R) (Phi_2 R)^T | Phi_1, Phi_2] = Phi_1 Phi_2^T,   where E[R R^T] = I

Both sides of a product must be reduced by the same R, that is with the same key. The key may be the one of the
walks: R and walks are drawn from independent streams.
"""

import numpy as np
import scipy.sparse as sp

from rfcore import checks, streams

PURPOSES = {"gaussian": 3, "sparse": 4, "anchors": 5}


def johnson_lindenstrauss(key, phi, n_features, kind="gaussian", nonzeros=1):
    """Features projected to random directions.

    ::

        gaussian:  R_jk ~ N(0, 1 / n_features)
        sparse:    row j of R is the sum of ``nonzeros`` random signs / sqrt(nonzeros), in random places

    Parameters
    ----------
    key : JAX PRNG key
    phi : WalkFeatures, scipy sparse or dense array, shape (n, N)
    n_features : int
    kind : "gaussian" or "sparse"
        Gaussian directions take O(N n_features) memory; sparse ones O(N), and the time of ``nonzeros`` passes
        over the nonzeros of phi.
    nonzeros : int
        For "sparse".

    Returns
    -------
    float64 array, shape (n, n_features)

    Raises
    ------
    ValueError
        If a count is below 1, the kind is unknown, phi is no finite matrix, or the key is no JAX key.

    Notes
    -----
    Dasgupta, Kumar and Sarlos, 2010 (sparse); Universal Graph Random Features, Section 2.

    Examples
    --------
    >>> import jax, numpy as np
    >>> from rfcore.features import reduction
    >>> reduced = reduction.johnson_lindenstrauss(jax.random.key(0), np.eye(4), 1000)
    >>> bool(np.allclose(reduced @ reduced.T, np.eye(4), atol=0.2))
    True
    """
    n_features, nonzeros = checks.count(n_features, "n_features"), checks.count(nonzeros, "nonzeros")
    checks.choice(kind, "kind", ("gaussian", "sparse"))
    phi, rng = _matrix(phi), streams.generator(streams.words(key), PURPOSES[kind], 0)
    n_nodes = phi.shape[1]
    if kind == "gaussian":
        return phi @ (rng.standard_normal((n_nodes, n_features)) / np.sqrt(n_features))
    signs = rng.choice([-1.0, 1.0], size=n_nodes * nonzeros) / np.sqrt(nonzeros)
    places = np.repeat(np.arange(n_nodes), nonzeros), rng.integers(n_features, size=n_nodes * nonzeros)
    reduced = phi @ sp.csr_array((signs, places), shape=(n_nodes, n_features))
    return reduced.toarray() if sp.issparse(reduced) else reduced


def johnson_lindenstrauss_mse(phi, psi, n_features):
    """Expected squared Frobenius error that Gaussian directions add to a product of features.

    ::

        E |Phi R R^T Psi^T - Phi Psi^T|^2 = (|Phi|^2 |Psi|^2 + |Phi Psi^T|^2) / n_features,   R_jk ~ N(0, 1 / n_features)

    Parameters
    ----------
    phi, psi : WalkFeatures, scipy sparse or dense array, shapes (n, N) and (k, N)
    n_features : int

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If n_features < 1, or phi or psi is no finite matrix, or they differ in their columns.

    Notes
    -----
    Given the rows x and y, x R R^T y^T is the mean of n_features products of two normal numbers of variances |x|^2 and
    |y|^2 and covariance x . y; the variance of one is |x|^2 |y|^2 + (x . y)^2 (Isserlis, 1918).

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore.features import reduction
    >>> float(reduction.johnson_lindenstrauss_mse(np.eye(3), np.eye(3), 4))
    3.0
    """
    phi, psi, n_features = _matrix(phi), _matrix(psi, "psi"), checks.count(n_features, "n_features")
    if phi.shape[1] != psi.shape[1]:
        raise ValueError(f"psi has shape {psi.shape}, phi {phi.shape}; give the same number of columns")
    product = phi @ psi.T
    return float(_square(phi) * _square(psi) + _square(product)) / n_features


def _square(matrix):
    return np.sum((matrix.data if sp.issparse(matrix) else matrix) ** 2)


def anchor_points(key, phi, n_anchors):
    """Features at a random set of nodes only.

    ::

        sqrt(N / n_anchors) Phi[:, anchors],   anchors drawn without replacement

    Parameters
    ----------
    key : JAX PRNG key
    phi : WalkFeatures, scipy sparse or dense array, shape (n, N)
    n_anchors : int
        At most N; with all N nothing is lost.

    Returns
    -------
    array of the kind of phi (CSR for WalkFeatures), shape (n, n_anchors)

    Raises
    ------
    ValueError
        If n_anchors is not between 1 and N, phi is no finite matrix, or the key is no JAX key.

    Notes
    -----
    Choromanski, 2023; Universal Graph Random Features, Section 2. Columns are in increasing order of the nodes.

    Examples
    --------
    >>> import jax, numpy as np
    >>> from rfcore.features import reduction
    >>> reduction.anchor_points(jax.random.key(0), np.eye(4), 4).tolist() == np.eye(4).tolist()
    True
    """
    phi, n_anchors = _matrix(phi), checks.count(n_anchors, "n_anchors")
    n_nodes = phi.shape[1]
    if n_anchors > n_nodes:
        raise ValueError(f"n_anchors = {n_anchors}; there are {n_nodes} nodes to choose from")
    rng = streams.generator(streams.words(key), PURPOSES["anchors"], 0)
    anchors = np.sort(rng.choice(n_nodes, size=n_anchors, replace=False))
    return phi[:, anchors] * np.sqrt(n_nodes / n_anchors)


def _matrix(phi, name="phi"):
    phi = phi.to_scipy() if hasattr(phi, "to_scipy") else phi
    phi = checks.sparse(phi, name) if sp.issparse(phi) else np.asarray(checks.finite(checks.numbers(phi, name), name))
    if phi.ndim != 2:
        raise ValueError(f"{name} has shape {phi.shape}; give one row of features per node")
    return phi
