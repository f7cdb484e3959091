"""How well a kernel learned through its Taylor coefficients can generalise.

Hypotheses are x -> w . psi_K(x) with |w| <= 1 over all kernels K = sum_i alpha_i W^i with |alpha_i| <= bound_i. What
they can fit of pure noise, their empirical Rademacher complexity, bounds what they can lose on new nodes. Universal
Graph Random Features, Theorem 2.3 and Appendix A.4.
"""

import jax
import numpy as np
import scipy.sparse.linalg

from rfcore import checks, kernels


def spectral_radius(g):
    """Largest modulus of an eigenvalue of W, for an undirected graph; 0 where there are no edges.

    Raises
    ------
    ValueError
        If the graph is directed.

    Notes
    -----
    ARPACK's Lanczos iteration from 50 nodes on, as in :func:`scipy.sparse.linalg.eigsh`; it is the rho(W) of Universal
    Graph Random Features, Theorem 2.3.

    Examples
    --------
    >>> import networkx
    >>> from rfcore import graphs
    >>> from rfcore.theory import generalisation
    >>> round(generalisation.spectral_radius(graphs.Graph.from_networkx(networkx.cycle_graph(4))), 6)
    2.0
    """
    if len(_symmetric(g).weights) == 0:
        return 0.0
    if g.n_nodes < 50:
        return float(np.abs(np.linalg.eigvalsh(g.to_scipy().toarray())).max())
    start = np.ones(g.n_nodes)  # a fixed start, so that the last digits do not change from call to call
    largest = scipy.sparse.linalg.eigsh(g.to_scipy(), k=1, v0=start, return_eigenvectors=False)
    return float(np.abs(largest[0]))


def rademacher_bound(bounds, radius, n_samples):
    """Bound on the empirical Rademacher complexity.

    ::

        sqrt( 1/n_samples sum_i bounds_i radius^i )

    Parameters
    ----------
    bounds : array, shape (n_terms,) or (n_families, n_terms)
        Largest modulus of each Taylor coefficient.
    radius : float
        Spectral radius of W.
    n_samples : int
        Number of nodes in the sample. The proof in the paper bounds the supremum over the signs and needs distinct
        nodes; :func:`rademacher_trace_bound` gives one that does not.

    Returns
    -------
    float, or float64 array of shape (n_families,)

    Raises
    ------
    ValueError
        If a bound is negative or not finite, radius < 0 or n_samples < 1.

    Notes
    -----
    Universal Graph Random Features, Theorem 2.3 (Eq. 10).

    Examples
    --------
    >>> from rfcore.theory import generalisation
    >>> round(float(generalisation.rademacher_bound([1.0, 0.5], 1.0, 24)), 3)  # sqrt(1.5 / 24)
    0.25
    """
    radius, n_samples = checks.real(radius, "radius", least=0), checks.count(n_samples, "n_samples")
    bounds = _bounds(bounds)
    return np.sqrt(bounds @ radius ** np.arange(bounds.shape[-1]) / n_samples)[()]


