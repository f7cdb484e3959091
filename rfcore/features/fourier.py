"""Fourier features: cosines of products of frequencies and points, for Gaussian and softmax kernels."""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from rfcore import checks
from rfcore.features.frequencies import Dense, Frequencies, as_narrow, checked
from rfcore.kernels.euclidean import Kernel
from rfcore.precision import product


def fourier(
    x: Float[ArrayLike, "n d"], omega: Frequencies | Float[ArrayLike, "m d"], kernel: Kernel = "gaussian"
) -> Float[Array, "n n_features"]:
    """Random Fourier features, a sine and a cosine per frequency.

    ::

        phi(x) = m^(-1/2) [sin(omega_1 . x), ..., sin(omega_m . x), cos(omega_1 . x), ..., cos(omega_m . x)]

    for the Gaussian kernel; times ``exp(|x|^2 / 2)`` for the softmax kernel, which overflows where ``|x|^2``
    is above 177 in float32 or 1419 in float64. Columns i and m + i belong to frequency i. Features may be
    negative, so they have no logarithms. Where a quotient divides a factor per query out (see
    :func:`rfcore.attention.stabilised`), take Gaussian features of the queries, and for the keys Gaussian
    features times ``exp((|k|^2 - c) / 2)``, with one c for all of them, the greatest ``|k|^2``.

    Raises ValueError if the dtype does not resolve most angles of the farthest point to a tenth of a radian:
    from some 10^6 lengthscales on in float32, 10^15 in float64.

    Source: Rahimi and Recht (2007); Simplex Random Features, Eq. 3.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, kernels
    >>> x = jnp.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]])
    >>> phi = features.fourier(x, couplings.orthogonal(jax.random.key(0), 3000, 3))
    >>> bool(jnp.allclose(phi @ phi.T, kernels.gaussian(x, x), atol=0.05))
    True
    """
    return as_narrow(_fourier(*resolved(*checked(x, omega, kernel)), kernel), x)


def trigonometric(
    x: Float[ArrayLike, "n d"],
    omega: Frequencies | Float[ArrayLike, "m d"],
    phases: Float[ArrayLike, " m"],
    kernel: Kernel = "gaussian",
) -> Float[Array, "n m"]:
    """Random Fourier features of random phase, one cosine per frequency.

    ::

        phi(x)_i = (2 / m)^(1/2) cos(omega_i . x + theta_i)

    for the Gaussian kernel; times ``exp(|x|^2 / 2)`` for the softmax kernel. Unbiased for phases theta, in
    radians, that are uniform on [0, 2 pi) and independent of the frequencies. At equal numbers of features
    :func:`fourier` has the lower variance. The features of y are those of x: with the minus sign of the
    printed Eq. 7, a pair estimates exp(-x . y). The range is that of :func:`fourier`.

    Source: Rahimi and Recht (2007); FAVOR#, Eqs. 5 to 7.
    """
    points, frequencies = resolved(*checked(x, omega, kernel))
    phases = checks.shaped(phases, "phases", (frequencies.m,))
    return as_narrow(_trigonometric(points, frequencies, phases, kernel), x)


@partial(jax.jit, static_argnames="kernel")
def _fourier(x: Float[Array, "n d"], omega: Frequencies, kernel: Kernel) -> Float[Array, "n n_features"]:
    # A sine is a cosine a quarter turn late: all features are cosines of one matrix of angles.
    late = np.repeat([[0.25, 0.0]], omega.m, axis=1).astype(x.dtype)
    phi = cosine_of_turns(spread(_turns(x, omega, copies=2)) - late) / math.sqrt(omega.m)
    return _grown(phi, x, omega, kernel)


@partial(jax.jit, static_argnames="kernel")
def _trigonometric(
    x: Float[Array, "n d"], omega: Frequencies, phases: Float[Array, " m"], kernel: Kernel
) -> Float[Array, "n m"]:
    turns = spread(_turns(x, omega))
    phi = cosine_of_turns(turns + (phases / math.tau).astype(turns.dtype)[None]) * math.sqrt(2 / omega.m)
    return _grown(phi, x, omega, kernel)


def _turns(x: Float[Array, "n d"], omega: Frequencies, copies: int = 1) -> Float[Array, "n k"]:
    """Angles omega . x in turns, each ``copies`` times, all of them side by side."""
    if isinstance(omega, Dense):
        # Copies of the frequencies, not of the angles: a wider product costs less than memory for another array.
        matrix = omega.matrix if copies == 1 else jnp.concatenate(copies * [omega.matrix])
        return product(x, matrix.T / math.tau)
    turns = omega.project(x / math.tau)
    return turns if copies == 1 else jnp.tile(turns, copies)


