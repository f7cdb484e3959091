"""Kernels times vectors, without forming the kernels: the baseline for walk features on large graphs.

On 10^5 nodes of degree 6 such a product takes hundredths of a second and is exact. Walk features take a
second to build, and have relative errors of some per cent.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import scipy.sparse as sp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int, Real
from scipy.sparse import linalg

from rfcore import checks, graphs
from rfcore.graphs import Graph
from rfcore.kernels.spectral import finite, values_of

MOST = 1e5  # largest norm: for it SciPy takes some 10 seconds, and longer for larger ones


def chebyshev_matvec(
    g: Graph,
    function: Callable[[Float[np.ndarray, " k"]], Real[ArrayLike, " k"]],
    v: Real[ArrayLike, "N ..."],
    degree: int,
) -> Float[np.ndarray, "N ..."]:
    """A function of the weights times a vector, by Chebyshev polynomials.

    ::

        f(W) v  =  sum over k <= degree of  c_k T_k(W) v,     T_{k+1}(W) v = 2 W T_k(W) v - T_{k-1}(W) v

    with c_k from interpolation of f at the Chebyshev points of [-1, 1]. For entire f, such as exp, the error
    falls faster than geometrically with the degree, at one sparse product per degree and the memory of four
    vectors.

    Raises ValueError if the products reveal an eigenvalue of W outside [-1, 1], where abs(T_k) exceeds 1 and
    grows with k.

    Args:
        g: usually ``g.normalised()``, whose eigenvalues are between -1 and 1.
        function: f, of an array of eigenvalues of W, such as ``kernels.Diffusion(1.0)``.
        v: a vector, or a matrix (N, c) of columns.
        degree: at least 1.

    Source: Trefethen, Approximation Theory and Approximation Practice, 2013, Chapters 3 and 8.

    >>> import networkx, numpy as np
    >>> from rfcore import graphs, kernels
    >>> g = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> product = kernels.chebyshev_matvec(g, kernels.Diffusion(1.0), np.ones(34), 12)
    >>> bool(np.allclose(product, kernels.diffusion(g, 1.0) @ np.ones(34)))
    True
    """
    degree, v = checks.count(degree, "degree"), _rows(v, g)
    W, coefficients = g.to_scipy(), np.polynomial.chebyshev.chebinterpolate(partial(values_of, function), degree)  # pyright: ignore[reportCallIssue, reportArgumentType]  # NumPy's stubs have a function to a scalar
    checks.finite(coefficients, "function between -1 and 1")
    size = power_of_two(v)
    v = v / size
    # abs(T_k) <= 1 on the spectrum of a symmetric W; rounding adds k^2 eps at most, 1e-8 for degrees in the thousands.
    most = np.linalg.norm(v, axis=0) * (1 + 1e-8)
    before, now = v, W @ v
    total = coefficients[0] * before + coefficients[1] * now
    for coefficient in coefficients[2:]:
        before, now = now, 2 * (W @ now) - before
        total += coefficient * now
        if not np.all(np.linalg.norm(now, axis=0) <= most):
            raise ValueError("g is directed, or has eigenvalues outside [-1, 1]; give g.normalised()")
    return finite(size * total)


def expm_multiply(g: Graph, scale: float, v: Real[ArrayLike, "N ..."]) -> Float[np.ndarray, "N ..."]:
    """The product exp(scale W) v, to rounding, for a vector or columns v; the graph may be directed.

    If scale W has no negative entries, this is the Taylor series, truncated by a bound on its remainder: no
    terms cancel for v of one sign, and it takes a fifth of the time of
    :func:`scipy.sparse.linalg.expm_multiply`, which is used otherwise. :func:`rfcore.kernels.exponential` is
    the matrix.

    Raises ValueError if the product overflows, or if SciPy would need more than some thousand steps.

    Source: Al-Mohy and Higham, 2011, for negative entries of scale W.
    """
    scale, v = checks.real(checks.known(scale, "scale"), "scale"), _rows(v, g)
    with np.errstate(over="ignore", invalid="ignore"):
        A = scale * g.to_scipy()
        if (n_terms := _n_terms(A)) is None:
            if not (norm := abs(A).sum(axis=0).max()) < MOST:
                got = f"scale = {scale} makes columns of weights of up to {norm:.3g}"
                raise ValueError(f"{got}; give a smaller scale, or g.normalised()")
            return finite(linalg.expm_multiply(A, v))
        term, total = v, v.copy()
        for k in range(1, n_terms + 1):
            term = A @ term
            term /= k
            total += term
        return finite(total)


def _n_terms(A: sp.csr_array) -> int | None:
    """Last power of A in exp(A) v, for an error below eps / 2 of v's largest entry.

    None if terms may cancel, or overflow.

    For A >= 0 the norms a_k = |A^k|_inf / k! = max(A^k 1) / k! satisfy a_{K+j} <= a_K a_j / (K + 1), and so
    the remainder after K is at most a_K (a_1 + ... + a_K) / K once a_K <= 1.
    """
    if A.nnz and A.data.min() < 0:
        return None  # terms may cancel
    power, norms, k = np.ones(A.shape[0]), 0.0, 0  # pyright: ignore[reportOptionalSubscript]  # SciPy is untyped: the shape is inferred as None, too
    while True:
        k += 1
        power = A @ power
        power /= k
        norm = power.max()
        norms += norm
        if not np.isfinite(norms):
            return None
        if norm <= 1 and norm * norms <= k * 2.0**-53:
            return k


def power_series_rows(
    g: Graph, alpha: Real[ArrayLike, " n_terms"] | Sequence[float], nodes: Int[Array | np.ndarray, " n"] | Sequence[int]
) -> sp.csr_array:
    """Rows of a power series of the weights, sparse if few nodes are within reach of its degree.

    ::

        sum_k alpha_k W^k[nodes, :]

    If alpha are the values of a modulation, these are the means of walk features, truncated at the degree of
    the series. Time and memory grow with the number of nodes within that many hops, which on a graph with
    hubs are soon all nodes. The graph may be directed.

    Returns:
        scipy CSR array, (len(nodes), N).

    Source: the "push" of Andersen, Chung and Lang, 2006, without their threshold.
    """
    alpha, W = np.asarray(checks.vector(checks.known(alpha, "alpha"), "alpha"), dtype=float), graphs.checked(g).to_scipy()
    nodes = checks.indices(checks.known(nodes, "nodes"), "nodes", g.n_nodes)
    places = np.arange(len(nodes)), nodes
    hop = sp.csr_array((np.ones(len(nodes)), places), shape=(len(nodes), g.n_nodes))
    total = alpha[0] * hop
    with np.errstate(over="ignore", invalid="ignore"):
        for coefficient in alpha[1:]:
            hop = hop @ W
            total = total + coefficient * hop
    finite(total.data)
    return total


def power_of_two(v: Float[np.ndarray, "n ..."]) -> Float[np.ndarray | np.floating, "..."]:
    """A power of two per column, near its largest entry: division by it is exact, squares are then finite."""
    return 2.0 ** np.clip(np.frexp(np.abs(v).max(axis=0))[1], -1000, 1000)


def _rows(v: Real[ArrayLike, "N ..."], g: Graph) -> Float[np.ndarray, "N ..."]:
    v = np.asarray(checks.numbers(checks.known(v, "v"), "v"), dtype=float)
    if v.ndim not in (1, 2) or len(v) != graphs.checked(g).n_nodes:
        raise ValueError(f"v has shape {v.shape}; give one row per node, here {g.n_nodes}")
    return checks.finite(v, "v")
