"""The radius below which every power series of a symmetric matrix is positive semidefinite."""

import numpy as np
import pytest

from companion.papers.ugrf.definiteness import definite_radius


@pytest.mark.parametrize("seed", range(5))
def test_no_eigenvalue_is_negative_within_and_the_worst_signs_are_zero_at_the_radius(seed):
    rng = np.random.default_rng(seed)
    alpha = np.append(rng.uniform(0.5, 2), rng.uniform(-1, 1, 9))
    radius = definite_radius(alpha)
    x = np.linspace(-radius, radius, 2001)
    assert np.polynomial.Polynomial(alpha)(x).min() >= -1e-13
    worst = np.append(alpha[0], -np.abs(alpha[1:]))
    assert abs(np.polynomial.Polynomial(worst)(radius)) < 1e-12
    assert np.polynomial.Polynomial(worst)(1.01 * radius) < 0


def test_known_radii():
    assert np.isclose(definite_radius([1.0, 0.0, -4.0]), 0.5, rtol=1e-14)
    assert np.isclose(definite_radius([3.0, 1.0, 0.0]), 3.0, rtol=1e-14)
    # 1 - sum_k r^k over all k >= 1 vanishes at 1/2.
    assert np.isclose(definite_radius(np.ones(60)), 0.5, rtol=1e-13)
    assert definite_radius([1.0, 0.0]) == np.inf
