"""Positive features (FAVOR+), and their logarithms: exponentials of one product each."""

import math
from functools import partial

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from rfcore import precision
from rfcore.features.frequencies import Frequencies, as_narrow, checked
from rfcore.kernels.euclidean import Kernel


def positive(
    x: Float[ArrayLike, "n d"], omega: Frequencies | Float[ArrayLike, "m d"], kernel: Kernel = "gaussian"
) -> Float[Array, "n m"]:
    """Positive random features: unbiased like Fourier features, and never negative.

    ::

        phi(x)_i = m^(-1/2) exp(omega_i . x - |x|^2)        gaussian
        phi(x)_i = m^(-1/2) exp(omega_i . x - |x|^2 / 2)    softmax

    They are not even in the frequency, so a distribution of omega that is not exactly symmetric biases them,
    such as that of Haar matrices without the sign fix (:func:`rfcore.couplings.directions.haar`). Far from
    the origin all features of a point underflow to 0, in float32 where ``|x|^2`` is a few hundred;
    :func:`log_positive` stays finite.

    Source: Choromanski et al., "Rethinking attention with Performers" (2020); Simplex Random Features, Eq. 7.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, kernels
    >>> x = jnp.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]])
    >>> phi = features.positive(x, couplings.orthogonal(jax.random.key(0), 3000, 3), kernel="softmax")
    >>> bool(jnp.all(phi > 0)), bool(jnp.allclose(phi @ phi.T, kernels.softmax(x, x), rtol=0.1))
    (True, True)
    """
    return as_narrow(_positive(*checked(x, omega, kernel), kernel), x)


def log_positive(
    x: Float[ArrayLike, "n d"], omega: Frequencies | Float[ArrayLike, "m d"], kernel: Kernel = "gaussian"
) -> Float[Array, "n m"]:
    """Logarithms of :func:`positive` features, which neither overflow nor underflow.

    ::

        log phi(x)_i = omega_i . x - c |x|^2 - log(m) / 2,   c = 1 (gaussian), 1/2 (softmax)

    :func:`rfcore.attention.stabilised` exponentiates them where attention or a vote divides a factor out.
    Logarithms of bfloat16 points are float32.

    Source: Simplex Random Features, Eq. 7.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features
    >>> log_phi = features.log_positive(30 * jnp.eye(3), couplings.simplex(jax.random.key(0), 8, 3))
    >>> bool(jnp.any(jnp.exp(log_phi) > 0)), bool(jnp.all(jnp.isfinite(log_phi)))
    (False, True)
    """
    return _log_positive(*checked(x, omega, kernel), kernel)


@partial(jax.jit, static_argnames="kernel")
@precision.full
def _log_positive(x: Float[Array, "n d"], omega: Frequencies, kernel: Kernel) -> Float[Array, "n m"]:
    c = 1 if kernel == "gaussian" else 1 / 2
    log_phi = omega.project(x) - (c * jnp.sum(x**2, axis=1, keepdims=True) + math.log(omega.m) / 2)
    return log_phi if omega.log_weights is None else log_phi + omega.log_weights.astype(log_phi.dtype)[None] / 2


@partial(jax.jit, static_argnames="kernel")
def _positive(x: Float[Array, "n d"], omega: Frequencies, kernel: Kernel) -> Float[Array, "n m"]:
    return jnp.exp(_log_positive(x, omega, kernel))
