"""Vectors of given norms: integrals over angles, the closed forms of the couplings, and polygons."""

import numpy as np
import pytest
import ratio_of
from rounding import rounding
from scipy.special import i0, roots_legendre

from companion.papers.simplex import arrangements
from rfcore import couplings, theory


def test_two_independent_directions_cost_the_mean_over_the_angle_between_them():
    a, b, v = 1.3, 2.1, 0.9
    cosines, weights = roots_legendre(40)  # in three dimensions the cosine is uniform
    sums = v * np.sqrt(a**2 + b**2 + 2 * a * b * cosines)
    in_space = weights @ (np.sinh(sums) / sums) / 2
    angles = 2 * np.pi * np.arange(64) / 64  # in the plane the angle is
    in_plane = i0(v * np.sqrt(a**2 + b**2 + 2 * a * b * np.cos(angles))).mean()
    for d, mean in ((3, in_space), (2, in_plane)):
        assert np.isclose(arrangements.independent_conformity([a, b], v, d), mean, rtol=rounding(200), atol=0)


def test_the_conformity_of_several_is_the_mean_over_pairs_also_where_one_is_huge():
    norms = np.array([[0.5, 1.0, 2.0, 90.0], [1.0, 1.0, 1.0, 1.0]])
    of_all = arrangements.independent_conformity(norms, 3.0, 4)
    for row, found in zip(norms, of_all, strict=True):
        pairs = [arrangements.independent_conformity(row[[i, j]], 3.0, 4) for i in range(4) for j in range(i)]
        assert np.isclose(found, np.mean(pairs), rtol=rounding(20), atol=0)


@pytest.mark.parametrize("coupling", ("iid", "orthogonal", "simplex"))
def test_a_conformity_gives_the_error_that_the_couplings_closed_form_gives(coupling):
    v, d, m = np.array([0.3, 1.0, 3.0, 20.0]), 6, 4
    ratio = arrangements.mse_ratio(theory.log_conformity(v, d, coupling), v, m)
    # rho / e^(v^2) - 1 is as small as v^4, and is divided by v^2; logarithms up to 400 are rounded sums.
    expected = ratio_of.positive(v, d, m, coupling)
    assert np.allclose(ratio, expected, rtol=0, atol=rounding(1000, 1 / 0.3**2, 400))


def test_no_directions_have_a_shorter_sum_and_those_of_simplex_plus_reach_it():
    rng = np.random.default_rng(0)
    norms = np.concatenate([rng.uniform(0.5, 2, size=(20, 6)), [[1, 1, 1, 1, 1, 9.0]]])
    least = arrangements.shortest_sum(norms)
    assert least[-1] == 4 and np.all(least[:-1] == 0)
    directions = rng.normal(size=(1000, len(norms), 6, 6))
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    sums = np.linalg.norm((norms[:, :, None] * directions).sum(axis=-2), axis=-1)
    assert np.all(sums > least)
    balanced = np.asarray(couplings.weight_dependent.balance(norms, sweeps=20)).sum(axis=-2)
    assert np.allclose(np.linalg.norm(balanced, axis=-1), least, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: arrangements.independent_conformity([1.0], 1.0, 3),
            r"norms has shape \(1,\); give at least two",
        ),
        (
            lambda: arrangements.independent_conformity([1.0, 100.0], 4.0, 3),
            r"norms reach 100, and v = 4.0; give a product of at most 300",
        ),
    ],
)
def test_what_is_out_of_range(call, message):
    with pytest.raises(ValueError, match=message):
        call()
