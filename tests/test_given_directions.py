"""Means of positive features given directions: against integrals over lengths, and over uniform and fast directions."""

from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.linalg import hadamard

from companion.papers.simplex import fast_bias
from companion.papers.simplex.fast_bias import relative_mean


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("v", [0.5, 2.0])
def test_it_is_the_integral_over_the_length(d, v):
    for t in (0.0, 0.3 * v, v):
        mean = quad(lambda w, t=t: np.cosh(w * t) * stats.chi(d).pdf(w), 0, 40)[0]
        assert np.isclose(relative_mean([t, -t], d, v), mean / np.exp(v**2 / 2), rtol=1e-8)


@pytest.mark.parametrize("d", [2, 3, 8])
def test_uniform_directions_leave_no_bias(d):
    v = 1.5

    def integrand(cosine):
        return relative_mean([v * cosine], d, v) * (1 - cosine**2) ** ((d - 3) / 2)

    def weight(cosine):
        return (1 - cosine**2) ** ((d - 3) / 2)

    assert np.isclose(quad(integrand, -1, 1)[0] / quad(weight, -1, 1)[0], 1, rtol=1e-7)


@pytest.mark.parametrize("v", [np.array([1.0, 1.0]), np.array([2.0, 0.0]), np.array([0.4, -1.1])])
def test_over_all_signs_it_is_the_bias_of_fast_features(v):
    H, products = hadamard(2) / np.sqrt(2), []
    for signs in product([-1.0, 1.0], repeat=6):
        a, b, c = np.reshape(signs, (3, 2))
        products.append(H @ (a * (H @ (b * (H @ (c * v))))))
    mean = relative_mean(products, 2, np.linalg.norm(v)).mean()
    assert np.isclose(mean, fast_bias.fast_bias(v, "orthogonal_fast"), rtol=1e-10)
