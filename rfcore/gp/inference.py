"""Posterior and evidence of Gaussian processes: one function each, whose algebra follows from what K is."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np
import scipy.sparse as sp
from jax.scipy.linalg import cho_solve
from scipy.sparse.linalg import LinearOperator

from rfcore import checks, streams
from rfcore.features import DepositFeatures, DepositsByStep, StreamedFeatures, WalkFeatures
from rfcore.gp import exact
from rfcore.gp.exact import Posterior, cholesky, log_det, rows, symmetric, vector

PURPOSE = 8  # of the random stream; part of what a key means
BELOW = 0.999  # times s^2: a number below the spectrum, and apart from it, or the last pivot would be 0 / 0


class OfFeatures(NamedTuple):
    """The kernel phi phi^T of any features, such as :func:`rfcore.features.fourier`; it is never formed."""

    phi: Any
    """Dense, SciPy sparse, or features of walks, (n, m)."""


class Evidence(NamedTuple):
    """An estimate of a log evidence; it is off by at most ``gap``, and the noise of the probes."""

    mean: float
    """The estimate."""
    se: float
    """Standard error, over the probes."""
    gap: float
    """How far the expectation of the estimate may be from the log evidence, but for rounding."""


def posterior(K, y, noise, seen, asked=None, *, covariance=True, rtol=None, max_steps=None):
    """Mean and covariance of h at the rows that are asked for.

    ::

        mean = K_as (K_ss + s^2 I)^(-1) y,     covariance = K_aa - K_as (K_ss + s^2 I)^(-1) K_sa

    ================================================  ====================================================
    K                                                 by
    ================================================  ====================================================
    dense matrix                                      Cholesky, O(n_seen^3), in JAX
    SciPy sparse matrix                               sparse elimination, on the host
    WalkFeatures, DepositFeatures, sparse OfFeatures  conjugate gradients on phi_s phi_s^T, in JAX; on the
                                                      host if they are of SciPy, and y and s^2 not traced
    dense OfFeatures                                  Cholesky on the smaller side of phi_s
    StreamedFeatures, SciPy's LinearOperator          conjugate gradients on products with K, on the host
    ================================================  ====================================================

    Conjugate gradients solve one system for y, and one for each row that is asked for if the covariance is
    wanted. Their number of steps grows with the root of 1 + abs(K) / s^2.

    Args:
        K: kernel, (n, n), symmetric and positive semidefinite; or features phi, (n, m), of K = phi phi^T.
        y, noise, seen: observations, (n_seen,); the variance s^2 of their noise; their rows of K.
        asked: rows of K to predict; by default those not seen, in increasing order.
        covariance: False for the mean alone.
        rtol: where residuals of conjugate gradients end, relative to the largest of abs(y), or for products
            with K to the norm of y; by default the root of the rounding of the dtype, or 1e-8.
        max_steps: of conjugate gradients; 10 n_seen by default.

    Returns:
        Posterior, of h; observations of it vary by s^2 more.

    Raises RuntimeError if max_steps are not enough.

    Source: Rasmussen and Williams (2006), Eqs. 2.25 and 2.26 and Algorithm 2.1.

    >>> import numpy as np
    >>> from rfcore import gp
    >>> mean, covariance = gp.posterior(np.ones((2, 2)), [1.0], 1.0, seen=[0])  # the same h at both
    >>> mean.round(3).tolist(), covariance.round(3).tolist()
    ([0.5], [[0.5]])
    """
    K, y, noise = _kernel(K), vector(y), checks.real(noise, "noise", above=0)
    seen, asked = rows(seen, asked, K.phi.shape[0] if isinstance(K, OfFeatures) else K.shape[0], len(y))
    covariance, rtol = checks.flag(covariance, "covariance"), None if rtol is None else checks.real(rtol, "rtol", above=0)
    max_steps = 10 * len(y) if max_steps is None else checks.count(max_steps, "max_steps")
    if isinstance(K, LinearOperator):
        return _by_products(K, y, float(noise), seen, asked, covariance, rtol or 1e-8, max_steps)
    if sp.issparse(K):
        found = exact.posterior_of_sparse(K, y, float(noise), seen, asked)
    elif not isinstance(K, OfFeatures):
        found = exact.posterior_of_matrix(K, y, noise, seen, asked)
    elif isinstance(K.phi, jax.Array) and K.phi.shape[1] < len(seen):
        mean, factor = exact.factored_posterior(K.phi, y, noise, seen, asked)
        found = Posterior(mean, factor @ factor.T)
    elif isinstance(K.phi, jax.Array):
        both, n = K.phi[np.append(seen, asked)], len(seen)
        found = exact.posterior_of_matrix(both @ both.T, y, noise, np.arange(n), np.arange(n, len(both)))
    else:
        rtol = float(jnp.finfo(y.dtype).eps) ** 0.5 if rtol is None else rtol
        return _by_features(K.phi, y, noise, seen, asked, covariance, rtol, max_steps)
    return found if covariance else found._replace(covariance=None)


def mean_weights(phi, y, noise, rtol=None, max_steps=None):
    """Posterior mean of the weights of a Gaussian process h = phi b, b ~ N(0, I), by conjugate gradients.

    ::

        b = phi^T (phi phi^T + s^2 I)^(-1) y,     E[h(asked) | y] = phi_asked b

    They hold all that the observations say. ``phi_asked`` may be any features that multiply a vector, such as
    :class:`rfcore.features.StreamedFeatures`, where those of all nodes would not fit into memory; for an
    unbiased kernel between asked and seen nodes its walks should have a key of their own.

    Args:
        phi: WalkFeatures or SciPy sparse, (n, m), one row per seen node.
        y, noise: observations, (n,); the variance s^2.
        rtol, max_steps: as for :func:`posterior`.

    Raises RuntimeError if max_steps are not enough.

    Source: Rasmussen and Williams (2006), Eqs. 2.11 and 2.12.
    """
    if not (isinstance(phi, WalkFeatures) or sp.issparse(phi)):
        got = f"phi is of type {type(phi).__name__}"
        raise ValueError(
            f"{got}; give features of the nodes that were seen, of walk_features(..., nodes=seen), or a sparse array"
        )
    phi = _matrix(phi, "phi")
    # The weights are what the process is at nodes whose features are unit vectors.
    (n, m), both = phi.shape, sp.vstack([phi, sp.eye_array(phi.shape[1], format="csr")], format="csr")
    if n != len(vector(y)):
        raise ValueError(f"y has shape {np.shape(y)}, phi {phi.shape}; give one value per row of phi")
    seen, asked = np.arange(n), n + np.arange(m)
    return np.asarray(posterior(OfFeatures(both), y, noise, seen, asked, covariance=False, rtol=rtol, max_steps=max_steps).mean)


def log_evidence(K, y, noise):
    """Log of the density of y, exactly.

    ::

        log N(y; 0, K + s^2 I) = -y^T (K + s^2 I)^(-1) y / 2 - log det(K + s^2 I) / 2 - n log(2 pi) / 2

    Of features phi, (n, m), in O(n m min(n, m)) on the smaller side, for m < n as a sum of squares in which
    nothing cancels:

    ::

        A = phi^T phi + s^2 I,   b = A^(-1) phi^T y:
        y^T (K + s^2 I)^(-1) y = (|y - phi b|^2 + s^2 |b|^2) / s^2
        log det(K + s^2 I) = log det A + (n - m) log s^2

    Args:
        K: dense or SciPy sparse matrix, or stored features, as for :func:`posterior`. For many nodes, and for
            products alone, see :func:`log_evidence_by_probes`.
        y, noise: one value per row of K; the variance s^2.

    Source: Rasmussen and Williams (2006), Eqs. 2.30, A.9 and A.10.
    """
    K, y, noise = _kernel(K), vector(y), checks.real(noise, "noise", above=0)
    if isinstance(K, LinearOperator):
        raise ValueError("K is known by its products alone; give a matrix or stored features, or take log_evidence_by_probes")
    n, m = K.phi.shape if isinstance(K, OfFeatures) else K.shape
    if n != len(y):
        raise ValueError(f"y has shape {y.shape}, K {(n, m)}; give one value per row of K")
    if sp.issparse(K):
        return exact.evidence_of_sparse(K, y, float(noise))
    if not isinstance(K, OfFeatures):
        return exact.evidence_of_matrix(K, y, noise)
    if n <= m:
        return exact.evidence_of_matrix(jnp.asarray(_gram(K.phi)), y, noise)
    L = cholesky(_gram(K.phi.T) + noise * jnp.eye(m), "phi^T phi, with the noise,")
    phi = _in_jax(K.phi)
    b = cho_solve((L, True), phi.T @ y)
    square = jnp.sum((y - phi @ b) ** 2) / noise + jnp.sum(b**2)
    return -(square + log_det(L) + (n - m) * jnp.log(noise) + n * jnp.log(2 * jnp.pi)) / 2


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
    """Features that multiply on the host: a SciPy CSR or NumPy array, or streamed ones."""
    if isinstance(phi, StreamedFeatures):
        return phi
    phi = _matrix(phi.to_scipy() if isinstance(phi, DepositFeatures) else phi, "phi")
    return phi if sp.issparse(phi) else np.asarray(phi, dtype=float)


def _kernel(K):
    """A kernel as a symmetric matrix, a LinearOperator, or OfFeatures that multiply."""
    if isinstance(K, StreamedFeatures):
        return LinearOperator((K.shape[0],) * 2, matvec=lambda v: K @ (K.T @ v), matmat=lambda v: K @ (K.T @ v), dtype=float)
    if isinstance(K, LinearOperator):
        if K.shape[0] != K.shape[1]:
            raise ValueError(f"K has shape {K.shape}; give products with a square matrix")
        return K
    if isinstance(K, OfFeatures | WalkFeatures | DepositFeatures):
        return OfFeatures(_matrix(K.phi, "K.phi") if isinstance(K, OfFeatures) else _matrix(K, "K"))
    if not sp.issparse(K):
        return symmetric(K, "K")
    K = checks.sparse(K, "K")
    if K.shape[0] != K.shape[1] or abs(K - K.T).max() > 1e-12 * abs(K).max():
        raise ValueError(f"K has shape {K.shape}, or is not symmetric; give a symmetric matrix")
    return K


def _by_features(phi, y, noise, seen, asked, covariance, rtol, max_steps):
    on_host = sp.issparse(phi) and not (checks.is_traced(y) or checks.is_traced(noise))
    seen, asked = _chosen(phi, seen, on_host), _chosen(phi, asked, on_host)
    right, halfway = y[:, None], None
    if covariance:
        halfway = asked.transposed_times(np.eye(len(asked.rows), dtype=y.dtype))
        right = jnp.column_stack([y, seen.times(halfway)])
    found = asked.times(seen.transposed_times(_solution(seen, noise, right, rtol, max_steps)))
    mean = jnp.asarray(found[:, 0], y.dtype)
    if not covariance:
        return Posterior(mean, None)
    left = asked.times(halfway) - found[:, 1:]
    return Posterior(mean, jnp.asarray((left + left.T) / 2, y.dtype))


def _by_products(K, y, noise, seen, asked, covariance, rtol, max_steps):
    def columns(rows, x):
        at = np.zeros((K.shape[0], x.shape[1]))
        np.add.at(at, rows, x)
        return K.matmat(at)

    right, unit = np.asarray(y, dtype=float)[:, None], columns(asked, np.eye(len(asked))) if covariance else None
    if covariance:
        right = np.column_stack([right, unit[seen]])
    atol = rtol * np.linalg.norm(right, axis=0)
    found = columns(seen, solved(lambda x: columns(seen, x)[seen], noise, right, atol, max_steps))[asked]
    mean = jnp.asarray(found[:, 0])
    if not covariance:
        return Posterior(mean, None)
    left = unit[asked] - found[:, 1:]
    return Posterior(mean, jnp.asarray((left + left.T) / 2))


class _Rows(NamedTuple):
    """Some rows of features, which need not be sorted by rows: so rows are chosen on the vectors' side."""

    phi: Any
    rows: Any

    def times(self, w):
        return (self.phi @ w)[self.rows]

    def transposed_times(self, x):
        return self.phi.T @ jnp.zeros((self.phi.shape[0], x.shape[1]), x.dtype).at[self.rows].add(x)


