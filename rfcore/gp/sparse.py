"""Gaussian processes on graphs of more than about two thousand nodes, with kernels sparse or never formed.

GPJax's matrices are dense. Where nodes have few neighbours, a diffusion kernel is nearly zero beyond some
hops, and the product of walk features is zero for nodes that no two walks join. On a surface, elimination
keeps both sparse (:func:`rfcore.gp.posterior`): on 8,700 faces there are some hundreds of entries per row in
place of thousands. For larger graphs, conjugate gradients (:func:`rfcore.gp.posterior_weights`) and Lanczos
quadrature (:func:`rfcore.gp.fit_diffusion`) take products with features alone. Arrays are float64 NumPy.
"""
# pyright: reportOptionalSubscript=false
# SciPy is untyped: the shape of a sparse array is inferred as None, too.

import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int, Real
from scipy.optimize import minimize_scalar
from scipy.sparse.linalg import SuperLU, eigsh, spilu, splu
from scipy.special import ive

from rfcore import checks, features, graphs, walks
from rfcore.gp.kernels import diffusion
from rfcore.graphs import Graph
from rfcore.kernels.products import power_of_two
from rfcore.kernels.spectral import finite
from rfcore.walks import streams
from rfcore.walks.deposits import Deposits
from rfcore.walks.operator import Operator
from rfcore.walks.streams import Key

_SYMMETRIC = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}


class Posterior(NamedTuple):
    """Posterior distribution of h at test nodes, with the attribute names of GPJax's predictions."""

    mean: Float[np.ndarray, " n"]
    covariance_matrix: Float[np.ndarray, "n n"]
    """Covariance of h; that of observations is larger by s^2 I."""

    @property
    def variance(self) -> Float[np.ndarray, " n"]:
        """Diagonal of the covariance."""
        return np.diagonal(self.covariance_matrix)


class Hyperparameters(NamedTuple):
    """Hyper-parameters of K = variance exp(-lengthscale^2 L), and of the noise."""

    variance: float
    lengthscale: float
    noise: float
    """Variance s^2 of the noise."""


