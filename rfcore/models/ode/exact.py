"""Solutions with exact exponentials: of the equation itself, or of the integral at some times only."""

import numpy as np

from rfcore import checks, kernels
from rfcore.models.ode.times import within


def solution(g, y, t, shift=0.0):
    """Exact solution at time t, (N,), for a source that does not change.

    ::

        x(t) = M^(-1) (exp(M t) - I) y;   where lambda = 0, t replaces (exp(lambda t) - 1) / lambda

    Source: Universal Graph Random Features, Eq. 12, integrated for a constant source.

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

    return kernels.function_of_weights(g, growth) @ source(y, g)(0.0)


def quadrature(g, y, t, times, shift=0.0):
    """Solution with exact exponentials at the given times only: the error that is left when walks are many.

    Arguments and result are those of :func:`estimate`.

    Source: Universal Graph Random Features, Eq. 13.
    """
    shift, (eigenvalues, vectors) = checks.real(shift, "shift"), kernels.spectrum(g)
    y, t = source(y, g), checks.real(t, "t", least=0)
    time, weight, repeated = within(times, t)
    x = np.zeros((len(time), g.n_nodes))
    with np.errstate(over="ignore", invalid="ignore"):
        for s, w in zip(time.T, weight.T, strict=True):
            grown = w[:, None] * np.exp(np.multiply.outer(t - s, eigenvalues + shift))
            x += grown * (np.stack([y(at) for at in s]) @ vectors)
        x = x @ vectors.T
    return bounded(x if repeated else x[0])


def residual_at_rest(g, y, shift=0.0):
    """How far a constant source is from having a steady state: min over x of |M x + y|, M = W + shift I.

    It is 0, up to rounding, if and only if there is one. For M = -L or L on a connected graph of degrees d it
    is |sqrt(d) . y| / |sqrt(d)|, because M sqrt(d) = 0. Eigenvalues within N units of rounding of the largest
    count as zero.
    """
    shift, (eigenvalues, vectors) = checks.real(shift, "shift"), kernels.spectrum(g)
    rates = np.abs(eigenvalues + shift)
    still = rates <= len(rates) * np.finfo(float).eps * max(rates.max(), np.abs(eigenvalues).max())
    return float(np.linalg.norm(vectors[:, still].T @ source(y, g)(0.0)))


def relative_errors(x, exact):
    """Distances |x - exact| / |exact| of states, (..., N), from the exact one, (N,), which is not 0.

    Source: Universal Graph Random Features, Section 3.2.
    """
    exact, x = np.asarray(checks.vector(exact, "exact")), np.asarray(checks.finite(checks.numbers(x, "x"), "x"))
    if x.ndim == 0 or x.shape[-1] != len(exact):
        raise ValueError(f"x has shape {x.shape}; give states of {len(exact)} nodes along the last axis, as exact has")
    if not exact.any():
        raise ValueError("exact is zero, and nothing is measured relative to that; give a later time or a source")
    return np.linalg.norm(x - exact, axis=-1) / np.linalg.norm(exact)


def bounded(x):
    """The solution, if it can be written down."""
    if not np.all(np.isfinite(x)):
        raise ValueError("the solution overflows float64; give a smaller t or shift, or smaller weights")
    return x


def source(y, g):
    """A source as a function of time whose values are checked."""
    of_time = y if callable(y) else lambda s: y

    def checked(s):
        return np.asarray(checks.vector(of_time(s), "y", g.n_nodes, "node"))

    return checked
