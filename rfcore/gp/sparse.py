"""Gaussian processes on graphs of more than some two thousand nodes, whose kernel is sparse or never formed.

GPJax's matrices are dense. Where neighbours are few, a diffusion kernel is nearly zero beyond some hops, and
the product of walk features is zero for all nodes that no two walks joined: elimination along a surface keeps
both sparse (:func:`rfcore.gp.posterior`), on 8,700 faces with some hundreds of entries per row in place of
thousands. Beyond that conjugate gradients (:func:`rfcore.gp.posterior_weights`) and Lanczos' quadrature
(:func:`rfcore.gp.fit_diffusion`) multiply by features alone. Arrays are float64, of NumPy.
"""

import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from scipy.sparse.linalg import eigsh, spilu, splu
from scipy.special import ive

from rfcore import checks, features, graphs, walks
from rfcore.gp.kernels import diffusion
from rfcore.kernels.products import power_of_two
from rfcore.kernels.spectral import finite
from rfcore.walks import streams

_SYMMETRIC = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}


class Posterior(NamedTuple):
    """Of h where it was not seen, by the names that GPJax's predictions have."""

    mean: np.ndarray
    """Shape (n,)."""
    covariance_matrix: np.ndarray
    """Shape (n, n), of h; observations of it vary by s^2 more."""

    @property
    def variance(self):
        """Diagonal of the covariance, (n,)."""
        return np.diagonal(self.covariance_matrix)


class Hyperparameters(NamedTuple):
    """Of K = variance exp(-lengthscale^2 L), and of the noise."""

    variance: float
    lengthscale: float
    noise: float
    """s^2, its variance."""


def diffusion_covariance(g, lengthscale, variance=1.0, tol=1e-7):
    """The diffusion kernel of a graph as a sparse matrix.

    ::

        K = variance exp(-lengthscale^2 (I - W)) = variance sum_k P(k) T_k(W)
        P(0) = exp(-t) I_0(t),   P(k) = 2 exp(-t) I_k(t),   t = lengthscale^2

    with Chebyshev's polynomials T_k and Bessel functions I_k. The weights P are positive and have the sum 1,
    and no eigenvalue of T_k(W) is beyond 1: nothing cancels. Terms that count, and sparse products, are about
    6 lengthscale, where powers of W would be lengthscale^2. On 8,700 faces of a torus tol = 1e-7 moves the
    distribution of 435 new observations by a divergence of 5e-8.

    Args:
        g: undirected Graph, which is normalised here. Where weights are negative, eigenvalues of W may be
            beyond [-1, 1]: t is then times half the width of their range, and its upper end a factor.
        lengthscale, variance: above 0.
        tol: between 0 and 1. Terms are counted until those left have a weight below tol; entries whose size
            is below tol variance are 0.

    Returns:
        SciPy CSR array, (N, N), symmetric.

    Source: Variance-Reducing Couplings, Appendix F.2.
    """
    lengthscale = checks.real(checks.known(lengthscale, "lengthscale"), "lengthscale", above=0)
    variance, tol = checks.real(checks.known(variance, "variance"), "variance", above=0), _fraction(tol, "tol")
    g = graphs.checked(g).normalised()
    if not g.is_symmetric:
        raise ValueError("g is directed; give an undirected graph, such as that of (W + W.T) / 2")
    W, eye = g.to_scipy(), sp.eye_array(g.n_nodes, format="csr")
    least, most = _range_of_eigenvalues(W)
    weights = _weights(lengthscale * ((most - least) / 2) * lengthscale, tol)
    if weights is None:
        got = f"lengthscale = {lengthscale}, for which a sparse matrix is too wide"
        raise ValueError(f"{got}; give kernels.diffusion(g, 2**0.5 * lengthscale), which is dense, or a smaller one")
    twice = (W + W.T - (most + least) * eye) * (2 / (most - least))  # of eigenvalues in [-2, 2]
    K, before = weights[-1] * eye, 0 * eye
    for weight in weights[-2:0:-1]:  # Clenshaw's recurrence
        K, before = twice @ K - before + weight * eye, K
    K = twice @ K / 2 - before + weights[0] * eye
    with np.errstate(over="ignore", invalid="ignore"):
        K = np.exp(lengthscale * (most - 1) * lengthscale) / 2 * (K + K.T)
        K.data[abs(K.data) < tol] = 0
        K.data = finite(variance * K.data)
    K.eliminate_zeros()
    return K


def _weights(t, tol, most=20_000):
    """P(0), P(1), ... until those left have the sum tol; None if there are too many.

    P is the distribution of the absolute difference of two Poisson numbers of mean t / 2: Bennett's bound
    says what is certainly left out.
    """
    exponent = np.log(2 / tol)
    n = exponent / 3 + np.sqrt(exponent**2 / 9 + 2 * t * exponent)
    if not n < most:
        return None
    k = np.arange(int(n) + 2)
    weights = np.where(k > 0, 2, 1) * ive(k, t)
    left = np.cumsum(weights[::-1])[::-1]
    return weights[: max(2, np.count_nonzero(left >= tol))]


