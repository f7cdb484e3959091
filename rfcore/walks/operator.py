"""The interface of walk features, both SciPy arrays on the host and differentiable JAX arrays."""

import abc
from typing import Any

import equinox as eqx
import numpy as np


class Operator(eqx.Module):
    """A matrix known by its products.

    ::

        phi @ v,   u @ phi,   phi.T,   phi.shape,   phi.toarray(),   phi.to_scipy(),   phi.with_modulation(f)

    ``phi.T`` has the same interface, so that ``phi @ (phi.T @ v)`` is two products with features and never
    forms the product of the two. Vectors and matrices may stand on either side, and
    ``scipy.sparse.linalg.aslinearoperator`` takes features. ``np.asarray(phi)`` is an array of one object,
    not a matrix, as for SciPy's sparse arrays.
    """

    ndim, dtype = 2, np.dtype(float)
    __array_ufunc__ = None  # so that NumPy defers ``array @ phi`` to ``__rmatmul__``

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""

    @property
    @abc.abstractmethod
    def T(self) -> "Operator":
        """Transpose."""

    @abc.abstractmethod
    def _times(self, other: Any) -> Any:
        """``phi @ other`` for a factor that fits."""

    @abc.abstractmethod
    def _after(self, other: Any) -> Any:
        """``other @ phi`` for a factor that fits."""

    @staticmethod
    @abc.abstractmethod
    def _factor(other: Any) -> Any:
        """The other factor as an array with a shape, or features of the same kind."""

    def __len__(self) -> int:
        return self.shape[0]

    def matvec(self, v: Any) -> Any:
        """``phi @ v``, as SciPy's linear operators call it."""
        return self @ v

    def rmatvec(self, u: Any) -> Any:
        """``phi.T @ u``, likewise."""
        return self.T @ u

    def __matmul__(self, other: Any) -> Any:
        """``phi @ other``, for ``other`` of shape (columns of phi,) or (columns of phi, c)."""
        other = _no_number(self._factor(other))
        if other.ndim > 2 or other.shape[0] != self.shape[1]:
            raise ValueError(f"phi has shape {self.shape}, what stands right of it {other.shape}; give {self.shape[1]} rows")
        return type(self)._times(self, other)  # a bound method of a record is a new record: 20 us

    def __rmatmul__(self, other: Any) -> Any:
        """``other @ phi``, for ``other`` of shape (rows of phi,) or (c, rows of phi)."""
        other = _no_number(self._factor(other))
        if other.ndim > 2 or other.shape[-1] != self.shape[0]:
            raise ValueError(f"phi has shape {self.shape}, what stands left of it {other.shape}; give {self.shape[0]} columns")
        return type(self)._after(self, other)


def _no_number(other: Any) -> Any:
    if other.ndim == 0:
        got = f"phi @ {other}: a number is no factor of a matrix product"
        raise ValueError(f"{got}; multiply f, which features are linear in")
    return other
