"""The error of two frequencies at an angle: against draws, and where it is known."""

import numpy as np
import pytest

from companion.papers.simplex.two_frequencies import squared_error_at_angle
from rfcore import theory

X, Y = np.array([0.4, 0.1]), np.array([0.1, 0.3])


@pytest.mark.parametrize("angle", [0.0, 1.0, np.pi / 2, np.pi])
def test_it_is_what_draws_err(angle):
    rng, n = np.random.default_rng(int(10 * angle)), 200_000
    turn = rng.uniform(0, 2 * np.pi, n)
    z = []
    for at in (turn, turn + angle):
        omega = np.sqrt(2 * rng.exponential(size=n)) * np.array([np.cos(at), np.sin(at)])
        z.append(np.exp((X + Y) @ omega - X @ X - Y @ Y))
    errors = ((z[0] + z[1]) / 2 - np.exp(-((X - Y) @ (X - Y)) / 2)) ** 2
    assert abs(errors.mean() - squared_error_at_angle(X, Y, angle)) < 4.5 * errors.std() / np.sqrt(n)


def test_right_angles_and_opposite_ones_are_the_orthogonal_and_the_simplex_coupling():
    known = [float(theory.positive_mse(X, Y, 2, name)) for name in ("orthogonal", "simplex")]
    np.testing.assert_allclose(squared_error_at_angle(X, Y, [np.pi / 2, np.pi]), known, rtol=1e-4)


def test_independent_frequencies_are_the_mean_over_angles():
    angles = np.arange(64) * np.pi / 32
    np.testing.assert_allclose(squared_error_at_angle(X, Y, angles).mean(), float(theory.positive_mse(X, Y, 2, "iid")), rtol=1e-4)


def test_wider_is_better():
    assert np.all(np.diff(squared_error_at_angle(X, Y, np.linspace(0, np.pi, 50))) < 0)
