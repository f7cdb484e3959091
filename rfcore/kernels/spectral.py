"""Kernels between the nodes of a graph: functions of its weights, without normalisation.

Each takes one eigendecomposition, O(N^3) time and O(N^2) memory, in float64 NumPy. Directed graphs raise a
ValueError.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import jax
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int, Real

from rfcore import checks, graphs
from rfcore.graphs import Graph


def exponential(g: Graph, scale: float) -> Float[np.ndarray, "N N"]:
    """Exponential K = exp(scale W) of the weights, without normalisation.

    Its modulation is :func:`rfcore.walks.modulation.exponential`. Raises ValueError if the kernel
    overflows.

    Source: Universal Graph Random Features, Sections 3.2 and 3.3.
    """
    scale = checks.real(checks.known(scale, "scale"), "scale")
    return matrix_function(g, lambda eigenvalues: np.exp(scale * eigenvalues))


def power_series(g: Graph, alpha: Real[ArrayLike, " n_terms"] | Sequence[float]) -> Float[np.ndarray, "N N"]:
    """Power series K = sum_k alpha_k W^k of the weights, such as the kernel of a learned modulation.

    Args:
        g: usually ``g.normalised()``, so that powers do not grow.
        alpha: coefficients, for a learned modulation f those of :func:`rfcore.walks.modulation.to_taylor`.

    Source: Universal Graph Random Features, Eq. 2.
    """
    alpha = np.asarray(checks.vector(checks.known(alpha, "alpha"), "alpha"), dtype=float)
    return matrix_function(g, np.polynomial.Polynomial(alpha))


def matrix_function(
    g: Graph, function: Callable[[Float[np.ndarray, " N"]], Real[ArrayLike, " N"]]
) -> Float[np.ndarray, "N N"]:
    """Any function of the weights, without normalisation.

    ::

        K = sum_i function(lambda_i) v_i v_i^T,   W = sum_i lambda_i v_i v_i^T

    The function takes the array of eigenvalues of W; those of L are 1 minus those of ``g.normalised()``.

    Raises ValueError if a value of the function is not a real number, or the kernel overflows.

    Source: Higham, Functions of Matrices, 2008, Section 1.2.
    """
    eigenvalues, vectors = spectrum(g)
    with np.errstate(over="ignore", invalid="ignore"):
        return finite((vectors * values_of(function, eigenvalues)) @ vectors.T)


def values_of(
    function: Callable[[Float[np.ndarray, " N"]], Real[ArrayLike, " N"]], x: Float[np.ndarray, " N"]
) -> Float[np.ndarray, " N"]:
    """``function(x)`` in float64, if it is one real number per eigenvalue."""
    values = np.asarray(checks.known(checks.numbers(function(x), "function"), "function"))
    if values.shape != x.shape:
        got = f"function maps {len(x)} eigenvalues to an array of shape {values.shape}"
        raise ValueError(f"{got}; give one value per eigenvalue")
    if np.isnan(values).any() and not np.isinf(values).any():  # else it has overflowed
        got = f"function has {np.isnan(values).sum()} NaN values at eigenvalues in [{x.min():.3g}, {x.max():.3g}]"
        raise ValueError(f"{got}; give one that is defined there")
    return values


def finite(result: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """``result``, if it has not overflowed."""
    if not np.all(np.isfinite(result)):
        raise ValueError("the kernel overflows float64; give smaller weights, such as g.normalised(), or smaller parameters")
    return result


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class Spectrum:
    """Spectrum of the weights of a graph; unpacks as a pair, ``eigenvalues, vectors``. A JAX pytree.

    Attributes:
        eigenvalues: in increasing order.
        vectors: eigenvectors as columns; their rows are those of all nodes, or of some (:meth:`at`).
    """

    eigenvalues: Float[Array | np.ndarray, " N"]
    vectors: Float[Array | np.ndarray, "n N"]
    is_normalised: bool = field(metadata={"static": True})
    """Whether the weights are those of :meth:`rfcore.graphs.Graph.normalised`."""

    def at(self, nodes: Int[Array | np.ndarray, " n"] | Sequence[int]) -> "Spectrum":
        """Spectrum with the rows of the given nodes only."""
        return replace(self, vectors=self.vectors[checks.indices(nodes, "nodes", len(self.vectors))])

    def __iter__(self) -> Iterator[Any]:
        return iter((self.eigenvalues, self.vectors))

    def __getitem__(self, i: int) -> Float[Array | np.ndarray, "..."]:
        return tuple(self)[i]


def spectrum(g: Graph) -> Spectrum:
    """Eigenvalues and eigenvectors of W, by LAPACK; if W and W.T differ by rounding, those of (W + W.T) / 2.

    Returns:
        float64 arrays, which are read-only; those of the last graph are cached.

    >>> import networkx
    >>> from rfcore import graphs, kernels
    >>> eigenvalues, vectors = kernels.spectrum(graphs.Graph.from_networkx(networkx.path_graph(2)))
    >>> eigenvalues.tolist()
    [-1.0, 1.0]
    """
    if not graphs.checked(g).is_symmetric:
        raise ValueError("g is directed; these kernels need undirected graphs, such as those of (W + W.T) / 2")
    return _eigenpairs(g)


@lru_cache(maxsize=1)  # several functions of one graph are often computed in succession
def _eigenpairs(g: Graph) -> Spectrum:
    W = g.to_scipy().toarray()
    pairs = np.linalg.eigh(W if np.array_equal(W, W.T) else W / 2 + W.T / 2)  # LAPACK reads one triangle
    for array in pairs:
        array.flags.writeable = False
    return Spectrum(*pairs, g.is_normalised)
