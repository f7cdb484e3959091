"""What walks whose length lies in one quantile bin leave behind on average: psi^ of Eq. 54.

Averaged over its directions a walk leaves f(k) W^k / P(length >= k) at every step k that it makes, so that
bin q of n has

::

    Psi_q = sum_k f(k) h_q(k) W^k,    h_q(k) = P(length >= k | bin q) / P(length >= k)

with :func:`bin_survival` for h: closed forms, where the paper simulates. Row i is psi^(q^(i)).
Results are float64; those of some start nodes are (n_bins, n_starts, N), all nodes by default. g is the graph
that is walked, usually ``graph.normalised()``, f the modulation, p_halt the probability of stopping before
each hop, and f(0), ..., f(n_terms - 1) are counted.

Source: Variance-Reducing Couplings, Eqs 52 and 54.
"""

import numpy as np
import scipy.sparse as sp

from rfcore import checks, kernels, walks
from rfcore.couplings import walk_lengths

BEYOND = 1e-6  # the share of a sum over steps that may lie beyond the last that is counted
LONGEST = 2**13  # where the search for the end of a sum stops


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


def bin_survival(n_bins, p_halt, n_terms):
    """Chance that a walk is long, given the quantile bin of its length, over that of any walk.

    ::

        h_i(k) = P(length >= k | u in [i / n, (i + 1) / n)) / q^k = min(max(n - (n - 1 - i) q^-k, 0), q^-k),
        q = 1 - p_halt,   n = n_bins

    It is also the expected sum of such a walk's loads at step k over that of any walk
    (:func:`rfcore.solvers.transport.bin_features`). The mean over the bins is 1. A float64 array, (n_bins,
    n_terms).

    Source: Variance-Reducing Couplings, Eq. 54, with the walks averaged in closed form.
    """
    n_bins, n_terms = checks.count(n_bins, "n_bins"), checks.count(n_terms, "n_terms")
    grown, above = growth(walk_lengths.halting(p_halt), n_terms), n_bins - 1 - np.arange(n_bins)[:, None]
    return np.minimum(np.maximum(n_bins - above * grown, 0.0), grown)


def counted(f, g, n_terms, p_halt=None, name="f"):
    """f(0), ..., f(n_terms - 1) without trailing zeros, if later steps add a millionth at most to these.

    A step counts as what it adds to a mean, ``|f(k)|`` times the largest row sum of ``|W|^k``, and with
    p_halt also as what it adds to a mean square, f(k)^2 times that of V^k.
    """
    n, W = checks.count(n_terms, "n_terms"), checks.graph(g).to_scipy()
    growths = [(1, abs(W))] if p_halt is None else [(1, abs(W)), (2, mean_squares(g, p_halt))]

    def looked_at(n):
        values = np.asarray(checks.modulation(f, 2 * n, g.is_normalised and g.is_symmetric, name), dtype=float)
        return values, np.max([_shares_beyond(values, *growth) for growth in growths], axis=0)

    values, beyond = looked_at(n)
    while not beyond[n] <= BEYOND and n < LONGEST:
        n *= 2
        longer, beyond = looked_at(n)
    if n > n_terms and longer.any():
        alone = f"modulation.from_values({name}(np.arange({n_terms}))) for {name} to count these alone"
        if beyond[n] <= BEYOND:
            mend = f"give n_terms of at least {np.argmax(beyond <= BEYOND)}, or {alone}"
        else:
            mend = f"the sum may have no end, give {alone}"
        raise ValueError(f"n_terms = {n_terms} leaves out {beyond[n_terms]:.2g} of the sum over the steps of {name}; {mend}")
    return values[: np.flatnonzero(values[:n_terms]).max(initial=0) + 1]


def _shares_beyond(values, power, growth):
    """From each k on, the share of the sum of |values[k]|^power times the top row sum of growth^k."""
    log_sizes, visits, log_scale = np.full(len(values), -np.inf), np.ones(growth.shape[0]), 0.0
    for k in range(len(values)):
        if (scale := visits.max()) == 0:
            break
        log_scale += np.log(scale)
        log_sizes[k], visits = log_scale, growth @ (visits / scale)
    with np.errstate(divide="ignore"):
        log_sizes += power * np.log(np.abs(values))
    if (largest := log_sizes.max()) == -np.inf:
        return np.ones(len(values))  # nothing yet
    beyond = np.cumsum(np.exp(log_sizes - largest)[::-1])[::-1]
    return beyond / beyond[0]


def mean_squares(g, p_halt):
    """V, whose powers are the mean squares of loads."""
    return sp.diags_array(g.neighbour_counts / (1 - p_halt)) @ g.to_scipy().power(2)


def growth(p_halt, n_terms):
    """q^-k; what lies past e^300 is clipped by its users all the same."""
    return np.exp(np.minimum(-np.arange(n_terms) * np.log1p(-p_halt), 300.0))
