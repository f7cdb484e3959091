"""What a feature map asks of frequencies, whoever holds them and whatever their law.

A map multiplies points by frequencies, counts them, and weighs them; :class:`Projectable` says so in four
names. A plain array (m, d) is wrapped by :func:`of`, so that every function that takes frequencies takes
arrays; fast frequencies (:mod:`rfcore.couplings.fast`) answer by themselves; :func:`weighted` gives either
the weights of another law.

Importance weights: the maps estimate an expectation over omega ~ p = N(0, I_d). With frequencies from q in
its place,

::

    E_p[phi(x, omega) phi(y, omega)] = E_q[p(omega)/q(omega) phi(x, omega) phi(y, omega)]

so that each map multiplies feature i of x, and that of y, by sqrt(p(omega_i) / q(omega_i)), in logs. Which q
is best is a matter of the data ("All Random Features Representations are Equivalent", Theorem 1); the density
of q stays with whoever draws from it, and everything here asks for log p - log q alone.

All are pytrees: ``jax.jit``, ``jax.vmap`` and ``jax.grad`` take them, and gradients reach frequencies and log
weights. The matrix of any frequencies is ``omega.project(jnp.eye(omega.d)).T``.
"""

from dataclasses import dataclass
from functools import partial
from typing import Protocol

import jax
import jax.numpy as jnp

from rfcore import checks
from rfcore.precision import product


class Projectable(Protocol):
    """What a feature map asks of frequencies."""

    m: int
    """Number of the frequencies."""
    d: int
    """Their dimension."""
    log_weights: jax.Array | None
    """log p(omega) - log q(omega), shape (m,), for frequencies from the density q in place of p = N(0, I_d); None for zeros."""

    def project(self, x, unit=1.0, copies=1):
        """Scalar products of points with frequencies.

        ::

            [x . omega_1 / unit, ..., x . omega_m / unit],  copies times side by side

        Fourier features are cosines of angles in turns (``unit`` 2 pi), each of them twice, which a matrix
        gives in one product.

        Args:
            x: points, (n, d).
            unit, copies: what products are divided by; how often all columns stand side by side.

        Returns:
            Array, (n, copies m).
        """
        ...


@partial(jax.tree_util.register_dataclass, data_fields=("matrix",), meta_fields=())
@dataclass(frozen=True)
class Dense:
    """Frequencies that are the rows of a matrix (m, d), not weighted; from :func:`of`."""

    matrix: jax.Array
    log_weights = None

    @property
    def m(self):
        """Number of frequencies."""
        return self.matrix.shape[0]

    @property
    def d(self):
        """Dimension of the frequencies."""
        return self.matrix.shape[1]

    def project(self, x, unit=1.0, copies=1):
        """Scalar products of points with frequencies: see :meth:`Projectable.project`."""
        x = checks.points(x, "x", n_columns=self.d)
        # Copies of the frequencies, not of their products: another part of a product costs less than memory for another array.
        matrix = self.matrix if copies == 1 else jnp.concatenate(copies * [self.matrix])
        return product(x, matrix.T / unit)


@partial(jax.tree_util.register_dataclass, data_fields=("frequencies", "log_weights"), meta_fields=())
@dataclass(frozen=True)
class Weighted:
    """Frequencies of any kind with log weights; from :func:`weighted`."""

    frequencies: Projectable
    log_weights: jax.Array

    @property
    def m(self):
        """Number of frequencies."""
        return self.frequencies.m

    @property
    def d(self):
        """Dimension of the frequencies."""
        return self.frequencies.d

    def project(self, x, unit=1.0, copies=1):
        """Scalar products of points with frequencies, not weighted: see :meth:`Projectable.project`."""
        return self.frequencies.project(x, unit, copies)


def of(omega, d=None):
    """Frequencies that answer to :class:`Projectable`: themselves if they do, else those of a matrix (m, d).

    Args:
        omega: array, (m, d), or Projectable.
        d: dimension that they must have; None for any.
    """
    if not hasattr(omega, "project"):
        omega = Dense(checks.points(omega, "omega"))
    if d is not None and omega.d != d:
        raise ValueError(f"omega has frequencies of dimension {omega.d} for points of dimension {d}; give both the same")
    return omega


def weighted(omega, log_weights):
    """Frequencies from a density q, with the importance weights that make estimates those of N(0, I_d).

    ::

        log_weights_i = log p(omega_i) - log q(omega_i),  p the density of N(0, I_d)

    Estimates are unbiased for every q that is positive where p is; those of softmax and positive features
    have a finite variance only if the tails of q are heavy enough for them (a Gaussian q: covariance above I
    / 2).

    Args:
        omega: array, (m, d), or Projectable; if they are weighted already, the weights multiply.
        log_weights: (m,); a constant on top of them multiplies the kernel by its exp.

    Source: All Random Features Representations are Equivalent, Eq. 2.

    Frequencies of any density whose logarithm is known, here Student's with 5 degrees of freedom in each
    coordinate:

    >>> import jax, jax.numpy as jnp
    >>> from jax.scipy import stats
    >>> from rfcore import couplings, features, kernels
    >>> omega = jax.random.t(jax.random.key(0), 5.0, (20_000, 3))
    >>> log_weights = jnp.sum(stats.norm.logpdf(omega) - stats.t.logpdf(omega, 5.0), axis=1)
    >>> x = jnp.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]])
    >>> phi = features.positive(x, couplings.frequencies.weighted(omega, log_weights))
    >>> bool(jnp.allclose(phi @ phi.T, kernels.gaussian(x, x), atol=0.05))
    True
    """
    omega = of(omega)
    log_weights = checks.shaped(log_weights, "log_weights", (omega.m,))
    return Weighted(omega, log_weights if omega.log_weights is None else omega.log_weights + log_weights)


def normal(omega, mean, factor):
    """Weighted frequencies of the law N(mean, factor factor^T), made of N(0, I_d) ones of any coupling.

    ::

        omega'_i = mean + factor omega_i
        log p(omega'_i) - log q(omega'_i) = (|omega_i|^2 - |omega'_i|^2) / 2 + log |det factor|

    The geometry of the coupling is that of omega, deformed by the factor.

    Args:
        omega: (m, d), rows marginally N(0, I_d).
        mean: (d,).
        factor: (d, d), a root of the covariance, say its Cholesky factor; ``s * jnp.eye(d)`` scales by s.

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