def _range_of_eigenvalues(W):
    """Of symmetric normalised weights: -1 to 1, unless weights are negative."""
    if W.data.min(initial=0.0) >= 0:
        return -1.0, 1.0
    start = np.random.default_rng(0).normal(size=W.shape[0])
    least, most = (eigsh(W, 1, which=end, v0=start, return_eigenvectors=False)[0] for end in ("SA", "LA"))
    return float(least) - 1e-6, float(most) + 1e-6


def _fraction(value, name):
    value = checks.real(checks.known(value, name), name)
    if not 0 < value < 1:
        raise ValueError(f"{name} = {value}; give a number between 0 and 1")
    return value


def posterior(K, y, noise, train, test=None):
    """Mean and covariance of h ~ N(0, K) at some nodes, given others, by sparse elimination.

    ::

        mean = K_*t (K_tt + s^2 I)^(-1) y,     covariance = K_** - K_*t (K_tt + s^2 I)^(-1) K_t*

    t and * are the nodes of train and test. SuperLU with a symmetric order of least degree, without pivots.
    Test nodes are eliminated last, so that the covariance is what elimination leaves of them: solving for
    them one by one takes several times as long.

    Args:
        K: SciPy sparse array, (N, N), symmetric and positive semidefinite.
        y, noise, train: observations, (n,); the variance s^2 of their noise, 0 or above; their nodes.
        test: nodes to predict, perhaps none; by default the others, in increasing order.

    Returns:
        Posterior. Raises ValueError where K, with the noise, is not positive definite.

    Source: Rasmussen and Williams (2006), Eqs. 2.25 and 2.26.
    """
    K, noise = _symmetric(K), _one_variance(noise)
    y, train = np.asarray(checks.vector(checks.known(y, "y"), "y"), dtype=float), checks.indices(train, "train", K.shape[0])
    if len(train) != len(y):
        raise ValueError(f"train has shape {train.shape}, y has {len(y)} values; give one node per value")
    test = np.setdiff1d(np.arange(K.shape[0]), train) if test is None else checks.indices(test, "test", K.shape[0], empty=True)
    first = _least_degree(K[train][:, train])
    order = np.concatenate([train[first], test])
    factors = _positive_factors(sp.csc_array(K[order][:, order] + noise * sp.eye_array(len(order))))
    last = factors.perm_c[len(train) :]  # where SuperLU put them: it may exchange what does not depend on each other
    left = factors.L[:, last].tocsr()[last].toarray() @ factors.U[:, last].tocsr()[last].toarray()
    # (y, 0) = system (u, v) makes v = -left^-1 K_*t (K_tt + noise)^-1 y
    mean = -left @ factors.solve(np.concatenate([y[first], np.zeros(len(test))]))[len(train) :]
    covariance = left - noise * np.eye(len(test))
    return Posterior(mean, (covariance + covariance.T) / 2)


def posterior_weights(phi, y, noise, rtol=1e-8, max_steps=None):
    """Posterior mean of the weights of h = phi b, b ~ N(0, I), by conjugate gradients.

    ::

        b = phi^T (phi phi^T + s^2 I)^(-1) y,     E[h(asked) | y] = phi_asked b

    ``phi_asked`` may be any features that multiply a vector, such as
    :class:`rfcore.features.StreamedFeatures`, where those of all nodes would not fit into memory; for an
    unbiased kernel between asked and seen nodes its walks should have a key of their own.

    Args:
        phi: WalkFeatures or SciPy sparse, (n, m), one row per seen node.
        y, noise: observations, (n,); the variance s^2, 0 or above.
        rtol: of the largest of y, between 0 and 1: what the residual is to be below.
        max_steps: as for :func:`conjugate_gradients`.

    Source: Rasmussen and Williams (2006), Eqs. 2.11 and 2.12.
    """
    phi = phi.to_scipy() if hasattr(phi, "to_scipy") else phi
    phi = checks.sparse(phi, "phi") if sp.issparse(phi) else sp.csr_array(checks.finite(np.asarray(checks.numbers(phi, "phi")), "phi"))
    y = np.asarray(checks.vector(checks.known(y, "y"), "y", phi.shape[0], of="row of phi"), dtype=float)[:, None]
    transpose = phi.T.tocsr()  # rows that lie together: a third of the time
    atol = _fraction(rtol, "rtol") * np.abs(y).max(axis=0)
    x = conjugate_gradients(lambda v: phi @ (transpose @ v), y, noise, atol, max_steps)
    return (phi.T @ x)[:, 0]


