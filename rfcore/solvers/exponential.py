"""Parameters of exponential features fitted to two sets of points, in closed form.

All minimise the mean over pairs of the logarithm of the second moment,
:func:`rfcore.theory.shifted_log_variance`, over a family. They need only the means and covariances of the
points, because over all pairs

::

    mean of (x + y) (x + y)' = (mu_x + mu_y) (mu_x + mu_y)' + Cov_x + Cov_y

a sum of positive semidefinite terms, in which nothing cancels. The rest is the scalar problem a*(phi) of
:func:`best_A`.

X and Y, at least one point each, are divided by the lengthscale, as for the features. With ``centred=True``
means are subtracted first, and restored exactly by the features; only Cov_x + Cov_y remains of the matrix
above. Results have the dtype of the points. Raises ValueError where squares overflow. GERFs and SADERFs take
O((n + l) d), SDERFs and ADERFs O((n + l) d^2 + d^3). All can be compiled, mapped over heads and, where
eigenvalues are distinct, differentiated.

Source: FAVOR#, Sections 2.3 and 4.
"""

import math
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from rfcore import checks, precision
from rfcore.features.exponentials import ExponentialParameters, eigenbasis

Centres = tuple[Float[Array, " d"] | None, Float[Array, " d"] | None]


def gerf(X: Float[ArrayLike, "n d"], Y: Float[ArrayLike, "l d"], centred: bool = False) -> ExponentialParameters:
    """Parameters of generalised exponential features (GERF): A and B multiples of I.

    ::

        A = a*(mean |x + y|^2 / d),   B = (1 - 4 A)^(1/2)

    Source: FAVOR#, Section 3.1; Likhosherstov et al., "Chefs' random tables" (2022).

    >>> import jax.numpy as jnp
    >>> from rfcore import solvers, theory
    >>> x, y = jnp.array([[1.0, 2.0], [1.5, 2.0]]), jnp.array([[1.0, 1.0]])
    >>> fits = [solvers.exponential.gerf(x, y, centred) for centred in (False, True)]
    >>> [round(float(theory.shifted_log_variance(x, y, fit)), 2) for fit in fits]
    [8.89, 6.56]
    """
    return _solved(_gerf, X, Y, centred)


def sderf(X: Float[ArrayLike, "n d"], Y: Float[ArrayLike, "l d"], centred: bool = False) -> ExponentialParameters:
    """Parameters of symmetric dense-exponential features (SDERF): one B for both sides.

    ::

        mean (x + y) (x + y)' = Q diag(lambda) Q',   A = diag(a*(lambda)),   B = (I - 4 A)^(1/2) Q'

    A ascends, as eigenvalues descend.

    Source: FAVOR#, Theorem 4.3.

    >>> import jax.numpy as jnp
    >>> from rfcore import solvers, theory
    >>> x, y = jnp.array([[1.0, 2.0], [1.5, 2.0]]), jnp.array([[1.0, 1.0]])
    >>> fits = [fit(x, y) for fit in (solvers.exponential.gerf, solvers.exponential.sderf)]
    >>> [round(float(theory.shifted_log_variance(x, y, fit)), 2) for fit in fits]
    [8.89, 8.05]
    """
    return _solved(_sderf, X, Y, centred)


def aderf(X: Float[ArrayLike, "n d"], Y: Float[ArrayLike, "l d"], centred: bool = False) -> ExponentialParameters:
    """Parameters of asymmetric dense-exponential features (ADERF): A a multiple of I, any B_x.

    ::

        mean x x' = Q_x L_x Q_x',   mean y y' = Q_y L_y Q_y',   U Sigma V' = L_x^(1/2) Q_x' Q_y L_y^(1/2)
        A = a*(2/d (tr Sigma + mu_x . mu_y))
        B_x = (1 - 4 A)^(1/2) (P' P)^(1/2),   B_y = (1 - 4 A) B_x^-T,   P = Sigma^(1/2) U' L_x^(-1/2) Q_x'

    With M for mean x x' and mean y y', P' P is the geometric mean of M_x^-1 and M_y, the best of all positive
    definite matrices: B gives both sets equal second moments. The paper has P in place of its symmetric root;
    the variance is invariant to rotations of B_x, and the symmetric root does not depend on the choice of
    eigenvectors.

    Where a set does not vary (a pixel that is always 0) the best B is infinite or arbitrary, so the mean of
    the eigenvalues times eps^(1/2), eps the rounding of the dtype, is added to each. Where neither set varies
    B stays of size 1; where one does not, points outside the set will have large features.

    Source: FAVOR#, Theorem 4.2; mu is a mean per pair, so that sets may differ in size.

    >>> import jax.numpy as jnp
    >>> from rfcore import solvers, theory
    >>> x, y = jnp.array([[1.0, 0.2], [-1.5, 0.1]]), jnp.array([[0.1, 1.0], [0.2, -1.0]])
    >>> fits = [fit(x, y) for fit in (solvers.exponential.gerf, solvers.exponential.aderf)]
    >>> [round(float(theory.shifted_log_variance(x, y, fit)), 2) for fit in fits]
    [1.02, 0.36]
    """
    return _solved(_aderf, X, Y, centred)


