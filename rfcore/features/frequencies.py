"""What feature maps need from points and frequencies, however the frequencies are represented.

A map needs their number, their log weights and the projections of points: :class:`Frequencies`. An array
(m, d) is wrapped by :func:`as_frequencies`, so every map takes arrays; fast frequencies
(:mod:`rfcore.couplings.fast`) have the same members.

Importance weights: the maps estimate an expectation over omega ~ p = N(0, I_d). With frequencies from a
proposal q,

::

    E_p[phi(x, omega) phi(y, omega)] = E_q[p(omega)/q(omega) phi(x, omega) phi(y, omega)]

so each map multiplies feature i of x, and that of y, by sqrt(p(omega_i) / q(omega_i)), in logs. Only log p -
log q is needed (:func:`weighted`); samplers of good proposals are in :mod:`rfcore.solvers.importance`.

All are pytrees: ``jax.jit``, ``jax.vmap`` and ``jax.grad`` take them, and gradients reach frequencies and log
weights. The matrix of any frequencies is ``omega.project(jnp.eye(omega.d)).T``.
"""

from dataclasses import replace
from typing import Any, Protocol, cast, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from rfcore import checks
from rfcore.kernels.euclidean import KERNELS, Kernel
from rfcore.precision import product


@runtime_checkable
class Frequencies(Protocol):
    """Frequencies of any kind; :func:`weighted` takes dataclasses that have a field ``log_weights``."""

    @property
    def m(self) -> int:
        """Number of frequencies."""
        ...

    @property
    def d(self) -> int:
        """Dimension of the frequencies."""
        ...

    @property
    def log_weights(self) -> Float[Array, " m"] | None:
        """log p(omega) - log q(omega), p = N(0, I_d), of frequencies from a density q; None for zeros."""
        ...

    def project(self, x: Float[Array, "n d"]) -> Float[Array, "n m"]:
        """Scalar products x . omega_i of points with all frequencies, not weighted."""
        ...


class Dense(eqx.Module):
    """Frequencies that are the rows of a matrix."""

    matrix: Float[Array, "m d"]
    log_weights: Float[Array, " m"] | None = None

    @property
    def m(self) -> int:
        """Number of frequencies."""
        return self.matrix.shape[0]

    @property
    def d(self) -> int:
        """Dimension of the frequencies."""
        return self.matrix.shape[1]

    def project(self, x: Float[ArrayLike, "n d"]) -> Float[Array, "n m"]:
        """Scalar products of points with the frequencies."""
        return product(x, self.matrix.T)


def as_frequencies(omega: Frequencies | Float[ArrayLike, "m d"], d: int | None = None) -> Frequencies:
    """``omega`` itself, or :class:`Dense` of an array; of dimension ``d`` if that is given."""
    omega = cast(Frequencies, omega) if hasattr(omega, "project") else Dense(checks.points(omega, "omega"))
    if d is not None and omega.d != d:
        raise ValueError(f"omega has frequencies of dimension {omega.d} for points of dimension {d}; give both the same")
    return omega


def weighted(omega: Frequencies | Float[ArrayLike, "m d"], log_weights: Float[ArrayLike, " m"]) -> Frequencies:
    """Frequencies from a proposal q, with the importance weights that make estimates those of N(0, I_d).

    ::

        log_weights_i = log p(omega_i) - log q(omega_i),  p the density of N(0, I_d)

    Estimates are unbiased for every q that is positive where p is. The variance of softmax and positive
    features is finite only if q has heavy enough tails (a Gaussian q: covariance above I / 2). Weights of
    frequencies that are weighted already multiply; a constant added to the log weights multiplies the kernel
    by its exp.

    Source: All Random Features Representations are Equivalent, Eq. 2.

    Frequencies of any density whose logarithm is known, here Student's with 5 degrees of freedom in each
    coordinate:

    >>> import jax, jax.numpy as jnp
    >>> from jax.scipy import stats
    >>> from rfcore import features, kernels
    >>> omega = jax.random.t(jax.random.key(0), 5.0, (20_000, 3))
    >>> log_weights = jnp.sum(stats.norm.logpdf(omega) - stats.t.logpdf(omega, 5.0), axis=1)
    >>> x = jnp.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]])
    >>> phi = features.positive(x, features.frequencies.weighted(omega, log_weights))
    >>> bool(jnp.allclose(phi @ phi.T, kernels.gaussian(x, x), atol=0.05))
    True
    """
    omega = as_frequencies(omega)
    log_weights = checks.shaped(log_weights, "log_weights", (omega.m,))
    total = log_weights if omega.log_weights is None else omega.log_weights + log_weights
    return replace(cast(Any, omega), log_weights=total)


def weighted_gaussian(
    omega: Float[ArrayLike, "m d"], mean: Float[ArrayLike, " d"], factor: Float[ArrayLike, "d d"]
) -> Frequencies:
    """Weighted frequencies from the proposal N(mean, factor factor^T), made from those of any coupling.

    ::

        omega'_i = mean + factor omega_i
        log p(omega'_i) - log q(omega'_i) = (|omega_i|^2 - |omega'_i|^2) / 2 + log |det factor|

    The geometry of omega is deformed by the factor, a root of the covariance such as its Cholesky factor, or
    ``s * jnp.eye(d)`` to scale by s.

    Raises ValueError if the factor is singular.

    Source: All Random Features Representations are Equivalent, Eq. 2, here with a Gaussian q.
    """
    omega = checks.points(omega, "omega")
    d = omega.shape[1]
    mean, factor = checks.shaped(mean, "mean", (d,)), checks.shaped(factor, "factor", (d, d))
    log_volume = jnp.linalg.slogdet(factor)[1]
    if not checks.is_traced(log_volume) and not jnp.isfinite(log_volume):
        raise ValueError("factor has determinant 0; give an invertible matrix")
    moved = mean[None] + product(omega, factor.T)
    return weighted(moved, jnp.sum(omega**2 - moved**2, axis=1) / 2 + log_volume)


def checked(
    x: Float[ArrayLike, "n d"], omega: Frequencies | Float[ArrayLike, "m d"], kernel: Kernel
) -> tuple[Float[Array, "n d"], Frequencies]:
    """Points and at least one frequency of their dimension, for a map whose kernel is known."""
    checks.choice(kernel, "kernel", KERNELS)
    x = checks.points(x, "x")
    omega = as_frequencies(omega, x.shape[1])
    if omega.m == 0:
        raise ValueError("omega holds 0 frequencies; give at least one")
    return x, omega


def as_narrow(phi: Float[Array, "n k"], x: ArrayLike) -> Float[Array, "n k"]:
    """Features, computed in float32 at least, in the dtype of points that are bfloat16 or float16."""
    dtype = getattr(x, "dtype", None)
    return phi.astype(dtype) if dtype in checks.NARROW else phi