@np.errstate(divide="ignore", over="ignore", invalid="ignore")
def conjugate_gradients(product, y, noise, atol, max_steps=None):
    """Columns x of (K + s^2 I) x = y at once, each until its residual is below its atol.

    The number of steps grows with the root of 1 + abs(K) / s^2.

    Args:
        product: function from columns (n, k) to K times each, (n, k).
        y, noise: right-hand sides, (n, k); the variance s^2, 0 or above.
        atol: number, or (k,), of at least 0.
        max_steps: 10 n by default; RuntimeError where they are not enough.
    """
    y, atol = (np.asarray(checks.numbers(checks.known(x, name), name), dtype=float) for x, name in ((y, "y"), (atol, "atol")))
    if y.ndim != 2 or not y.size or atol.shape not in ((), y.shape[1:]):
        raise ValueError(f"y has shape {y.shape}, and atol {atol.shape}; give columns (n, k), and a number or (k,)")
    if not np.all(atol >= 0):
        raise ValueError(f"atol = {atol}; give numbers of at least 0")
    checks.finite(y, "y")
    noise = _one_variance(noise)
    max_steps = 10 * len(y) if max_steps is None else checks.count(max_steps, "max_steps")
    size = power_of_two(y)
    y, atol = y / size, atol / size
    x, residual = np.zeros_like(y), y.copy()
    direction, square = y.copy(), np.sum(y**2, axis=0)
    for _ in range(max_steps):
        going = np.sqrt(square) > atol
        if not going.any():
            return size * x
        image = np.asarray(product(direction))
        if image.shape != y.shape:
            raise ValueError(f"product returns shape {image.shape} for columns {y.shape}; give one that returns K times each")
        image = image + noise * direction
        step = np.where(going, square, 0) / np.where(going, np.sum(direction * image, axis=0), 1)
        x += step * direction
        residual -= step * image
        before, square = np.where(going, square, 1), np.sum(residual**2, axis=0)
        if not np.all(np.isfinite(square)):
            raise ValueError("product, with the noise, is not positive definite or overflows; give more noise, or another scale")
        direction = residual + square / before * direction
    raise RuntimeError(f"The maximum number of solver steps was reached, {max_steps}; give more max_steps, or noise")


def _one_variance(noise):
    if np.ndim(noise):
        raise ValueError(f"noise has shape {np.shape(noise)}; give one variance for all observations")
    return checks.real(checks.known(noise, "noise"), "noise", least=0)


def _symmetric(K):
    """``K`` as a CSR array."""
    if not (sp.issparse(K) or isinstance(K, np.ndarray)):
        got = f"K is of type {type(K).__name__}"
        raise ValueError(f"{got}; give a SciPy sparse array: phi @ phi.T of walk features phi, sp.csr_array(np.asarray(K)) of a JAX array")
    found = checks.sparse(K, "K") if sp.issparse(K) else sp.csr_array(checks.finite(checks.numbers(K, "K"), "K"))
    if found.ndim != 2 or not 0 < found.shape[0] == found.shape[1]:
        raise ValueError(f"K has shape {K.shape}; give a square matrix, one row and one column per node")
    if not checks.is_symmetric(K if K.dtype in checks.FLOATS else found):
        raise ValueError("K is not symmetric; give all of a covariance: of the upper triangle U it is U + U.T - diag(U)")
    return found


