"""Colours and words that read on both grounds, labels that do not collide, figures and tables as pages show them."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from rfcore import plotting
from rfcore.plotting import curves, figures

LIGHT, DARK = "#ffffff", "#14181e"  # grounds of the book's theme
INKS = {LIGHT: "#48566b", DARK: "#9ca4af"}  # its quiet text, in which figures are drawn
WORDS = {"caption": "Ours. A line.", "alt": "A line that rises."}


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


@pytest.mark.parametrize("ground", INKS)
def test_words_in_a_figure_read_on_light_and_on_dark(ground):
    assert contrast(INKS[ground], ground) >= 4.5
    for name, colour in plotting.COLOURS.items():
        mixed = figures.WORD_SHARE * np.array(to_rgb(colour)) + (1 - figures.WORD_SHARE) * np.array(to_rgb(INKS[ground]))
        assert contrast(mixed, ground) >= 4.5, name


def test_every_label_has_a_colour():
    assert set(plotting.LABELS) <= set(plotting.COLOURS)


@given(heights=st.lists(st.floats(0, 500), max_size=8), gap=st.floats(1, 40))
def test_spread_keeps_order_and_distance(heights, gap):
    heights = np.array(heights)
    placed = curves._spread(heights, gap)
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


def drawing(size=plotting.PANEL, points=10, colour="simplex"):
    fig = Figure(figsize=size)
    ax = fig.subplots()
    ax.plot([0, 1], [0, 1], "o-", color=plotting.COLOURS[colour])
    ax.text(0.5, 0.5, "words", fontsize=points, color=plotting.COLOURS[colour])
    return fig


def test_a_figure_is_the_same_in_every_run_and_wears_the_ink_of_the_page():
    pages = [plotting.as_html(drawing(), drawing(), **WORDS) for _ in range(2)]
    assert pages[0] == pages[1]
    assert plotting.INK not in pages[0] and "currentColor" in pages[0]
    assert f"fill: color-mix(in srgb, {plotting.COLOURS['simplex']} 55%, currentColor)" in pages[0]
    assert re.findall(r"<date|rdf|id=\"figure", pages[0]) == []


def test_names_within_a_page_are_given_once_and_none_is_missing():
    page = plotting.as_html(drawing(), drawing(), **WORDS) + plotting.as_html(drawing(colour="iid"), **WORDS)
    names = re.findall(r' id="([^"]*)"', page)
    assert len(set(names)) == len(names) > 0
    assert set(re.findall(r"(?:url\(|href=\")#([^)\"]+)", page)) == set(names)


def test_words_are_escaped_and_maths_between_dollars_is_left_to_the_page():
    page = plotting.as_html(drawing(), caption='Paper\'s Figure 7. <b> & $a < b$.', alt='"<x>"')
    assert "<figcaption>Paper&#x27;s Figure 7. &lt;b&gt; &amp; <span" in page
    assert r">\(a &lt; b\)</span>." in page
    assert 'aria-label="&quot;&lt;x&gt;&quot;"' in page


def test_what_sticks_out_of_a_figure_is_not_cut_off():
    fig = drawing()
    fig.text(1.4, 0.5, "far out")
    (width,) = re.findall(r"<svg[^>]*\"width: (\d+)px", plotting.as_html(fig, **WORDS))
    assert int(width) > 1.4 * 96 * plotting.PANEL[0]


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        ({"caption": ""}, "caption"), ({"caption": None}, "caption"), ({"alt": " "}, "alt"), ({"alt": 3}, "alt"),
        ({"caption": "Figure 7."}, "Paper's"), ({"caption": "Oursine."}, "Paper's"),
        ({"figures": ()}, "at least one"), ({"figures": ["no figure"]}, "at least one"),
        ({"figures": [drawing(points=6.5)]}, "'words' of 6.5 points .* 8.7 pixels .* larger text"),
        ({"figures": [drawing((6.4, 3.0), 12)]}, "of 10 points .* 7.6 pixels .* at most 5.4 inches"),
    ],
)  # fmt: skip
def test_a_figure_without_words_or_with_words_too_small_is_refused(shown, said):
    shown = WORDS | {"figures": [drawing()]} | shown
    with pytest.raises(ValueError, match=said):
        plotting.as_html(*shown.pop("figures"), **shown)


def test_shown_figures_are_closed(capsys):
    fig, ax = plt.subplots(figsize=plotting.PANEL)
    ax.plot([0, 1])
    plotting.show(fig, **WORDS)
    assert not plt.fignum_exists(fig.number)
    assert capsys.readouterr().out == "Ours. A line. [A line that rises.]\n"
