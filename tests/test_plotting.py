"""Colours that read on both grounds, and labels that do not collide."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from rfcore import plotting

LIGHT, DARK = "#ffffff", "#14181e"  # grounds of the book's theme


def contrast(a, b):
    def luminance(colour):
        rgb = np.array(to_rgb(colour))
        return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    lighter, darker = sorted((luminance(a), luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("name", plotting.COLOURS)
def test_every_colour_reads_on_light_and_on_dark(name):
    assert contrast(plotting.COLOURS[name], LIGHT) >= 3
    assert contrast(plotting.COLOURS[name], DARK) >= 3


def test_every_label_has_a_colour():
    assert set(plotting.LABELS) <= set(plotting.COLOURS)


@given(heights=st.lists(st.floats(0, 500), max_size=8), gap=st.floats(1, 40))
def test_spread_keeps_order_and_distance(heights, gap):
    heights = np.array(heights)
    placed = plotting._spread(heights, gap)
    order = np.argsort(heights, kind="stable")
    assert np.all(np.diff(placed[order]) >= gap - 1e-6)
    if len(heights) and np.all(np.diff(np.sort(heights)) >= gap):
        assert np.allclose(placed, heights)


def test_band_is_one_standard_error_either_side():
    fig, ax = plt.subplots()
    samples = np.array([[1.0, 2.0], [3.0, 6.0]])
    line = plotting.band(ax, [0, 1], samples, "iid")
    assert np.allclose(line.get_ydata(), [2, 4])
    outline = ax.collections[0].get_paths()[0].vertices
    assert outline[:, 1].max() == pytest.approx(4 + 2)
    plotting.label_ends(ax, {"IID": line})
    assert ax.texts[0].get_text() == "IID"
    plt.close(fig)
