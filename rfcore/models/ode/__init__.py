"""Linear differential equations on a graph, solved by walks.

::

    dx/dt = M x + y(t),  x(0) = 0,  M = W + shift I,   x(t) = int_0^t exp(M (t - s)) y(s) ds

with W the weights of the graph, undirected, and y an array (N,) or a function of time. The integral is a
weighted sum over *times* s, and exp(M (t - s)) a product of walk features. Heat flow is M = -L:
``g.normalised()`` with shift -1. (Universal Graph Random Features, Eqs. 11 to 14, prints W = L for it, under
which x grows without bound and nodes beside the source go cold; that is ``g.normalised().scaled(-1)`` with
shift 1.)
"""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        "by_walks": ("estimate",),
        "exact": ("quadrature", "relative_errors", "residual_at_rest", "solution"),
        "times": ("Times", "midpoint_times", "stratified_times", "uniform_times"),
    },
)
