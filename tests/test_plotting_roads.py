"""Maps of roads: the colour of a road is the mean of its ends."""

import numpy as np
import pytest

from companion.plotting.maps import road_map

PLACE, ROADS, VALUES = [[0, 0], [1, 0], [1, 1]], [[0, 1], [1, 2]], [50.0, 60.0, 90.0]


def test_colours_are_means_of_the_two_ends():
    (lines,) = road_map(PLACE, ROADS, VALUES, "speed", (0, 100)).axes[0].collections
    np.testing.assert_allclose(lines.get_array(), [55.0, 75.0])
    np.testing.assert_allclose(lines.get_segments()[1], [[1, 0], [1, 1]])


def test_what_was_measured_is_dots_on_bare_roads():
    ax = road_map(PLACE, ROADS, [70.0], "speed", (0, 100), at=[2]).axes[0]
    (dots,), (roads,) = ax.collections, ax.lines
    np.testing.assert_allclose(dots.get_offsets(), [[1, 1]])
    np.testing.assert_allclose(dots.get_array(), [70.0])
    np.testing.assert_allclose(roads.get_xydata()[:2], [[0, 0], [1, 0]])
    assert np.isnan(roads.get_xydata()[2]).all()


@pytest.mark.parametrize("roads, values", [([[0, 3]], VALUES), ([[0, 1, 2]], VALUES), (ROADS, VALUES[:2])])
def test_what_does_not_fit_is_a_value_error_that_helps(roads, values):
    with pytest.raises(ValueError, match="; give "):
        road_map(PLACE, roads, values, "speed", (0, 100))
