"""Errors of walk features on any graph, estimated with an error bar: for graphs too large to know the kernel.

Two estimates A = phi_1 phi_2^T and B of a kernel K, from four keys, are unbiased and independent. So for a
vector v of random signs, whose products have the mean E[v v^T] = I,

::

    E[((A - B) v)_i^2] / 2 = E|A_i - K_i|^2        the mean squared error of row i,
    E[(A v)_i (B v)_i]     = |K_i|^2               its squared norm,

and K is never needed. Each takes a few products through features, and no matrix of the nodes.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from rfcore import checks
from rfcore.walks import streams
from rfcore.walks.streams import Key


def walk_row_mses(
    key: Key, walk: Callable[[Any], Any], n_repeats: int = 8, n_probes: int = 16
) -> tuple[Float[np.ndarray, "n_repeats n"], Float[np.ndarray, "n_repeats n"]]:
    """Mean squared error of each row of phi_1 phi_2^T, and the squared norm of the kernel's, estimated.

    Repeats are independent and unbiased: their mean is the estimate, its standard error their standard
    deviation over n_repeats^(1/2). For the whole matrix sum over the nodes first; for a region, over its
    nodes. The error of a single row is off by (2 / n_probes)^(1/2) in one repeat, and by what errors differ
    from draw to draw. :func:`walk_gram_mse` has the whole exactly where powers of W fit into memory.

    Args:
        key: of all walks and probes.
        walk: ``key -> phi``, features of the same nodes at each call, stored or not.
        n_repeats, n_probes: draws of four sets of features, at least 2; vectors of signs for each.

    Returns:
        Squared errors and squared norms, of which some are below zero where they are small.

    Which nodes of a ring with one chord have the largest relative error, and how large is it in all?

    >>> import jax, networkx, numpy as np
    >>> from functools import partial
    >>> from rfcore import features, graphs, theory
    >>> ring = networkx.cycle_graph(12)
    >>> ring.add_edge(0, 6)
    >>> g, f = graphs.Graph.from_networkx(ring).normalised(), features.modulation.diffusion(1.0)
    >>> walk = partial(features.walk_features, g=g, f=f, n_walks=16, p_halt=0.2, coupling="iid")
    >>> errors, norms = theory.walk_row_mses(jax.random.key(0), walk, n_repeats=200)
    >>> relative = errors.mean(axis=0) / norms.mean(axis=0)
    >>> [int(node) for node in np.sort(np.argsort(-relative)[:2])]
    [0, 6]
    >>> total = errors.sum(axis=1)
    >>> exact = theory.walk_gram_mse(g, f, f, 16, 0.2)
    >>> bool(abs(total.mean() - exact) < 4 * total.std(ddof=1) / 200**0.5)
    True
    """
    n_repeats, n_probes = checks.count(n_repeats, "n_repeats", 2), checks.count(n_probes, "n_probes")
    errors, norms = [], []
    for repeat, keys in enumerate(jax.random.split(checks.key(key), (n_repeats, 4))):
        left, right, other_left, other_right = map(walk, keys)
        rng = streams.generator(streams.words(key), streams.Purpose.PROBES, repeat)
        v = 2.0 * rng.integers(2, size=(right.shape[0], n_probes)) - 1
        one, other = left @ (right.T @ v), other_left @ (other_right.T @ v)
        errors.append(np.mean((one - other) ** 2, axis=1) / 2)
        norms.append(np.mean(one * other, axis=1))
    return np.stack(errors), np.stack(norms)
