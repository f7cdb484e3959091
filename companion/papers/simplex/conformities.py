"""RF-conformity of given frequencies or directions, and at a given angle (Simplex Random Features).

They are what pages of the paper need beyond :func:`rfcore.theory.log_conformity`; v is between 0 and 30.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from scipy.special import gammaln

from rfcore import checks
from rfcore.theory.series import (
    LOG_FACTORIAL,
    K,
    adds_axes,
    angles,
    constant,
    log_orthogonal_share,
    log_series,
    radius,
)


@adds_axes
def log_conformity_at_angle(v, d, cosine):
    """Logarithm of the RF-conformity of two frequencies that subtend a fixed angle.

    ::

        rho(v) = E_u[ rho_orthogonal(v sqrt(1 + cosine sin u)) ],  u ~ sin(u)^(d-1) on [0, pi]

    Args:
        v: |x + y|; both v and v sqrt(1 + cosine) between 0 and 30. Broadcasts against ``cosine``.
        cosine: between -1 and 1, may be traced; 0 is "orthogonal", -1 / (d - 1) is "simplex".

    Source: Simplex Random Features, Eq. 21.
    """
    v, d, cosine = radius(v, "v"), checks.count(d, "d"), cosine_of(cosine)
    sine, log_weights = map(constant, angles(d))
    stretched = (v**2)[..., None] * (1 + cosine[..., None] * sine)
    radius(jnp.sqrt(jax.lax.stop_gradient(stretched)), "v sqrt(1 + cosine sin u)")
    return logsumexp(log_weights + log_series(log_orthogonal_share(d) - LOG_FACTORIAL, stretched), axis=-1)


@adds_axes
def log_conformity_of(omega, v):
    """Logarithm of the RF-conformity of given frequencies, the mean over their pairs.

    ::

        rho(v) = 1 / (m (m - 1)) sum_{i != j} 0F1(; d/2; v^2 w_ij^2 / 4),  w_ij = |omega_i + omega_j|

    Memory is O(m^2) per value of v, times the 1,400 terms of the series.

    Args:
        omega: array (m, d), m at least 2; may be traced.
        v: |x + y|, with v w_ij at most 1200.

    Source: Simplex Random Features, Eq. 12.
    """
    omega, v = checks.points(omega, "omega"), radius(v, "v")
    m, d = omega.shape
    if m < 2:
        raise ValueError(f"omega has shape {omega.shape}; give at least two frequencies, a pair")
    i, j = np.triu_indices(m, 1)
    squares = jnp.sum((omega[i] + omega[j]) ** 2, axis=1)
    quarter = (v**2)[..., None] * squares / 4
    if not checks.is_traced(quarter) and quarter.max(initial=0) > 600**2:
        raise ValueError(f"v |omega_i + omega_j| reaches {2 * float(jnp.sqrt(quarter.max()))}; give frequencies or v that keep it to 1200")
    log_coefficients = gammaln(d / 2) - gammaln(K + d / 2) - LOG_FACTORIAL
    return logsumexp(log_series(log_coefficients, quarter), axis=-1) - np.log(len(i))


@adds_axes
def log_conformity_of_directions(directions, v):
    """Logarithm of the RF-conformity of a coupling that gives its frequencies these directions.

    ::

        rho(v) = 1 / (m (m - 1)) sum_{i != j} rho_theta(v),  theta the angle between u_i and u_j    (Eq. 21)

    Every coupling whose norms are independent of its directions averages this over its law of directions, so
    that the best one takes the best directions always. A pair costs 280,000 numbers in time and memory.

    Args:
        directions: array (m, d), m at least 2, rows of any length above 0; may be traced.
        v: |x + y|, a float between 0 and 30 / sqrt(2).

    Source: Simplex Random Features, Theorem 3.4.
    """
    directions = checks.points(directions, "directions")
    m, d = directions.shape
    if m < 2:
        raise ValueError(f"directions has shape {directions.shape}; give at least two, a pair")
    lengths = jnp.linalg.norm(directions, axis=1)
    if not checks.is_traced(lengths) and not np.asarray(lengths).min() > 0:
        raise ValueError(f"directions has a row of length {lengths.min()}; give lengths above 0")
    i, j = np.triu_indices(m, 1)
    cosines = jnp.clip(jnp.sum(directions[i] * directions[j], axis=1) / (lengths[i] * lengths[j]), -1, 1)
    return logsumexp(log_conformity_at_angle(v, d, cosines)) - np.log(len(i))


def cosine_of(cosine):
    """``cosine`` as a float array with values in [-1, 1]."""
    cosine = checks.floating(cosine, "cosine").astype(float)
    if not checks.is_traced(cosine) and cosine.size and not (cosine.min() >= -1 and cosine.max() <= 1):
        raise ValueError(f"cosine has values in [{cosine.min()}, {cosine.max()}]; give values in [-1, 1]")
    return cosine
