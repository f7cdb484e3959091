"""Gaussian processes on the nodes of a mesh: nothing dense of the size of the graph is formed.

Where neighbours are few, a diffusion kernel is nearly zero beyond some hops, and the product of walk features
is zero for all nodes that no two walks joined. Both are sparse matrices, and elimination along a surface
keeps them sparse: on 8,700 faces factors have some hundreds of entries per row in place of thousands. This
module is imported by its own name, ``rfcore.models.gp.sparse``.
"""

import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from scipy.sparse.linalg import spilu, splu

from rfcore import checks, features, streams, walks
from rfcore.kernels import Diffusion
from rfcore.models.gp.by_probes import lanczos, nodes_and_weights
from rfcore.models.gp.exact import Posterior, rows, vector
from rfcore.models.gp.on_graphs import Hyperparameters, hyperparameters

PURPOSE = 9  # of the random stream; part of what a key means


def diffusion_covariance(parameters, g, tol=1e-7):
    """The kernel of :func:`rfcore.models.gp.diffusion_covariance` between all nodes, as a sparse matrix.

    ::

        K = kappa exp(-gamma^2 (I - W)) = kappa sum_k P(k) W^k,   P(k) = exp(-gamma^2) gamma^(2k) / k!

    No term is negative, so that nothing cancels. On 8,700 faces of a torus tol = 1e-7 moves the law of 435
    new observations by a divergence of 5e-9.

    Args:
        parameters, g: Hyperparameters; undirected graph, which is normalised here.
        tol: powers are counted until those left have a weight below tol; entries below tol kappa are left
            out.

    Returns:
        SciPy CSR array, (N, N), symmetric, float64.

    Source: Variance-Reducing Couplings, Appendix F.2.
    """
    checks.instance(parameters, Hyperparameters, "parameters", "models.gp.hyperparameters(...)")
    if not checks.graph(g).is_symmetric:
        raise ValueError("g is directed; give an undirected graph, such as that of (W + W.T) / 2")
    W, tol = sp.csr_array(g.normalised().to_scipy()), float(checks.real(tol, "tol", above=0))
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


def posterior(K, y, noise, seen, asked=None):
    """Posterior of :func:`rfcore.models.gp.posterior` for a sparse matrix, by sparse elimination.

    SuperLU with a symmetric order of least degree, without pivots, which positive definite matrices do not
    need. Rows that are asked for are eliminated last, so that the covariance is what elimination leaves of
    them: solving for them one by one takes several times as long.

    Args:
        K: SciPy sparse, symmetric, (n, n): of :func:`diffusion_covariance`, or ``phi @ phi.T`` of walk
            features.
        y, noise, seen, asked: as for :func:`rfcore.models.gp.posterior`.

    Returns:
        Posterior.

    Source: Rasmussen and Williams (2006), Eqs. 2.25 and 2.26.
    """
    if not sp.issparse(K):
        raise ValueError(
            f"K is of type {type(K).__name__}; give a scipy sparse array, such as (phi @ phi.T) of walk features"
        )
    K = checks.sparse(K, "K")
    if K.shape[0] != K.shape[1] or abs(K - K.T).max() > 1e-12 * abs(K).max():
        raise ValueError(f"K has shape {K.shape}, or is not symmetric; give a symmetric matrix")
    y, noise = vector(y), float(checks.real(noise, "noise", above=0))
    seen, asked = rows(seen, asked, K.shape[0], len(y))
    seen, asked = np.asarray(seen), np.asarray(asked)
    first = _least_degree(K[seen][:, seen])
    order, given = np.concatenate([seen[first], asked]), np.asarray(y, dtype=float)[first]
    system = sp.csc_array(K[order][:, order] + noise * sp.eye_array(len(order)))
    factors = _positive_factors(system)
    last = factors.perm_c[len(seen) :]  # where SuperLU put them: it may exchange what does not depend on each other
    left = factors.L[:, last].tocsr()[last].toarray() @ factors.U[:, last].tocsr()[last].toarray()
    # (y, 0) = system (u, v) makes v = -left^-1 K_asked,seen (K_seen,seen + noise)^-1 y
    mean = -left @ factors.solve(np.concatenate([given, np.zeros(len(asked))]))[len(seen) :]
    covariance = left - noise * np.eye(len(asked))
    return Posterior(jnp.asarray(mean), jnp.asarray((covariance + covariance.T) / 2))


