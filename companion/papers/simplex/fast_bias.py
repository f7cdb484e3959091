"""What Hadamard-Rademacher products are not: uniform. Their bias, exactly, and given the directions."""

from itertools import product

import numpy as np
from scipy.linalg import hadamard
from scipy.special import gammaln, hyp1f1

from rfcore import checks

FAST = ("orthogonal_fast", "simplex_fast")


def fast_bias(v, coupling):
    """Mean of a positive feature under a fast coupling, over its mean under the Gaussian law, N(0, I_d).

    ::

        E[exp(omega . v)] / exp(|v|^2 / 2),   v = x + y of at most 4 coordinates, |v| at most 20

    Features are unbiased if and only if it is 1 everywhere. The mean is exact: over the 2^(3 p) sign patterns
    of H D_1 H D_2 H D_3 by enumeration, over the rows of a block by averaging (they agree), over the chi_p
    length of a row in closed form. Like the coupling it pads d = 3 to p = 4.

    Source: Simplex Random Features, Appendix B.2.2, which calls these products "only approximately" uniform.
    """
    checks.choice(coupling, "coupling", FAST)
    v = np.asarray(checks.vector(v, "v"))
    if len(v) > 4:
        raise ValueError(f"v has shape {v.shape}; give 1 to 4 coordinates, for which patterns can be enumerated")
    if np.linalg.norm(v) > 20:
        raise ValueError(f"|v| = {np.linalg.norm(v)}; give at most 20")
    p = 1 << (len(v) - 1).bit_length()
    rotated = np.pad(v, (0, p - len(v)))
    signs = np.array(list(product([-1.0, 1.0], repeat=3 * p))).reshape(-1, 3, p)
    for factor in (2, 1, 0):
        rotated = rotated * signs[:, factor] @ hadamard(p) / np.sqrt(p)
    if coupling == "simplex_fast" and p > 1:
        rotated = rotated @ _simplex(p).T
    return float(np.mean(_chi_exponential(rotated, p)) / np.exp(v @ v / 2))


def _simplex(d):
    """Eq. 9 of the paper, as a matrix."""
    ones = np.r_[np.ones(d - 1), 0.0]
    corners = np.sqrt(d / (d - 1)) * np.eye(d)[:-1] - (np.sqrt(d) + 1) / (d - 1) ** 1.5 * ones
    return np.vstack([corners, ones / np.sqrt(d - 1)])


def _chi_exponential(t, d):
    """E[exp(t w)] for a chi_d length w."""
    mean = np.sqrt(2) * np.exp(gammaln((d + 1) / 2) - gammaln(d / 2))
    return hyp1f1(d / 2, 0.5, t**2 / 2) + t * mean * hyp1f1((d + 1) / 2, 1.5, t**2 / 2)


def relative_mean(products, d, v):
    """Mean of positive features over the lengths of their frequencies, over the kernel, for given directions.

    ::

        1/m sum_i E_w[cosh(w t_i)] / exp(v^2 / 2) = 1/m sum_i 1F1(d/2; 1/2; t_i^2 / 2) / exp(v^2 / 2)

    with w of law chi_d, products t_i = u_i . (x + y) of unit vectors, (..., m), and v = |x + y| at most 20.
    Where u and -u are equally likely, its mean over directions is 1 if the features are unbiased.

    Source: Abramowitz and Stegun (1964), 13.1.2, term by term.
    """
    d, v = checks.count(d, "d"), checks.real(v, "v", least=0)
    if v > 20:
        raise ValueError(f"v = {v}; give at most 20")
    products = np.asarray(checks.finite(checks.numbers(products, "products"), "products"), dtype=float)
    if products.ndim == 0 or np.abs(products).max(initial=0) > v * (1 + 1e-5):
        got = f"products has shape {products.shape} and the size {np.abs(products).max(initial=0):g}"
        raise ValueError(f"{got}; give scalar products of unit vectors with one of length v = {v:g}, shape (..., m)")
    return np.mean(hyp1f1(d / 2, 0.5, products**2 / 2), axis=-1) / np.exp(v**2 / 2)
