"""Exact moments of graph random features and of the kernel estimates made of them.

The loads of a walk have a closed second moment. With W the weights, deg the numbers of neighbours and
p = p_halt,

::

    E[load_k at j] = (W^k)_ij,   E[load_k^2 at j] = (V^k)_ij,   V_ij = deg_i W_ij^2 / (1 - p),

and past step k a walk goes on as a fresh one would: E[load_k^2 at u, times what the load grows by up to v, l
hops on] = (V^k)_iu (W^l)_uv. All moments are sums of these over the steps. Two walks of a node are
independent given their lengths, and K_kl (:func:`joint_survival`) says how much likelier than independent
ones they are to make k and l hops: 1 where lengths are independent.

Arguments are the graph that is walked, usually ``graph.normalised()``; modulations, functions of an integer
array; the number of walks per node; n_terms, for f(0), ..., f(n_terms - 1); and as coupling of a node's
lengths "antithetic" or a law of uniforms whose pairs are known (:func:`rfcore.copulas.pairs`). A cut that
leaves out more than a millionth is refused; where the sum diverges with growing n_terms the moment does not
exist. Results are float64 NumPy. Powers of W are dense, made by one sparse product at a time: O(n_terms N
edges), for thousands of nodes. Coupled lengths of directed weights take O(n_terms^2 N^2) more.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rfcore import checks, copulas
from rfcore.couplings.walk_lengths import halting
from rfcore.solvers.transport.bins import bin_survival, counted, growth, mean_squares


def walk_feature_moments(g, f, n_walks, p_halt, n_terms=100, coupling="iid"):
    """Mean and mean square of every entry of :func:`rfcore.features.walk_features` with independent hops.

    ::

        E[phi] = F = sum_k f(k) W^k
        E[phi_ij^2] = 1/n_walks sum_k (V^k)_ij [f(k)^2 + 2 f(k) sum_{l >= 1} f(k + l) (W^l)_jj]
                      + (1 - 1/n_walks) sum_kl f(k) f(l) K_kl (W^k)_ij (W^l)_ij

    For independent lengths the last sum is F_ij^2. The sum over j of E[phi_ij^2] - E[phi_ij]^2 is by how much
    phi phi^T of one shared set of walks is too large on the diagonal.

    Args:
        g, f: the graph that is walked, usually ``graph.normalised()``, and the modulation.
        n_walks, p_halt: walks per node; their chance to end at each hop.
        n_terms: f(0), ..., f(n_terms - 1) are counted.
        coupling: of a node's lengths, as :func:`joint_survival` takes it.

    Returns:
        Mean and mean square, float64 arrays (N, N).

    Raises ValueError if the steps from n_terms on add more than a millionth.
    """
    n_walks, values, W, V = _arguments(g, f, n_walks, p_halt, n_terms)
    returns, mean = np.empty((len(values), g.n_nodes)), np.zeros(W.shape)
    power = np.eye(g.n_nodes)
    for k, value in enumerate(values):
        returns[k] = np.diag(power)
        mean += value * power
        power = power @ W
    square, power = np.zeros(W.shape), np.eye(g.n_nodes)
    for k, value in enumerate(values):
        onward = value + 2 * (values[k + 1 :] @ returns[1 : len(values) - k])
        square += power * (value * onward)
        power = power @ V
    pairs = mean**2 if _is_iid(coupling) else np.einsum("kij,kij->ij", *_pairs(values, W, coupling, n_walks, p_halt))
    return mean, square / n_walks + (1 - 1 / n_walks) * pairs


def walk_gram_mse(g, f1, f2, n_walks, p_halt, n_terms=100, coupling="iid"):
    """Expected squared Frobenius error of phi_1 phi_2^T, from two independent sets of walks.

    ::

        sum_ij Var(phi_1(i) . phi_2(j)) = trace(A_1 A_2) - |F_1 F_2^T|^2,   A = sum_i E[phi(i) phi(i)^T],
        A = 1/n_walks (S + S^T - sum_k f(k)^2 diag(v_k)) + (1 - 1/n_walks) sum_kl f(k) f(l) K_kl (W^k)^T W^l,
        v_k = 1^T V^k,   S = sum_{k, l} f(k) f(k + l) diag(v_k) W^l

    For independent lengths the last sum of A is F^T F. Other arguments are those of
    :func:`walk_feature_moments`.

    Args:
        f1, f2: the pair of modulations; the error is against the kernel that they estimate.
        n_walks: walks per node in each of the two sets.
        coupling: of lengths, in both sets.

    Raises ValueError if the steps from n_terms on add more than a millionth.
    """
    return float(walk_gram_mses(g, f1, f2, n_walks, p_halt, [coupling], n_terms)[0])


def walk_gram_mses(g, f1, f2, n_walks, p_halt, couplings, n_terms=100):
    """:func:`walk_gram_mse` under a sequence of couplings, at little more than the cost of one."""
    first = _second_moments(g, f1, n_walks, p_halt, n_terms, couplings, "f1")
    second = first if f2 is f1 else _second_moments(g, f2, n_walks, p_halt, n_terms, couplings, "f2")
    kernel = np.sum((first.mean @ second.mean.T) ** 2)
    return np.array([np.sum(A1 * A2) for A1, A2 in zip(first.of_couplings(), second.of_couplings(), strict=True)]) - kernel


class _Moments(NamedTuple):
    mean: np.ndarray
    of_couplings: Callable
    """() -> iterator of sum_i E[phi(i) phi(i)^T] under each of the couplings."""


def _second_moments(g, f, n_walks, p_halt, n_terms, couplings, name):
    n_walks, values, W, V = _arguments(g, f, n_walks, p_halt, n_terms, name)
    weighed, visits = np.empty((len(values), g.n_nodes)), np.ones(g.n_nodes)
    for k, value in enumerate(values):
        weighed[k] = value * visits
        visits = visits @ V
    # SciPy's product of a dense and a sparse array stands column by column; so does all that is added to it.
    S, mean, term = (np.zeros(W.shape, order="F") for _ in range(3))
    power = np.eye(g.n_nodes, order="F")
    for hops, value in enumerate(values):
        S += np.multiply((values[hops:] @ weighed[: len(values) - hops])[:, None], power, out=term)
        mean += np.multiply(value, power, out=term)
        power = power @ W
    walk = np.asfortranarray(S + S.T - np.diag(values @ weighed))

    def of_couplings():
        for coupling in couplings:
            if _is_iid(coupling):
                pairs = mean.T @ mean
            elif g.is_symmetric:
                pairs = _in_powers(values, W, joint_survival(coupling, n_walks, p_halt, len(values)))
            else:
                terms = _pairs(values, W, coupling, n_walks, p_halt)
                pairs = sum(left.T @ right for left, right in zip(*terms, strict=True))
            yield walk / n_walks + (1 - 1 / n_walks) * pairs

    return _Moments(mean, of_couplings)


def _in_powers(values, W, K):
    """sum_kl f(k) f(l) K_kl W^(k + l), by Horner's rule."""
    n, products = len(values), np.outer(values, values) * K
    coefficients = np.bincount(np.add.outer(np.arange(n), np.arange(n)).ravel(), products.ravel())
    total = np.zeros(W.shape)
    for coefficient in coefficients[::-1]:
        total = total @ W
        total[np.diag_indices_from(total)] += coefficient
    return total


