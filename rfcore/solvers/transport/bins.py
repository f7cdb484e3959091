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

import numpy as np

from rfcore import kernels, walks
from rfcore.theory.walk_errors import bin_survival, counted


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


def _shares(g, f, n_bins, p_halt, n_terms):
    """f(k) h_q(k), shape (n_bins, steps that count)."""
    values = counted(f, g, n_terms)
    return bin_survival(n_bins, p_halt, len(values)) * values
