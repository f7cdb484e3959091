"""Means of positive features given the directions of their frequencies.

Imported by its own name, ``rfcore.theory.given_directions``.
"""

import numpy as np
from scipy.special import hyp1f1

from rfcore import checks


def relative_mean(products, d, v):
    """Mean of positive features over the lengths of their frequencies, over the kernel, for given directions.

    ::

        1/m sum_i E_w[cosh(w t_i)] / exp(v^2 / 2) = 1/m sum_i 1F1(d/2; 1/2; t_i^2 / 2) / exp(v^2 / 2)

    with w of law chi_d, products t_i = u_i . (x + y) of unit vectors, (..., m), and v = |x + y| at most 20.
    Where u and -u are equally likely, its mean over directions is 1 if the features are unbiased.

    Source: Abramowitz and Stegun, 13.1.2 (1964), term by term.
    """
    d, v = checks.count(d, "d"), checks.real(v, "v", least=0)
    if v > 20:
        raise ValueError(f"v = {v}; give at most 20")
    products = np.asarray(checks.finite(checks.numbers(products, "products"), "products"), dtype=float)
    if products.ndim == 0 or np.abs(products).max(initial=0) > v * (1 + 1e-5):
        got = f"products has shape {products.shape} and the size {np.abs(products).max(initial=0):g}"
        raise ValueError(f"{got}; give scalar products of unit vectors with one of length v = {v:g}, shape (..., m)")
    return np.mean(hyp1f1(d / 2, 0.5, products**2 / 2), axis=-1) / np.exp(v**2 / 2)