def diffusion_covariance(g: Graph, lengthscale: float, variance: float = 1.0, tol: float = 1e-7) -> sp.csr_array:
    """Diffusion kernel of a graph as a sparse matrix.

    ::

        K = variance exp(-lengthscale^2 (I - W)) = variance sum_k P(k) T_k(W)
        P(0) = exp(-t) I_0(t),   P(k) = 2 exp(-t) I_k(t),   t = lengthscale^2

    with Chebyshev polynomials T_k and Bessel functions I_k. The weights P are positive and sum to 1, and
    eigenvalues of T_k(W) are in [-1, 1], so that nothing cancels. About 6 lengthscale terms matter, each one
    sparse product; a series in powers of W has lengthscale^2. On 8,700 faces of a torus, tol = 1e-7 changes
    the distribution of 435 new observations by a divergence of 5e-8.

    Args:
        g: undirected; it is normalised here. If weights are negative, eigenvalues of W may be outside
            [-1, 1]: t is then multiplied by half the width of their range, and K by
            exp(lengthscale^2 (most - 1)), with most its upper end.
        lengthscale, variance: above 0.
        tol: between 0 and 1. The series ends where the remaining weights sum to less than tol; entries whose
            size is below tol variance are set to 0.

    Returns:
        Symmetric CSR array, (N, N).

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


def _weights(t: float, tol: float, most: int = 20_000) -> Float[np.ndarray, " n_terms"] | None:
    """P(0), P(1), ..., until the remaining ones sum to less than tol; None if there are too many.

    P is the distribution of the absolute difference of two Poisson variables of mean t / 2, whose tail is
    bounded by Bennett's inequality.
    """
    exponent = np.log(2 / tol)
    n = exponent / 3 + np.sqrt(exponent**2 / 9 + 2 * t * exponent)
    if not n < most:
        return None
    k = np.arange(int(n) + 2)
    weights = np.where(k > 0, 2, 1) * ive(k, t)
    left = np.cumsum(weights[::-1])[::-1]
    return weights[: max(2, np.count_nonzero(left >= tol))]


def _range_of_eigenvalues(W: sp.csr_array) -> tuple[float, float]:
    """Bounds of the eigenvalues of symmetric normalised weights: -1 and 1, unless weights are negative."""
    if W.data.min(initial=0.0) >= 0:
        return -1.0, 1.0
    start = np.random.default_rng(0).normal(size=W.shape[0])
    least, most = (eigsh(W, 1, which=end, v0=start, return_eigenvectors=False)[0] for end in ("SA", "LA"))
    return float(least) - 1e-6, float(most) + 1e-6


def _fraction(value: float, name: str) -> float:
    value = checks.real(checks.known(value, name), name)
    if not 0 < value < 1:
        raise ValueError(f"{name} = {value}; give a number between 0 and 1")
    return value


def posterior(
    K: sp.sparray | sp.spmatrix | Float[np.ndarray, "N N"],
    y: Real[ArrayLike, " n"] | Sequence[float],
    noise: float,
    train: Int[Array | np.ndarray, " n"] | Sequence[int],
    test: Int[Array | np.ndarray, " n_test"] | Sequence[int] | None = None,
) -> Posterior:
    """Mean and covariance of h ~ N(0, K) at test nodes, given observations at others, by sparse elimination.

    ::

        mean = K_*t (K_tt + s^2 I)^(-1) y,     covariance = K_** - K_*t (K_tt + s^2 I)^(-1) K_t*

    where t and * are the nodes of train and test. SuperLU, in a symmetric minimum-degree order and without
    pivoting, eliminates test nodes last: their Schur complement is the covariance plus s^2 I. To solve for
    them one by one takes several times as long.

    Raises ValueError if K, with the noise, is not positive definite.

    Args:
        K: symmetric and positive semidefinite.
        y, noise, train: observations; the variance s^2 of their noise, 0 or above; their nodes.
        test: nodes to predict, perhaps none; by default all but train, in increasing order.

    Source: Rasmussen and Williams (2006), Eqs. 2.25 and 2.26.
    """
    K, noise = _symmetric(K), _one_variance(noise)
    y, train = np.asarray(checks.vector(checks.known(y, "y"), "y"), dtype=float), checks.indices(train, "train", K.shape[0])
    if len(train) != len(y):
        raise ValueError(f"train has shape {train.shape}, y has {len(y)} values; give one node per value")  # pyright: ignore[reportAttributeAccessIssue]  # checks.indices is Any, and makes an array
    test = np.setdiff1d(np.arange(K.shape[0]), train) if test is None else checks.indices(test, "test", K.shape[0], empty=True)
    first = _least_degree(K[train][:, train])
    order = np.concatenate([train[first], test])  # pyright: ignore[reportArgumentType, reportCallIssue]
    factors = _positive_factors(sp.csc_array(K[order][:, order] + noise * sp.eye_array(len(order))))
    last = factors.perm_c[len(train) :]  # their places in SuperLU's order, which may exchange independent columns
    left = factors.L[:, last].tocsr()[last].toarray() @ factors.U[:, last].tocsr()[last].toarray()
    # system (u, v) = (y, 0) has v = -left^-1 K_*t (K_tt + noise)^-1 y
    mean = -left @ factors.solve(np.concatenate([y[first], np.zeros(len(test))]))[len(train) :]  # pyright: ignore[reportArgumentType]
    covariance = left - noise * np.eye(len(test))  # pyright: ignore[reportArgumentType]
    return Posterior(mean, (covariance + covariance.T) / 2)


def posterior_weights(
    phi: Operator | sp.sparray | sp.spmatrix | Real[ArrayLike, "n m"],
    y: Real[ArrayLike, " n"] | Sequence[float],
    noise: float,
    rtol: float = 1e-8,
    max_steps: int | None = None,
) -> Float[np.ndarray, " m"]:
    """Posterior mean of the weights of h = phi b, b ~ N(0, I), by conjugate gradients.

    ::

        b = phi^T (phi phi^T + s^2 I)^(-1) y,     E[h(asked) | y] = phi_asked b

    ``phi_asked`` may be any features that multiply a vector, such as
    :class:`rfcore.features.StreamedFeatures` if those of all nodes do not fit into memory. The kernel between
    its nodes and those of phi is unbiased if its walks have a key of their own.

    Args:
        phi: features of the observed nodes.
        y, noise: observations; the variance s^2 of their noise, 0 or above.
        rtol: bound of the residual's norm over the largest absolute value of y, between 0 and 1.
        max_steps: as for :func:`conjugate_gradients`.

    Source: Rasmussen and Williams (2006), Eqs. 2.11 and 2.12.
    """
    phi = phi.to_scipy() if hasattr(phi, "to_scipy") else phi  # pyright: ignore[reportAttributeAccessIssue]  # hasattr narrows no types
    phi = checks.sparse(phi, "phi") if sp.issparse(phi) else sp.csr_array(checks.finite(np.asarray(checks.numbers(phi, "phi")), "phi"))
    y = np.asarray(checks.vector(checks.known(y, "y"), "y", phi.shape[0], of="row of phi"), dtype=float)[:, None]
    transpose = phi.T.tocsr()  # contiguous rows: a third of the time
    atol = _fraction(rtol, "rtol") * np.abs(y).max(axis=0)
    x = conjugate_gradients(lambda v: phi @ (transpose @ v), y, noise, atol, max_steps)
    return (phi.T @ x)[:, 0]


@np.errstate(divide="ignore", over="ignore", invalid="ignore")
def conjugate_gradients(
    product: Callable[[Float[np.ndarray, "n k"]], Real[ArrayLike, "n k"]],
    y: Real[ArrayLike, "n k"],
    noise: float,
    atol: float | Real[ArrayLike, " k"],
    max_steps: int | None = None,
) -> Float[np.ndarray, "n k"]:
    """Solve (K + s^2 I) x = y for all columns at once, each until its residual has at most the norm atol.

    The number of steps grows as the square root of 1 + |K| / s^2.

    Args:
        product: v -> K v.
        y, noise: right-hand sides; the variance s^2, 0 or above.
        atol: 0 or above, for all columns or for each.
        max_steps: 10 n by default; RuntimeError is raised if they are not enough.
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


