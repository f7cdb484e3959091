"""Means of positive features given the directions of their frequencies.

Imported by its own name, ``rfcore.theory.given_directions``.
"""

import numpy as np
from scipy.special import hyp1f1

from rfcore import checks


def relative_mean(products, d, v):
    """Mean of positive features over the lengths of their frequencies, over the kernel, for given directions.

    ::

        1/m sum_i E_w[cosh(w t_i)] / exp(v^2 / 2) = 1/m sum_i 1F1(d/2; 1/2; t_i^2 / 2) / exp(v^2 / 2),   w of law chi_d

    with t_i = u_i . (x + y) for the unit vectors u_i, and v = |x + y|. Where a direction is as likely as its opposite, the
    mean of this over directions is E[exp(omega . (x + y))] / exp(v^2 / 2), which is 1 if the features are unbiased.

    Parameters
    ----------
    products : array, shape (..., m)
        t_i, of size v at most.
    d : int
        Of the lengths, which have law chi_d.
    v : float
        From 0 to 20.

    Returns
    -------
    float64 array, shape (...)

    Raises
    ------
    ValueError
        If products are no finite array or larger than v, d < 1, or v is out of range.

    Notes
    -----
    Ours; the mean of cosh under the chi law is Abramowitz and Stegun's 13.1.2 (1964), summed term by term.

    Examples
    --------
    In one dimension every direction is along x + y, and features are unbiased:

    >>> from rfcore.theory.given_directions import relative_mean
    >>> float(relative_mean([1.5, -1.5], 1, 1.5).round(12))
    1.0
    """
    d, v = checks.count(d, "d"), checks.real(v, "v", least=0)
    if v > 20:
        raise ValueError(f"v = {v}; give at most 20")
    products = np.asarray(checks.finite(checks.numbers(products, "products"), "products"), dtype=float)
    if products.ndim == 0 or np.abs(products).max(initial=0) > v * (1 + 1e-5):
        got = f"products has shape {products.shape} and the size {np.abs(products).max(initial=0):g}"
        raise ValueError(f"{got}; give scalar products of unit vectors with one of length v = {v:g}, shape (..., m)")
    return np.mean(hyp1f1(d / 2, 0.5, products**2 / 2), axis=-1) / np.exp(v**2 / 2)
