"""What walks whose length lies in one quantile bin leave behind on average: psi^ of Eq. 54.

Averaged over its directions a walk leaves f(k) W^k / P(length >= k) at every step k that it makes, so that
bin q of n has

::

    Psi_q = sum_k f(k) h_q(k) W^k,    h_q(k) = P(length >= k | bin q) / P(length >= k)

with :func:`rfcore.theory.bin_survival` for h: closed forms, where the paper simulates. Row i is psi^(q^(i)).
Results are float64; those of some start nodes are (n_bins, n_starts, N), all nodes by default. g is the graph
that is walked, usually ``graph.normalised()``, f the modulation, p_halt the probability of stopping before
each hop, and f(0), ..., f(n_terms - 1) are counted.

Source: Variance-Reducing Couplings, Eqs 52 and 54.
"""

from functools import partial

import jax
import numpy as np

from rfcore import checks, features, kernels, theory, walks
from rfcore.couplings import copulas, walk_lengths
from rfcore.couplings.copulas.strata import in_cells
from rfcore.theory.walk_errors import counted


def bin_spectra(g, f, n_bins, p_halt, n_terms=100):
    """Eigenvalues (n_bins, N) of Psi_q for symmetric weights: all nodes of a graph, exactly.

    ::

        Psi_q = V diag(x_q) V^T,    x_qa = sum_k f(k) h_q(k) l_a^k,    W = V diag(l) V^T

    One eigendecomposition. Sums over all pairs of start nodes need no more, since bins share their
    eigenvectors: see :func:`pair_products`. Raises ValueError if weights are not symmetric.
    """
    shares, eigenvalues = _shares(g, f, n_bins, p_halt, n_terms), kernels.spectrum(g)[0]
    return shares @ eigenvalues ** np.arange(shares.shape[1])[:, None]


def bin_features(g, f, n_bins, p_halt, nodes=None, n_terms=100):
    """Rows of Psi_q for some start nodes, exactly; weights need not be symmetric.

    O(n_terms n_starts (edges + n_bins N)) time.
    """
    shares, nodes = _shares(g, f, n_bins, p_halt, n_terms), walks.start_nodes(g, nodes)
    W = g.to_scipy()
    rows = np.zeros((len(nodes), g.n_nodes))
    rows[np.arange(len(nodes)), nodes] = 1.0
    psi = np.zeros((n_bins, *rows.shape))
    for share in shares.T:
        psi += share[:, None, None] * rows
        rows = rows @ W
    return psi


def simulated_bin_features(key, g, f, n_bins, p_halt, n_walks, nodes=None):
    """Rows of Psi_q for some start nodes, by walks: what the paper does.

    Unbiased for Psi_q itself; costs, which are of fourth order in it, come out too large by what the
    directions of the walks vary. On a graph whose rows are too long to be averaged exactly
    (:func:`bin_features`) this is the only way. ``n_walks`` walks leave each start for each bin, their
    lengths stratified within it.
    """
    n_bins, n_walks = checks.count(n_bins, "n_bins"), checks.count(n_walks, "n_walks")
    nodes, keys = walks.start_nodes(g, nodes), jax.random.split(checks.key(key), (n_bins, 2))
    psi = []
    for q, (for_lengths, for_hops) in enumerate(keys):
        lengths = walk_lengths.draw(for_lengths, len(nodes), n_walks, p_halt, partial(_in_bin, q=q, n_bins=n_bins))
        psi.append(features.weigh(walks.simulate(for_hops, g, lengths, nodes), f).toarray())
    return np.stack(psi)


def _in_bin(uniform, shape, q, n_bins):
    """Stratified levels within one bin: no copula, for they are not uniform."""
    return in_cells(np.full(shape, q), copulas.stratified(uniform, shape), n_bins)


def _shares(g, f, n_bins, p_halt, n_terms):
    """f(k) h_q(k), shape (n_bins, steps that count)."""
    values = counted(f, g, n_terms)
    return theory.bin_survival(n_bins, p_halt, len(values)) * values
