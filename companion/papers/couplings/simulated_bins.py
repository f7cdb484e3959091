"""Features of walks by the quantile bin of their length, simulated as the paper does."""

from functools import partial

import jax
import numpy as np

from rfcore import copulas, features, walks


def simulated_bin_features(key, g, f, n_bins, p_halt, n_walks, nodes=None):
    """Rows of Psi_q (:func:`rfcore.solvers.transport.bin_features`) for some start nodes, by walks.

    Unbiased for Psi_q itself; costs, which are of fourth order in it, come out too large by what the
    directions of the walks vary. ``n_walks`` walks leave each start for each bin, their lengths stratified
    within it.

    Source: Variance-Reducing Couplings, Appendix C.3.
    """
    nodes, keys = walks.start_nodes(g, nodes), jax.random.split(key, (n_bins, 2))
    psi = []
    for q, (for_lengths, for_hops) in enumerate(keys):
        lengths = walks.lengths.draw(for_lengths, len(nodes), n_walks, p_halt, partial(_in_bin, q=q, n_bins=n_bins))
        psi.append(features.weigh(walks.simulate(for_hops, g, lengths, nodes), f).toarray())
    return np.stack(psi)


def _in_bin(uniform, shape, q, n_bins):
    """Stratified levels within one bin: no copula, for they are not uniform."""
    return copulas.in_cells(np.full(shape, q), copulas.stratified(uniform, shape), n_bins)
