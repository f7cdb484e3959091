"""The largest value, over all signs, of what Theorem 2.3 of Universal Graph Random Features averages over them."""

import itertools

import numpy as np

from rfcore import checks
from rfcore.theory import generalisation

__all__ = ["sign_supremum"]

MOST = 16


def sign_supremum(g, sample, bounds):
    """Supremum over the signs of a sample, and over all kernels of a family, by trying every vector of signs.

    ::

        sup_s sup_alpha sqrt( s^T K_SS s ) = max over s in {-1, 1}^m of sqrt( sum_i bounds_i |s^T (W^i)_SS s| )

    Parameters
    ----------
    g : rfcore.graphs.Graph
        Undirected.
    sample : int array, shape (m,)
        Nodes S, at most 16; repeats count as often as they stand.
    bounds : array, shape (n_terms,) or (n_families, n_terms)
        Largest modulus of each Taylor coefficient.

    Returns
    -------
    float, or float64 array of shape (n_families,)

    Raises
    ------
    ValueError
        If the graph is directed, nodes are not in it or more than 16, or a bound is negative or not finite.

    Notes
    -----
    Left side of Universal Graph Random Features, Eq. 36, under the same reading of the family as
    :func:`rfcore.theory.generalisation.rademacher_complexity`, which is the mean over the signs where this is the largest
    value. O(2^m) time and memory.

    Examples
    --------
    On a single edge equal signs reach what the paper prints, sqrt(m sum_i bounds_i radius^i) with radius 1:

    >>> import networkx
    >>> from rfcore import graphs
    >>> from rfcore.theory.sign_supremum import sign_supremum
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(2))
    >>> round(float(sign_supremum(g, [0, 1], [1.0, 1.0])) ** 2, 6)  # 2 (1 + 1)
    4.0
    """
    sample = checks.indices(sample, "sample", generalisation._symmetric(g).n_nodes)
    bounds = generalisation._bounds(bounds)
    if len(sample) > MOST:
        raise ValueError(f"sample has {len(sample)} nodes, 2^{len(sample)} vectors of signs; give at most {MOST}")
    others = [(1.0, -1.0)] * (len(sample) - 1)
    signs = np.array(list(itertools.product((1.0,), *others)))  # s and -s give the same
    moved = np.zeros((g.n_nodes, len(signs)))
    np.add.at(moved, sample, signs.T)
    W, forms = g.to_scipy(), np.empty((bounds.shape[-1] + 1, len(signs)))
    for i in range(0, bounds.shape[-1], 2):  # s^T W^2i s = |W^i s|^2, and one hop more
        further = W @ moved
        forms[i], forms[i + 1] = np.sum(moved**2, axis=0), np.sum(moved * further, axis=0)
        moved = further
    return np.sqrt(np.max(bounds @ np.abs(forms[:-1]), axis=-1))[()]
