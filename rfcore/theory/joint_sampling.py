"""What drawing frequencies together can add to the law that is optimal for independent ones.

Estimates of a kernel on one set from m features are sums of products, so that the mean over all pairs of their squares is a sum
over pairs of features,

::

    mean over x, y of k^(x, y)^2 = C^2 / m^2 sum over i, j of overlap_ij,   overlap_ij = (E_x phi_i phi_j)^2 / (E_x phi_i^2 E_x phi_j^2)

under the optimal law ("All Random Features Representations are Equivalent", Theorem 1), where C is the mean of k(x, x). A coupling lowers the error by making
features less alike on the points, and cannot lower it beyond an overlap of 0: that is :func:`log_joint_variance_floor`.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jax.scipy.special import logsumexp

from rfcore import checks
from rfcore.theory.sampling import check_covariance, log_difference, optimal_normal
from rfcore.theory.trigonometric import squared_distances


def log_joint_variance_floor(X, m, kernel="gaussian"):
    """Logarithm of what no unbiased estimate from m features has a lower mean squared error than, over all pairs of one set.

    ::

        (mean k(x, x))^2 / m - mean over all pairs of k(x, y)^2

    for features of any kind and any law, independent or not, vectors cut into their numbers included.

    Parameters
    ----------
    X : array, shape (n, d), at least one point
    m : int
        Number of features, of which an estimate is phi(x) . phi(y).
    kernel : "gaussian" or "softmax"

    Returns
    -------
    scalar array
        -inf where the difference is negative, and says nothing: from m = (trace K)^2 / trace K^2 on.

    Raises
    ------
    ValueError
        If a shape or the kernel's name is wrong, there is no point, or a value is not finite.

    Examples
    --------
    One feature is as well drawn alone:

    >>> import jax.numpy as jnp
    >>> from rfcore import theory
    >>> x = jnp.array([[1.0, 0.5], [0.2, 0.1], [-2.0, 1.0]])
    >>> floors = [theory.log_joint_variance_floor(x, m) for m in (1, 2, 3)]
    >>> bool(jnp.isclose(floors[0], theory.log_optimal_variance_bound(x, x))), bool(floors[1] < floors[0]), float(floors[2])
    (True, True, -inf)

    Notes
    -----
    Ours. An estimated Gram matrix of m features is positive semidefinite of rank at most m, so that its squared Frobenius norm is at least its
    squared trace over m, whose mean is at least (trace K)^2 / m.
    """
    X, m = checks.points(X, "X", least=1), checks.count(m, "m")
    checks.choice(kernel, "kernel", ("gaussian", "softmax"))
    return _log_floor(X, jnp.asarray(m, X.dtype), kernel)


def optimal_overlaps(omega, covariance, kernel="gaussian"):
    """Squared likeness of positive features of Gaussian points, for frequencies that are moved to the optimal law.

    ::

        overlap_ij = exp(-(w_i - w_j)' S (I + c S)^-1 (w_i - w_j)),   w = mean + root omega of the optimal law,   c = 2 (softmax), 4 (gaussian)

    Parameters
    ----------
    omega : array, shape (m, d)
        Frequencies with rows N(0, I_d), of any coupling, as :func:`rfcore.solvers.sampling.of_normal` takes them.
    covariance : array, shape (d, d)
        S, of the points; their mean changes nothing.
    kernel : "gaussian" or "softmax"

    Returns
    -------
    array, shape (m, m)
        1 on the diagonal. The mean over pairs of points of squared estimates is C^2 times the mean of all entries.

    Raises
    ------
    ValueError
        As for :func:`rfcore.theory.optimal_normal`; if omega has another dimension.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, theory
    >>> omega, covariance = couplings.simplex(jax.random.key(0), 4, 4), 0.3 * jnp.eye(4)
    >>> overlaps = theory.optimal_overlaps(omega, covariance)
    >>> overlaps.shape, bool(jnp.mean(overlaps) < theory.mean_overlap(0.3, 4, "iid") * 3 / 4 + 1 / 4)
    ((4, 4), True)

    Notes
    -----
    Ours: phi_i phi_j is the square of the feature of (w_i + w_j) / 2, and E_x phi^2 the exponential of a quadratic form.
    """
    omega, covariance = checks.points(omega, "omega"), checks.points(covariance, "covariance")
    d = covariance.shape[1]
    if len(covariance) != d:
        raise ValueError(f"covariance has shape {covariance.shape}; give a square matrix")
    check_covariance(covariance, "covariance", 0.5 if kernel == "softmax" else jnp.inf)
    zeros = jnp.zeros(d)
    law = optimal_normal(zeros, covariance, zeros, covariance, kernel)
    if omega.shape[1] != d:
        raise ValueError(f"omega has shape {omega.shape}; give frequencies of dimension {d}")
    return _overlaps(omega, covariance, law.covariance, kernel)


def mean_overlap(variance, d, coupling, kernel="gaussian"):
    """Mean overlap of two frequencies of one block, for isotropic Gaussian points: see :func:`optimal_overlaps`.

    ::

        iid (1 + 4 t)^(-d/2),   orthogonal (1 + 2 t)^(-d),   t = s (gaussian), s / (1 - 2 s) (softmax)

    The first is also mean k(x, y)^2 / (mean k(x, x))^2, so that with r and rho for the two the mean squared error of a block of m <= d
    frequencies is [1 + (m - 1) rho - m r] / (1 - r) of the bound that independent ones attain.

    Parameters
    ----------
    variance : float, above 0; below 1/2 for the softmax kernel
        s, of every coordinate of a point.
    d : int
    coupling : "iid" or "orthogonal"
    kernel : "gaussian" or "softmax"

    Returns
    -------
    scalar array

    Raises
    ------
    ValueError
        If a name is wrong or a number out of range.

    Examples
    --------
    >>> from rfcore import theory
    >>> [round(float(theory.mean_overlap(0.25, 2, name)), 3) for name in ("iid", "orthogonal")]
    [0.5, 0.444]

    Notes
    -----
    Ours: the squared distance of two orthogonal frequencies is chi-square with 2 d degrees of freedom, that of independent ones twice one with d.
    """
    variance, d = checks.real(variance, "variance", above=0), checks.count(d, "d")
    checks.choice(coupling, "coupling", ("iid", "orthogonal"))
    checks.choice(kernel, "kernel", ("gaussian", "softmax"))
    if kernel == "softmax" and variance >= 0.5:
        raise ValueError(f"variance = {variance}; give one below 1/2, where E k(x, x) is finite")
    t = variance if kernel == "gaussian" else variance / (1 - 2 * variance)
    return jnp.exp(-d / 2 * jnp.log1p(4 * t) if coupling == "iid" else -d * jnp.log1p(2 * t))


@partial(jax.jit, static_argnames="kernel")
def _log_floor(X, m, kernel):
    if kernel == "gaussian":
        log_selves, log_squares = jnp.zeros(len(X), X.dtype), -squared_distances(X, X)
    else:
        log_selves, log_squares = jnp.sum(X**2, axis=1), 2 * X @ X.T
    log_mean = logsumexp(log_selves) - jnp.log(len(X))
    return log_difference(2 * log_mean - jnp.log(m), logsumexp(log_squares) - jnp.log(log_squares.size))


@partial(jax.jit, static_argnames="kernel")
def _overlaps(omega, covariance, of_law, kernel):
    values, vectors = jnp.linalg.eigh(covariance)
    values = jnp.maximum(values, 0)
    root = vectors * jnp.sqrt(values / (1 + (2 if kernel == "softmax" else 4) * values))
    moved = omega @ jnp.linalg.cholesky(of_law).T @ root
    return jnp.exp(-squared_distances(moved, moved))
