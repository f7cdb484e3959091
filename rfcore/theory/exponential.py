"""Variance of exponential features, positive ones among them, in logarithms and without cancellation.

For features with parameters A, B and independent frequencies, of points x and y with u = B_x x + B_y y (centres taken off),

::

    r(x, y) = log E(phi(x) psi(y))^2 - 2 log k(x, y) = sum_l [log1p(16 A_l^2 / (1 - 8 A_l)) / 2 + u_l^2 / ((1 - 4 A_l) (1 - 8 A_l))]
    Var / k(x, y)^2 = e^r - 1

per frequency. This is FAVOR#'s Eq. 15, whose quadratic forms in C are those in B, so that every term is positive: see
:func:`log_relative_moment`. The ratio is that of the Gaussian kernel as well as the softmax kernel's, since factors of the
points divide out. With m independent frequencies the variance is an m-th.
"""

import jax
import jax.numpy as jnp

from rfcore import checks


def log_relative_moment(X, Y, parameters):
    """Logarithm of the second moment of exponential features over the squared kernel, for every pair of points.

    ::

        r = log E(phi(x) psi(y))^2 / k(x, y)^2 >= 0,   0 for features without variance

    Parameters
    ----------
    X, Y : arrays, shapes (n, d) and (l, d)
    parameters : :class:`rfcore.features.ExponentialParameters`
        Without any, ``ExponentialParameters()``, positive features: r = |x + y|^2.

    Returns
    -------
    array, shape (n, l)
        Memory O((n + l) d + n l).

    Raises
    ------
    ValueError
        If a shape is wrong, or a value is not finite.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from rfcore import features, theory
    >>> x, y = jnp.array([[1.0, 0.5]]), jnp.array([[0.5, -0.5]])
    >>> float(theory.log_relative_moment(x, y, features.ExponentialParameters())[0, 0])
    2.25

    Notes
    -----
    FAVOR#, Theorem 4.1. With u = B_x x + B_y y the conditions on C and B give 2 x'C_x x + 2 y'C_y y - 2 x.y =
    -u'(I - 4 A)^-1 u, and 2 / (1 - 8 A) - 1 / (1 - 4 A) = 1 / ((1 - 4 A) (1 - 8 A)); (1 - 4 A)^2 / (1 - 8 A) = 1 + 16 A^2 / (1 - 8 A).
    """
    return _log_relative_moment(*_checked(X, Y, parameters))


def log_relative_variance(X, Y, parameters):
    """Logarithm of the variance of exponential features over the squared kernel, for every pair of points.

    ::

        log Var(phi(x) psi(y)) / k(x, y)^2 = log(e^r - 1)

    for one frequency, with r as in :func:`log_relative_moment`; minus log m for m independent ones. It is -inf where there is no variance.

    Parameters
    ----------
    X, Y, parameters
        As for :func:`log_relative_moment`.

    Returns
    -------
    array, shape (n, l)

    Raises
    ------
    ValueError
        As for :func:`log_relative_moment`.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from rfcore import features, solvers, theory
    >>> x, y = jnp.array([[3.0, 1.5], [3.0, 1.0]]), jnp.array([[2.5, 1.5], [2.0, 1.0]])
    >>> plain, dense = (theory.log_relative_variance(x, y, p) for p in (features.ExponentialParameters(), solvers.exponential.sderf(x, y)))
    >>> bool(jnp.mean(dense) < jnp.mean(plain) - 20)
    True

    Notes
    -----
    FAVOR#, Eq. 15, over K^2: Section 5.1 divides by K, which is no ratio.
    """
    r = log_relative_moment(X, Y, parameters)
    return log_of_expm1(r)


def shifted_log_variance(X, Y, parameters):
    """Mean over pairs of the logarithm of the second moment, for the softmax kernel: what FAVOR# minimises.

    ::

        mean over x, y of log(Var(phi(x) psi(y)) + k(x, y)^2) = mean of r(x, y) + 2 mean x . y

    Parameters
    ----------
    X, Y, parameters
        As for :func:`log_relative_moment`.

    Returns
    -------
    scalar array, differentiable, in O((n + l) d^2)

    Raises
    ------
    ValueError
        As for :func:`log_relative_moment`; if there is no point.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from rfcore import features, kernels, theory
    >>> x, y, positive = jnp.array([[1.0, 0.5], [0.2, 0.1]]), jnp.array([[0.5, -0.5]]), features.ExponentialParameters()
    >>> by_pairs = jnp.mean(theory.log_relative_moment(x, y, positive) + 2 * jnp.log(kernels.softmax(x, y)))
    >>> bool(jnp.allclose(theory.shifted_log_variance(x, y, positive), by_pairs))
    True

    Notes
    -----
    FAVOR#, Eq. 14. Its least possible value, without any variance, is 2 mean x . y, the mean of log k^2: the text after
    Eq. 14 has log k.
    """
    return _shifted_log_variance(*_checked(X, Y, parameters, least=1))


def log_of_expm1(r):
    """log(e^r - 1) for r >= 0, whatever its size; -inf at 0, where slopes are 0."""
    positive = r > 0
    safe = jnp.where(positive, r, 1)
    return jnp.where(positive, safe + jnp.log(-jnp.expm1(-safe)), -jnp.inf)


@jax.jit
def _log_relative_moment(X, Y, parameters):
    u, v = parameters.moved(X), parameters.swapped().moved(Y)
    constant, weights = _terms(parameters)
    return constant + sums_of_squares(u, v, weights)


def sums_of_squares(u, v, weights=1.0):
    """sum_k weights_k (u_ik + v_jk)^2 of all pairs, shape (n, l).

    A coordinate at a time: squares of sums, whose expansion would cancel, without an array (n, l, d).
    """

    def added(total, coordinate):
        a, b, weight = coordinate
        return total + weight * (a[:, None] + b) ** 2, None

    weights = jnp.broadcast_to(jnp.asarray(weights, u.dtype), u.shape[1:])
    return jax.lax.scan(added, jnp.zeros((len(u), len(v)), u.dtype), (u.T, v.T, weights))[0]


@jax.jit
def _shifted_log_variance(X, Y, parameters):
    u, v = parameters.moved(X), parameters.swapped().moved(Y)
    constant, weights = _terms(parameters)
    means = jnp.mean(u, axis=0) + jnp.mean(v, axis=0)
    squares = means**2 + jnp.var(u, axis=0) + jnp.var(v, axis=0)
    return constant + jnp.sum(weights * squares) + 2 * jnp.mean(X, axis=0) @ jnp.mean(Y, axis=0)


def _terms(parameters):
    """What r is at u = 0, and the weights of the squares of u."""
    A = parameters.A
    if A is None:
        return 0.0, 1.0
    return jnp.sum(jnp.log1p(16 * A**2 / (1 - 8 * A))) / 2, 1 / ((1 - 4 * A) * (1 - 8 * A))


def _checked(X, Y, parameters, least=0):
    X = checks.points(X, "X", least=least)
    Y = checks.points(Y, "Y", n_columns=X.shape[1], least=least)
    if not hasattr(parameters, "moved"):
        got = f"parameters is of type {type(parameters).__name__}"
        raise ValueError(f"{got}; give features.ExponentialParameters, such as solvers.exponential.gerf(X, Y)")
    return X, Y, parameters
