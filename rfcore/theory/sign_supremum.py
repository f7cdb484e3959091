"""The largest value, over all signs, of what Universal Graph Random Features, Theorem 2.3, averages."""

import itertools

import numpy as np

from rfcore import checks
from rfcore.theory import generalisation

__all__ = ["sign_supremum"]

MOST = 16


def sign_supremum(g, sample, bounds):
    """Supremum over the signs of a sample and over the kernels of a family, by trying all signs: O(2^m).

    ::

        sup_s sup_alpha sqrt(s^T K_SS s) = max over s in {-1, 1}^m of sqrt(sum_i bounds_i |s^T (W^i)_SS s|)

    Arguments are as for :func:`rfcore.theory.generalisation.rademacher_complexity`; a sample has at most 16
    nodes.

    Source: Universal Graph Random Features, Eq. 36, left side.
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