def saderf(X: Float[ArrayLike, "n d"], Y: Float[ArrayLike, "l d"], centred: bool = False) -> ExponentialParameters:
    """Parameters of simplified asymmetric features (SADERF): A a multiple of I, B_x and B_y diagonal.

    ::

        Psi_l = (mean y_l^2 / mean x_l^2)^(1/4),   B_x = (1 - 4 A)^(1/2) Psi,   B_y = (1 - 4 A)^(1/2) Psi^-1

    with A that of GERFs of Psi x and Psi^-1 y. Where a coordinate is 0 in all points of a set Psi is 1.

    Source: FAVOR#, Eqs. 18 to 20, with means for the sums, so that sets may differ in size.

    >>> import jax.numpy as jnp
    >>> from rfcore import solvers
    >>> x, y = jnp.array([[1.0, 0.2], [-1.5, 0.0]]), jnp.array([[0.1, 0.2], [0.2, 0.0]])
    >>> parameters = solvers.exponential.saderf(x, y)
    >>> (parameters.B_x / parameters.B_y).round(2)  # Psi^2
    Array([0.12, 1.  ], dtype=float32)
    """
    return _solved(_saderf, X, Y, centred)


def from_gaussian(mean: Float[ArrayLike, " d"], covariance: Float[ArrayLike, "d d"]) -> ExponentialParameters:
    """Parameters that make exponential features positive features with the proposal N(mean, covariance).

    ::

        covariance = Q diag(s) Q':   A = (1 - s) / 4,   B = diag(s)^(1/2) Q',   both centres mean / 2

    For every frequency phi(x) psi(y) is the same number as with :func:`rfcore.features.positive` and the
    frequencies of :func:`rfcore.features.frequencies.weighted_gaussian` that it becomes. So a Gaussian
    proposal has a closed-form variance, :func:`rfcore.theory.log_relative_variance`, and symmetric
    exponential features are no more than importance sampling from a Gaussian: the best of them for a data set
    and the best proposal, :func:`rfcore.theory.optimal_gaussian`, differ by their objectives alone.

    Args:
        covariance: symmetric, eigenvalues above 1/2: below, the variance is infinite.

    Source: FAVOR#, Theorem 4.1, with All Random Features Representations are Equivalent, Eq. 2.
    """
    d = np.shape(covariance)[-1]
    covariance, mean = checks.shaped(covariance, "covariance", (d, d)), checks.shaped(mean, "mean", (d,))
    if not checks.is_traced(covariance) and not checks.is_symmetric(covariance):
        raise ValueError(f"covariance = {covariance} is not symmetric; give a covariance")
    values, vectors = eigenbasis(covariance)
    if not checks.is_traced(values) and values[0] <= 0.5:
        raise ValueError(f"covariance = {covariance} has the eigenvalue {values[0]}; give one above 1/2")
    B = jnp.sqrt(values)[:, None] * vectors.T
    return ExponentialParameters((1 - values) / 4, B, B, mean / 2, mean / 2)


def best_A(phi: Float[ArrayLike, "..."]) -> Float[Array, "..."]:
    """The A of a scalar problem, to which all solvers of this module reduce.

    ::

        a*(phi) = argmin over A < 1/8 of log(1 - 4 A) - log(1 - 8 A) / 2 + phi / (1 - 8 A)
                = -phi (s + 2 phi) / (s + 14 phi + 1),   s = (4 phi^2 + 12 phi + 1)^(1/2)

    for an array of mean squares of x + y per coordinate, phi >= 0: about -phi / 2 where phi is small,
    -phi / 4 where it is large. The printed form, (1 - 2 phi - s) / 16, cancels where phi is small; this one
    has a small relative error for all phi.

    Source: FAVOR#, Lemma A.1.
    """
    phi = checks.floating(phi, "phi")
    if not checks.is_traced(phi) and not np.all(np.asarray(phi) >= 0):
        raise ValueError(f"phi = {phi} has negative values; give means of squares")
    return _best_A(phi)


def _best_A(phi: Float[Array, "..."]) -> Float[Array, "..."]:
    within = jnp.minimum(phi, 1e9)  # larger squares may overflow, and s is 2 phi + 3 to rounding
    s = jnp.sqrt(4 * within**2 + 12 * within + 1)
    return jnp.where(phi > 1e9, -phi / 4 - 1 / 8, -within * (s + 2 * within) / (s + 14 * within + 1))


@partial(jax.jit, static_argnames="centred")
def _gerf(X: Float[Array, "n d"], Y: Float[Array, "l d"], centred: bool) -> ExponentialParameters:
    X, Y, centres = _centred(X, Y, centred)
    means = jnp.mean(X, axis=0) + jnp.mean(Y, axis=0)
    phi = jnp.mean(means**2 + jnp.var(X, axis=0) + jnp.var(Y, axis=0))
    return _with_scalar(phi, 1.0, 1.0, X.shape[1], centres)