def fit_diffusion(key, deposits, y, lengthscales=(0.2, 5.0), n_probes=8, n_steps=64):
    """Hyper-parameters of greatest marginal likelihood on walks that stay, for any number of nodes.

    ::

        max over kappa, gamma, s^2 of  log N(y; 0, kappa (phi phi^T + r I)),   s^2 = r kappa

    For each gamma one run of Lanczos' recurrence on phi phi^T, started from y and from probes of signs, has
    the quadratures of the likelihood for all r at once, since a shift changes no Krylov space; the best kappa
    is a quotient. Two searches in one dimension are left. The same probes serve all gamma, so that the
    likelihood is smooth in it. (Appendix F.2 of Variance-Reducing Couplings climbs it by 1000 steps of Adam.)

    Args:
        key: JAX PRNG key, of the probes.
        deposits: of walks on normalised weights from seen nodes,
            ``walks.simulate(key, g, lengths, nodes=seen)``.
        y: one value per row of the deposits, of mean 0, as the model has it, and not all 0.
        lengthscales: bounds of gamma, above 0; a warning says where the best is one of them.
        n_probes, n_steps: of the quadrature (Golub and Meurant, 2010; Ubaru et al., 2017), at least 1.

    Returns:
        Hyperparameters.
    """
    words, deposits = streams.words(key), walks.checked(deposits)
    y = np.asarray(checks.vector(checks.known(y, "y"), "y", deposits.n_rows, of="row of deposits"), dtype=float)
    with np.errstate(over="ignore"):
        if not np.finfo(float).tiny <= np.sum(y**2) < np.inf:
            got = f"y has values up to {np.abs(y).max():.3g}"
            raise ValueError(f"{got}; give values that are not all 0, and whose squares are floats")
    n_probes, n_steps = checks.count(n_probes, "n_probes"), checks.count(n_steps, "n_steps")
    bounds = np.asarray(checks.vector(checks.known(lengthscales, "lengthscales"), "lengthscales"), dtype=float)
    if bounds.shape != (2,) or not 0 < bounds[0] < bounds[1]:
        raise ValueError(f"lengthscales = {lengthscales}; give two bounds above 0, the lower one first")
    signs = 2.0 * streams.generator(words, streams.Purpose.PROBES, 0).integers(2, size=(len(y), n_probes)) - 1
    starts = np.column_stack([y, signs])

    def quadratures(lengthscale):
        """Of phi phi^T, for y and probes of signs."""
        phi = features.weigh(deposits, diffusion(lengthscale))
        transpose = phi.T.tocsr()
        nodes, weights = gauss(*lanczos(lambda v: phi @ (transpose @ v), starts, n_steps))
        return np.maximum(nodes, 0), np.sum(starts**2, axis=0)[:, None] * weights

    def minus_likelihood(log_ratio, nodes, weights):
        shifted = nodes + np.exp(log_ratio)
        variance = np.sum(weights[0] / shifted[0]) / len(y)
        log_det = np.sum(weights[1:] * np.log(shifted[1:])) / (len(nodes) - 1)
        return (len(y) * np.log(variance) + log_det) / 2, variance

    def best(log_lengthscale):
        pair = quadratures(np.exp(log_lengthscale))
        found = minimize_scalar(lambda r: minus_likelihood(r, *pair)[0], bounds=(-14.0, 5.0), method="bounded")
        return found.fun, minus_likelihood(found.x, *pair)[1], np.exp(found.x)

    found = minimize_scalar(lambda x: best(x)[0], bounds=np.log(lengthscales), method="bounded", options={"xatol": 1e-3})
    _, variance, ratio = best(found.x)
    if min(abs(found.x - np.log(lengthscales))) < 0.01:
        bounds = f"lengthscale = {np.exp(found.x):.3g}, at a bound of {lengthscales}"
        warnings.warn(f"the likelihood is greatest at {bounds}; give wider lengthscales", stacklevel=2)
    return Hyperparameters(*map(float, (variance, np.exp(found.x), ratio * variance)))


def lanczos(product, starts, n_steps):
    """Diagonals and off-diagonals of the matrices of Lanczos' recurrence v -> A v, a row per start.

    ``product`` takes columns (n, n_starts) and returns A times each, A symmetric. Results have shapes
    (n_starts, n_steps) and (n_starts, n_steps - 1). Nothing is orthogonalised anew: quadrature does not need
    it (Golub and Strakos, 1994).
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


def gauss(diagonal, beside):
    """Gauss' quadrature by each tridiagonal matrix, T: v^T f(A) v ~ v^T v sum of weights f(nodes).

    Eigenvalues of T, and squares of the first entries of its eigenvectors, a row per matrix (Golub and
    Welsch, 1969).
    """
    T = np.zeros((*diagonal.shape, diagonal.shape[1]))
    i = np.arange(diagonal.shape[1])
    T[:, i, i], T[:, i[1:], i[:-1]] = diagonal, beside
    nodes, vectors = np.linalg.eigh(T)  # of the lower triangle
    return nodes, vectors[:, 0] ** 2


def _positive_factors(system):
    """SuperLU's factors without pivots, whose diagonal has the signs of the eigenvalues."""
    try:
        factors = splu(system, permc_spec="NATURAL", **_SYMMETRIC)
        is_positive = np.array_equal(factors.perm_r, factors.perm_c) and np.all(factors.U.diagonal() > 0)
    except RuntimeError:  # a pivot of 0
        is_positive = False
    if not is_positive:
        raise ValueError("K, with the noise, has eigenvalues that are not positive; give a positive definite matrix, or more noise")
    return factors


def _least_degree(K):
    """SuperLU's symmetric order of least degree of the rows of K, which depends on its pattern alone."""
    pattern = sp.csc_array(K + sp.eye_array(K.shape[0]))
    rows, columns = pattern.nonzero()
    pattern = sp.csc_array(((rows == columns).astype(float), (rows, columns)), shape=K.shape)
    return np.argsort(spilu(pattern, permc_spec="MMD_AT_PLUS_A", drop_tol=1.0, fill_factor=1.0, **_SYMMETRIC).perm_c)
