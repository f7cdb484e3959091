"""Meshes drawn from one side, and to turn by hand."""

import itertools

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from companion.plotting import maps


def test_from_one_side_shows_the_faces_that_look_there_the_nearer_ones_last():
    """A cube of twelve triangles: from a corner three of its sides are seen, two triangles each."""
    corners = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
    faces = ConvexHull(corners).simplices
    outward = np.cross(corners[faces[:, 1]] - corners[faces[:, 0]], corners[faces[:, 2]] - corners[faces[:, 0]])
    inward = np.sum(outward * (corners[faces].mean(axis=1) - 0.5), axis=1) < 0
    faces[inward] = faces[inward][:, ::-1]
    eye = np.array([1.0, -2.0, 3.0])
    depth = corners[faces].mean(axis=1) @ eye
    (fig,) = maps.from_one_side(corners, faces, {"depth": (depth, 0.0, 1.0)}, eye)
    shown = fig.axes[0].collections[0].get_array()
    assert len(shown) == 6
    assert np.all(np.diff(shown) >= 0)
    assert shown.min() > np.median(depth) - 1e-12


def test_sizes_have_other_colours_than_values_with_a_sign():
    corners, faces = np.eye(3), [[0, 1, 2]]
    size, signed = maps.from_one_side(corners, faces, {"size": ([0.5], 0, 1), "signed": ([0.5], -1, 1)}, (1.0, 1.0, 1.0))
    assert size.axes[0].collections[0].get_cmap() == maps.SHADES["sizes"] != signed.axes[0].collections[0].get_cmap()


def test_turntable_refuses_layers_that_do_not_fit():
    corners, faces, words = np.eye(3), [[0, 1, 2]], {"element": "e", "caption": "Ours.", "alt": "A triangle."}
    for layers, message in (({}, "layers"), ({"a": (np.zeros(2), 0, 1)}, "one number per face"), ({"a": ([np.nan], 0, 1)}, "layers")):
        with pytest.raises(ValueError, match=message):
            maps.turntable(corners, faces, layers, **words)
    with pytest.raises(ValueError, match="numbers of vertices"):
        maps.turntable(corners, [[0, 1, 3]], {"a": ([0.0], 0, 1)}, **words)
