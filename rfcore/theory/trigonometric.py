"""Variance of Fourier features, with a random phase and in pairs, over the squared kernel, in logarithms.

The ratio is that of the Gaussian kernel as well as the softmax kernel's, since factors of the points divide out: these are to
be compared with :func:`rfcore.theory.log_relative_variance` of exponential features.
"""

import jax
import jax.numpy as jnp

from rfcore import checks
from rfcore.theory.exponential import sums_of_squares


def trigonometric_log_relative_variance(X, Y):
    """Logarithm of the variance of Fourier features of random phase over the squared kernel, for every pair of points.

    ::

        log Var / k(x, y)^2 = z^2 + log(1 + e^(-2 z^2) / 2 - e^(-z^2)),   z = |x - y|

    for one frequency, which gives one feature; minus log m for m independent ones.

    Parameters
    ----------
    X, Y : arrays, shapes (n, d) and (l, d)

    Returns
    -------
    array, shape (n, l)

    Raises
    ------
    ValueError
        If a shape is wrong, or a value is not finite.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from rfcore import theory
    >>> x = jnp.array([[0.3, -0.2]])
    >>> float(jnp.exp(theory.trigonometric_log_relative_variance(x, x))[0, 0].round(4))
    0.5

    Notes
    -----
    From E (2 cos(a + theta) cos(b + theta))^2 = 1 + cos^2(a - b) of the phase theta; FAVOR#, Section 5.1, Figure 2 ("TrigRF").
    """
    square = _squares(X, Y)
    return square + jnp.log1p(jnp.exp(-square) * (jnp.exp(-square) / 2 - 1))


def fourier_log_relative_variance(X, Y):
    """Logarithm of the variance of Fourier features over the squared kernel, for every pair of points.

    ::

        log Var / k(x, y)^2 = z^2 + 2 log(1 - e^(-z^2)) - log 2,   z = |x - y|

    for one frequency, which gives a sine and a cosine; minus log m for m independent ones. It is -inf for equal points.

    Parameters
    ----------
    X, Y : arrays, shapes (n, d) and (l, d)

    Returns
    -------
    array, shape (n, l)

    Raises
    ------
    ValueError
        If a shape is wrong, or a value is not finite.

    Examples
    --------
    Lower per frequency, and nowhere higher per feature, of which there are two:

    >>> import jax.numpy as jnp
    >>> from rfcore import theory
    >>> x, y = jnp.zeros((1, 2)), jnp.array([[0.5, 0.5], [2.0, 2.0]])
    >>> (theory.fourier_log_relative_variance(x, y) - theory.trigonometric_log_relative_variance(x, y)).round(2)
    Array([[-2.01, -0.69]], dtype=float32)

    Notes
    -----
    Simplex Random Features, Eq. 74, for one frequency (:func:`rfcore.theory.fourier_mse`), over the squared kernel.
    """
    square = _squares(X, Y)
    return square + 2 * jnp.log(-jnp.expm1(-square)) - jnp.log(2.0)


def trigonometric_least_variance(X, Y):
    """Variance of Fourier features of random phase under the law that is best for one pair of points, for every pair.

    ::

        C^2 - k(x, y)^2,   C = 8 / pi^2 [1 + 2 sum over j >= 1 of e^(-2 j^2 z^2) / (4 j^2 - 1)^2],   z = |x - y|

    of the Gaussian kernel, for one frequency; positive features have none under their best law for a pair, N(x + y, I).

    Parameters
    ----------
    X, Y : arrays, shapes (n, d) and (l, d)

    Returns
    -------
    array, shape (n, l)
        The sum is cut after 1000 terms, which leaves less than 1e-10.

    Raises
    ------
    ValueError
        If a shape is wrong, or a value is not finite.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from rfcore import theory
    >>> [f"{variance:.3f}" for variance in theory.trigonometric_least_variance(jnp.zeros((1, 1)), jnp.array([[1.0], [9.0]]))[0]]
    ['0.329', '0.657']

    Notes
    -----
    Ours: C = E |2 cos(a + theta) cos(b + theta)| ("All Random Features Representations are Equivalent", Theorem 1, for two
    sets of one point each), from the Fourier series of |cos|.
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
