"""The language of walk features, be they scipy arrays on the host or JAX arrays under gradients."""

import numpy as np


class Operator:
    """A matrix known by its products.

    ::

        phi @ v,   u @ phi,   phi.T,   phi.shape,   phi.toarray(),   phi.to_scipy(),   phi.with_modulation(f)

    ``phi.T`` speaks the same language, so that ``phi @ (phi.T @ v)`` is two products with features and never
    forms the product of the two. Vectors and matrices may stand on either side, and
    ``scipy.sparse.linalg.aslinearoperator`` takes features. ``np.asarray(phi)`` is one object and no matrix,
    as it is of SciPy's sparse arrays, which look at that before they leave ``csr @ phi`` to us.
    """

    ndim, dtype = 2, np.dtype(float)
    __array_ufunc__ = None  # so that NumPy leaves ``array @ phi`` to us

    def __len__(self):
        return self.shape[0]

    def matvec(self, v):
        """``phi @ v``, as SciPy's linear operators call it."""
        return self @ v

    def rmatvec(self, u):
        """``phi.T @ u``, likewise."""
        return self.T @ u

    def __matmul__(self, other):
        """``phi @ other``, for ``other`` of shape (columns of phi,) or (columns of phi, c)."""
        other = _no_number(self._factor(other))
        if other.ndim > 2 or other.shape[0] != self.shape[1]:
            raise ValueError(f"phi has shape {self.shape}, what stands right of it {other.shape}; give {self.shape[1]} rows")
        return self._times(other)

    def __rmatmul__(self, other):
        """``other @ phi``, for ``other`` of shape (rows of phi,) or (c, rows of phi)."""
        other = _no_number(self._factor(other))
        if other.ndim > 2 or other.shape[-1] != self.shape[0]:
            raise ValueError(f"phi has shape {self.shape}, what stands left of it {other.shape}; give {self.shape[0]} columns")
        return self._after(other)


def _no_number(other):
    if other.ndim == 0:
        got = f"phi @ {other}: a number is no factor of a matrix product"
        raise ValueError(f"{got}; multiply f, which features are linear in")
    return other
