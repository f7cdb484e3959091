"""Kernels times vectors, without the kernels: what features of a large graph have to be held against.

On 10^5 nodes of degree 6 such a product takes hundredths of a second and is exact. Walk features take a
second to build, and are some per cent off.
"""

from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.sparse import linalg

from rfcore import checks, graphs
from rfcore.kernels.spectral import finite, values_of

MOST = 1e5  # of a norm: SciPy takes some 10 seconds, and a time that grows with it


def chebyshev_matvec(g, function, v, degree):
    """A function of the weights times a vector, by Chebyshev polynomials.

    ::

        f(W) v  =  sum over k <= degree of  c_k T_k(W) v,     T_{k+1}(W) v = 2 W T_k(W) v - T_{k-1}(W) v

    with c_k from interpolation of f at the Chebyshev points of [-1, 1]. For entire f, such as exp, the error
    falls faster than geometrically with the degree, at one sparse product per degree and the memory of four
    vectors.

    Raises ValueError if eigenvalues of W are seen to leave [-1, 1]: abs(T_k) <= 1 within, and grows outside.

    Args:
        g: usually ``g.normalised()``, whose eigenvalues are between -1 and 1.
        function: f, of an array of eigenvalues of W, such as ``kernels.Diffusion(1.0)``.
        v: (N,) or (N, c).
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
    W, coefficients = g.to_scipy(), np.polynomial.chebyshev.chebinterpolate(partial(values_of, function), degree)
    checks.finite(coefficients, "function between -1 and 1")
    size = power_of_two(v)
    v = v / size
    # abs(T_k) <= 1 on the spectrum of a symmetric W: rounding adds k^2 eps at most, 1e-8 for thousands of degrees.
    most = np.linalg.norm(v, axis=0) * (1 + 1e-8)
    before, now = v, W @ v
    total = coefficients[0] * before + coefficients[1] * now
    for coefficient in coefficients[2:]:
        before, now = now, 2 * (W @ now) - before
        total += coefficient * now
        if not np.all(np.linalg.norm(now, axis=0) <= most):
            raise ValueError("g is directed, or has eigenvalues outside [-1, 1]; give g.normalised()")
    return finite(size * total)


def expm_multiply(g, scale, v):
    """The product exp(scale W) v, to rounding, for v of shape (N,) or (N, c); the graph may be directed.

    Where neither the weights nor scale are below 0 this is Taylor's series with a bound on its rest: no terms
    cancel for v of one sign, and it takes a fifth of the time of :func:`scipy.sparse.linalg.expm_multiply`,
    which is used otherwise. :func:`rfcore.kernels.exponential` is the matrix.

    Raises ValueError if the product overflows, and where SciPy's steps would be more than some thousands.

    Source: Al-Mohy and Higham, 2011, for weights or a scale below 0.
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


def _n_terms(A):
    """Last power of exp(A) v for an error below eps / 2 of v's largest entry; None where it is of no use.

    For A >= 0 the norms a_k = |A^k|_inf / k! = max(A^k 1) / k! satisfy a_{K+j} <= a_K a_j / (K + 1), and so
    what comes after K is at most a_K (a_1 + ... + a_K) / K once a_K <= 1.
    """
    if A.nnz and A.data.min() < 0:
        return None  # terms may cancel
    power, norms, k = np.ones(A.shape[0]), 0.0, 0
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


def power_series_rows(g, alpha, nodes):
    """Rows of a power series of the weights, sparse for as long as few hops reach few nodes.

    ::

        sum_k alpha_k W^k[nodes, :]

    With the values of a modulation for alpha these are walk features without their randomness, cut at the
    degree of the series. Time and memory are those of the nodes within reach of so many hops; with hubs that
    is soon everybody. The graph may be directed.

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


def power_of_two(v):
    """A number for each column that divides it without rounding: squares of what is left are floats."""
    return 2.0 ** np.clip(np.frexp(np.abs(v).max(axis=0))[1], -1000, 1000)


def _rows(v, g):
    v = np.asarray(checks.numbers(checks.known(v, "v"), "v"), dtype=float)
    if v.ndim not in (1, 2) or len(v) != graphs.checked(g).n_nodes:
        raise ValueError(f"v has shape {v.shape}; give one row per node, here {g.n_nodes}")
    return checks.finite(v, "v")