def _positive_factors(system):
    """SuperLU's factors without pivots, whose diagonal has the signs of the eigenvalues."""
    try:
        factors = splu(system, permc_spec="NATURAL", **_SYMMETRIC)
        is_positive = np.array_equal(factors.perm_r, factors.perm_c) and np.all(factors.U.diagonal() > 0)
    except RuntimeError:  # a pivot of 0
        is_positive = False
    if not is_positive:
        raise ValueError(
            "K, with the noise, has eigenvalues that are not positive; give a positive definite matrix, or more noise"
        )
    return factors


_SYMMETRIC = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}


def _least_degree(K):
    """SuperLU's symmetric order of least degree of the rows of K, which depends on its pattern alone."""
    pattern = sp.csc_array(K + sp.eye_array(K.shape[0]))
    rows, columns = pattern.nonzero()
    pattern = sp.csc_array(((rows == columns).astype(float), (rows, columns)), shape=K.shape)
    return np.argsort(spilu(pattern, permc_spec="MMD_AT_PLUS_A", drop_tol=1.0, fill_factor=1.0, **_SYMMETRIC).perm_c)


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
        n_probes, n_steps: as for :func:`rfcore.models.gp.log_evidence_by_probes`.

    Returns:
        Hyperparameters.
    """
    words, deposits, y = streams.words(key), walks.checked(deposits), np.asarray(vector(y), dtype=float)
    n_probes, n_steps = checks.count(n_probes, "n_probes", least=2), checks.count(n_steps, "n_steps", least=2)
    bounds = np.asarray(checks.vector(lengthscales, "lengthscales", 2, of="bound"), dtype=float)
    if not 0 < bounds[0] < bounds[1]:
        raise ValueError(f"lengthscales = {lengthscales}; give two bounds above 0 that rise")
    n = len(y)
    if n != deposits.n_rows or not y.any():
        raise ValueError(
            f"y has shape {y.shape}, deposits {deposits.n_rows} rows; give one value per row, not all 0"
        )
    starts = np.column_stack(
        [y, 2.0 * streams.generator(words, PURPOSE, 0).integers(2, size=(n, n_probes)) - 1]
    )
    squares = np.sum(starts**2, axis=0)

    def spectral(log_lengthscale):
        """Nodes and weights of the quadratures, a row for y and for each probe."""
        f = features.modulation.of_kernel(Diffusion.of_lengthscale(np.exp(log_lengthscale)))
        phi = features.weigh(deposits, f)
        transpose = phi.T.tocsr()
        nodes, weights = nodes_and_weights(*lanczos(lambda v: phi @ (transpose @ v), starts, n_steps))
        return np.maximum(nodes, 0), squares[:, None] * weights

    def minus_evidence(log_ratio, nodes, weights):
        shifted = nodes + np.exp(log_ratio)
        variance = np.sum(weights[0] / shifted[0]) / n
        log_det = np.sum(weights[1:] * np.log(shifted[1:])) / n_probes
        return (n * np.log(variance) + log_det) / 2, variance

    def best(log_lengthscale):
        pair = spectral(log_lengthscale)
        found = minimize_scalar(lambda r: minus_evidence(r, *pair)[0], bounds=(-14.0, 5.0), method="bounded")
        return found.fun, minus_evidence(found.x, *pair)[1], np.exp(found.x)

    found = minimize_scalar(
        lambda x: best(x)[0], bounds=np.log(bounds), method="bounded", options={"xatol": 1e-3}
    )
    _, variance, ratio = best(found.x)
    return hyperparameters(variance, np.exp(found.x), ratio * variance)
