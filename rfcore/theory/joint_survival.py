"""How long the walks of one node are together, under couplings of their lengths."""

import numpy as np

from rfcore import checks
from rfcore.couplings import copulas
from rfcore.couplings.walk_lengths import halting

LAWS = ("iid", "reversal", "antithetic", "stratified")


def joint_survival(coupling, n_walks, p_halt, n_terms):
    """Chance that two walks of a node are both long, over that of independent ones.

    ::

        K_kl = mean over pairs of walks of  P(length_1 >= k, length_2 >= l) / q^(k + l),   q = 1 - p_halt

    With it every second moment of features with coupled lengths and independent hops is known: products of
    loads of two walks, which average W^k and W^l apart, are weighed by K_kl (:func:`walk_gram_mse`). For one
    pair K is

    ::

        1                                         independent
        max(0, 1 - (q^-k - 1)(q^-l - 1))          reversal
        (max(0, 1 - 2 p_halt) / q^2)^min(k, l)    antithetic termination
        1/n sum_i h_i(k) h_sigma(i)(l)            a permutation sigma of n bins; either walk may be the first,
                                                  and any two of a group where there are several permutations
        1/(n(n - 1)) sum_{i != j} h_i(k) h_j(l)   stratified, n = n_walks

    with h = :func:`bin_survival`. The last holds for every two walks, the one before it for every two of a
    group; the others hold for walks 2i and 2i + 1, n_walks // 2 pairs, and the rest are independent.

    Args:
        coupling: "iid", "reversal", "antithetic", "stratified" or a permutation, an int array (several, one
            per row).
        p_halt: probability of stopping before each hop; at least 1.8e-8.

    Returns:
        float64 array, (n_terms, n_terms), of ones for a single walk, which has no pairs.

    Source: Variance-Reducing Couplings, Appendix C.3, for the cost of a pair.

    >>> from rfcore import theory
    >>> theory.joint_survival("reversal", 2, 0.5, 3)[1, 1].tolist()  # only one of the two makes a first hop
    0.0
    """
    n_walks, n_terms, p_halt = checks.count(n_walks, "n_walks"), checks.count(n_terms, "n_terms"), halting(p_halt)
    if isinstance(coupling, list | tuple | np.ndarray):
        return _matched(np.array(copulas.permutation(coupling).sigmas), n_walks, p_halt, n_terms)
    checks.choice(coupling, "coupling", LAWS)
    if coupling == "iid" or n_walks == 1:
        return np.ones((n_terms, n_terms))
    if coupling == "stratified":
        bins = bin_survival(n_walks, p_halt, n_terms)
        return (n_walks**2 - bins.T @ bins) / (n_walks * (n_walks - 1))
    if coupling == "reversal":
        growth = _growth(p_halt, n_terms)
        pair = np.maximum(0.0, 1 - np.outer(growth - 1, growth - 1))
    else:
        pair = (max(0.0, 1 - 2 * p_halt) / (1 - p_halt) ** 2) ** np.minimum.outer(np.arange(n_terms), np.arange(n_terms))
    return 1 + (pair - 1) / (n_walks - 1 + n_walks % 2)  # n_walks // 2 among all pairs


def _matched(sigmas, n_walks, p_halt, n_terms):
    """Sums over the pairs of different walks of each group, in place of those of independent ones."""
    bins = bin_survival(sigmas.shape[1], p_halt, n_terms)
    of_walk = np.concatenate([bins[None], bins[sigmas]])
    groups, rest = divmod(n_walks, len(of_walk))
    beyond = np.zeros((n_terms, n_terms))
    for number, size in ((groups, len(of_walk)), (1, rest)):
        together = of_walk[:size].sum(axis=0)
        pairs = (together.T @ together - size * bins.T @ bins) / len(bins)
        beyond += number * (pairs - size * (size - 1))
    return 1 + beyond / max(n_walks * (n_walks - 1), 1)


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
    growth, above = _growth(halting(p_halt), n_terms), n_bins - 1 - np.arange(n_bins)[:, None]
    return np.minimum(np.maximum(n_bins - above * growth, 0.0), growth)


def _growth(p_halt, n_terms):
    """q^-k; what lies past e^300 is clipped by its users all the same."""
    return np.exp(np.minimum(-np.arange(n_terms) * np.log1p(-p_halt), 300.0))
