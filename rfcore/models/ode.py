"""Linear differential equations on a graph, solved by walks.

::

    dx/dt = M x + y(t),  x(0) = 0,  M = W + shift I,   x(t) = int_0^t exp(M (t - s)) y(s) ds

with W the weights of the graph. The integral is a weighted sum over *times* s, and exp(M (t - s)) a product of
walk features. Heat flow is M = -L: ``g.normalised()`` with shift -1. (Universal Graph Random Features, Eqs 11 to 14,
prints W = L for it, under which x grows without bound and nodes beside the source go cold; that is
``g.normalised().scaled(-1)`` with shift 1.)
"""

from typing import NamedTuple

import jax
import numpy as np

from rfcore import checks, kernels
from rfcore.features import modulation, walk_features


class Times(NamedTuple):
    """Where an integral over [0, t] looks: ``sum_j weight_j h(time_j)`` estimates it."""

    time: np.ndarray
    """Shape (n,)."""
    weight: np.ndarray
    """Shape (n,); 1 / (n p(time)) for times drawn with density p."""


def uniform_times(key, t, n):
    """Independent uniform times on [0, t]: unbiased, with an error of order 1 / sqrt(n) of its own (Eq. 13).

    Notes
    -----
    Universal Graph Random Features, Eq. 13.

    Examples
    --------
    >>> import jax
    >>> from rfcore.models import ode
    >>> ode.uniform_times(jax.random.key(0), 2.0, 4).weight.tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    return _times(jax.random.uniform(checks.key(key), (checks.count(n, "n"),)) * n, t, n)


def stratified_times(key, t, n):
    """One uniform time in each of n equal parts of [0, t]: unbiased, with an error of order n^(-3/2).

    Notes
    -----
    Ours; stratified sampling, Owen, Monte Carlo Theory, Methods and Examples, 2013, Chapter 8.

    Examples
    --------
    >>> import jax
    >>> from rfcore.models import ode
    >>> (ode.stratified_times(jax.random.key(0), 4.0, 4).time // 1).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    return _times(np.arange(checks.count(n, "n")) + np.asarray(jax.random.uniform(checks.key(key), (n,))), t, n)


def midpoint_times(t, n):
    """Middles of n equal parts of [0, t]: no randomness, a bias of order n^(-2).

    Notes
    -----
    Ours; the midpoint rule.

    Examples
    --------
    >>> from rfcore.models import ode
    >>> ode.midpoint_times(2.0, 4).time.tolist()
    [0.25, 0.75, 1.25, 1.75]
    """
    return _times(np.arange(checks.count(n, "n")) + 0.5, t, n)


def solution(g, y, t, shift=0.0):
    """Exact solution at time t for a source that does not change.

    ::

        x(t) = M^(-1) (exp(M t) - I) y,   with t in place of (exp(lambda t) - 1) / lambda at eigenvalue lambda = 0

    Parameters
    ----------
    g : rfcore.graphs.Graph
        Undirected; its weights are W.
    y : array, shape (N,)
    t : float
        At least 0.
    shift : float
        M = W + shift I.

    Returns
    -------
    float64 array, shape (N,)

    Raises
    ------
    ValueError
        If the graph is directed, t < 0, or y is no finite vector of N numbers.

    Notes
    -----
    Universal Graph Random Features, Eq. 12, integrated for a constant source.

    Examples
    --------
    >>> import networkx, numpy as np
    >>> from rfcore import graphs
    >>> from rfcore.models import ode
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(2)).normalised()
    >>> ode.solution(g, np.ones(2), 3.0, shift=-1.0).round(6).tolist()  # no heat is lost
    [3.0, 3.0]
    """
    t, shift = checks.real(t, "t", least=0), checks.real(shift, "shift")

    def growth(eigenvalues):
        rates = eigenvalues + shift
        still = rates == 0
        return np.where(still, t, np.expm1(rates * t) / np.where(still, 1.0, rates))

    return kernels.function_of_weights(g, growth) @ _source(y, g)(0.0)


def quadrature(g, y, t, times, shift=0.0):
    """Solution with exact exponentials at the given times only: the error that is left when walks are many.

    Parameters
    ----------
    g, y, t, times, shift
        As for :func:`estimate`.

    Returns
    -------
    float64 array, shape (N,)

    Raises
    ------
    ValueError
        If the graph is directed, y has another shape, shift is not finite, or a time is outside [0, t].

    Notes
    -----
    Universal Graph Random Features, Eq. 13.

    Examples
    --------
    >>> import networkx, numpy as np
    >>> from rfcore import graphs
    >>> from rfcore.models import ode
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(2)).normalised()
    >>> found = ode.quadrature(g, np.array([1.0, 0.0]), 1.0, ode.midpoint_times(1.0, 100), shift=-1.0)
    >>> bool(np.allclose(found, ode.solution(g, np.array([1.0, 0.0]), 1.0, shift=-1.0), rtol=1e-4))
    True
    """
    shift, (eigenvalues, vectors) = checks.real(shift, "shift"), kernels.spectrum(g)
    y = _source(y, g)
    x = np.zeros(g.n_nodes)
    with np.errstate(over="ignore", invalid="ignore"):
        for s, weight in _within(times, t):
            x += weight * np.exp((eigenvalues + shift) * (t - s)) * (vectors.T @ y(s))
        return _bounded(vectors @ x)


def estimate(key, g, y, t, times, n_walks, p_halt, shift=0.0, shared=False):
    """Solution by walks, fresh ones for every time.

    ::

        x(t) = sum_j weight_j exp(shift (t - s_j)) Phi_j Psi_j^T y(s_j),   E[Phi_j Psi_j^T] = exp(W (t - s_j))

    Parameters
    ----------
    key : JAX PRNG key
    g : rfcore.graphs.Graph
        Undirected; its weights are W.
    y : array, shape (N,), or function of a time
        Source.
    t : float
        When x is wanted.
    times : Times
        Within [0, t].
    n_walks : int
        Walks from each node.
    p_halt : float
        Probability of stopping before each hop.
    shift : float
        M = W + shift I.
    shared : bool
        Whether Psi_j = Phi_j, as the paper has it: half the work, and a bias in the diagonal.

    Returns
    -------
    float64 array, shape (N,)

    Raises
    ------
    ValueError
        As :func:`rfcore.features.walk_features`; if y has another shape, shift is not finite, or a time is outside
        [0, t].

    Notes
    -----
    Universal Graph Random Features, Eq. 14.

    Examples
    --------
    >>> import jax, networkx, numpy as np
    >>> from rfcore import graphs
    >>> from rfcore.models import ode
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(2)).normalised()
    >>> y, times = np.array([1.0, 0.0]), ode.midpoint_times(1.0, 8)
    >>> found = ode.estimate(jax.random.key(0), g, y, 1.0, times, 1000, 0.3, shift=-1.0)
    >>> bool(np.allclose(found, ode.solution(g, y, 1.0, shift=-1.0), atol=0.1))
    True
    """
    key, shift, y = checks.key(key), checks.real(shift, "shift"), _source(y, checks.graph(g))
    x = np.zeros(g.n_nodes)
    for j, (s, weight) in enumerate(_within(times, t)):
        f = modulation.exponential(t - s)
        left, right = jax.random.split(jax.random.fold_in(key, j))
        phi = walk_features(left, g, f, n_walks, p_halt)
        psi = phi if shared else walk_features(right, g, f, n_walks, p_halt)
        with np.errstate(over="ignore", invalid="ignore"):
            x += weight * np.exp(shift * (t - s)) * (phi @ (psi.T @ y(s)))
    return _bounded(x)


def _bounded(x):
    if not np.all(np.isfinite(x)):
        raise ValueError("the solution overflows float64; give a smaller t or shift, or smaller weights")
    return x


def _times(parts, t, n):
    t = checks.real(t, "t", least=0)
    return Times(np.asarray(parts, dtype=float) * t / n, np.full(n, t / n))


def _within(times, t):
    t = checks.real(t, "t", least=0)
    if not isinstance(times, Times):
        raise ValueError(f"times is of type {type(times).__name__}; give ode.midpoint_times(t, n), or Times(time, weight)")
    time = np.asarray(checks.vector(times.time, "times.time"))
    weight = np.asarray(checks.vector(times.weight, "times.weight", len(time), "time"))
    if not (time.min() >= 0 and time.max() <= t):
        raise ValueError(f"times has values in [{time.min()}, {time.max()}]; they must lie in [0, {t}]")
    return list(zip(time, weight, strict=True))


def _source(y, g):
    source = y if callable(y) else lambda s: y

    def checked(s):
        return np.asarray(checks.vector(source(s), "y", g.n_nodes, "node"))

    return checked