def _grown(phi: Float[Array, "n k"], x: Float[Array, "n d"], omega: Frequencies, kernel: Kernel) -> Float[Array, "n k"]:
    """Features of the Gaussian kernel times the factors of the softmax kernel and of log weights."""
    exponents = []
    if kernel == "softmax":
        exponents.append(jnp.sum(x**2, axis=1, keepdims=True) / 2)
    if omega.log_weights is not None:
        exponents.append(jnp.tile(omega.log_weights.astype(phi.dtype) / 2, phi.shape[1] // omega.m))
    return phi * jnp.exp(sum(exponents)) if exponents else phi


def resolved(x: Float[Array, "n d"], omega: Frequencies) -> tuple[Float[Array, "n d"], Frequencies]:
    """Points and frequencies, unless most angles of the farthest point are off by a tenth of a radian."""
    if not len(x) or any(map(checks.is_traced, jax.tree.leaves((x, omega)))):
        return x, omega
    with jax.ensure_compile_time_eval():
        share = _share_lost(x, omega)
        if share > 1 / 2:
            got = f"x has values up to {jnp.max(jnp.abs(x)):.3g}, whose angles x . omega {x.dtype} does not resolve"
            more = "" if x.dtype == jnp.float64 else ", or give float64"
            raise ValueError(f"{got}; centre and scale the points (a lengthscale is 1 here){more}")
    return x, omega


@jax.jit
def _share_lost(x: Float[Array, "n d"], omega: Frequencies) -> Float[Array, ""]:
    farthest = x[jnp.argmax(jnp.max(jnp.abs(x), axis=1))]
    return jnp.mean(jnp.abs(_turns(farthest[None], omega)) > 2.0**-6 / np.finfo(x.dtype).eps)


@jax.custom_jvp
def cosine_of_turns(u: Float[ArrayLike, "..."]) -> Float[Array, "..."]:
    """cos(2 pi u) of angles in turns, many times faster than XLA's cosine on a CPU.

    ::

        cos(2 pi u) = cos(2 pi r) = sin(2 pi s)   for   r = u - round(u) in [-1/2, 1/2],  s = 1/4 - |r|

    Accurate to two units in the last place of 1, for angles that :func:`spread` leaves as they are. Whole
    turns are subtracted without rounding error, which is what makes general cosines slow; the remainder of
    the sine's Taylor polynomial is below 1e-18 on the quarter turn.
    """
    s = 0.25 - jnp.abs(u - jnp.round(u))
    square, polynomial = s * s, jnp.zeros_like(u)
    for coefficient in reversed(_SINE_OF_TURNS):
        polynomial = polynomial * square + coefficient
    return polynomial * s


_SINE_OF_TURNS = [(-1) ** k * math.tau ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(12)]


@cosine_of_turns.defjvp
def _cosine_of_turns_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (u,), (du,) = primals, tangents
    return cosine_of_turns(u), -math.tau * cosine_of_turns(u - 0.25) * du


@jax.custom_jvp
def spread(u: Float[Array | np.ndarray, "..."]) -> Float[Array, "..."]:
    """Angles in turns; those that the dtype does not resolve become points of the circle, spread evenly.

    From 2^20 turns on in float32, 2^49 in float64, neighbouring floats are an eighth of a turn or more apart,
    soon whole turns. Subtracting whole turns would then leave 0 for each, and 1 for the kernel of any two
    points. An angle lost to rounding is replaced by a hash of the float: its bits squared, times an odd
    number near the golden ratio, modulo the word size. (XLA's cosine, which reduces the rounded angle
    exactly, is as arbitrary there and takes several times as long.)
    """
    unsigned, signed = (jnp.uint32, jnp.int32) if u.dtype == jnp.float32 else (jnp.uint64, jnp.int64)
    size = np.iinfo(unsigned).bits
    bits = lax.bitcast_convert_type(jnp.abs(u), unsigned)
    mixed = lax.bitcast_convert_type(bits * bits * unsigned(_GOLDEN >> (64 - size)), signed)
    is_lost = (jnp.abs(u) >= 0.125 / np.finfo(u.dtype).eps) & (jnp.abs(u) < jnp.inf)
    return jnp.where(is_lost, jnp.sign(u) * mixed.astype(u.dtype) * 2.0**-size, u)


_GOLDEN = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio


@spread.defjvp
def _spread_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    return spread(*primals), tangents[0]
