"""Posterior means and covariances by sparse elimination, where a kernel is sparse or small."""
# pyright: reportOptionalSubscript=false
# SciPy is untyped: the shape of a sparse array is inferred as None, too.

from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np
import scipy.sparse as sp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int, Real
from scipy.sparse.linalg import SuperLU, spilu, splu

from rfcore import checks
from rfcore.gp.weights import Noise, variances
from rfcore.walks.operator import Operator

_SYMMETRIC = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}


class Posterior(NamedTuple):
    """Posterior distribution of h at test nodes, with the attribute names of GPJax's predictions."""

    mean: Float[np.ndarray, " n"]
    covariance_matrix: Float[np.ndarray, "n n"]
    """Covariance of h; that of observations is larger by s^2 I."""

    @property
    def variance(self) -> Float[np.ndarray, " n"]:
        """Diagonal of the covariance."""
        return np.diagonal(self.covariance_matrix)


def posterior(
    K: Operator | sp.sparray | sp.spmatrix | Real[Array | np.ndarray, "N N"],
    y: Real[ArrayLike, " n"] | Sequence[float],
    noise: Noise,
    train: Int[Array | np.ndarray, " n"] | Sequence[int],
    test: Int[Array | np.ndarray, " n_test"] | Sequence[int] | None = None,
) -> Posterior:
    """Mean and covariance of h ~ N(0, K) at test nodes, given observations at others, by sparse elimination.

    ::

        mean = K_*t (K_tt + S)^(-1) y,     covariance = K_** - K_*t (K_tt + S)^(-1) K_t*,     S = diag(s^2)

    where t and * are the nodes of train and test. SuperLU, in a symmetric minimum-degree order and without
    pivoting, eliminates test nodes last: their Schur complement is the covariance, plus what was added to
    their diagonal. To solve for them one by one takes several times as long.

    The covariance of the test nodes is dense. For more of them than such a matrix allows,
    :func:`rfcore.gp.sample_weights` draws paths, whose spread is the standard deviation.

    Raises ValueError if K, with the noise, is not positive definite.

    Args:
        K: symmetric and positive semidefinite, sparse or dense; or walk features phi, which stand for
            phi phi^T: positive semidefinite, with a diagonal biased upwards, since both factors have the same
            walks.
        y, noise, train: observations; the variance s^2 of their noise, 0 or above, one for all or one for
            each; their nodes (rows of K).
        test: nodes to predict, perhaps none; by default all but train, in increasing order.

    Source: Rasmussen and Williams (2006), Eqs. 2.25 and 2.26.
    """
    K = _symmetric(K)
    y, train = np.asarray(checks.vector(checks.known(y, "y"), "y"), dtype=float), checks.indices(train, "train", K.shape[0])
    if len(train) != len(y):
        raise ValueError(f"train has shape {train.shape}, y has {len(y)} values; give one node per value")  # pyright: ignore[reportAttributeAccessIssue]  # checks.indices is Any, and makes an array
    test = np.setdiff1d(np.arange(K.shape[0]), train) if test is None else checks.indices(test, "test", K.shape[0], empty=True)
    noise = variances(noise, len(y))
    # What is added at test nodes is taken off again. It keeps pivots positive, and costs digits if far above K.
    added = noise if np.ndim(noise) == 0 else min(np.mean(noise), K.diagonal().max() or np.inf)
    first = _least_degree(K[train][:, train])
    order = np.concatenate([train[first], test])  # pyright: ignore[reportArgumentType, reportCallIssue]
    diagonal = np.full(len(order), added)
    diagonal[: len(y)] = np.broadcast_to(noise, len(y))[first]
    factors = _positive_factors(sp.csc_array(K[order][:, order] + sp.diags_array(diagonal)))
    last = factors.perm_c[len(train) :]  # their places in SuperLU's order, which may exchange independent columns
    left = factors.L[:, last].tocsr()[last].toarray() @ factors.U[:, last].tocsr()[last].toarray()
    # system (u, v) = (y, 0) has v = -left^-1 K_*t (K_tt + S)^-1 y
    mean = -left @ factors.solve(np.concatenate([y[first], np.zeros(len(test))]))[len(train) :]  # pyright: ignore[reportArgumentType]
    covariance = left - added * np.eye(len(test))  # pyright: ignore[reportArgumentType]
    return Posterior(mean, (covariance + covariance.T) / 2)


def _symmetric(K: Operator | sp.sparray | sp.spmatrix | Real[Array | np.ndarray, "N N"]) -> sp.csr_array:
    """``K`` as a CSR array; phi phi^T, if it is features."""
    if isinstance(K, Operator):
        phi = checks.sparse(K.to_scipy(), "K")  # pyright: ignore[reportAttributeAccessIssue]  # which all of them have
        return phi @ phi.T
    K = np.asarray(checks.known(K, "K")) if isinstance(K, jax.Array) else K
    if not (sp.issparse(K) or isinstance(K, np.ndarray)):
        wanted = "a SciPy sparse array, an array of NumPy or JAX, or walk features"
        raise ValueError(f"K is of type {type(K).__name__}; give {wanted}")
    found = checks.sparse(K, "K") if sp.issparse(K) else sp.csr_array(checks.finite(checks.numbers(K, "K"), "K"))
    if found.ndim != 2 or not 0 < found.shape[0] == found.shape[1]:
        raise ValueError(f"K has shape {K.shape}; give a square matrix, one row and one column per node")  # pyright: ignore[reportAttributeAccessIssue]  # SciPy is untyped
    if not checks.is_symmetric(K if K.dtype in checks.FLOATS else found):  # pyright: ignore[reportAttributeAccessIssue]
        raise ValueError("K is not symmetric; give all of a covariance: of the upper triangle U it is U + U.T - diag(U)")
    return found


def _positive_factors(system: sp.csc_array) -> SuperLU:
    """SuperLU's factors without pivoting: the diagonal of U has the signs of the eigenvalues."""
    try:
        factors = splu(system, permc_spec="NATURAL", **_SYMMETRIC)
        is_positive = np.array_equal(factors.perm_r, factors.perm_c) and np.all(factors.U.diagonal() > 0)
    except RuntimeError:  # a pivot of 0
        is_positive = False
    if not is_positive:
        raise ValueError("K, with the noise, has eigenvalues that are not positive; give a positive definite matrix, or more noise")
    return factors  # pyright: ignore[reportPossiblyUnboundVariable]  # bound if is_positive


def _least_degree(K: sp.csr_array) -> Int[np.ndarray, " n"]:
    """SuperLU's symmetric minimum-degree order of the rows of K, which depends on its pattern alone."""
    pattern = sp.csc_array(K + sp.eye_array(K.shape[0]))
    rows, columns = pattern.nonzero()
    pattern = sp.csc_array(((rows == columns).astype(float), (rows, columns)), shape=K.shape)
    return np.argsort(spilu(pattern, permc_spec="MMD_AT_PLUS_A", drop_tol=1.0, fill_factor=1.0, **_SYMMETRIC).perm_c)