@partial(jax.jit, static_argnames="centred")
@precision.full
def _sderf(X: Float[Array, "n d"], Y: Float[Array, "l d"], centred: bool) -> ExponentialParameters:
    X, Y, centres = _centred(X, Y, centred)
    means = jnp.mean(X, axis=0) + jnp.mean(Y, axis=0)
    values, vectors = eigenbasis(jnp.outer(means, means) + _covariance(X) + _covariance(Y))
    A = _best_A(jnp.maximum(values[::-1], 0))
    B = jnp.sqrt(1 - 4 * A)[:, None] * vectors.T[::-1]
    return ExponentialParameters(A, B, B, *centres)


@partial(jax.jit, static_argnames="centred")
@precision.full
def _aderf(X: Float[Array, "n d"], Y: Float[Array, "l d"], centred: bool) -> ExponentialParameters:
    X, Y, centres = _centred(X, Y, centred)
    means, d = (jnp.mean(X, axis=0), jnp.mean(Y, axis=0)), X.shape[1]
    (roots_x, vectors_x), (roots_y, vectors_y) = map(_root_of_second_moment, (X, Y), means)
    U, sigma, _ = jnp.linalg.svd(roots_x[:, None] * (vectors_x.T @ vectors_y) * roots_y[None])
    # Any rotation of B_x, with B_y = B_x^-T, is as good; the symmetric one does not depend on the choice of U.
    _, sizes, rotation = jnp.linalg.svd(jnp.sqrt(sigma)[:, None] * ((U.T / roots_x[None]) @ vectors_x.T))
    B_x, B_y = (rotation.T * sizes[None]) @ rotation, (rotation.T / sizes[None]) @ rotation
    return _with_scalar(2 / d * (jnp.sum(sigma) + means[0] @ means[1]), B_x, B_y, d, centres)


@partial(jax.jit, static_argnames="centred")
def _saderf(X: Float[Array, "n d"], Y: Float[Array, "l d"], centred: bool) -> ExponentialParameters:
    X, Y, centres = _centred(X, Y, centred)
    squares_x, squares_y = jnp.mean(X**2, axis=0), jnp.mean(Y**2, axis=0)
    seen = (squares_x > 0) & (squares_y > 0)
    psi = (jnp.where(seen, squares_y, 1) / jnp.where(seen, squares_x, 1)) ** 0.25
    means = psi * jnp.mean(X, axis=0) + jnp.mean(Y, axis=0) / psi
    phi = jnp.mean(means**2 + psi**2 * jnp.var(X, axis=0) + jnp.var(Y, axis=0) / psi**2)
    return _with_scalar(phi, psi, 1 / psi, X.shape[1], centres)


def _with_scalar(
    phi: Float[Array, ""], B_x: float | Float[Array, "..."], B_y: float | Float[Array, "..."], d: int, centres: Centres
) -> ExponentialParameters:
    A = _best_A(jnp.maximum(phi, 0))
    root = jnp.sqrt(1 - 4 * A)
    return ExponentialParameters(jnp.full(d, A), root * B_x, root * B_y, *centres)


def _centred(
    X: Float[Array, "n d"], Y: Float[Array, "l d"], centred: bool
) -> tuple[Float[Array, "n d"], Float[Array, "l d"], Centres]:
    if not centred:
        return X, Y, (None, None)
    centres = jnp.mean(X, axis=0), jnp.mean(Y, axis=0)
    return X - centres[0][None], Y - centres[1][None], centres


def _covariance(X: Float[Array, "n d"]) -> Float[Array, "d d"]:
    away = X - jnp.mean(X, axis=0, keepdims=True)
    return precision.product(away.T, away) / len(X)


def _root_of_second_moment(
    X: Float[Array, "n d"], mean: Float[Array, " d"]
) -> tuple[Float[Array, " d"], Float[Array, "d d"]]:
    """Roots of the eigenvalues of mean x x', kept away from 0, and its eigenvectors."""
    values, vectors = jnp.linalg.eigh(jnp.outer(mean, mean) + _covariance(X))
    # Above the rounding error of an eigenvalue of 0, eps tr M, and too small to change anything else.
    size = jnp.mean(values)
    floor = math.sqrt(jnp.finfo(X.dtype).eps) * jnp.where(size > 0, size, 1)
    return jnp.sqrt(jnp.maximum(values, 0) + floor), vectors


def _solved(
    solve: Callable[..., ExponentialParameters], X: Float[ArrayLike, "n d"], Y: Float[ArrayLike, "l d"], centred: bool
) -> ExponentialParameters:
    X = checks.points(X, "X", least=1)
    Y = checks.points(Y, "Y", n_columns=X.shape[1], least=1)
    parameters = solve(X, Y, centred)
    if not all(checks.is_traced(leaf) or jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(parameters)):
        got = f"X or Y has values up to {max(jnp.abs(X).max(), jnp.abs(Y).max()):.2g}"
        raise ValueError(f"{got}, whose squares overflow in {X.dtype}; give shorter points, or float64")
    return parameters
