"""Gaussian process on the nodes of a graph with the diffusion kernel, and its hyper-parameters.

::

    h ~ N(0, K),   K = kappa exp(-gamma^2 L),   y = h(seen) + noise,   noise ~ N(0, s^2 I)

L is the normalised Laplacian: :meth:`rfcore.kernels.Diffusion.of_lengthscale`.
:func:`fit_graph` is for graphs of any size. Descent finds the
hyper-parameters by :func:`loss`. Source: Variance-Reducing Couplings, Appendix F.2.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize_scalar

from rfcore import checks, features, kernels, streams, walks
from rfcore.couplings import walk_lengths
from rfcore.gp.exact import vector
from rfcore.gp.inference import (
    lanczos,
    log_evidence,
    log_evidence_by_probes,
    nodes_and_weights,
    solved,
)
from rfcore.graphs import Graph
from rfcore.kernels import Spectrum

PURPOSE = 9  # of the random stream; part of what a key means
METHODS = "spectrum", "products", "walks", "streamed"
N_SPECTRUM = 2000  # nodes whose eigenvectors are found in some seconds
N_DENSE = 1000  # observations whose covariance is decomposed for each lengthscale
N_SAMPLE = 20_000  # observations whose walks are kept where those of all would not fit


class Hyperparameters(NamedTuple):
    """Of a diffusion Gaussian process, in logarithms, so that descent keeps them positive. A JAX pytree.

    Attributes:
        log_variance, log_lengthscale, log_noise: of kappa, gamma and s^2, scalars.
    """

    log_variance: jax.Array
    log_lengthscale: jax.Array
    log_noise: jax.Array

    @property
    def variance(self):
        """kappa, what K is multiplied by."""
        return jnp.exp(self.log_variance)

    @property
    def lengthscale(self):
        """gamma: how far h diffuses."""
        return jnp.exp(self.log_lengthscale)

    @property
    def noise(self):
        """s^2, the variance of the noise."""
        return jnp.exp(self.log_noise)


def hyperparameters(variance=1.0, lengthscale=1.0, noise=0.1):
    """Hyperparameters from kappa, gamma and s^2, all above 0, in place of their logarithms."""
    values = {"variance": variance, "lengthscale": lengthscale, "noise": noise}
    return Hyperparameters(*(jnp.log(checks.real(value, name, above=0)) for name, value in values.items()))


def diffusion_covariance(parameters, g, tol=1e-7):
    """K between nodes: dense from a spectrum, differentiable in the hyper-parameters; sparse from a graph.

    ::

        K = kappa V exp(-gamma^2 (1 - lambda)) V^T,   W = V diag(lambda) V^T  the normalised weights
        K = kappa exp(-gamma^2 (I - W)) = kappa sum_k P(k) W^k,   P(k) = exp(-gamma^2) gamma^(2k) / k!

    No term of the sum is negative, so that nothing cancels. On 8,700 faces of a torus tol = 1e-7 moves the
    law of 435 new observations by a divergence of 5e-9.

    Args:
        parameters: Hyperparameters.
        g: lambda and rows of V, (N,) and (n, N), ``kernels.spectrum(g.normalised()).at(nodes)``; or an
            undirected Graph, which is normalised here.
        tol: for a graph, powers are counted until those left have a weight below tol; entries below tol kappa
            are left out.

    Returns:
        JAX array, (n, n); for a graph a SciPy CSR array, (N, N), symmetric, float64.

    Source: Variance-Reducing Couplings, Appendix F.2.
    """
    checks.instance(parameters, Hyperparameters, "parameters", "gp.hyperparameters(...)")
    tol = checks.real(tol, "tol", above=0)
    if not isinstance(g, Graph):
        return _dense_covariance(parameters, g, "g")
    W = sp.csr_array(_undirected(g).to_scipy())
    mean, weights = float(parameters.lengthscale) ** 2, []
    while not weights or (sum(weights) < 1 - tol and len(weights) < 10 * (mean + 10)):
        weights.append(weights[-1] * mean / len(weights) if weights else np.exp(-mean))
    eye = sp.eye_array(g.n_nodes, format="csr")
    K = weights[-1] * eye
    for weight in weights[-2::-1]:
        K = W @ K + weight * eye
    K = (K + K.T) / 2
    K.data[K.data < tol] = 0
    K.eliminate_zeros()
    return float(parameters.variance) * K


def diffusion_features(parameters, deposits):
    """Features of K on walks that stay, K ~ phi phi^T, differentiable in the hyper-parameters.

    ::

        phi = sqrt(kappa) deposits.with_modulation(of_kernel(Diffusion.of_lengthscale(gamma)))

    Args:
        parameters, deposits: Hyperparameters; of :func:`rfcore.features.by_step`, of walks on normalised
            weights.

    Returns:
        DepositFeatures.
    """
    checks.instance(parameters, Hyperparameters, "parameters", "gp.hyperparameters(...)")
    checks.instance(deposits, features.DepositsByStep, "deposits", "those of features.by_step(walks.simulate(...))")
    phi = deposits.with_modulation(features.modulation.of_kernel(kernels.Diffusion.of_lengthscale(parameters.lengthscale)))
    return replace(phi, values=jnp.sqrt(parameters.variance) * phi.values)


def loss(parameters, given, y):
    """Minus the log evidence per observation, for descent to make small: exactly, or on walks that stay.

    Args:
        parameters: Hyperparameters.
        given: a spectrum, as for :func:`diffusion_covariance`, or deposits, as for
            :func:`diffusion_features`; with one row per observation, ``.at(seen)`` or
            ``walks.simulate(key, g, lengths, nodes=seen)``.
        y: one value per row.

    >>> import jax, networkx, numpy as np
    >>> from rfcore import features, gp, graphs, walks
    >>> from rfcore.couplings import walk_lengths
    >>> key, g = jax.random.key(0), graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> seen = np.arange(20)
    >>> deposits = features.by_step(walks.simulate(key, g, walk_lengths.draw(key, 20, 16, 0.4), nodes=seen))
    >>> slope = jax.grad(gp.loss)(gp.hyperparameters(), deposits, np.sin(seen))
    >>> type(slope).__name__
    'Hyperparameters'
    """
    checks.instance(parameters, Hyperparameters, "parameters", "gp.hyperparameters(...)")
    on_walks, y = isinstance(given, features.DepositsByStep), vector(y)
    K = diffusion_features(parameters, given) if on_walks else _dense_covariance(parameters, given, "given")
    return -log_evidence(K, y, parameters.noise) / len(y)


def fit_diffusion(key, deposits, y, lengthscales=(0.2, 5.0), n_probes=8, n_steps=64):
    """Hyper-parameters of greatest evidence on walks that stay, for any number of nodes.

    ::

        max over kappa, gamma, s^2 of  log N(y; 0, kappa (phi phi^T + r I)),   s^2 = r kappa

    For each gamma one run of Lanczos' recurrence on phi phi^T, started from y and from probes of signs, has
    the quadratures of the evidence for all r at once, since a shift changes no Krylov space; the best kappa
    is a quotient. Two searches in one dimension are left. The same probes serve all gamma, so that the
    evidence is smooth in it. (Appendix F.2 of Variance-Reducing Couplings climbs the same evidence by 1000
    steps of Adam.)

    Args:
        key: JAX PRNG key, of the probes.
        deposits: of walks on normalised weights from seen nodes,
            ``walks.simulate(key, g, lengths, nodes=seen)``.
        y: one value per row of the deposits, not all 0.
        lengthscales: bounds of gamma.
        n_probes, n_steps: as for :func:`log_evidence_by_probes`.

    Returns:
        Hyperparameters.
    """
    words, deposits, y = streams.words(key), walks.checked(deposits), _values(y)
    n_probes, n_steps = checks.count(n_probes, "n_probes", least=2), checks.count(n_steps, "n_steps", least=2)
    if len(y) != deposits.n_rows:
        raise ValueError(f"y has shape {y.shape}, deposits {deposits.n_rows} rows; give one value per row")
    signs = 2.0 * streams.generator(words, PURPOSE, 0).integers(2, size=(len(y), n_probes)) - 1

    def spectral(lengthscale):
        phi = features.weigh(deposits, _modulation(lengthscale))
        return _quadratures(phi, np.column_stack([y, signs]), n_steps)

    variance, lengthscale, noise, _ = _greatest(spectral, len(y), _bounds(lengthscales))
    return hyperparameters(variance, lengthscale, noise)


@dataclass(frozen=True, eq=False)
class GraphFit:
    """A diffusion Gaussian process on a graph with the hyper-parameters of greatest evidence."""

    parameters: Hyperparameters
    evidence: float
    """Log evidence of all observations at these parameters; on walks that of their kernel, estimated by
    probes for more than 1,000 observations."""
    method: str
    """"spectrum", "products", "walks" or "streamed"."""
    _predict: Callable = field(repr=False)
    _n_nodes: int = field(repr=False)

    def predict(self, asked):
        """Mean and variance of h at some nodes, two float64 arrays, (n,); observations vary by s^2 more.

        On walks the nodes that are asked for get walks of their own in every call; the variance is biased
        upwards with the diagonal of the kernel, and takes a linear system per node.
        """
        asked = checks.indices(asked, "asked", self._n_nodes, empty=True)
        size = int(np.clip(2**24 // self._n_nodes, 1, 256))  # blocks of 128 MB
        parts = [self._predict(asked[first : first + size]) for first in range(0, len(asked), size)]
        return tuple(np.concatenate([part[i] for part in parts] or [[]]) for i in range(2))


def fit_graph(key, g, seen, y, *, method=None, lengthscales=(0.2, 5.0), n_walks=64, p_halt=0.1):
    """Diffusion Gaussian process on a graph of any size: variance, lengthscale and noise by the evidence.

    ::

        max over kappa, gamma, s^2 of  log N(y; 0, K_ss + s^2 I),   K = kappa exp(-gamma^2 L)

    The best kappa is a quotient; two searches in one dimension are left, on what the covariances of all
    ratios s^2 / kappa have in common: eigenvalues, for many observations Lanczos' quadratures of 8 probes
    (:func:`fit_diffusion`). 500 values on a grid of 5,000 nodes take some seconds.

    Args:
        key: JAX PRNG key, of walks and probes; the first two methods draw nothing.
        g: undirected Graph, which is normalised here.
        seen, y: nodes and their values, (n,), of mean 0, as the model has it, and not all 0; a node may stand
            several times.
        method: how, by default the first of those that is fast enough and fits:

            - "spectrum": exactly, by all eigenvectors of the graph (up to 2,000 nodes)
            - "products": exactly but for 1e-9 of kappa, by Chebyshev products with the columns of the seen
              nodes (up to 1,000 of them, on graphs of some ten thousand nodes)
            - "walks": on the kernel phi phi^T of walks from the seen nodes, which are kept; other nodes walk
              when they are asked for. The diagonal is biased upwards, and the noise that is found is the
              smaller for it
            - "streamed": the same, with no walks kept but for a sample of 20,000 observations, of which the
              hyper-parameters are found; slow
        lengthscales: bounds of gamma.
        n_walks, p_halt: of walks.

    Returns:
        GraphFit.

    Source: Rasmussen and Williams (2006), Section 5.4.1; Variance-Reducing Couplings, Appendix F.2.

    >>> import jax, networkx, numpy as np
    >>> from rfcore import gp, graphs
    >>> g, seen = graphs.Graph.from_networkx(networkx.path_graph(40)), np.arange(0, 40, 2)
    >>> fit = gp.fit_graph(jax.random.key(0), g, seen, np.sin(seen / 4))
    >>> mean, variance = fit.predict([11, 21])
    >>> fit.method, bool(np.allclose(mean, np.sin([11 / 4, 21 / 4]), atol=0.1))
    ('spectrum', True)
    """
    words, g = streams.words(key), _undirected(g)
    seen, y, bounds = checks.indices(seen, "seen", g.n_nodes), _values(y), _bounds(lengthscales)
    n_walks, p_halt = checks.count(n_walks, "n_walks"), checks.probability(p_halt, "p_halt")
    if len(seen) != len(y):
        raise ValueError(f"seen has shape {seen.shape}, y has {len(y)} values; give one node per value")
    if method is None:
        n, entries = len(y), max(g.n_nodes, g.to_scipy().nnz)
        fits = g.n_nodes <= N_SPECTRUM, n <= N_DENSE and n * entries <= 10**8, n * n_walks / p_halt <= 10**8, True
        method = METHODS[fits.index(True)]
    checks.choice(method, "method", METHODS)
    if method in METHODS[:2]:
        block_of, columns_of = (_by_spectrum if method == "spectrum" else _by_products)(g, seen, np.exp(bounds[1]))
        *found, evidence = _greatest(lambda gamma: _eigenvalues(block_of(gamma), y), len(y), bounds, n_first=8)
        product, columns = block_of(found[1]), columns_of(found[1])
    else:
        found, evidence, product, columns = _by_walks(key, words, g, seen, y, bounds, method, n_walks, p_halt)
    variance, _, noise = found
    predict = _predictor(product, columns, y, variance, noise / variance)
    return GraphFit(hyperparameters(*found), float(evidence), method, predict, g.n_nodes)


def _by_spectrum(g, seen, _):
    """Kernel of variance 1 between seen nodes, and with others, as functions of gamma."""
    eigenvalues, vectors = kernels.spectrum(g)

    def half(gamma, nodes):
        return vectors[nodes] * np.exp(-(gamma**2) * (1 - eigenvalues) / 2)

    def columns(gamma, asked):
        return half(gamma, seen) @ half(gamma, asked).T, np.sum(half(gamma, asked) ** 2, axis=1)

    return lambda gamma: half(gamma, seen) @ half(gamma, seen).T, lambda gamma: partial(columns, gamma)


def _by_products(g, seen, largest):
    """The same by Chebyshev polynomials of the weights, whose blocks of seen nodes serve all gamma."""
    W, n_terms = g.to_scipy(), _degree(largest) + 1
    before, blocks = _unit_columns(g, seen), np.empty((n_terms, len(seen), len(seen)))
    now = W @ before
    for k in range(n_terms):
        blocks[k] = before[seen]
        before, now = now, 2 * (W @ now) - before

    def block(gamma):
        coefficients = np.polynomial.chebyshev.chebinterpolate(_function(gamma), n_terms - 1)
        K = np.tensordot(coefficients, blocks, axes=1)
        return (K + K.T) / 2

    def columns(gamma, asked):
        K = kernels.chebyshev_product(g, _function(gamma), _unit_columns(g, asked), _degree(gamma))
        return K[seen], K[asked, np.arange(len(asked))]

    return block, lambda gamma: partial(columns, gamma)


def _by_walks(key, words, g, seen, y, bounds, method, n_walks, p_halt):
    """Hyper-parameters and their evidence; K_ss, dense or as a product; columns of K."""
    own, others, probes = jax.random.split(key, 3)
    walk = partial(features.walk_features, n_walks=n_walks, p_halt=p_halt, coupling="systematic")
    kept = np.arange(len(y))
    if method == "streamed" and len(y) > N_SAMPLE:
        kept = np.sort(streams.generator(words, PURPOSE, 1).choice(len(y), N_SAMPLE, replace=False))
    lengths = walk_lengths.draw(own, len(kept), n_walks, p_halt, "systematic")
    deposits = walks.simulate(own, g, lengths, seen[kept])
    if len(y) <= N_DENSE:

        def block_of(gamma):
            phi = features.weigh(deposits, _modulation(gamma))
            return (phi @ phi.T).toarray()

        *found, evidence = _greatest(lambda gamma: _eigenvalues(block_of(gamma), y), len(y), bounds, n_first=8)
    else:
        found = [float(value) for value in map(np.exp, fit_diffusion(probes, deposits, y[kept], np.exp(bounds)))]
    variance, f = found[0], _modulation(found[1])
    phi = walk(own, g, f, nodes=seen, stored=False) if method == "streamed" else features.weigh(deposits, f)
    if len(y) > N_DENSE:
        evidence = log_evidence_by_probes(probes, phi, y / np.sqrt(variance), found[2] / variance).mean
        evidence -= len(y) * np.log(variance) / 2

    def columns(asked):
        of_asked = walk(others, g, f, nodes=asked).to_scipy()
        across = phi @ (of_asked.T.toarray() if method == "streamed" else of_asked.T)
        return across.toarray() if sp.issparse(across) else across, of_asked.power(2).sum(axis=1)

    transpose = phi.T.tocsr() if sp.issparse(phi) else phi.T
    if method == "streamed" or len(y) > N_DENSE:
        return found, evidence, lambda v: phi @ (transpose @ v), columns
    return found, evidence, (phi @ transpose).toarray(), columns


def _predictor(K, columns, y, variance, ratio):
    """Means and variances of kappa K with noise r kappa, K_ss dense or a product."""
    if callable(K):

        def solve(right):
            return solved(K, ratio, right, 1e-8 * np.linalg.norm(right, axis=0), 10 * len(right))
    else:
        solve = partial(cho_solve, cho_factor(K + ratio * np.eye(len(K)), lower=True))
    weights = solve(y[:, None])[:, 0]

    def predict(asked):
        across, own = columns(asked)
        left = own - np.sum(across * solve(across), axis=0)
        return across.T @ weights, variance * np.maximum(left, 0)

    return predict


def _greatest(spectral, n, bounds, n_first=0):
    """kappa, gamma and s^2 of greatest evidence, and the log evidence.

    ``spectral(gamma)`` has quadratures of the unit kernel, K: nodes and weights, a row for y^T f(K) y, and
    one or several whose mean is the trace of f(K). The search begins with the best of n_first gamma, if any.
    """

    def minus_evidence(log_ratio, nodes, weights):
        shifted = nodes + np.exp(log_ratio)
        variance = np.sum(weights[0] / shifted[0]) / n
        log_det = np.sum(weights[1:] * np.log(shifted[1:])) / (len(nodes) - 1)
        return (n * np.log(variance) + log_det) / 2, variance

    def best(log_lengthscale):
        pair = spectral(np.exp(log_lengthscale))
        found = minimize_scalar(lambda r: minus_evidence(r, *pair)[0], bounds=(-14.0, 5.0), method="bounded")
        return found.fun, minus_evidence(found.x, *pair)[1], np.exp(found.x)

    if n_first:
        at = np.linspace(*bounds, n_first)
        i = np.argmin([best(x)[0] for x in at])
        bounds = at[max(i - 1, 0)], at[min(i + 1, n_first - 1)]
    found = minimize_scalar(lambda x: best(x)[0], bounds=bounds, method="bounded", options={"xatol": 1e-3})
    least, variance, ratio = best(found.x)
    return variance, np.exp(found.x), ratio * variance, -least - n * (1 + np.log(2 * np.pi)) / 2


def _eigenvalues(K, y):
    """What :func:`_greatest` needs of a dense matrix."""
    values, vectors = np.linalg.eigh(K)
    return np.maximum([values, values], 0), np.stack([(vectors.T @ y) ** 2, np.ones(len(y))])


def _quadratures(phi, starts, n_steps):
    """The same of phi phi^T, for columns y and probes of signs."""
    transpose = phi.T.tocsr()
    nodes, weights = nodes_and_weights(*lanczos(lambda v: phi @ (transpose @ v), starts, n_steps))
    return np.maximum(nodes, 0), np.sum(starts**2, axis=0)[:, None] * weights


def _modulation(gamma):
    return features.modulation.of_kernel(kernels.Diffusion.of_lengthscale(gamma))


def _function(gamma):
    return kernels.Diffusion.of_lengthscale(gamma)


def _degree(gamma):
    """Of Chebyshev polynomials: coefficients fall as exp(-k^2 / (2 gamma^2)), from here on below 1e-12."""
    return int(12 + 7 * gamma)


def _unit_columns(g, nodes):
    columns = np.zeros((g.n_nodes, len(nodes)))
    columns[nodes, np.arange(len(nodes))] = 1
    return columns


def _undirected(g):
    if not checks.graph(g).is_symmetric:
        raise ValueError("g is directed; give an undirected graph, such as that of (W + W.T) / 2")
    return g.normalised()


def _values(y):
    """y in float64, if evidence can tell its variance."""
    y = np.asarray(checks.vector(y, "y"), dtype=float)
    if not y.any():
        raise ValueError(f"y has shape {y.shape} and is 0; give values that are not all 0")
    return y


def _bounds(lengthscales):
    """Logarithms of two lengthscales that rise."""
    bounds = np.asarray(checks.vector(lengthscales, "lengthscales", 2, of="bound"), dtype=float)
    if not 0 < bounds[0] < bounds[1]:
        raise ValueError(f"lengthscales = {lengthscales}; give two bounds above 0 that rise")
    return np.log(bounds)


def _dense_covariance(parameters, spectrum, name):
    eigenvalues, vectors = _spectrum(spectrum, name)
    half = vectors * jnp.exp(-(parameters.lengthscale**2) * (1 - eigenvalues) / 2)
    return parameters.variance * half @ half.T


def _spectrum(spectrum, name):
    """Eigenvalues of normalised weights and eigenvectors that fit together."""
    mend = "give kernels.spectrum(g.normalised()), or its .at(nodes)"
    try:
        eigenvalues, vectors = spectrum
    except (TypeError, ValueError):
        raise ValueError(f"{name} is of type {type(spectrum).__name__}; {mend}") from None
    eigenvalues, vectors = vector(eigenvalues, name), checks.points(vectors, name)
    if vectors.shape[1] != len(eigenvalues):
        raise ValueError(f"{name} has shapes {eigenvalues.shape} and {vectors.shape}; {mend}")
    if isinstance(spectrum, Spectrum):
        if not spectrum.is_normalised:
            raise ValueError(f"{name} has weights that are not normalised; {mend}")
    elif not checks.is_traced(eigenvalues):  # a pair, which does not say what it is of
        with jax.ensure_compile_time_eval():
            largest = float(eigenvalues.max())
        if largest > 1 + 1e3 * jnp.finfo(eigenvalues.dtype).eps:
            raise ValueError(f"{name} has an eigenvalue of {largest:.3g}, and normalised weights of 1 at most; {mend}")
    return eigenvalues, vectors
