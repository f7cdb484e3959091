"""Maps from a frequency and a point to a feature, for the Gaussian and the softmax kernel."""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from rfcore import checks
from rfcore.couplings import fast

KERNELS = ("gaussian", "softmax")


def fourier(x, omega, kernel="gaussian"):
    """Random Fourier features.

    ::

        phi(x) = m^(-1/2) [sin(omega_1 . x), ..., sin(omega_m . x), cos(omega_1 . x), ..., cos(omega_m . x)]

    for the Gaussian kernel; times exp(|x|^2 / 2) for the softmax kernel. E[phi(x) . phi(y)] = k(x, y).

    Parameters
    ----------
    x : array, shape (n, d)
        Points. A lengthscale only scales them.
    omega : array, shape (m, d), or :class:`rfcore.couplings.fast.Frequencies`
        Frequencies whose rows are marginally N(0, I_d), from :mod:`rfcore.couplings`; or fast ones, whose matrix is
        never formed.
    kernel : "gaussian" or "softmax"

    Returns
    -------
    array, shape (n, 2 m)

    Raises
    ------
    ValueError
        If a shape or the kernel's name is wrong, or a value is not finite.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, kernels
    >>> x = jnp.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]])
    >>> phi = features.fourier(x, couplings.orthogonal(jax.random.key(0), 3000, 3))
    >>> phi.shape, bool(jnp.allclose(phi @ phi.T, kernels.gaussian(x, x), atol=0.05))
    ((2, 6000), True)

    Notes
    -----
    Rahimi and Recht (2007); Simplex Random Features, Eq. 3.
    """
    return _fourier(*_check(x, omega, kernel), kernel)


def positive(x, omega, kernel="gaussian"):
    """Positive random features.

    ::

        phi(x)_i = m^(-1/2) exp(omega_i . x - |x|^2)        gaussian
        phi(x)_i = m^(-1/2) exp(omega_i . x - |x|^2 / 2)    softmax

    E[phi(x) . phi(y)] = k(x, y), and no feature is ever negative. They are not even in the frequency, so that
    the law of omega must be symmetric to the last bit: see :func:`rfcore.couplings.directions.haar`. Far from the origin
    all features of a point underflow to 0 (in float32 where |x|^2 is a few hundred): :func:`log_positive` does not.

    Parameters
    ----------
    x : array, shape (n, d)
        Points. A lengthscale only scales them.
    omega : array, shape (m, d), or :class:`rfcore.couplings.fast.Frequencies`
        Frequencies whose rows are marginally N(0, I_d), from :mod:`rfcore.couplings`; or fast ones, whose matrix is
        never formed.
    kernel : "gaussian" or "softmax"

    Returns
    -------
    array, shape (n, m)

    Raises
    ------
    ValueError
        If a shape or the kernel's name is wrong, or a value is not finite.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, kernels
    >>> x = jnp.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]])
    >>> phi = features.positive(x, couplings.orthogonal(jax.random.key(0), 3000, 3), kernel="softmax")
    >>> bool(jnp.all(phi > 0)), bool(jnp.allclose(phi @ phi.T, kernels.softmax(x, x), rtol=0.1))
    (True, True)

    Notes
    -----
    Choromanski et al., "Rethinking attention with Performers" (2020); Simplex Random Features, Eq. 7.
    """
    return _positive(*_check(x, omega, kernel), kernel)


