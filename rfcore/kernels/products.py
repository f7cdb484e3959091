"""Kernels times vectors, without the kernels: what features of a large graph have to be held against."""

import numpy as np

from rfcore import checks


def chebyshev_product(g, function, v, degree):
    """A function of the weights times a vector, by Chebyshev polynomials.

    ::

        f(W) v  =  sum over k <= degree of  c_k T_k(W) v,     T_{k+1}(W) v = 2 W T_k(W) v - T_{k-1}(W) v

    with c_k from interpolation of f at the Chebyshev points of [-1, 1]. For smooth f the error falls faster than
    geometrically with the degree, at the price of one sparse product a degree and of no memory but four vectors.

    Parameters
    ----------
    g : rfcore.graphs.Graph
        Undirected, with all eigenvalues of W between -1 and 1: usually ``graph.normalised()``.
    function : function of a float array
        f, of the eigenvalues of W. That of the diffusion kernel: ``lambda x: np.exp(-(sigma**2) * (1 - x) / 2)``.
    v : array, shape (N,) or (N, c)
    degree : int
        At least 1.

    Returns
    -------
    float64 array with the shape of v

    Raises
    ------
    ValueError
        If v does not have one finite row a node, or degree < 1.

    Examples
    --------
    >>> import networkx, numpy as np
    >>> from rfcore import graphs, kernels
    >>> g = graphs.Graph.from_networkx(networkx.karate_club_graph())
    >>> product = kernels.chebyshev_product(g.normalised(), lambda x: np.exp(x - 1), np.ones(34), 12)
    >>> bool(np.allclose(product, kernels.diffusion(g, np.sqrt(2)) @ np.ones(34)))
    True
    """
    degree, v = checks.count(degree, "degree"), _rows(v, g)
    W, coefficients = g.to_scipy(), np.polynomial.chebyshev.chebinterpolate(function, degree)
    before, now = v, W @ v
    total = coefficients[0] * before + coefficients[1] * now
    for coefficient in coefficients[2:]:
        before, now = now, 2 * (W @ now) - before
        total += coefficient * now
    return total


def exponential_product(g, scale, v):
    """The exponential of the weights as they are times a vector, by its power series.

    ::

        exp(scale W) v  =  sum_k (scale W)^k v / k!

    to rounding: the series ends when its terms no longer count and can only shrink. Nothing cancels if scale,
    weights and v are non-negative; otherwise as many digits are lost as exp(abs(scale) ||W||) has.

    Parameters
    ----------
    g : rfcore.graphs.Graph
        May be directed.
    scale : float
    v : array, shape (N,) or (N, c)

    Returns
    -------
    float64 array with the shape of v

    Raises
    ------
    ValueError
        If v does not have one finite row a node, or scale is no finite number.

    Notes
    -----
    :func:`rfcore.kernels.exponential` is the matrix.
    """
    v, W = _rows(v, g), checks.real(scale, "scale") * g.to_scipy()
    norm = np.abs(W).sum(axis=1).max()
    term, total, k = v, v, 0
    # Beyond k = 2 ||W|| every term is less than half the one before, so that all that follow are less than it.
    while k < 2 * norm or np.abs(term).max(initial=0) > np.finfo(float).eps / 8 * np.abs(total).max(initial=0):
        k += 1
        term = W @ term / k
        total = total + term
    return total


def _rows(v, g):
    v = np.asarray(v, dtype=float)
    if v.ndim not in (1, 2) or len(v) != g.n_nodes:
        raise ValueError(f"v has shape {v.shape}; give one row a node, here {g.n_nodes}")
    return checks.finite(v, "v")
