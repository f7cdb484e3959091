"""Law of the length |omega_i + omega_j| of the sum of two frequencies (Simplex Random Features, Figure 5)."""

import jax.numpy as jnp
from jax.scipy.special import gammaln, logsumexp

from companion.papers.simplex.conformities import cosine_of
from rfcore import checks
from rfcore.theory.series import angles, angles_in, constant


def log_pair_density(w, d, coupling):
    """Logarithm of the density of w = |omega_i + omega_j| > 0 for a pair of frequencies from one block.

    ::

        iid         p(w) = w^(d-1) exp(-w^2 / 4) / (2^(d-1) Gamma(d/2))                (Eq. 18)
        orthogonal  p(w) = w^(2d-1) exp(-w^2 / 2) / (2^(d-1) Gamma(d)), that of chi_2d (Eq. 58)
        simplex     as log_pair_density_at_angle for the cosine -1 / (d - 1)           (Eq. 20)

    Source: Simplex Random Features, Lemmas 4.1 and 4.2.
    """
    w, (d, coupling) = _length(w), angles_in(d, coupling)
    if coupling == "simplex":
        return log_pair_density_at_angle(w, d, -1 / (d - 1))
    if coupling == "orthogonal":
        return _log_chi(w, 2 * d)
    return _log_chi(w / jnp.sqrt(2), d) - jnp.log(2) / 2


def log_pair_density_at_angle(w, d, cosine):
    """Logarithm of the density of w = |omega_i + omega_j| for two frequencies that subtend a fixed angle.

    ::

        p(w) = E_u[ p_chi_2d(w / s) / s ],  s = sqrt(1 + cosine sin u),  u ~ sin(u)^(d-1) on [0, pi]

    which is Eq. 20 with u = 2 phi. (Its derivation's Eq. 56 is printed with w / s for w / s^2 and without a
    root in the second density; the result is right.)

    Source: Simplex Random Features, Lemma 4.2.
    """
    w, d, cosine = _length(w), checks.count(d, "d"), cosine_of(cosine)
    sine, log_weights = map(constant, angles(d))
    stretch = jnp.sqrt(1 + cosine[..., None] * sine)
    return logsumexp(log_weights + _log_chi(w[..., None] / stretch, 2 * d) - jnp.log(stretch), axis=-1)


def _log_chi(w, d):
    return (d - 1) * jnp.log(w) - w**2 / 2 - (d / 2 - 1) * jnp.log(2) - gammaln(d / 2)


def _length(w):
    w = checks.floating(w, "w").astype(float)
    if not checks.is_traced(w) and w.size and not w.min() > 0:
        raise ValueError(f"w has the value {w.min()}; give lengths above 0")
    return w
