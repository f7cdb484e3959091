"""How well a kernel learned through its Taylor coefficients can generalise.

Hypotheses are x -> w . psi_K(x) with |w| <= 1 over all kernels K = sum_i alpha_i W^i with
|alpha_i| <= bounds_i. What they can fit of pure noise, their empirical Rademacher complexity, bounds what
they can lose on new nodes. Universal Graph Random Features, Theorem 2.3 and Appendix A.4.

Graphs are undirected; ``bounds`` is an array (n_terms,) or, for several families, (n_families, n_terms).
"""

import itertools

import jax
import numpy as np
import scipy.sparse.linalg

from rfcore import checks, kernels
from rfcore.features import modulation


def spectral_radius(g):
    """Largest modulus of an eigenvalue of W, for an undirected graph; 0 where there are no edges."""
    if len(_symmetric(g).weights) == 0:
        return 0.0
    if g.n_nodes < 50:
        return float(np.abs(np.linalg.eigvalsh(g.to_scipy().toarray())).max())
    start = np.ones(g.n_nodes)  # a fixed start, so that the last digits do not change from call to call
    largest = scipy.sparse.linalg.eigsh(g.to_scipy(), k=1, v0=start, return_eigenvectors=False)
    return float(np.abs(largest[0]))


def rademacher_bound(bounds, radius, n_samples):
    """The paper's bound (Eq. 10) on the complexity, sqrt(1/n_samples sum_i bounds_i radius^i).

    Its proof bounds the supremum over the signs and needs distinct nodes, unlike
    :func:`rademacher_trace_bound`.
    """
    bounds, radius = _bounds(bounds), checks.real(radius, "radius", least=0)
    return np.sqrt(bounds @ radius ** np.arange(bounds.shape[-1]) / n_samples)[()]


def rademacher_trace_bound(g, sample, bounds):
    """A sharper bound, by Jensen's inequality, for samples with or without repeats.

    ::

        1/m sqrt( sum_i bounds_i sum_{s in S} (|W|^i)_ss ) <= rademacher_bound

    with the matrix absolute value |W|, since the square root is concave, |s^T (W^i)_SS s| <= s^T (|W|^i)_SS
    s, and the mean of the latter over independent signs is its trace. ``sample`` holds nodes S, (..., m):
    several samples cost one eigendecomposition. The result is (..., n_families).
    """
    sample, bounds = checks.indices(sample, "sample", g.n_nodes, several=True), _bounds(bounds)
    eigenvalues, vectors = kernels.spectrum(g)
    series = np.abs(eigenvalues)[:, None] ** np.arange(bounds.shape[-1]) @ bounds.T
    of_node = vectors**2 @ series  # sum_i bounds_i (|W|^i)_xx
    return (np.sqrt(of_node[sample].sum(axis=sample.ndim - 1)) / sample.shape[-1])[()]


def rademacher_complexity(key, g, sample, bounds, n_draws=1000):
    """Mean and standard error of the complexity itself, by drawing signs that all families share.

    ::

        1/m E_s sqrt( sum_i bounds_i |s^T (W^i)_SS s| ),   s uniform on {-1, 1}^m    (Eqs. 34, 35)

    Only positive semidefinite kernels have features, but the supremum is over all |alpha_i| <= bounds_i: an
    upper bound, exact where sum_{i >= 1} bounds_i radius^i <= bounds_0. Repeats in S, ``sample``, count as
    often as they stand.
    """
    sample, bounds = checks.indices(sample, "sample", _symmetric(g).n_nodes), _bounds(bounds)
    signs = np.zeros((g.n_nodes, n_draws))
    np.add.at(signs, sample, jax.random.rademacher(key, (len(sample), n_draws)))
    W, moved, forms = g.to_scipy(), signs, np.empty((bounds.shape[-1] + 1, n_draws))
    for i in range(0, bounds.shape[-1], 2):  # s^T W^2i s = |W^i s|^2, and one hop more
        further = W @ moved
        forms[i], forms[i + 1] = np.sum(moved**2, axis=0), np.sum(moved * further, axis=0)
        moved = further
    draws = np.sqrt(bounds @ np.abs(forms[:-1])) / len(sample)
    return draws.mean(axis=-1)[()], (draws.std(axis=-1, ddof=1) / np.sqrt(n_draws))[()]


