"""Linear differential equations on a graph, solved by walks.

::

    dx/dt = M x + y(t),  x(0) = 0,  M = W + shift I,   x(t) = int_0^t exp(M (t - s)) y(s) ds

with W the weights of the graph, undirected, and y an array (N,) or a function of time. The integral is a
weighted sum over *times* s, and exp(M (t - s)) a product of walk features. Heat flow is M = -L:
``g.normalised()`` with shift -1. (Universal Graph Random Features, Eqs. 11 to 14, prints W = L for it, under
which x grows without bound and nodes beside the source go cold; that is ``g.normalised().scaled(-1)`` with
shift 1.)

Integrals over [0, t] are looked at at n independent times, one in each of n parts, or the middles: with
n_repeats there are as many sets of times, and arrays have shape (n_repeats, n).
"""

from typing import NamedTuple

import jax
import numpy as np
import scipy.sparse as sp

from rfcore import checks, kernels
from rfcore.features import modulation, walk_features
from rfcore.graphs import Graph

__all__ = [
    "Times",
    "estimate",
    "midpoint_times",
    "quadrature",
    "relative_errors",
    "residual_at_rest",
    "solution",
    "stratified_times",
    "uniform_times",
]


class Times(NamedTuple):
    """Where an integral over [0, t] looks: ``sum_j weight_j h(time_j)`` estimates it."""

    time: np.ndarray
    """Shape (n,), or (n_repeats, n) with times of its own for every repeat."""
    weight: np.ndarray
    """Of the same shape; 1 / (n p(time)) for times drawn with density p."""


def uniform_times(key, t, n, n_repeats=None):
    """Independent uniform times: unbiased, with an error of order 1 / sqrt(n).

    Source: Universal Graph Random Features, Eq. 13.
    """
    return _times(_uniforms(key, n, n_repeats) * n, t, n)


def stratified_times(key, t, n, n_repeats=None):
    """One uniform time in each part: unbiased, with an error of order n^(-3/2).

    Source: Owen, Monte Carlo Theory, Methods and Examples (2013), Chapter 8.
    """
    return _times(np.arange(n) + _uniforms(key, n, n_repeats), t, n)


def midpoint_times(t, n, n_repeats=None):
    """Middles of the parts, the same for all repeats: no randomness, a bias of order n^(-2)."""
    return _times(np.full(_shape(n, n_repeats), 0.5) + np.arange(n), t, n)


def within(times, t):
    """Times and weights as arrays of shape (n_repeats, n), and whether there are repeats at all."""
    time, weight = (
        np.asarray(checks.numbers(values, f"times.{name}"), dtype=float)
        for name, values in zip(Times._fields, times, strict=True)
    )
    if weight.shape != time.shape:
        raise ValueError(f"times.weight has shape {weight.shape}; give one weight per time, shape {time.shape}")
    if not (time.min() >= 0 and time.max() <= t):
        raise ValueError(f"times has values in [{time.min()}, {time.max()}]; they must lie in [0, {t}]")
    return np.atleast_2d(time), np.atleast_2d(weight), time.ndim == 2


def _uniforms(key, n, n_repeats):
    return np.asarray(jax.random.uniform(key, _shape(n, n_repeats)))


def _shape(n, n_repeats):
    return (n,) if n_repeats is None else (n_repeats, n)


def _times(parts, t, n):
    time = np.asarray(parts, dtype=float) * t / n
    return Times(time, np.full(time.shape, t / n))


def solution(g, y, t, shift=0.0):
    """Exact solution at time t, (N,), for a source that does not change.

    ::

        x(t) = M^(-1) (exp(M t) - I) y;   where lambda = 0, t replaces (exp(lambda t) - 1) / lambda

    Source: Universal Graph Random Features, Eq. 12, integrated for a constant source.

    >>> import networkx, numpy as np
    >>> from rfcore import graphs
    >>> from companion.models import ode
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(2)).normalised()
    >>> ode.solution(g, np.ones(2), 3.0, shift=-1.0).round(6).tolist()  # no heat is lost
    [3.0, 3.0]
    """

    def growth(eigenvalues):
        rates = eigenvalues + shift
        still = rates == 0
        return np.where(still, t, np.expm1(rates * t) / np.where(still, 1.0, rates))

    return kernels.matrix_function(g, growth) @ _constant(y, g)


