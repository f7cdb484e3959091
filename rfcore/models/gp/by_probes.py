"""Evidence of Gaussian processes on many nodes, by probes and quadrature: with a standard error, and a bound on the rest."""

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
    """Estimate of :func:`log_evidence` for the kernel phi phi^T of large sparse features, whose product is never formed.

    ::

        log det A = n E[log-quadrature of z],  A = phi phi^T + s^2 I,  z of n independent signs

    Each probe z takes n_steps of Lanczos' recurrence, v -> A v, which give two quadratures of its spectral measure. Gauss'
    overestimates the integral of the logarithm, Radau's, with a node below the spectrum, underestimates it; for
    y^T A^(-1) y it is the other way round. What is returned is the middle between the two, and half their distance. If the gap is larger than the
    standard error, take more steps (their number grows with the root of 1 + abs(K) / s^2), else more probes.

    Parameters
    ----------
    key : JAX PRNG key
    phi : WalkFeatures, DepositFeatures, scipy sparse or dense array, shape (n, m)
        Features, one row per node. The work is on the host, by SciPy, and is not differentiable.
    y : array, shape (n,)
    noise : float
        s^2, the variance of the noise; above 0.
    n_probes : int
        At least 2.
    n_steps : int
        Time is O(n_steps n_probes entries of phi), memory O(n_probes (n + m)).

    Returns
    -------
    Evidence
        ``mean, se, gap`` in float64, whatever JAX's default.

    Raises
    ------
    ValueError
        If shapes do not fit, a value is not finite, noise is not above 0, a count is too small, or the key is no JAX key.

    Notes
    -----
    Hutchinson, 1990 (probes of signs); Golub and Meurant, Matrices, Moments and Quadrature, 2010, Sections 6.2 and 7.1 to 7.3
    (the bounds: even derivatives of the logarithm are negative, odd ones positive); Ubaru, Chen and Saad, 2017 (together). The
    recurrence does not orthogonalise anew: quadrature does not need it (Golub and Strakos, 1994).

    Examples
    --------
    >>> import jax, numpy as np
    >>> from rfcore import models
    >>> phi, y = np.array([[1.0, 0.2], [0.5, 0.0], [0.0, 1.0]]), np.array([1.0, 2.0, 0.5])
    >>> mean, se, gap = models.gp.log_evidence_by_probes(jax.random.key(0), phi, y, 0.1, n_probes=64)
    >>> bool(abs(mean - models.gp.log_evidence_of_features(phi, y, 0.1)) < 4 * se + gap + 1e-9)
    True
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
    """Diagonals and off-diagonals of the tridiagonal matrices of Lanczos' recurrence v -> A v, one row per start.

    ``product`` takes columns of shape (n, n_starts) and returns A times each, A symmetric. The diagonals have shape
    (n_starts, n_steps), what stands beside them (n_starts, n_steps - 1). Nothing is orthogonalised anew.
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
    """Gauss' quadrature by each tridiagonal matrix, T: v^T f(A) v is about v^T v times the sum of its weights f(nodes).

    The nodes are the eigenvalues of T, the weights the squares of the first entries of its eigenvectors (Golub and Welsch,
    1969); both have the shape of ``diagonal``, a row for each matrix.
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