def rademacher_repeats(key, g, sample, bounds, n_draws, n_repeats):
    """Means of independent :func:`rademacher_complexity`, (n_repeats,) or (n_repeats, n_families)."""
    keys = jax.random.split(key, n_repeats)
    return np.stack([rademacher_complexity(key, g, sample, bounds, n_draws)[0] for key in keys])


def margin_loss(scores, labels, margin):
    """Empirical margin loss, mean of min(1, max(0, 1 - y h(x) / margin)), labels y being -1 or 1 (Eq. 39)."""
    scores, margin = np.asarray(checks.vector(scores, "scores")), checks.real(margin, "margin", above=0)
    labels = np.asarray(checks.vector(labels, "labels", len(scores), "score"))
    if not np.all(np.abs(labels) == 1):
        raise ValueError(f"labels has the values {np.unique(labels)[:5]}; give -1 and 1, such as 2 * labels - 1 for 0 and 1")
    return float(np.mean(np.clip(1 - labels * scores / margin, 0, 1)))


def margin_bound(loss, complexity, margin, n_samples, delta):
    """Bound on the error on new nodes, for all hypotheses at once, with probability 1 - delta (Eq. 40).

    ::

        loss + 2 complexity / margin + 3 sqrt( log(2 / delta) / (2 n_samples) )
    """
    complexity = checks.real(complexity, "complexity", least=0)
    margin, delta = checks.real(margin, "margin", above=0), checks.probability(delta, "delta")
    return float(loss + 2 * complexity / margin + 3 * np.sqrt(np.log(2 / delta) / (2 * n_samples)))


def _bounds(bounds):
    bounds = np.asarray(checks.numbers(bounds, "bounds"), dtype=float)
    if bounds.ndim not in (1, 2) or not bounds.min(initial=0) >= 0:
        raise ValueError(f"bounds = {bounds}; give a vector of numbers of at least 0, one per Taylor coefficient")
    return bounds


def _symmetric(g):
    if not g.is_symmetric:
        raise ValueError("g is directed; give an undirected graph, such as that of (W + W.T) / 2")
    return g


MOST = 16


def sign_supremum(g, sample, bounds):
    """Supremum over the signs of a sample and over the kernels of a family, by trying all signs: O(2^m).

    ::

        sup_s sup_alpha sqrt(s^T K_SS s) = max over s in {-1, 1}^m of sqrt(sum_i bounds_i |s^T (W^i)_SS s|)

    Arguments are as for :func:`companion.papers.ugrf.generalisation.rademacher_complexity`; a sample has at
    most 16 nodes.

    Source: Universal Graph Random Features, Eq. 36, left side.
    """
    sample = checks.indices(sample, "sample", _symmetric(g).n_nodes)
    bounds = _bounds(bounds)
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


def taylor_bounds(n_terms=40, n_flat=10):
    """Bounds of four families by name, scaled to begin with 1: those of kernels, and a flat one.

    The kernels have sigma = 1 and d = 2; the flat bounds are 1 for i < n_flat, then 0. What a family can fit
    is asked in :mod:`companion.papers.ugrf.generalisation`.
    """
    named = {
        "diffusion": modulation.diffusion(1.0),
        "regularised_laplacian": modulation.regularised_laplacian(1.0, 2),
        "inverse_cosine": modulation.inverse_cosine(),
    }
    bounds = {name: np.abs(modulation.to_taylor(f, n_terms=n_terms)) for name, f in named.items()}
    scaled = {name: sizes / sizes[0] for name, sizes in bounds.items()}
    return scaled | {"flat": (np.arange(n_terms) < n_flat).astype(float)}
