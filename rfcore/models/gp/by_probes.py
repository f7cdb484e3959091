"""Evidence of Gaussian processes on many nodes by probes and quadrature: standard error and bound."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from rfcore import checks, streams
from rfcore.features import DepositFeatures, WalkFeatures
from rfcore.models.gp.exact import vector

PURPOSE = 8  # of the random stream; part of what a key means
BELOW = 0.999  # times s^2: a number below the spectrum, and apart from it, or the last pivot would be 0 / 0


class Evidence(NamedTuple):
    """An estimate of a log evidence; it is off by at most ``gap``, and the noise of the probes."""

    mean: float
    """The estimate."""
    se: float
    """Standard error, over the probes."""
    gap: float
    """How far the expectation of the estimate may be from the log evidence, but for rounding."""


def log_evidence_by_probes(key, phi, y, noise, n_probes=32, n_steps=48):
    """Estimate of the log evidence for the kernel phi phi^T of large sparse features, in float64 on the host.

    ::

        log det A = n E[log-quadrature of z],  A = phi phi^T + s^2 I,  z of n independent signs

    For each probe n_steps of Lanczos' recurrence, v -> A v, give two quadratures of the spectral measure.
    Gauss' overestimates the integral of the logarithm, Radau's, with a node below the spectrum,
    underestimates it; for y^T A^(-1) y it is the other way round. The result is the middle between the two,
    the gap half their distance. If the gap exceeds the standard error, take more steps (their number grows
    with the root of 1 + abs(K) / s^2), else more probes. Memory is O(n_probes (n + m)). Nothing is
    orthogonalised anew: quadrature does not need it (Golub and Strakos, 1994).

    Source: Golub and Meurant, Matrices, Moments and Quadrature (2010), Chapters 6 and 7; Ubaru et al. (2017).
    """
    words, phi, y = streams.words(key), _on_host(phi), np.asarray(vector(y), dtype=float)
    noise, n = float(checks.real(noise, "noise", above=0)), phi.shape[0]
    n_probes, n_steps = checks.count(n_probes, "n_probes", least=2), checks.count(n_steps, "n_steps", least=2)
    if n != len(y):
        raise ValueError(f"y has shape {y.shape}, phi {phi.shape}; give one value per row of phi")
    signs = 2.0 * streams.generator(words, PURPOSE, 0).integers(2, size=(n, n_probes)) - 1
    transpose = phi.T.tocsr() if sp.issparse(phi) else phi.T

    def product(v):
        return phi @ (transpose @ v) / noise + v

    over, under = _quadratures(product, signs, n_steps, np.log)
    below, above = _quadratures(product, y[:, None], n_steps, np.reciprocal)
    log_det, square = (over + under) / 2 + n * np.log(noise), (below + above)[0] / 2 / noise
    gap = ((over - under).mean() + (above - below)[0] / noise) / 4
    mean = -(square + log_det.mean() + n * np.log(2 * np.pi)) / 2
    return Evidence(float(mean), float(log_det.std(ddof=1) / np.sqrt(n_probes) / 2), float(gap))


def _quadratures(product, starts, n_steps, f):
    """Gauss' and Radau's quadrature of v^T f(A) v for every column v, for A of at least 1."""
    diagonal, beside = lanczos(product, starts, n_steps)
    pivot = diagonal[:, 0] - BELOW
    for j in range(1, n_steps - 1):
        pivot = diagonal[:, j] - BELOW - beside[:, j - 1] ** 2 / pivot
    last = BELOW + beside[:, -1] ** 2 / pivot
    square = np.sum(starts**2, axis=0)
    rules = (nodes_and_weights(d, beside) for d in (diagonal, np.column_stack([diagonal[:, :-1], last])))
    return [square * np.sum(weights * f(nodes), axis=1) for nodes, weights in rules]


def lanczos(product, starts, n_steps):
    """Diagonals and off-diagonals of the matrices of Lanczos' recurrence v -> A v, a row per start.

    ``product`` takes columns (n, n_starts) and returns A times each, A symmetric. Results have shapes
    (n_starts, n_steps) and (n_starts, n_steps - 1).
    """
    norm = np.linalg.norm(starts, axis=0)
    v, before = starts / np.where(norm > 0, norm, 1), np.zeros_like(starts)
    diagonal, beside = np.ones((starts.shape[1], n_steps)), np.zeros((starts.shape[1], n_steps - 1))
    size = 0.0
    for j in range(n_steps):
        image = product(v) - (beside[:, j - 1] * before if j else 0)
        # A start whose space is exhausted goes on as zeros: no weight falls on what is decoupled.
        diagonal[:, j] = np.where(v.any(axis=0), np.sum(v * image, axis=0), 1.0)
        size = np.maximum(size, diagonal[:, j])
        image -= diagonal[:, j] * v
        length = np.linalg.norm(image, axis=0)
        length[length < 1e-12 * size] = 0
        if j < n_steps - 1:
            beside[:, j] = length
        before, v = v, image / np.where(length > 0, length, 1) * (length > 0)
    return diagonal, beside


def nodes_and_weights(diagonal, beside):
    """Gauss' quadrature by each tridiagonal matrix, T: v^T f(A) v ~ v^T v sum of weights f(nodes).

    Eigenvalues of T, and squares of the first entries of its eigenvectors, a row per matrix (Golub and
    Welsch, 1969).
    """
    T = np.zeros((*diagonal.shape, diagonal.shape[1]))
    i = np.arange(diagonal.shape[1])
    T[:, i, i], T[:, i[1:], i[:-1]] = diagonal, beside
    nodes, vectors = np.linalg.eigh(T)  # of the lower triangle
    return nodes, vectors[:, 0] ** 2


def _on_host(phi):
    """Features as a SciPy CSR or NumPy array."""
    if isinstance(phi, WalkFeatures | DepositFeatures):
        phi = phi.to_scipy()
    return checks.sparse(phi, "phi") if sp.issparse(phi) else np.asarray(checks.points(phi, "phi"), dtype=float)
