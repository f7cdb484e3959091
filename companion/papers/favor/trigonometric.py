"""Variance of Fourier features, with a random phase and in pairs, over the squared kernel, in logarithms.

Of points X (n, d) and Y (l, d) results are arrays (n, l), with z = |x - y|, for one frequency; m independent
ones have an m-th of the variance. The ratio is that of the Gaussian and of the softmax kernel, since factors
of the points divide out: compare it with :func:`rfcore.theory.log_relative_variance` of exponential features.
"""

import jax
import jax.numpy as jnp

from rfcore import checks
from rfcore.theory.exponential_errors import sums_of_squares


def trigonometric_log_relative_variance(X, Y):
    """Logarithm of the variance of Fourier features of random phase over the squared kernel.

    ::

        log Var / k(x, y)^2 = z^2 + log(1 + e^(-2 z^2) / 2 - e^(-z^2))

    from E (2 cos(a + theta) cos(b + theta))^2 = 1/2 + cos^2(a - b) of the phase. A frequency gives one
    feature.

    Source: FAVOR#, Section 5.1 and Figure 2 ("TrigRF").
    """
    square = _squares(X, Y)
    return square + jnp.log1p(jnp.exp(-square) * (jnp.exp(-square) / 2 - 1))


def fourier_log_relative_variance(X, Y):
    """Logarithm of the variance of Fourier features over the squared kernel.

    ::

        log Var / k(x, y)^2 = z^2 + 2 log(1 - e^(-z^2)) - log 2

    A frequency gives a sine and a cosine: nowhere is this worse per feature than a random phase. Equal points
    have -inf.

    Source: Simplex Random Features, Eq. 74, for one frequency, over the squared kernel.
    """
    square = _squares(X, Y)
    return square + 2 * jnp.log(-jnp.expm1(-square)) - jnp.log(2.0)


def trigonometric_least_variance(X, Y):
    """Variance of Fourier features of random phase under the law that is best for each pair of points.

    ::

        C^2 - k(x, y)^2,   C = 8 / pi^2 [1 + 2 sum over j >= 1 of e^(-2 j^2 z^2) / (4 j^2 - 1)^2]

    for the Gaussian kernel, where C = E |2 cos(a + theta) cos(b + theta)| by the Fourier series of ``|cos|``;
    1000 terms leave less than 1e-10. Positive features have no variance under their best law for a pair,
    N(x + y, I).

    Source: "All Random Features Representations are Equivalent", Theorem 1, for two sets of one point each.
    """
    return _least_variance(_squares(X, Y))


@jax.jit
def _least_variance(squares):
    def add(total, j):
        return total + 2 * jnp.exp(-2 * j**2 * squares) / (4 * j**2 - 1) ** 2, None

    total, _ = jax.lax.scan(add, jnp.zeros_like(squares), jnp.arange(1000, 0, -1, dtype=squares.dtype))
    return (8 / jnp.pi**2 * (1 + total)) ** 2 - jnp.exp(-squares)


def _squares(X, Y):
    X = checks.points(X, "X")
    Y = checks.points(Y, "Y", n_columns=X.shape[1])
    return squared_distances(X, Y)


@jax.jit
def squared_distances(X, Y):
    """|x - y|^2 of all pairs, (n, l), from differences, without an array (n, l, d)."""
    return sums_of_squares(X, -Y)