def rademacher_trace_bound(g, sample, bounds):
    """A sharper bound than that of Theorem 2.3, by Jensen's inequality, for samples with or without repeats.

    ::

        1/m sqrt( sum_i bounds_i sum_{s in S} (|W|^i)_ss ),   |W| the matrix absolute value

    because sqrt is concave, |s^T (W^i)_SS s| <= s^T (|W|^i)_SS s, and the mean of the latter over independent
    signs is its trace. Every (|W|^i)_ss <= radius^i, so that this is never above Theorem 2.3's.

    Parameters
    ----------
    g : rfcore.graphs.Graph
        Undirected.
    sample : int array, shape (..., m)
        Nodes S, or several samples for the price of one eigendecomposition.
    bounds : array, shape (n_terms,) or (n_families, n_terms)
        Largest modulus of each Taylor coefficient.

    Returns
    -------
    float, or float64 array of shape (..., n_families), each axis where there is one

    Raises
    ------
    ValueError
        If the graph is directed, nodes are not in it, or a bound is negative or not finite.

    Notes
    -----
    Ours; it sharpens Universal Graph Random Features, Theorem 2.3.

    Examples
    --------
    >>> import networkx
    >>> from rfcore import graphs
    >>> from rfcore.theory import generalisation
    >>> g = graphs.Graph.from_networkx(networkx.cycle_graph(4)).normalised()
    >>> sharper = generalisation.rademacher_trace_bound(g, [0, 2], [1.0, 0.5])
    >>> bool(sharper < generalisation.rademacher_bound([1.0, 0.5], 1.0, 2))
    True
    """
    sample, bounds = checks.indices(sample, "sample", _symmetric(g).n_nodes, several=True), _bounds(bounds)
    eigenvalues, vectors = kernels.spectrum(g)
    series = np.abs(eigenvalues)[:, None] ** np.arange(bounds.shape[-1]) @ bounds.T
    of_node = vectors**2 @ series  # sum_i bounds_i (|W|^i)_xx
    return (np.sqrt(of_node[sample].sum(axis=sample.ndim - 1)) / sample.shape[-1])[()]


def rademacher_complexity(key, g, sample, bounds, n_draws=1000):
    """Empirical Rademacher complexity itself, by drawing the signs.

    ::

        1/m E_s sqrt( sum_i bounds_i |s^T (W^i)_SS s| ),   s uniform on {-1, 1}^m

    Parameters
    ----------
    key : JAX PRNG key
    g : rfcore.graphs.Graph
        Undirected.
    sample : int array, shape (m,)
        Nodes S; repeats count as often as they stand.
    bounds : array, shape (n_terms,) or (n_families, n_terms)
        Largest modulus of each Taylor coefficient. Families share the signs.
    n_draws : int
        At least 2.

    Returns
    -------
    (mean, standard error)
        Over the draws: floats, or float64 arrays of shape (n_families,).

    Raises
    ------
    ValueError
        If the graph is directed, nodes are not in it, a bound is negative or not finite, or n_draws < 2.

    Notes
    -----
    Universal Graph Random Features, Eqs 34 and 35 with the supremum over all |alpha_i| <= bounds_i. Only positive
    semidefinite kernels have features, so this is the complexity of the family if all those where the supremum is
    reached are: where sum_{i >= 1} bounds_i radius^i <= bounds_0. Elsewhere it is an upper bound.

    Examples
    --------
    >>> import jax, networkx
    >>> from rfcore import graphs
    >>> from rfcore.theory import generalisation
    >>> g = graphs.Graph.from_networkx(networkx.cycle_graph(4)).normalised()
    >>> mean, error = generalisation.rademacher_complexity(jax.random.key(0), g, [0, 1], [1.0, 0.5], n_draws=100)
    >>> bool(mean < generalisation.rademacher_bound([1.0, 0.5], 1.0, 2))
    True
    """
    key, sample, bounds = checks.key(key), checks.indices(sample, "sample", _symmetric(g).n_nodes), _bounds(bounds)
    n_draws = checks.count(n_draws, "n_draws", least=2)
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
    """Independent estimates of the empirical Rademacher complexity, for tests that weigh their scatter.

    Parameters
    ----------
    key : JAX PRNG key
        Split, one for each repeat.
    g, sample, bounds
        As in :func:`rademacher_complexity`.
    n_draws : int
        Signs for each sampled node and repeat; at least 2.
    n_repeats : int

    Returns
    -------
    float64 array, shape (n_repeats,) or (n_repeats, n_families)
        Means of :func:`rademacher_complexity`.

    Raises
    ------
    ValueError
        If n_repeats < 1, or whatever :func:`rademacher_complexity` refuses.

    Notes
    -----
    Universal Graph Random Features, Eqs 34 and 35.

    Examples
    --------
    >>> import jax, networkx
    >>> from rfcore import graphs
    >>> from rfcore.theory import generalisation
    >>> g = graphs.Graph.from_networkx(networkx.cycle_graph(4)).normalised()
    >>> generalisation.rademacher_repeats(jax.random.key(0), g, [0, 1], [[1.0, 0.5], [1.0, 0.2]], 10, n_repeats=3).shape
    (3, 2)
    """
    keys = jax.random.split(checks.key(key), checks.count(n_repeats, "n_repeats"))
    return np.stack([rademacher_complexity(key, g, sample, bounds, n_draws)[0] for key in keys])


