"""Kernels between the nodes of a graph: functions of its weights as they are.

Each takes one eigendecomposition, O(N^3) time and O(N^2) memory, in float64 NumPy. Directed graphs raise a
ValueError.
"""

from dataclasses import dataclass, field, replace
from functools import lru_cache

import jax
import numpy as np

from rfcore import checks, graphs


def exponential(g, scale):
    """Exponential K = exp(scale W) of the weights as they are, not normalised.

    Its modulation is :func:`rfcore.walks.modulation.exponential`. Raises ValueError if the kernel
    overflows.

    Source: Universal Graph Random Features, Sections 3.2 and 3.3.
    """
    scale = checks.real(checks.known(scale, "scale"), "scale")
    return matrix_function(g, lambda eigenvalues: np.exp(scale * eigenvalues))


def power_series(g, alpha):
    """Power series K = sum_k alpha_k W^k of the weights as they are: the kernel behind a learned modulation.

    Args:
        g: usually ``g.normalised()``, so that powers do not grow.
        alpha: coefficients, (n_terms,), as from :func:`rfcore.walks.modulation.to_taylor` of a learned f.

    Source: Universal Graph Random Features, Eq. 2.
    """
    alpha = np.asarray(checks.vector(checks.known(alpha, "alpha"), "alpha"), dtype=float)
    return matrix_function(g, np.polynomial.Polynomial(alpha))


def matrix_function(g, function):
    """Any function of the weights as they are.

    ::

        K = sum_i function(lambda_i) v_i v_i^T,   W = sum_i lambda_i v_i v_i^T

    The function takes the array of eigenvalues of W; those of L are 1 minus those of ``g.normalised()``.

    Raises ValueError if the function gives no real number for an eigenvalue, or the kernel overflows.

    Source: Higham, Functions of Matrices, 2008, Section 1.2.
    """
    eigenvalues, vectors = spectrum(g)
    with np.errstate(over="ignore", invalid="ignore"):
        return finite((vectors * values_of(function, eigenvalues)) @ vectors.T)


def values_of(function, x):
    """``function(x)``, if it is one real number for each of these eigenvalues."""
    values = np.asarray(checks.known(checks.numbers(function(x), "function"), "function"))
    if values.shape != x.shape:
        got = f"function maps {len(x)} eigenvalues to an array of shape {values.shape}"
        raise ValueError(f"{got}; give one value per eigenvalue")
    if np.isnan(values).any() and not np.isinf(values).any():  # else it has overflown
        got = f"function has {np.isnan(values).sum()} NaN values at eigenvalues in [{x.min():.3g}, {x.max():.3g}]"
        raise ValueError(f"{got}; give one that is defined there")
    return values


def finite(result):
    """``result``, unless it has overflown."""
    if not np.all(np.isfinite(result)):
        raise ValueError("the kernel overflows float64; give smaller weights, such as g.normalised(), or smaller parameters")
    return result


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class Spectrum:
    """Spectrum of the weights of a graph; unpacks as a pair, ``eigenvalues, vectors``. A JAX pytree.

    Attributes:
        eigenvalues: in increasing order, (N,).
        vectors: eigenvectors as columns, (N, N).
    """

    eigenvalues: np.ndarray
    vectors: np.ndarray
    is_normalised: bool = field(metadata={"static": True})
    """Whether the weights are those of :meth:`rfcore.graphs.Graph.normalised`."""

    def at(self, nodes):
        """Spectrum with the rows of some nodes alone."""
        return replace(self, vectors=self.vectors[checks.indices(nodes, "nodes", len(self.vectors))])

    def __iter__(self):
        return iter((self.eigenvalues, self.vectors))

    def __getitem__(self, i):
        return tuple(self)[i]


def spectrum(g):
    """Eigenvalues and eigenvectors of W, by LAPACK; where W differs from W.T by rounding, of (W + W.T) / 2.

    Returns:
        :class:`Spectrum` of float64 arrays. They are read-only; those of the last graph are kept.

    >>> import networkx
    >>> from rfcore import graphs, kernels
    >>> eigenvalues, vectors = kernels.spectrum(graphs.Graph.from_networkx(networkx.path_graph(2)))
    >>> eigenvalues.tolist()
    [-1.0, 1.0]
    """
    if not graphs.checked(g).is_symmetric:
        raise ValueError("g is directed; these kernels need undirected graphs, such as those of (W + W.T) / 2")
    return _eigenpairs(g)


@lru_cache(maxsize=1)  # several functions of one graph follow each other
def _eigenpairs(g):
    W = g.to_scipy().toarray()
    pairs = np.linalg.eigh(W if np.array_equal(W, W.T) else W / 2 + W.T / 2)  # LAPACK reads one triangle
    for array in pairs:
        array.flags.writeable = False
    return Spectrum(*pairs, g.is_normalised)
