"""Formulas as Simplex Random Features prints them, to show what happens when they are used.

Where a formula is wrong as printed, the summary of its docstring says so and the text says what is right. The
library has faster forms of the simplex matrix' product and of the sweep of simplex+
(:func:`rfcore.couplings.directions.simplex_product`, :func:`rfcore.couplings.weight_dependent.balance`).
"""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import gammaln, roots_legendre, xlogy

from rfcore import checks, theory
from rfcore.theory.conformity import log_conformity
from rfcore.theory.series import check_range, pair, radius


def corners(d):
    """The simplex matrix S in float64, whose rows are the corners of a regular simplex; d at least 2.

    ::

        s_i = sqrt(d / (d - 1)) e_i - (sqrt(d) + 1) / (d - 1)^(3/2) (1, ..., 1, 0)   for i < d
        s_d = (1, ..., 1, 0) / sqrt(d - 1)

    Source: Simplex Random Features, Eq. 9.
    """
    d = checks.count(d, "d", least=2)
    ones = np.append(np.ones(d - 1), 0.0)
    first = np.sqrt(d / (d - 1)) * np.eye(d)[:-1] - (np.sqrt(d) + 1) / (d - 1) ** 1.5 * ones
    return np.vstack([first, ones / np.sqrt(d - 1)])


def product(x):
    """The product S x of a vector (d,), term by term in float64.

    ::

        y_d = (x_1 + ... + x_{d-1}) / sqrt(d - 1)
        y_i = sqrt(d / (d - 1)) x_i - (sqrt(d) + 1) / (d - 1) y_d   for i < d

    Source: Simplex Random Features, Algorithm 1 (Appendix B.2.1).
    """
    x = np.asarray(checks.vector(x, "x"))
    d = len(x)
    if d < 2:
        raise ValueError(f"x has shape {x.shape}; give at least two numbers: a simplex needs two corners")
    y = np.empty(d)
    y[d - 1] = sum(x[: d - 1]) / np.sqrt(d - 1)
    for i in range(d - 1):
        y[i] = np.sqrt(d / (d - 1)) * x[i] - (np.sqrt(d) + 1) / (d - 1) * y[d - 1]
    return y


def sweep(vectors, lengths):
    """One pass of the iteration of simplex+ over all vectors, its rows, each sum from scratch: O(d^3).

    ::

        w_i <- - lengths_i r_i / |r_i|,   r_i = sum_{j != i} w_j,   for i = 1, ..., d

    Source: Simplex Random Features, Eq. 17.
    """
    vectors = checks.points(vectors, "vectors")
    lengths = checks.vector(checks.floating(lengths, "lengths"), "lengths", len(vectors), "vector")

    def update(i, vectors):
        rest = vectors.sum(axis=0) - vectors[i]
        return vectors.at[i].set(-lengths[i] * rest / jnp.linalg.norm(rest))

    return jax.lax.fori_loop(0, len(vectors), update, vectors)


def orthogonal_conformity(v, d, n_terms=800):
    """Conformity of orthogonal features by its series, for v <= 15, beyond which the sum overflows.

    ::

        rho(v) = Gamma(d/2) / Gamma(d) sum_k v^2k / (2^k k!) Gamma(k + d) / Gamma(k + d/2)

    Source: Simplex Random Features, Theorem 4.3, Eq. 23.
    """
    v, d, n_terms = checks.real(v, "v", least=0), checks.count(d, "d"), checks.count(n_terms, "n_terms")
    if v > 15:
        raise ValueError(f"v = {v}; the sum overflows beyond v = 15, use theory.log_conformity")
    return float(_orthogonal_terms(v * v, d, n_terms).sum())


def simplex_conformity(v, d, n_terms=200):
    """Conformity of simplex features by an alternating series: right on paper, useless for large v.

    ::

        rho(v) = sqrt(pi) / (Gamma(d/2) 2^(d-1)) sum_k Gamma(k + d) / Gamma(k + d/2) v^2k / 2^k
                 sum_{p <= k} (-1 / (d - 1))^p Gamma((d + p) / 2) / Gamma((d + p + 1) / 2) / ((k - p)! p!)

    The inner sum cancels: for d = 2 a hundredth is lost at v = 7 and everything at v = 10; large d fare
    better.

    Source: Simplex Random Features, Theorem 4.3, Eq. 24.
    """
    v, d, n_terms = checks.real(v, "v", least=0), checks.count(d, "d", least=2), checks.count(n_terms, "n_terms")
    k, p = np.arange(n_terms)[:, None], np.arange(n_terms)[None, :]
    rest = np.maximum(k - p, 0)
    logs = (
        xlogy(k, v * v / 2) + gammaln(k + d) - gammaln(k + d / 2) + gammaln((d + p) / 2) - gammaln((d + p + 1) / 2)
        - gammaln(rest + 1) - gammaln(p + 1) - p * np.log(d - 1) + np.log(np.pi) / 2 - gammaln(d / 2) - (d - 1) * np.log(2)
    )  # fmt: skip
    return float(np.sum(np.where(p <= k, (-1.0) ** p * np.exp(logs), 0.0)))


