"""Hyper-parameters of the greatest likelihood, for any number of nodes, by Lanczos quadrature."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from jax.typing import ArrayLike
from jaxtyping import Float, Int, Real
from scipy.optimize import minimize_scalar

from rfcore import checks, features, walks
from rfcore.gp.covariances import undirected
from rfcore.gp.kernels import diffusion
from rfcore.graphs import Graph
from rfcore.walks import engine, streams
from rfcore.walks.deposits import Deposits
from rfcore.walks.engine import Walkers
from rfcore.walks.lengths import Named
from rfcore.walks.modulation import OfKernel
from rfcore.walks.streams import Key


class Hyperparameters(NamedTuple):
    """Hyper-parameters of K = variance exp(-lengthscale^2 L), and of the noise."""

    variance: float
    lengthscale: float
    noise: float
    """Variance s^2 of the noise."""


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
    return _likeliest(words, partial(features.weigh, deposits), y, lengthscales, n_probes, n_steps)


def fit_walks(
    key: Key,
    g: Graph,
    nodes: Int[ArrayLike, " n"] | Sequence[int],
    y: Real[ArrayLike, " n"] | Sequence[float],
    n_walks: int = 64,
    p_halt: float = 0.1,
    coupling: Named = "stratified",
    lengthscales: tuple[float, float] | Real[ArrayLike, "2"] = (0.2, 5.0),
    n_probes: int = 8,
    n_steps: int = 64,
) -> tuple[sp.csr_array, Hyperparameters]:
    """Features of all nodes, of the diffusion kernel that makes observations at some nodes likeliest.

    ::

        h = phi b,     b ~ N(0, I),     E[phi phi^T] ~ variance exp(-lengthscale^2 L)

    What is maximised is the likelihood of this phi at the observed nodes, as by :func:`fit_diffusion`. The
    walks are those of ``features.walk_features(key, g.normalised(), f, n_walks, p_halt, coupling)``. Only
    deposits of observed nodes are kept for the fit, then all nodes are walked from once more: it takes the
    memory of these deposits (20 bytes each, n_walks / p_halt a node) and of phi (12 bytes an entry). On a
    grid of 50,000 nodes, with 5,000 of them observed, fit and predictions take ten seconds and 0.3 GB.

    The walks of each node leave it a variance of its own, in phi phi^T and hence in h. So the fitted noise is
    below that of y, and h less sure than with the exact kernel: on that grid 0.03 in place of 0.09. The sum
    of the two holds: new values are within 1.96 (doubt^2 + noise)^(1/2) of the mean in 95 % of the cases.
    More walks take both to those of the kernel, and the mean, too.

    Args:
        key: of the walks, of the sign vectors and, if you like, of :func:`sample_weights`.
        g: undirected; it is normalised here.
        nodes, y: where values were observed, perhaps several times; the values, of mean 0, as the model
            assumes, and not all 0.
        n_walks, p_halt, coupling: as for :func:`rfcore.features.walk_features`. A kernel of lengthscale
            gamma needs walks of gamma^2 / 2 hops and more.
        lengthscales, n_probes, n_steps: as for :func:`fit_diffusion`.

    Returns:
        phi, (N, N), and the hyper-parameters.

    With these, what is expected at each node, and how sure that is:

    >>> import jax, networkx, numpy as np
    >>> from rfcore import gp, graphs
    >>> g = graphs.Graph.from_networkx(networkx.grid_2d_graph(15, 15))
    >>> key, seen = jax.random.key(0), np.arange(0, 225, 2)
    >>> y = np.sin(seen / 30) + 0.1 * np.random.default_rng(0).normal(size=113)
    >>> phi, fitted = gp.fit_walks(key, g, seen, y - y.mean())
    >>> mean = y.mean() + phi @ gp.posterior_weights(phi[seen], y - y.mean(), fitted.noise)
    >>> paths = phi @ gp.sample_weights(key, phi[seen], y - y.mean(), fitted.noise, n_samples=100)
    >>> error, doubt = abs(mean - np.sin(np.arange(225) / 30)), paths.std(axis=1)
    >>> bool(error.mean() < 0.1), bool((error < 2 * doubt).mean() > 0.9)
    (True, True)
    """
    g = undirected(g)
    walkers = engine.walkers(key, g, n_walks, p_halt, coupling)
    seen, place = np.unique(checks.indices(nodes, "nodes", g.n_nodes), return_inverse=True)
    y = np.asarray(checks.vector(checks.known(y, "y"), "y", len(place), of="entry of nodes"), dtype=float)
    fitted = _likeliest(  # which alone holds the deposits, so that they are freed
        walkers.words, partial(_weighed, _deposits(walkers, g.n_nodes, seen), place), y, lengthscales, n_probes, n_steps
    )
    again = features.StreamedFeatures(walkers, np.arange(g.n_nodes), diffusion(fitted.lengthscale))
    phi = sp.csr_array(again.to_scipy())
    phi.data *= np.sqrt(fitted.variance)
    return phi, fitted


def _weighed(deposits: Deposits, place: Int[np.ndarray, " n"], f: OfKernel) -> sp.csr_array:
    """Features of observations, each at one row of the deposits, which may have several."""
    return features.weigh(deposits, f)[place]


def _deposits(walkers: Walkers, n_nodes: int, seen: Int[np.ndarray, " n"]) -> Deposits:
    """Deposits of some nodes, in increasing order, as they are among the walks from all nodes."""
    chunks = [np.arange(n_nodes)[rows] for rows in streams.chunks(n_nodes, walkers.n_walks)]
    parts = streams.in_chunks(partial(_of_seen, walkers, seen), chunks)
    row, node, step, load = map(np.concatenate, zip(*parts, strict=True))
    n_steps = 1 + int(step.max(initial=0))
    is_normalised = walkers.tables.for_kernels
    return Deposits(row, node, step, load, walkers.n_walks, len(seen), n_nodes, n_steps, is_normalised)


def _of_seen(
    walkers: Walkers, seen: Int[np.ndarray, " n"], chunk: int, nodes: Int[np.ndarray, " n_rows"]
) -> tuple[Int[np.ndarray, " k"], Int[np.ndarray, " k"], Int[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Row, node, step and load of the deposits of a chunk whose walks are of nodes that were seen."""
    is_seen = np.isin(nodes, seen)
    if not is_seen.any():
        return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
    row, node, load, counts = engine.walk_anew(walkers, chunk, nodes)
    kept = is_seen[row].nonzero()[0]
    step = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return np.searchsorted(seen, nodes[row[kept]]).astype(np.int32), node[kept], step[kept], load[kept]


def _likeliest(
    words: int,
    phi_of: Callable[[OfKernel], sp.csr_array],
    y: Float[np.ndarray, " n"],
    lengthscales: tuple[float, float] | Real[ArrayLike, "2"],
    n_probes: int,
    n_steps: int,
) -> Hyperparameters:
    """The fit of :func:`fit_diffusion`, from the features of the observations under a modulation."""
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
        phi = phi_of(diffusion(lengthscale))
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
        warnings.warn(f"the likelihood is greatest at {bounds}; give wider lengthscales", stacklevel=3)
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