def margin_loss(scores, labels, margin):
    """Empirical margin loss.

    ::

        mean of  min(1, max(0, 1 - y h(x) / margin))

    Parameters
    ----------
    scores : array, shape (n,)
        h(x).
    labels : array, shape (n,)
        y, -1 or 1.
    margin : float
        Above 0.

    Returns
    -------
    float, between 0 and 1

    Raises
    ------
    ValueError
        If scores and labels are no finite vectors of one length, a label is neither -1 nor 1, or margin <= 0.

    Notes
    -----
    Universal Graph Random Features, Eq. 39.

    Examples
    --------
    >>> from rfcore.theory import generalisation
    >>> float(generalisation.margin_loss([1.0, 0.25, -2.0], [1, 1, 1], 0.5))  # the mean of 0, 1/2 and 1
    0.5
    """
    scores, margin = np.asarray(checks.vector(scores, "scores")), checks.real(margin, "margin", above=0)
    labels = np.asarray(checks.vector(labels, "labels", len(scores), "score"))
    if not np.all(np.abs(labels) == 1):
        raise ValueError(f"labels has the values {np.unique(labels)[:5]}; give -1 and 1, such as 2 * labels - 1 for 0 and 1")
    return float(np.mean(np.clip(1 - labels * scores / margin, 0, 1)))


def margin_bound(loss, complexity, margin, n_samples, delta):
    """Bound on the error on new nodes, for all hypotheses at once, with probability 1 - delta.

    ::

        loss + 2 complexity / margin + 3 sqrt( log(2 / delta) / (2 n_samples) )

    Parameters
    ----------
    loss : float
        From :func:`margin_loss`, at the same margin.
    complexity : float
        From :func:`rademacher_bound` or :func:`rademacher_complexity`.
    margin : float
        Above 0.
    n_samples : int
    delta : float
        Strictly between 0 and 1.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If loss or complexity is no number of at least 0, margin <= 0, n_samples < 1 or delta is outside (0, 1).

    Notes
    -----
    Universal Graph Random Features, Eq. 40.

    Examples
    --------
    >>> from rfcore.theory import generalisation
    >>> loss, complexity = 0.1, 0.05
    >>> generalisation.margin_bound(loss, complexity, 0.5, 1000, 0.05) > loss
    True
    """
    margin, delta = checks.real(margin, "margin", above=0), checks.probability(delta, "delta")
    n_samples, loss = checks.count(n_samples, "n_samples"), checks.real(loss, "loss", least=0)
    complexity = checks.real(complexity, "complexity", least=0)
    return float(loss + 2 * complexity / margin + 3 * np.sqrt(np.log(2 / delta) / (2 * n_samples)))


def _bounds(bounds):
    bounds = checks.finite(np.asarray(checks.numbers(bounds, "bounds"), dtype=float), "bounds")
    if bounds.ndim not in (1, 2) or bounds.size == 0 or bounds.min() < 0:
        raise ValueError(f"bounds = {bounds}; give a vector of numbers of at least 0, one per Taylor coefficient")
    return bounds


def _symmetric(g):
    if not checks.graph(g).is_symmetric:
        raise ValueError("g is directed; give an undirected graph, such as that of (W + W.T) / 2")
    return g
