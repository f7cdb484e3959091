"""Exact moments of graph random features, and the errors of the kernel estimates made of them.

The loads of a walk have a second moment in closed form. With W the weights, deg the numbers of neighbours and
p = p_halt,

::

    E[load_k at j] = (W^k)_ij,   E[load_k^2 at j] = (V^k)_ij,   V_ij = deg_i W_ij^2 / (1 - p),

and after step k a walk continues like a new one: E[load_k^2 at u, times what the load grows by up to v, l
hops on] = (V^k)_iu (W^l)_uv. All moments are sums of these over the steps. Two walks of a node are
independent given their lengths, and K_kl (:func:`joint_survival`) is the probability that they make k and l
hops, over that of independent ones: 1 where lengths are independent.

g is the graph that is walked, usually ``graph.normalised()``; f(0), ..., f(n_terms - 1) are summed, and
leaving out more than a millionth is an error; where the sum diverges with growing n_terms the moment does not
exist. Lengths are coupled by "antithetic" termination or by a copula with known pairs
(:func:`rfcore.copulas.pairs`). Results are float64 NumPy. Powers of W are dense, made by one sparse product
at a time: O(n_terms N edges), for thousands of nodes. Coupled lengths of directed weights take O(n_terms^2
N^2) more.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import equinox as eqx
import numpy as np
import scipy.sparse as sp
from jaxtyping import Float, Int

from rfcore import checks, copulas, graphs
from rfcore.graphs import Graph
from rfcore.walks import modulation
from rfcore.walks.lengths import AntitheticTermination, Named, halting
from rfcore.walks.modulation import Modulation

BEYOND = 1e-6  # the share of a sum over steps that may lie beyond the last that is counted
LONGEST = 2**13  # where the search for the end of a sum stops

Sparse = Any
"""A SciPy sparse array, whose shape has no type in SciPy."""
Matrix = Float[np.ndarray, "n m"]
Vector = Float[np.ndarray, " n"]


def walk_feature_moments(
    g: Graph, f: Modulation, n_walks: int, p_halt: float, n_terms: int = 100, coupling: Named = "iid"
) -> tuple[Float[np.ndarray, "N N"], Float[np.ndarray, "N N"]]:
    """Mean and mean square of every entry of :func:`rfcore.features.walk_features` with independent hops.

    ::

        E[phi] = F = sum_k f(k) W^k
        E[phi_ij^2] = 1/n_walks sum_k (V^k)_ij [f(k)^2 + 2 f(k) sum_{l >= 1} f(k + l) (W^l)_jj]
                      + (1 - 1/n_walks) sum_kl f(k) f(l) K_kl (W^k)_ij (W^l)_ij

    For independent lengths the last sum is F_ij^2. The sum over j of E[phi_ij^2] - E[phi_ij]^2 is the upward
    bias of the diagonal of phi phi^T with one shared set of walks.

    Args:
        n_walks, p_halt: walks per node; the probability that they halt before each hop.
        coupling: of the lengths of a node, as for :func:`joint_survival`.

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


def walk_gram_mse(
    g: Graph, f1: Modulation, f2: Modulation, n_walks: int, p_halt: float, n_terms: int = 100, coupling: Named = "iid"
) -> float:
    """Expected squared Frobenius error of phi_1 phi_2^T, from two independent sets of walks.

    ::

        sum_ij Var(phi_1(i) . phi_2(j)) = trace(A_1 A_2) - |F_1 F_2^T|^2,   A = sum_i E[phi(i) phi(i)^T],
        A = 1/n_walks (S + S^T - sum_k f(k)^2 diag(v_k)) + (1 - 1/n_walks) sum_kl f(k) f(l) K_kl (W^k)^T W^l,
        v_k = 1^T V^k,   S = sum_{k, l} f(k) f(k + l) diag(v_k) W^l

    For independent lengths the last sum of A is F^T F.

    Args:
        f1, f2: the pair of modulations; the error is against the kernel that they estimate.
        n_walks: walks per node in each of the two sets.
        coupling: of lengths, in both sets.

    Raises ValueError if the steps from n_terms on add more than a millionth.
    """
    return float(walk_gram_mses(g, f1, f2, n_walks, p_halt, [coupling], n_terms)[0])


def walk_gram_mses(
    g: Graph, f1: Modulation, f2: Modulation, n_walks: int, p_halt: float, couplings: Sequence[Named], n_terms: int = 100
) -> Float[np.ndarray, " n_couplings"]:
    """:func:`walk_gram_mse` under several couplings, at little more than the cost of one."""
    first = _second_moments(g, f1, n_walks, p_halt, n_terms, couplings, "f1")
    second = first if f2 is f1 else _second_moments(g, f2, n_walks, p_halt, n_terms, couplings, "f2")
    kernel = np.sum((first.mean @ second.mean.T) ** 2)
    return np.array([np.sum(A1 * A2) for A1, A2 in zip(first.of_couplings(), second.of_couplings(), strict=True)]) - kernel