def log_positive(x, omega, kernel="gaussian"):
    """Logarithms of positive random features, which neither overflow nor underflow.

    ::

        log phi(x)_i = omega_i . x - |x|^2 - log(m) / 2        gaussian
        log phi(x)_i = omega_i . x - |x|^2 / 2 - log(m) / 2    softmax

    A shift keeps them in range before they are exponentiated. In attention, and in a vote over labels, the features of
    queries q and of keys k with values v (keys: training points, values: one-hot labels) meet in

    ::

        out(q) = sum_k [phi(q) . phi(k)] v_k / sum_k [phi(q) . phi(k)]

    which is homogeneous of degree 0 in phi(q): a factor e^(-a(q)) **of its own for every query** stands in each term above
    and below, and cancels. It is homogeneous of degree 0 in all the phi(k) together: **one** factor e^(-b) **for all the
    keys** cancels as well. A factor of its own for every key does not cancel; it weighs the keys anew. So take
    a(q) = max_i log phi(q)_i, the maximum of a row, and b = max_{k,i} log phi(k)_i, the maximum of the matrix: no exponent
    is then above 0, every query keeps a feature equal to 1, and one key does. (Causal attention must not take b over keys
    of the future.)

    Parameters
    ----------
    x : array, shape (n, d)
        Points. A lengthscale only scales them.
    omega : array, shape (m, d), or :class:`rfcore.couplings.fast.Frequencies`
        As for :func:`positive`.
    kernel : "gaussian" or "softmax"

    Returns
    -------
    array, shape (n, m)

    Raises
    ------
    ValueError
        If a shape or the kernel's name is wrong, or a value is not finite.

    Examples
    --------
    Attention of points that are too far out for :func:`positive`:

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features
    >>> q, k, v = 30 * jnp.eye(3), jnp.eye(3), jnp.arange(6.0).reshape(3, 2)
    >>> omega = couplings.simplex(jax.random.key(0), 8, 3)
    >>> bool(jnp.any(features.positive(q, omega, kernel="softmax") > 0))
    False
    >>> log_q, log_k = (features.log_positive(x, omega, kernel="softmax") for x in (q, k))
    >>> phi_q, phi_k = jnp.exp(log_q - log_q.max(axis=1, keepdims=True)), jnp.exp(log_k - log_k.max())
    >>> (phi_q @ (phi_k.T @ v) / (phi_q @ phi_k.sum(axis=0))[:, None]).shape
    (3, 2)

    Notes
    -----
    Simplex Random Features, Eq. 7.
    """
    return _log_positive(*_check(x, omega, kernel), kernel)


@jax.custom_jvp
def cosine_of_turns(u):
    """cos(2 pi u) to two units in the last place of 1, many times faster than XLA's cosine on a CPU.

    ::

        r = u - round(u) in [-1/2, 1/2],  s = 1/4 - |r| in [-1/4, 1/4]:   cos(2 pi u) = cos(2 pi r) = sin(2 pi s)

    A whole turn is subtracted without rounding error, which is what makes general cosines slow; the sine is its Taylor
    polynomial, whose remainder on the quarter turn is below 1e-18. The derivative is -2 pi sin(2 pi u), a quarter
    turn away.

    Parameters
    ----------
    u : floating-point array
        Angles in turns.

    Returns
    -------
    array of the same shape and dtype
    """
    s = 0.25 - jnp.abs(u - jnp.round(u))
    square, polynomial = s * s, jnp.zeros_like(u)
    for coefficient in reversed(_SINE_OF_TURNS):
        polynomial = polynomial * square + coefficient
    return polynomial * s


_SINE_OF_TURNS = [(-1) ** k * math.tau ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(12)]


@cosine_of_turns.defjvp
def _cosine_of_turns_jvp(primals, tangents):
    (u,), (du,) = primals, tangents
    return cosine_of_turns(u), -math.tau * cosine_of_turns(u - 0.25) * du


@partial(jax.jit, static_argnames="kernel")
def _fourier(x, omega, kernel):
    # A sine is a cosine a quarter turn late. With the frequencies stacked twice, all features are cosines of one matrix
    # product, computed in its place: the second half of the product costs less than memory for another array.
    m = len(omega)
    if isinstance(omega, fast.Frequencies):
        turns = jnp.tile(fast.project(x / math.tau, omega), 2)
    else:
        turns = x @ (jnp.concatenate([omega, omega]).T / math.tau)
    phi = cosine_of_turns(turns - np.repeat([0.25, 0.0], m).astype(x.dtype)) / math.sqrt(m)
    if kernel == "softmax":
        phi = phi * jnp.exp(jnp.sum(x**2, axis=1, keepdims=True) / 2)
    return phi


@partial(jax.jit, static_argnames="kernel")
def _log_positive(x, omega, kernel):
    half_squares = jnp.sum(x**2, axis=1, keepdims=True) / 2
    shift = half_squares if kernel == "softmax" else 2 * half_squares
    projections = fast.project(x, omega) if isinstance(omega, fast.Frequencies) else x @ omega.T
    # The factor m^(-1/2) joins the exponent: one pass over the (n, m) array in place of two.
    return projections - (shift + math.log(len(omega)) / 2)


@partial(jax.jit, static_argnames="kernel")
def _positive(x, omega, kernel):
    return jnp.exp(_log_positive(x, omega, kernel))


def _check(x, omega, kernel):
    checks.choice(kernel, "kernel", KERNELS)
    x = checks.points(x, "x")
    if not isinstance(omega, fast.Frequencies):
        omega = checks.points(omega, "omega", n_columns=x.shape[1])
    if len(omega) == 0:
        raise ValueError("omega holds 0 frequencies; give at least one")
    return x, omega