def _one_variance(noise: float) -> float:
    if np.ndim(noise):
        raise ValueError(f"noise has shape {np.shape(noise)}; give one variance for all observations")
    return checks.real(checks.known(noise, "noise"), "noise", least=0)


def _symmetric(K: sp.sparray | sp.spmatrix | Float[np.ndarray, "N N"]) -> sp.csr_array:
    """``K`` as a CSR array."""
    if not (sp.issparse(K) or isinstance(K, np.ndarray)):
        got = f"K is of type {type(K).__name__}"
        raise ValueError(f"{got}; give a SciPy sparse array: phi @ phi.T of walk features phi, sp.csr_array(np.asarray(K)) of a JAX array")
    found = checks.sparse(K, "K") if sp.issparse(K) else sp.csr_array(checks.finite(checks.numbers(K, "K"), "K"))
    if found.ndim != 2 or not 0 < found.shape[0] == found.shape[1]:
        raise ValueError(f"K has shape {K.shape}; give a square matrix, one row and one column per node")  # pyright: ignore[reportAttributeAccessIssue]  # SciPy is untyped
    if not checks.is_symmetric(K if K.dtype in checks.FLOATS else found):  # pyright: ignore[reportAttributeAccessIssue]
        raise ValueError("K is not symmetric; give all of a covariance: of the upper triangle U it is U + U.T - diag(U)")
    return found


