"""Simplex Random Features' matrix, product and iteration as printed, against what the library computes in their place."""

import numpy as np
import pytest
from rounding import rounding

from companion.papers.simplex import formulas
from rfcore.couplings import directions, weight_dependent

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("d", [2, 3, 7, 64])
def test_corners_are_those_of_a_regular_simplex_and_sum_to_nothing(d):
    S = formulas.corners(d)
    gram = np.full((d, d), -1 / (d - 1)) + (1 + 1 / (d - 1)) * np.eye(d)
    assert np.allclose(S @ S.T, gram, rtol=0, atol=rounding(8 * d))
    assert np.allclose(S.sum(axis=0), 0, rtol=0, atol=rounding(8 * d))
    assert np.all(S[:, -1] == 0)


@pytest.mark.parametrize("d", [2, 3, 7, 64])
def test_algorithm_1_is_the_product_with_the_corners(d):
    x = RNG.normal(size=d)
    S = formulas.corners(d)
    tolerance = rounding(2 * d + 8, np.abs(S) @ np.abs(x))
    assert np.allclose(formulas.product(x), S @ x, rtol=0, atol=tolerance)
    assert np.allclose(directions.simplex_product(x[:, None])[:, 0], S @ x, rtol=0, atol=tolerance)


def test_a_sweep_turns_each_vector_against_the_sum_of_the_others_in_turn():
    vectors, lengths = RNG.normal(size=(4, 4)), np.array([1.0, 2.0, 3.0, 4.0])
    expected = vectors.copy()
    for i in range(4):
        rest = np.delete(expected, i, axis=0).sum(axis=0)
        expected[i] = -lengths[i] * rest / np.linalg.norm(rest)
    assert np.allclose(formulas.sweep(vectors, lengths), expected, rtol=0, atol=rounding(200, expected))


def test_the_library_balances_as_sweeps_do():
    lengths = np.sqrt(RNG.chisquare(16, 16))
    twice = formulas.sweep(formulas.sweep(lengths[:, None] * formulas.corners(16), lengths), lengths)
    assert np.allclose(weight_dependent.balance(lengths, sweeps=2), twice, rtol=0, atol=rounding(1e5, lengths))