class _HostRows(NamedTuple):
    """The same of a scipy CSR array, whose rows are cheap to take."""

    phi: Any
    rows: Any

    def times(self, w):
        return self.phi @ np.asarray(w, dtype=float)

    def transposed_times(self, x):
        return self.phi.T @ np.asarray(x, dtype=float)


def _chosen(phi, rows, on_host=False):
    if on_host:
        return _HostRows(phi[rows], rows)
    if isinstance(phi, DepositFeatures):
        return _Rows(phi, rows)
    return _Rows(_in_jax(phi[rows]), np.arange(len(rows)))


def _operator(seen, noise, dtype):
    def product(v):
        return seen.times(seen.transposed_times(v[:, None]))[:, 0].astype(dtype) + noise * v

    return lx.FunctionLinearOperator(product, jax.ShapeDtypeStruct(seen.rows.shape, dtype), lx.positive_semidefinite_tag)


def _solution(seen, noise, right, rtol, max_steps):
    """Columns x of (phi_s phi_s^T + s^2 I) x = right."""
    if isinstance(seen, _HostRows):
        return _solution_on_host(seen.phi, float(noise), np.asarray(right, dtype=float), rtol, max_steps)
    return _solution_in_jax(seen, noise, right, rtol, max_steps)


def _solution_on_host(phi, noise, right, rtol, max_steps):
    transpose = phi.T.tocsr()  # rows that lie together: a third of the time

    def product(v):
        return phi @ (transpose @ v)

    return solved(product, noise, right, rtol * np.abs(right).max(axis=0, initial=0), max_steps)