def fit_diffusion(
    key: Key,
    deposits: Deposits,
    y: Real[ArrayLike, " n_rows"] | Sequence[float],
    lengthscales: tuple[float, float] | Real[ArrayLike, "2"] = (0.2, 5.0),
    n_probes: int = 8,
    n_steps: int = 64,
) -> Hyperparameters:
    """Hyper-parameters of the greatest marginal likelihood on fixed walks, for any number of nodes.

    ::

        max over kappa, gamma, s^2 of  log N(y; 0, kappa (phi phi^T + r I)),   s^2 = r kappa

    For each gamma, one run of the Lanczos recurrence on phi phi^T, started from y and from random sign
    vectors, gives quadratures of the likelihood for all r at once, since Krylov spaces are invariant under
    shifts; the best kappa is a quotient. Two one-dimensional searches remain. All gamma have the same sign
    vectors, so that the likelihood is smooth in it. (Appendix F.2 of Variance-Reducing Couplings maximises it
    by 1000 steps of Adam.)

    Args:
        key: of the sign vectors.
        deposits: of walks on normalised weights from the observed nodes,
            ``walks.simulate(key, g, lengths, nodes=seen)``.
        y: one value per row of the deposits, of mean 0, as the model assumes, and not all 0.
        lengthscales: lower and upper bound of gamma, above 0; there is a warning if the maximum is at one.
        n_probes, n_steps: sign vectors and Lanczos steps, at least 1 (Golub and Meurant, 2010; Ubaru et al.,
            2017).
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

    def quadratures(
        lengthscale: float,
    ) -> tuple[Float[np.ndarray, "n_starts n_steps"], Float[np.ndarray, "n_starts n_steps"]]:
        """Nodes and weights for phi phi^T, for y and for each sign vector."""
        phi = features.weigh(deposits, diffusion(lengthscale))
        transpose = phi.T.tocsr()
        nodes, weights = gauss(*lanczos(lambda v: phi @ (transpose @ v), starts, n_steps))
        return np.maximum(nodes, 0), np.sum(starts**2, axis=0)[:, None] * weights

    def minus_likelihood(
        log_ratio: float,
        nodes: Float[np.ndarray, "n_starts n_steps"],
        weights: Float[np.ndarray, "n_starts n_steps"],
    ) -> tuple[float, float]:
        shifted = nodes + np.exp(log_ratio)
        variance = np.sum(weights[0] / shifted[0]) / len(y)
        log_det = np.sum(weights[1:] * np.log(shifted[1:])) / (len(nodes) - 1)
        return (len(y) * np.log(variance) + log_det) / 2, variance

    def best(log_lengthscale: float) -> tuple[float, float, float]:
        pair = quadratures(np.exp(log_lengthscale))
        found = minimize_scalar(lambda r: minus_likelihood(r, *pair)[0], bounds=(-14.0, 5.0), method="bounded")
        return found.fun, minus_likelihood(found.x, *pair)[1], np.exp(found.x)

    found = minimize_scalar(lambda x: best(x)[0], bounds=np.log(lengthscales), method="bounded", options={"xatol": 1e-3})
    _, variance, ratio = best(found.x)  # pyright: ignore[reportAttributeAccessIssue]  # SciPy is untyped
    if min(abs(found.x - np.log(lengthscales))) < 0.01:  # pyright: ignore[reportAttributeAccessIssue]
        bounds = f"lengthscale = {np.exp(found.x):.3g}, at a bound of {lengthscales}"  # pyright: ignore[reportAttributeAccessIssue]
        warnings.warn(f"the likelihood is greatest at {bounds}; give wider lengthscales", stacklevel=2)
    return Hyperparameters(*map(float, (variance, np.exp(found.x), ratio * variance)))  # pyright: ignore[reportAttributeAccessIssue]


def lanczos(
    product: Callable[[Float[np.ndarray, "n n_starts"]], Float[np.ndarray, "n n_starts"]],
    starts: Float[np.ndarray, "n n_starts"],
    n_steps: int,
) -> tuple[Float[np.ndarray, "n_starts n_steps"], Float[np.ndarray, "n_starts n_steps-1"]]:
    """Diagonals and off-diagonals of the tridiagonal matrices of the Lanczos recurrence, a row per start.

    ``product`` is v -> A v of columns, A symmetric. There is no reorthogonalisation: quadrature does not need
    it (Golub and Strakos, 1994).
    """
    norm = np.linalg.norm(starts, axis=0)
    v, before = starts / np.where(norm > 0, norm, 1), np.zeros_like(starts)
    diagonal, beside = np.ones((starts.shape[1], n_steps)), np.zeros((starts.shape[1], n_steps - 1))
    size = 0.0
    for j in range(n_steps):
        image = product(v) - (beside[:, j - 1] * before if j else 0)
        # Once a Krylov space is exhausted its vector is 0: decoupled entries of T have no weight.
        diagonal[:, j] = np.where(v.any(axis=0), np.sum(v * image, axis=0), 1.0)
        size = np.maximum(size, diagonal[:, j])
        image -= diagonal[:, j] * v
        length = np.linalg.norm(image, axis=0)
        length[length < 1e-12 * size] = 0
        if j < n_steps - 1:
            beside[:, j] = length
        before, v = v, image / np.where(length > 0, length, 1) * (length > 0)
    return diagonal, beside


def gauss(
    diagonal: Float[np.ndarray, "n_starts n_steps"], beside: Float[np.ndarray, "n_starts n_steps-1"]
) -> tuple[Float[np.ndarray, "n_starts n_steps"], Float[np.ndarray, "n_starts n_steps"]]:
    """Gauss quadrature from each tridiagonal matrix T: v^T f(A) v ~ v^T v sum of weights f(nodes).

    Nodes are the eigenvalues of T, weights the squared first entries of its eigenvectors, a row per matrix
    (Golub and Welsch, 1969).
    """
    T = np.zeros((*diagonal.shape, diagonal.shape[1]))
    i = np.arange(diagonal.shape[1])
    T[:, i, i], T[:, i[1:], i[:-1]] = diagonal, beside
    nodes, vectors = np.linalg.eigh(T)  # uses the lower triangle
    return nodes, vectors[:, 0] ** 2


def _positive_factors(system: sp.csc_array) -> SuperLU:
    """SuperLU's factors without pivoting: the diagonal of U has the signs of the eigenvalues."""
    try:
        factors = splu(system, permc_spec="NATURAL", **_SYMMETRIC)
        is_positive = np.array_equal(factors.perm_r, factors.perm_c) and np.all(factors.U.diagonal() > 0)
    except RuntimeError:  # a pivot of 0
        is_positive = False
    if not is_positive:
        raise ValueError("K, with the noise, has eigenvalues that are not positive; give a positive definite matrix, or more noise")
    return factors  # pyright: ignore[reportPossiblyUnboundVariable]  # bound if is_positive


def _least_degree(K: sp.csr_array) -> Int[np.ndarray, " n"]:
    """SuperLU's symmetric minimum-degree order of the rows of K, which depends on its pattern alone."""
    pattern = sp.csc_array(K + sp.eye_array(K.shape[0]))
    rows, columns = pattern.nonzero()
    pattern = sp.csc_array(((rows == columns).astype(float), (rows, columns)), shape=K.shape)
    return np.argsort(spilu(pattern, permc_spec="MMD_AT_PLUS_A", drop_tol=1.0, fill_factor=1.0, **_SYMMETRIC).perm_c)