class _Moments(eqx.Module):
    mean: Matrix
    of_couplings: Callable[[], Iterator[Matrix]]
    """() -> iterator of sum_i E[phi(i) phi(i)^T] under each of the couplings."""


def _second_moments(
    g: Graph, f: Modulation, n_walks: int, p_halt: float, n_terms: int, couplings: Sequence[Named], name: str
) -> _Moments:
    n_walks, values, W, V = _arguments(g, f, n_walks, p_halt, n_terms, name)
    weighed, visits = np.empty((len(values), g.n_nodes)), np.ones(g.n_nodes)
    for k, value in enumerate(values):
        weighed[k] = value * visits
        visits = visits @ V
    # SciPy's product of a dense and a sparse array is in column-major order; so is everything added to it.
    S, mean, term = (np.zeros(W.shape, order="F") for _ in range(3))
    power = np.eye(g.n_nodes, order="F")
    for hops, value in enumerate(values):
        S += np.multiply((values[hops:] @ weighed[: len(values) - hops])[:, None], power, out=term)
        mean += np.multiply(value, power, out=term)
        power = power @ W
    walk = np.asfortranarray(S + S.T - np.diag(values @ weighed))

    def of_couplings() -> Iterator[Matrix]:
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


def _in_powers(values: Vector, W: Sparse, K: Matrix) -> Float[np.ndarray, "N N"]:
    """sum_kl f(k) f(l) K_kl W^(k + l), by Horner's rule."""
    n, products = len(values), np.outer(values, values) * K
    coefficients = np.bincount(np.add.outer(np.arange(n), np.arange(n)).ravel(), products.ravel())
    total = np.zeros(W.shape)
    for coefficient in coefficients[::-1]:
        total = total @ W
        total[np.diag_indices_from(total)] += coefficient
    return total


def _is_iid(coupling: Named) -> bool:
    pairs = _pairs_of(coupling)
    return isinstance(pairs, copulas.Correlated) and _levels(pairs) == (0, 0)


def _levels(pairs: copulas.Correlated) -> tuple[float, float]:
    return pairs.partners, pairs.others


def _pairs_of(coupling: Named) -> Any:
    """Joint distribution of two walks: a record of copulas, or :class:`AntitheticTermination`."""
    if isinstance(coupling, AntitheticTermination) or (isinstance(coupling, str) and coupling == "antithetic"):
        return AntitheticTermination()
    return copulas.pairs(coupling, "coupling")


def _pairs(
    values: Vector, W: Sparse, coupling: Named, n_walks: int, p_halt: float
) -> tuple[Float[np.ndarray, "steps N N"], Float[np.ndarray, "steps N N"]]:
    """f(k) W^k, and sum_l K_kl f(l) W^l."""
    terms = np.empty((len(values), *W.shape))
    power = np.eye(W.shape[0])
    for k, value in enumerate(values):
        terms[k] = value * power
        power = power @ W
    return terms, np.tensordot(joint_survival(coupling, n_walks, p_halt, len(values)), terms, axes=1)


def _arguments(
    g: Graph, f: Modulation, n_walks: int, p_halt: float, n_terms: int, name: str = "f"
) -> tuple[int, Vector, Sparse, Sparse]:
    """Checked: n_walks, f(0), f(1), ..., W and V."""
    n_walks, values = checks.count(n_walks, "n_walks"), counted(f, g, n_terms, halting(p_halt), name)
    return n_walks, values, g.to_scipy(), mean_squares(g, p_halt)


