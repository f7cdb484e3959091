"""How long the walks of one node are together, under couplings of their lengths."""

import numpy as np

from rfcore import checks
from rfcore.couplings import copulas
from rfcore.couplings.walk_lengths import halting

LAWS = ("iid", "reversal", "antithetic", "stratified")


def joint_survival(coupling, n_walks, p_halt, n_terms):
    """Chance that two walks of a node are both long, over that of independent ones.

    ::

        K_kl = mean over pairs of different walks of  P(length_1 >= k, length_2 >= l) / (q^k q^l),   q = 1 - p_halt

    With it every second moment of features whose walks have coupled lengths and independent hops is known: products of
    loads of two walks, which average W^k and W^l apart, are weighed by K_kl (:func:`walk_feature_moments`,
    :func:`walk_gram_mse`). For one pair K is

    ::

        1                                         independent
        max(0, 1 - (q^-k - 1)(q^-l - 1))          reversal
        (max(0, 1 - 2 p_halt) / q^2)^min(k, l)    antithetic termination
        1/n sum_i h_i(k) h_sigma(i)(l)            a permutation sigma of n bins; either walk may be the first
        1/(n(n - 1)) sum_{i != j} h_i(k) h_j(l)   stratified, n = n_walks

        h_i(k) = P(length >= k | bin i) / q^k = min(max(n - (n - 1 - i) q^-k, 0), q^-k),   i = 0, ..., n - 1

    All walks are a pair in the last, walks 2i and 2i + 1 in the others: n_walks // 2 of them.

    Parameters
    ----------
    coupling : "iid" | "reversal" | "antithetic" | "stratified" or a permutation, an int array
    n_walks : int
    p_halt : float
        Probability of stopping before each hop, strictly between 0 and 1.
    n_terms : int
        k, l = 0, ..., n_terms - 1.

    Returns
    -------
    float64 array, shape (n_terms, n_terms)
        Ones for a single walk, which has no pairs.

    Raises
    ------
    ValueError
        If a count is below 1, p_halt outside (0, 1) or below 1.8e-8, or the coupling neither one of these nor a
        permutation.

    Examples
    --------
    Two walks of a reversed pair never both make three hops where half of all walks stop before each:

    >>> from rfcore import theory
    >>> theory.joint_survival("reversal", 2, 0.5, 3)[1:, 1:]
    array([[0., 0.],
           [0., 0.]])

    Notes
    -----
    Variance-Reducing Couplings, Appendix C.3, has the cost of a pair; the law of antithetic termination is that of
    :func:`rfcore.couplings.walk_lengths.antithetic`.
    """
    n_walks, n_terms = checks.count(n_walks, "n_walks"), checks.count(n_terms, "n_terms")
    p_halt, k = halting(p_halt), np.arange(n_terms)
    growth = np.exp(np.minimum(-k * np.log1p(-p_halt), 300.0))  # q^-k; what lies past e^300 is clipped below all the same
    if isinstance(coupling, list | tuple | np.ndarray):
        sigma = np.array(copulas.permutation(coupling).sigma)
        bins = _bins(growth, len(sigma))
        pair = bins.T @ bins[sigma] / len(sigma)
        pair = (pair + pair.T) / 2
    else:
        checks.choice(coupling, "coupling", LAWS)
        if coupling == "stratified":
            bins = _bins(growth, n_walks)
            return (n_walks**2 - bins.T @ bins) / (n_walks * (n_walks - 1)) if n_walks > 1 else np.ones((n_terms, n_terms))
        if coupling == "iid":
            return np.ones((n_terms, n_terms))
        if coupling == "reversal":
            pair = np.maximum(0.0, 1 - np.outer(growth - 1, growth - 1))
        else:
            pair = (max(0.0, 1 - 2 * p_halt) / (1 - p_halt) ** 2) ** np.minimum.outer(k, k)
    share = 1 / (n_walks - 1 + n_walks % 2) if n_walks > 1 else 0.0  # of n_walks // 2 among all pairs
    return 1 + share * (pair - 1)


def _bins(growth, n):
    """h_i(k), one row per bin."""
    above = n - 1 - np.arange(n)[:, None]
    return np.minimum(np.maximum(n - above * growth, 0.0), growth)
