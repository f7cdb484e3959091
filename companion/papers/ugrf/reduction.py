"""Fewer features: given Phi_1 and Phi_2, E (Phi_1 R) (Phi_2 R)^T = Phi_1 Phi_2^T, where E[R R^T] = I.

Both sides of a product need the same R, so the same key. The key may be the one of the walks: R and walks are
drawn from independent streams. phi is WalkFeatures or a sparse or dense array.
"""

import numpy as np
import scipy.sparse as sp

from rfcore import checks
from rfcore.walks import streams
from rfcore.walks.streams import Purpose

PURPOSES = {"gaussian": Purpose.GAUSSIAN_PROJECTION, "sparse": Purpose.SPARSE_PROJECTION}


def johnson_lindenstrauss(key, phi, n_features, kind="gaussian", nonzeros=1):
    """Features projected to random directions, "gaussian" R_jk ~ N(0, 1 / n_features) or "sparse".

    Row j of a sparse R has ``nonzeros`` random signs / sqrt(nonzeros) in random places, added where they
    meet: O(N) memory, where Gaussian directions take O(N n_features), and ``nonzeros`` passes over phi.

    Source: Dasgupta, Kumar and Sarlos, 2010 (sparse); Universal Graph Random Features, Section 2.
    """
    n_features, nonzeros = checks.count(n_features, "n_features"), checks.count(nonzeros, "nonzeros")
    phi, rng = _matrix(phi), streams.generator(streams.words(key), PURPOSES[kind], 0)
    n_nodes = phi.shape[1]
    if kind == "gaussian":
        return phi @ (rng.standard_normal((n_nodes, n_features)) / np.sqrt(n_features))
    signs = rng.choice([-1.0, 1.0], size=n_nodes * nonzeros) / np.sqrt(nonzeros)
    places = np.repeat(np.arange(n_nodes), nonzeros), rng.integers(n_features, size=n_nodes * nonzeros)
    reduced = phi @ sp.csr_array((signs, places), shape=(n_nodes, n_features))
    return reduced.toarray() if sp.issparse(reduced) else reduced


def johnson_lindenstrauss_mse(phi, psi, n_features):
    """Expected squared Frobenius error that Gaussian directions add to a product (by Isserlis, 1918).

    ::

        E |Phi R R^T Psi^T - Phi Psi^T|^2 = (|Phi|^2 |Psi|^2 + |Phi Psi^T|^2) / n_features
    """
    phi, psi, n_features = _matrix(phi), _matrix(psi, "psi"), checks.count(n_features, "n_features")
    if phi.shape[1] != psi.shape[1]:
        raise ValueError(f"psi has shape {psi.shape}, phi {phi.shape}; give the same number of columns")
    product = phi @ psi.T
    return float(_square(phi) * _square(psi) + _square(product)) / n_features


def _square(matrix):
    return np.sum((matrix.data if sp.issparse(matrix) else matrix) ** 2)


def anchor_points(key, phi, n_anchors):
    """sqrt(N / n_anchors) Phi[:, anchors], anchors drawn without replacement (Choromanski, 2023)."""
    phi = _matrix(phi)
    n_nodes = phi.shape[1]
    if n_anchors > n_nodes:
        raise ValueError(f"n_anchors = {n_anchors}; there are {n_nodes} nodes to choose from")
    rng = streams.generator(streams.words(key), Purpose.ANCHORS, 0)
    anchors = np.sort(rng.choice(n_nodes, size=n_anchors, replace=False))
    return phi[:, anchors] * np.sqrt(n_nodes / n_anchors)


def _matrix(phi, name="phi"):
    phi = phi.to_scipy() if hasattr(phi, "to_scipy") else phi
    phi = checks.sparse(phi, name) if sp.issparse(phi) else np.asarray(checks.numbers(phi, name))
    return phi
