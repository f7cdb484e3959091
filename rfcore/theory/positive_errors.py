"""Mean squared error of positive features (Simplex Random Features, Theorem 3.2, Corollary 4.4).

Throughout v = |x + y|, between 0 and 30, couplings are "iid", "orthogonal" and "simplex", and for m > d the
factor m - 1 stands for :func:`partners`, since only pairs within a block of d count.
"""

import jax
import jax.numpy as jnp

from rfcore import checks
from rfcore.precision import product
from rfcore.theory.conformity import log_gap_coefficients, partners
from rfcore.theory.series import check_range, dimension, pair, radius, scaled_series


def positive_mse(x, y, m, coupling):
    """Mean squared error of positive features' estimate of the Gaussian kernel of two points.

    ::

        MSE = 1/m exp(-2|x|^2 - 2|y|^2) [(e^(2 v^2) - e^(v^2)) + (m - 1) (rho(v) - e^(v^2))]   (Eq. 11)
            = 1/m exp(4 x.y) [1 - e^(-v^2) - (m - 1) (e^(v^2) - rho(v)) e^(-2 v^2)]

    The second form is evaluated: its bracket is between 0 and 1.

    Args:
        x, y: points, arrays (d,), with |x + y| at most 30.
        m: number of frequencies; for m > d only pairs within a block count towards m - 1 (:func:`partners`).
        coupling: "iid", "orthogonal" or "simplex".

    Source: Simplex Random Features, Theorem 3.2.

    >>> import jax.numpy as jnp
    >>> from rfcore import theory
    >>> x, y = jnp.array([0.5, 0.0, 0.2]), jnp.array([0.1, 0.4, 0.0])
    >>> bool(theory.positive_mse(x, y, 3, "orthogonal") < theory.positive_mse(x, y, 3, "iid"))
    True
    """
    x, y, m, square, d = _arguments(x, y, m, coupling)
    bracket = -jnp.expm1(-square) - square * _saving(square, d, m, coupling)
    return jnp.exp(4 * product(x, y)) / m * bracket


def positive_gap(x, y, m, coupling="orthogonal"):
    """What a coupling takes off the error of positive features; for "orthogonal" the orthogonality gap.

    ::

        MSE(iid) - MSE(coupling) = (m - 1)/m exp(-2|x|^2 - 2|y|^2) (e^(v^2) - rho(v))
        orthogonal:  e^(v^2) - rho(v)
                     = sum_k v^2k / k! (1 - Gamma(d/2) Gamma(k + d) / (2^k Gamma(d) Gamma(k + d/2)))

    No term of the sum is negative, so that the gap keeps its digits however small it is. Eq. 25 is printed
    without the 2^-k that its proof (Eq. 69) has; what the printed formula gives is
    ``papers.simplex.formulas.positive_gap``.

    Source: Simplex Random Features, Corollary 4.4.
    """
    x, y, m, square, d = _arguments(x, y, m, coupling)
    # e^(4 x.y) e^(-2 v^2) would be infinity times 0 where points are long: it is k(x, y)^2 e^(-v^2).
    return jnp.exp(-jnp.sum((x - y) ** 2)) / m * square * _saving(square, d, m, coupling, rate=1.0)


def positive_mse_ratio(v, d, m, coupling):
    """Error of positive features under a coupling over that under independence, a function of v alone.

    At v = 0, where both errors vanish, it is its limit. v is an array of any shape.

    Source: Simplex Random Features, Section 5.1 and Figure 6.
    """
    m, d, square = checks.count(m, "m"), dimension(d, coupling), radius(v, "v") ** 2
    close = square < 1e-3
    safe = jnp.where(close, 1.0, square)
    over_iid = jnp.where(close, 1 + square / 2 + square**2 / 12, safe / -jnp.expm1(-safe))
    return 1 - _saving(square, d, m, coupling) * over_iid


def _saving(square, d, m, coupling, rate=2.0):
    """partners (exp(v^2) - rho(v)) exp(-rate v^2) / v^2; by default what the coupling takes off, over v^2."""
    if coupling == "iid":
        return jnp.zeros_like(square)
    return partners(m, d) * scaled_series(log_gap_coefficients(d, coupling), square, rate)


def _arguments(x, y, m, coupling):
    m = checks.count(m, "m")
    x, y = pair(x, y)
    square = jnp.sum((x + y) ** 2)
    check_range(jnp.sqrt(jax.lax.stop_gradient(square)), "|x + y|")
    return x, y, m, square, dimension(x.shape[0], coupling)