def error_prefactor(d):
    """Factor of v^2 in the error of d simplex features for small v; that of IID and orthogonal features is 1.

    ::

        1 - sqrt(pi) Gamma(d + 1) Gamma((d + 1)/2) / (Gamma(d/2) Gamma(d/2 + 1)^2 2^d)

    The text calls it an error; exp(-2|x|^2 - 2|y|^2) / m, with m = d, is left out.

    Source: Simplex Random Features, Section 5.1.
    """
    d = checks.count(d, "d", least=2)
    log_ratio = gammaln(d + 1) + gammaln((d + 1) / 2) - gammaln(d / 2) - 2 * gammaln(d / 2 + 1) - d * np.log(2)
    return float(1 - np.sqrt(np.pi) * np.exp(log_ratio))


def positive_gap(x, y, m):
    """Orthogonality gap of positive features by Eq. 25, where a factor 2^-k is missing.

    ::

        (m - 1)/m exp(-2|x|^2 - 2|y|^2)
        (e^(v^2) - Gamma(d/2) / Gamma(d) sum_k v^2k / k! Gamma(k + d) / Gamma(k + d/2)),   v = |x + y|

    For m <= d. Without 2^-k the sum is the conformity at sqrt(2) v, and the gap is negative for every v > 0,
    against the statement that it is positive everywhere. Right is :func:`rfcore.theory.positive_gap`.

    Source: Simplex Random Features, Corollary 4.4, Eq. 25; compare Eq. 69.
    """
    x, y = pair(x, y)
    m, d = checks.count(m, "m"), x.shape[0]
    if m > d:
        raise ValueError(f"m = {m}; the formula is for one block, m <= d = {d}")
    v = jnp.linalg.norm(x + y)
    check_range(jnp.sqrt(2) * v, "sqrt(2) |x + y|")
    shrink = 2 * jnp.sum(x**2) + 2 * jnp.sum(y**2)
    right, wrong = v**2 - shrink, log_conformity(jnp.sqrt(2) * v, d, "orthogonal") - shrink
    return (m - 1) / m * (jnp.exp(right) - jnp.exp(wrong))


def _orthogonal_terms(square, d, n_terms):
    """Terms k = 0, ..., n_terms - 1 of the series of :func:`orthogonal_conformity`, with v^2 = square."""
    k = np.arange(n_terms)
    logs = xlogy(k, square) - k * np.log(2) - gammaln(k + 1) + gammaln(k + d) - gammaln(k + d / 2)
    return np.exp(logs + gammaln(d / 2) - gammaln(d))


def fourier_gap(x, y, m, n_terms=200):
    """Orthogonality gap of Fourier features by an oscillating series: right on paper, useless for far points.

    ::

        (m - 1)/m (e^(-z^2) - Gamma(d/2) / Gamma(d) sum_k (-z^2)^k / (2^k k!) Gamma(k + d) / Gamma(k + d/2))

    For m <= d and z = |x - y| <= 15. Terms up to about e^(z^2/2) cancel, so that in float64 nothing is left
    beyond z = 8; ``n_terms`` must be several times z^2. :func:`rfcore.theory.fourier_gap` is the same without
    cancellation.

    Source: Simplex Random Features, Theorem 4.5, Eq. 26.
    """
    x, y = pair(x, y)
    m, d, n_terms = checks.count(m, "m"), x.shape[0], checks.count(n_terms, "n_terms")
    if m > d:
        raise ValueError(f"m = {m}; the formula is for one block, m <= d = {d}")
    square = float(np.sum((np.asarray(x) - np.asarray(y)) ** 2))
    if square > 15**2:
        raise ValueError(f"|x - y| = {np.sqrt(square)}; the sum overflows beyond 15, use theory.fourier_gap")
    signs = (-1.0) ** np.arange(n_terms)
    return float((m - 1) / m * (np.exp(-square) - np.sum(signs * _orthogonal_terms(square, d, n_terms))))


def fourier_mse_ratio(z, d, m):
    """Error of orthogonal over that of independent Fourier features by Eq. 77, where a sign is wrong.

    ::

        1 + 2 (m - 1) (rho(z) - e^(-z^2)) / (1 + e^(-z^2))^2,  rho(z) = E[cos(omega_1 . z) cos(omega_2 . z)]

    Independent features have (1 - e^(-z^2))^2, as in Eqs. 74 and 86, so that the gain looks smaller
    than it is. Right is :func:`rfcore.theory.mse_ratio`.

    Source: Simplex Random Features, Appendix A.9, Eq. 77.
    """
    square = radius(z, "z") ** 2
    return 1 + (theory.mse_ratio("orthogonal", "fourier", z, m=m, d=d) - 1) * jnp.tanh(square / 2) ** 2


def fourier_mse_ratio_asymptotic(z, d, m):
    """Error of orthogonal Fourier features over that of independent ones, to first order in 1/d; m <= d.

    ::

        1 - (m - 1) e^(-z^2) z^4 / (d (1 - e^(-z^2))^2)                                        (Eq. 27)

    Source: Simplex Random Features, Corollary 4.6; first in Yu et al., "Orthogonal random features" (2016).
    """
    m, d, square = checks.count(m, "m"), checks.count(d, "d"), radius(z, "z") ** 2
    if m > d:
        raise ValueError(f"m = {m}; the formula is for one block, m <= d = {d}")
    half = jnp.where(square > 0, square / 2, 1.0)
    return 1 - (m - 1) / d * jnp.where(square > 0, (half / jnp.sinh(half)) ** 2, 1.0)


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
    :func:`companion.papers.simplex.pair_densities.log_pair_density_at_angle`. The integral is by
    Gauss-Legendre with ``n_nodes`` nodes.

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