def _is_iid(coupling):
    return not _is_antithetic(coupling) and copulas.pairs(coupling, "coupling") == copulas.Correlated(0, 0)


def _is_antithetic(coupling):
    """Whether this is the one law of lengths that is none of uniforms."""
    return isinstance(coupling, str) and coupling == "antithetic"


def _pairs(values, W, coupling, n_walks, p_halt):
    """f(k) W^k, and sum_l K_kl f(l) W^l."""
    terms = np.empty((len(values), *W.shape))
    power = np.eye(W.shape[0])
    for k, value in enumerate(values):
        terms[k] = value * power
        power = power @ W
    return terms, np.tensordot(joint_survival(coupling, n_walks, p_halt, len(values)), terms, axes=1)


def _arguments(g, f, n_walks, p_halt, n_terms, name="f"):
    return checks.count(n_walks, "n_walks"), counted(f, g, n_terms, halting(p_halt), name), g.to_scipy(), mean_squares(g, p_halt)


def joint_survival(coupling, n_walks, p_halt, n_terms):
    """Chance that two walks of a node are both long, over that of independent ones.

    ::

        K_kl = mean over pairs of walks of  P(length_1 >= k, length_2 >= l) / q^(k + l),   q = 1 - p_halt

    With it every second moment of features with coupled lengths and independent hops is known: products of
    loads of two walks, which average W^k and W^l apart, are weighed by K_kl (:func:`walk_gram_mse`). For one
    pair K is

    ::

        1                                         independent
        q^-min(k, l)                              comonotone
        max(0, 1 - (q^-k - 1)(q^-l - 1))          reversal
        (max(0, 1 - 2 p_halt) / q^2)^min(k, l)    antithetic termination
        1/n sum_i h_i(k) h_{sigma(i)}(l)          a permutation sigma of n bins; either walk may be the first,
                                                  and any two of a group where there are several permutations
        1/(n(n - 1)) sum_{i != j} h_i(k) h_j(l)   stratified, n = n_walks

    with h = :func:`bin_survival`. The last holds for every two walks, as do the first two, and the one before
    it for every two of a group; reversal and antithetic termination hold for walks 2i and 2i + 1, n_walks //
    2 pairs, and the rest are independent.

    Args:
        coupling: "antithetic"; a name or law of uniforms whose pairs have a closed form
            (:func:`rfcore.copulas.pairs`), such as "iid", "reversal" or "stratified"; or a
            permutation, an int array (several, one per row).
        p_halt: probability of stopping before each hop; at least 1.8e-8.

    Returns:
        float64 array, (n_terms, n_terms), of ones for a single walk, which has no pairs.

    Source: Variance-Reducing Couplings, Appendix C.3, for the cost of a pair.

    >>> from companion.papers.ugrf import walk_errors
    >>> walk_errors.joint_survival("reversal", 2, 0.5, 3)[1, 1].tolist()  # one of the two hops
    0.0
    """
    p_halt = halting(p_halt)
    of_law = coupling if _is_antithetic(coupling) else copulas.pairs(coupling, "coupling")
    if isinstance(of_law, copulas.Permutation):
        return _matched(np.array(of_law.sigmas), n_walks, p_halt, n_terms)
    if isinstance(of_law, copulas.Gaussian):
        raise ValueError(
            f"coupling = {coupling!r} has no closed form for lengths; give a name, or a permutation"
        )
    ones = np.ones((n_terms, n_terms))
    if n_walks == 1:
        return ones
    if isinstance(of_law, copulas.DifferentStrata):
        bins = bin_survival(n_walks, p_halt, n_terms)
        return (n_walks**2 - bins.T @ bins) / (n_walks * (n_walks - 1))
    if isinstance(of_law, copulas.Correlated):
        pair, others = (_at_correlation(r, growth(p_halt, n_terms)) for r in (of_law.partners, of_law.others))
    else:
        together = np.minimum.outer(np.arange(n_terms), np.arange(n_terms))
        pair, others = (max(0.0, 1 - 2 * p_halt) / (1 - p_halt) ** 2) ** together, 1.0
    return ones * others + (pair - others) / (n_walks - 1 + n_walks % 2)  # n_walks // 2 among all pairs


def _at_correlation(r, growth):
    """One pair of lengths at levels that are opposite (-1), independent (0) or equal (1)."""
    if r == -1:
        return np.maximum(0.0, 1 - np.outer(growth - 1, growth - 1))
    return np.minimum.outer(growth, growth) if r == 1 else 1.0


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
