"""Densities of |omega_i + omega_j| as Simplex Random Features prints them, at lengths w."""

import numpy as np
from scipy.special import gammaln, roots_legendre

from rfcore import checks


def pair_density(w, d):
    """Density of w = |omega_i + omega_j| for independent frequencies.

    p(w) = w^(d-1) exp(-w^2 / 4) / (2^(d-1) Gamma(d/2)).

    Source: Simplex Random Features, Lemma 4.1, Eq. 18.
    """
    w, d = _lengths(w), checks.count(d, "d")
    return np.exp((d - 1) * np.log(w) - w**2 / 4 - (d - 1) * np.log(2) - gammaln(d / 2))


def pair_density_at_angle(w, d, cosine, n_nodes=400):
    """Density of w = |omega_i + omega_j| at an angle theta by the first line of Eq. 56, which is wrong.

    ::

        integral over phi in [0, pi/2] of  w / sqrt(s) p(w cos(phi) / sqrt(s)) p(w sin(phi) / s),
        s = 1 + sin(2 phi) cos(theta),  p the density of chi_d

    The Jacobian of r = w / sqrt(s) is w / s, not w / sqrt(s), and the last s has lost its root; only at right
    angles, s = 1, does it not matter. The second line, Eq. 20, is right:
    :func:`rfcore.theory.log_pair_density_at_angle`. The integral is by Gauss-Legendre with ``n_nodes`` nodes.

    Source: Simplex Random Features, Appendix A.5, Eq. 56.
    """
    w, d = _lengths(w), checks.count(d, "d")
    cosine, n_nodes = checks.real(cosine, "cosine", above=-1), checks.count(n_nodes, "n_nodes")
    if cosine > 1:
        raise ValueError(f"cosine = {cosine}; give at most 1")
    nodes, weights = roots_legendre(n_nodes)
    phi, w = np.pi / 4 * (nodes + 1), w[..., None]
    s = 1 + np.sin(2 * phi) * cosine
    from scipy.stats import chi  # takes two seconds, and every notebook imports this module

    p = chi(d).pdf
    integrand = w / np.sqrt(s) * p(w * np.cos(phi) / np.sqrt(s)) * p(w * np.sin(phi) / s)
    return integrand @ weights * np.pi / 4


def _lengths(w):
    w = np.asarray(checks.finite(checks.numbers(w, "w"), "w"), dtype=float)
    if w.size and not w.min() > 0:
        raise ValueError(f"w has the value {w.min()}; give lengths above 0")
    return w