def quadrature(g, y, t, times, shift=0.0):
    """Solution with exact exponentials at the given times only: the error that is left when walks are many.

    Arguments and result are those of :func:`estimate`.

    Source: Universal Graph Random Features, Eq. 13.
    """
    (eigenvalues, vectors) = kernels.spectrum(g)
    y = source(y, g)
    time, weight, repeated = within(times, t)
    x = np.zeros((len(time), g.n_nodes))
    with np.errstate(over="ignore", invalid="ignore"):
        for s, w in zip(time.T, weight.T, strict=True):
            grown = w[:, None] * np.exp(np.multiply.outer(t - s, eigenvalues + shift))
            x += grown * (np.stack([y(at) for at in s]) @ vectors)
        x = x @ vectors.T
    return x if repeated else x[0]


def residual_at_rest(g, y, shift=0.0):
    """How far a constant source is from having a steady state: min over x of |M x + y|, M = W + shift I.

    It is 0, up to rounding, if and only if there is one. For M = -L or L on a connected graph of degrees d it
    is |sqrt(d) . y| / |sqrt(d)|, because M sqrt(d) = 0. Eigenvalues within N units of rounding of the largest
    count as zero.
    """
    (eigenvalues, vectors) = kernels.spectrum(g)
    rates = np.abs(eigenvalues + shift)
    still = rates <= len(rates) * np.finfo(float).eps * max(rates.max(), np.abs(eigenvalues).max())
    return float(np.linalg.norm(vectors[:, still].T @ _constant(y, g)))


def relative_errors(x, exact):
    """Distances |x - exact| / |exact| of states, (..., N), from the exact one, (N,), which is not 0.

    Source: Universal Graph Random Features, Section 3.2.
    """
    exact, x = np.asarray(checks.vector(exact, "exact")), np.asarray(checks.numbers(x, "x"))
    if x.shape[-1:] != exact.shape:
        raise ValueError(f"x has shape {x.shape}; give states of {len(exact)} nodes along the last axis, as exact has")
    if not exact.any():
        raise ValueError("exact is zero, and nothing is measured relative to that; give a later time or a source")
    return np.linalg.norm(x - exact, axis=-1) / np.linalg.norm(exact)


def source(y, g):
    """A source as a function of time whose values are checked."""
    of_time = y if callable(y) else lambda s: y

    def checked(s):
        return np.asarray(checks.vector(of_time(s), "y", g.n_nodes, "node"))

    return checked


def _constant(y, g):
    if callable(y):
        raise ValueError("y is a function; give a source that does not change, (N,), or call quadrature or estimate")
    return source(y, g)(0.0)


def estimate(key, g, y, t, times, n_walks, p_halt, shift=0.0, shared=False):
    """Solution by walks, fresh ones for every time and every repeat.

    ::

        x(t) = sum_j weight_j exp(shift (t - s_j)) Phi_j Psi_j^T y(s_j),   E[Phi_j Psi_j^T] = exp(W (t - s_j))

    Repeats are copies of the graph side by side, whose weights are multiplied by (t - s) / t, which does the
    same as another modulation: so repeats may differ in their times.

    Args:
        key, g, y: JAX PRNG key; graph; source, (N,) or a function of a time.
        t, times: when x is wanted; Times within [0, t], a row per repeat or one set.
        n_walks, p_halt: walks from each node; the probability of stopping before each hop.
        shift: M = W + shift I.
        shared: whether Psi_j = Phi_j, as in the paper: half the work, and a bias in the diagonal.

    Returns:
        float64 array, (N,), or (n_repeats, N) of independent estimates.

    Source: Universal Graph Random Features, Eq. 14 and Section 3.5.

    >>> import jax, networkx, numpy as np
    >>> from rfcore import graphs
    >>> from companion.models import ode
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(2)).normalised()
    >>> y, times = np.array([1.0, 0.0]), ode.midpoint_times(1.0, 8)
    >>> found = ode.estimate(jax.random.key(0), g, y, 1.0, times, 1000, 0.3, shift=-1.0)
    >>> bool(np.allclose(found, ode.solution(g, y, 1.0, shift=-1.0), atol=0.1))
    True
    """
    y = source(y, g)
    time, weight, repeated = within(times, t)
    f, weights, x = modulation.exponential(t), g.to_scipy(), np.zeros((len(time), g.n_nodes))
    for j in range(time.shape[1]):
        left = t - time[:, j]
        copies = Graph.from_scipy(sp.block_diag([weights * (rest / t if t else 0.0) for rest in left]))
        of_rows, of_columns = jax.random.split(jax.random.fold_in(key, j))
        phi = walk_features(of_rows, copies, f, n_walks, p_halt, "iid")
        psi = phi if shared else walk_features(of_columns, copies, f, n_walks, p_halt, "iid")
        with np.errstate(over="ignore", invalid="ignore"):
            found = phi @ (psi.T @ np.concatenate([y(s) for s in time[:, j]]))
            x += (weight[:, j] * np.exp(shift * left))[:, None] * found.reshape(x.shape)
    return x if repeated else x[0]