def solved(product, noise, right, atol, max_steps):
    """Columns x of (K + s^2 I) x = right, by conjugate gradients, each until its residual is below atol."""
    x, residual = np.zeros_like(right), right.copy()
    direction, square = right.copy(), np.sum(right**2, axis=0)
    for _ in range(max_steps):
        going = np.sqrt(square) > atol
        if not going.any():
            return x
        image = product(direction) + noise * direction
        step = np.where(going, square, 0) / np.where(going, np.sum(direction * image, axis=0), 1)
        x += step * direction
        residual -= step * image
        before, square = np.where(going, square, 1), np.sum(residual**2, axis=0)
        direction = residual + square / before * direction
    raise RuntimeError(f"The maximum number of solver steps was reached, {max_steps}; give more max_steps, or noise")


@partial(jax.jit, static_argnums=(3, 4))  # else each call compiles conjugate gradients anew
def _solution_in_jax(seen, noise, right, rtol, max_steps):
    operator, solver = _operator(seen, noise, right.dtype), lx.CG(rtol, rtol, max_steps=max_steps)
    size = jax.lax.stop_gradient(jnp.max(jnp.abs(right), axis=0))  # the solver's absolute tolerance is that of size 1
    size = jnp.where(size > 0, size, 1.0)
    solve = jax.vmap(lambda column: lx.linear_solve(operator, column, solver).value, in_axes=1, out_axes=1)
    return solve(right / size) * size


def _matrix(phi, name):
    """Features that multiply: DepositFeatures, or a finite scipy CSR array or JAX array."""
    if isinstance(phi, DepositFeatures):
        return phi
    if isinstance(phi, WalkFeatures) or sp.issparse(phi):
        return checks.sparse(phi.to_scipy() if isinstance(phi, WalkFeatures) else phi, name)
    return checks.points(phi, name)


def _in_jax(phi):
    """Features that JAX can multiply with; a sparse array as deposits of one step, f(0) = 1."""
    if not sp.issparse(phi):
        return phi
    row = np.repeat(np.arange(phi.shape[0]), np.diff(phi.indptr))
    row, node = jnp.asarray(row, dtype=jnp.int32), jnp.asarray(phi.indices, dtype=jnp.int32)
    load = jnp.asarray(phi.data, dtype=float)
    return DepositFeatures(DepositsByStep(row, node, jnp.zeros_like(row), load, phi.shape, 1, True), load)


def _gram(phi):
    product = phi @ phi.T
    return product.toarray() if sp.issparse(product) else product
