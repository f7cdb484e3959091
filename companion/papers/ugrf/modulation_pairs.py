"""Pairs of modulations for one kernel: how the error changes away from the symmetric pair."""

import numpy as np

from companion.papers.ugrf import walk_errors
from rfcore import checks
from rfcore.features import modulation


def hessian(g, f, n_walks, p_halt, n_directions=6, n_terms=30, step=1e-3):
    """Second derivatives of the expected squared error of a pair of modulations, at the symmetric pair.

    ::

        H_ij = d^2 / (dg(i) dg(j)) log E |phi_1 phi_2^T - K|_F^2   at g = 0,   f_1 = f exp(-g), f_2 = f exp(g)

    for i, j = 1, ..., n_directions: all pairs near the symmetric one are of this form, and g(0) changes
    nothing (:func:`rfcore.features.modulation.tilted`). Exchanging the modulations transposes the estimate
    and turns g into -g, so the gradient at 0 vanishes, and the symmetric pair is a local minimum where H is
    positive definite. Central differences of :func:`~companion.papers.ugrf.walk_errors.walk_gram_mse`, which
    err by step^2 times fourth derivatives.
    """
    checks.modulation(f, n_terms, g.is_normalised)

    def error(tilt):
        # Where f was found to end, below: what a small tilt moves beyond is as small.
        pair = [modulation.from_values(modulation.tilted(f, sign * tilt)(np.arange(n_terms))) for sign in (-1, 1)]
        return walk_errors.walk_gram_mse(g, *pair, n_walks, p_halt, n_terms)

    symmetric = walk_errors.walk_gram_mse(g, f, f, n_walks, p_halt, n_terms)
    if not symmetric > 0:
        raise ValueError(
            f"the symmetric pair of f has the expected error {symmetric}; give a graph and an f that are not exact"
        )
    moves, H = step * np.eye(n_directions + 1)[1:], np.empty((n_directions, n_directions))
    for i, one in enumerate(moves):
        for j, other in enumerate(moves[: i + 1]):
            H[i, j] = H[j, i] = (error(one + other) - error(one - other)) / (2 * step**2 * symmetric)
    return H