def joint_survival(coupling: Named, n_walks: int, p_halt: float, n_terms: int) -> Float[np.ndarray, "n_terms n_terms"]:
    """Probability that two walks of a node are both long, over that of independent ones.

    ::

        K_kl = mean over pairs of walks of  P(length_1 >= k, length_2 >= l) / q^(k + l),   q = 1 - p_halt

    It determines every second moment of features with coupled lengths and independent hops: products of loads
    of two walks, with means W^k and W^l each, are weighted by K_kl (:func:`walk_gram_mse`). For one pair K is

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

    A single walk has no pairs, and K is 1.

    Args:
        coupling: "antithetic"; a copula, or its name, whose pairs have a closed form
            (:func:`rfcore.copulas.pairs`), such as "iid", "reversal" or "stratified"; or a permutation
            (several, one per row).
        p_halt: probability of stopping before each hop; at least 1.8e-8.

    Source: Variance-Reducing Couplings, Appendix C.3, for the cost of a pair.

    >>> from rfcore import theory
    >>> theory.joint_survival("reversal", 2, 0.5, 3)[1, 1].tolist()  # one of the two hops
    0.0
    """
    p_halt, pairs = halting(p_halt), _pairs_of(coupling)
    if isinstance(pairs, copulas.Gaussian):
        raise ValueError(f"coupling = {coupling!r} has no closed form for lengths; give a name, or a permutation")
    if hasattr(pairs, "sigmas"):
        return _matched(np.array(pairs.sigmas), n_walks, p_halt, n_terms)
    ones = np.ones((n_terms, n_terms))
    if n_walks == 1:
        return ones
    if isinstance(pairs, copulas.DifferentStrata):
        bins = bin_survival(n_walks, p_halt, n_terms)
        return (n_walks**2 - bins.T @ bins) / (n_walks * (n_walks - 1))
    if isinstance(pairs, copulas.Correlated):
        pair, others = (_at_correlation(r, growth(p_halt, n_terms)) for r in _levels(pairs))
    else:
        together = np.minimum.outer(np.arange(n_terms), np.arange(n_terms))
        pair, others = (max(0.0, 1 - 2 * p_halt) / (1 - p_halt) ** 2) ** together, 1.0
    return ones * others + (pair - others) / (n_walks - 1 + n_walks % 2)  # n_walks // 2 among all pairs


def _at_correlation(r: float, growth: Vector) -> Matrix | float:
    """One pair of lengths at levels that are opposite (-1), independent (0) or equal (1)."""
    if r == -1:
        return np.maximum(0.0, 1 - np.outer(growth - 1, growth - 1))
    return np.minimum.outer(growth, growth) if r == 1 else 1.0


def _matched(
    sigmas: Int[np.ndarray, "k n_bins"], n_walks: int, p_halt: float, n_terms: int
) -> Float[np.ndarray, "n_terms n_terms"]:
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


def bin_survival(n_bins: int, p_halt: float, n_terms: int) -> Float[np.ndarray, "n_bins n_terms"]:
    """Probability that a walk is long, given the quantile bin of its length, over that of any walk.

    ::

        h_i(k) = P(length >= k | u in [i / n, (i + 1) / n)) / q^k = min(max(n - (n - 1 - i) q^-k, 0), q^-k),
        q = 1 - p_halt,   n = n_bins

    It is also the expected sum of such a walk's loads at step k over that of any walk
    (:func:`rfcore.solvers.transport.bin_features`). The mean over the bins is 1.

    Source: Variance-Reducing Couplings, Eq. 54, with the walks averaged in closed form.
    """
    n_bins, n_terms = checks.count(n_bins, "n_bins"), checks.count(n_terms, "n_terms")
    grown, above = growth(halting(p_halt), n_terms), n_bins - 1 - np.arange(n_bins)[:, None]
    return np.minimum(np.maximum(n_bins - above * grown, 0.0), grown)


def counted(f: Modulation, g: Graph, n_terms: int, p_halt: float | None = None, name: str = "f") -> Vector:
    """f(0), ..., f(n_terms - 1) without trailing zeros, if later steps add at most a millionth of them.

    A step counts as what it adds to a mean, ``|f(k)|`` times the largest row sum of ``|W|^k``, and with
    p_halt also as what it adds to a mean square, f(k)^2 times that of V^k.
    """
    n, W = checks.count(n_terms, "n_terms"), graphs.checked(g).to_scipy()
    growths: list[tuple[int, Sparse]] = [(1, abs(W))] if p_halt is None else [(1, abs(W)), (2, mean_squares(g, p_halt))]

    def looked_at(n: int) -> tuple[Vector, Vector]:
        values = np.asarray(modulation.values(f, 2 * n, g.is_normalised and g.is_symmetric, name), dtype=float)
        return values, np.max([_shares_beyond(values, *growth) for growth in growths], axis=0)

    values, beyond = looked_at(n)
    longer = values
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


def _shares_beyond(values: Vector, power: int, growth: Sparse) -> Vector:
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


def mean_squares(g: Graph, p_halt: float) -> Sparse:
    """V, whose powers are the mean squares of loads."""
    return sp.diags_array(g.neighbour_counts / (1 - p_halt)) @ g.to_scipy().power(2)


def growth(p_halt: float, n_terms: int) -> Float[np.ndarray, " n_terms"]:
    """q^-k, capped at e^300, beyond which callers clip."""
    return np.exp(np.minimum(-np.arange(n_terms) * np.log1p(-p_halt), 300.0))
