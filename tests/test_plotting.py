"""Colours and words that read on both grounds, labels that do not collide, figures and tables as pages show them."""

import ast
import itertools
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from contrast import DARK, INKS, LIGHT, contrast
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from companion import plotting
from companion.plotting import curves, figures, tables
from rfcore import copulas

ROOT = Path(__file__).parents[1]
WORDS = {"caption": "Ours. A line.", "alt": "A line that rises."}


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


SAME = [{"orthogonal", "orthogonal_fast"}, {"simplex", "simplex_fast"}, {"orthogonal_pm", "comonotone"}, {"orthogonal_pnc", "reversal"}]


def test_a_colour_means_one_thing():
    shared = [
        {a, b} for (a, one), (b, other) in itertools.combinations(plotting.COLOURS.items(), 2)
        if np.abs(np.subtract(to_rgb(one), to_rgb(other))).max() < 0.04
    ]  # fmt: skip
    assert all(pair in SAME for pair in shared), shared
    assert len(shared) == len(SAME)


def test_every_label_has_a_colour_and_every_law_has_both():
    assert set(plotting.LABELS) <= set(plotting.COLOURS)
    for copula in copulas.COPULAS.values():
        names = {name for name, other in copulas.COPULAS.items() if other == copula}
        assert names & set(plotting.LABELS), f"give {copula} a colour and a label in plotting/mechanisms.toml"


# Words of pages for what has a colour, besides its label. A law of that name counts too, drawn or not; colours that a tuple
# gives are not read.
WORDS_FOR = {
    "iid": {"independent", "matrix"},  # a matrix of independent numbers
    "orthogonal": {"independent norms"},
    "orthogonal_pnc": {"PNC"},
    "orthogonal_pm": {"equal norms"},
    "orthogonal_copula": {"simplex copula"},
    "simplex": {"m of 64 corners"},
    "stratified": {"strata in blocks", "two stratified hops"},
    "antithetic": {"antithetic"},
    "reversal": {"reversal (σ)"},
    "permutation": {"σ", "σ-coupled", "Eq. 56"},
    "halton": {"Halton, shifted"},
    "sobol": {"Sobol', turned"},
    "tight": {"result"},  # of tight frames, beside their kernel's
    "optimised": {"any coupling", "optimal law"},
    "trigonometric": {"cosines of random phase"},
    "positive": {"positive features", "RLF"},
    "diffusion": {"estimated kernel, same start", "estimated", ""},
}
ROLES = {"exact", "uniform", "fault", "paper", "first", "second", "third", "fourth"}  # of no mechanism


def written_beside_colours():
    """(page, words, name of the colour) of the tables of pages, ``{"PNC": "orthogonal_pnc"}``."""
    for page in sorted((ROOT / "notebooks").glob("*/[0-9]*.py")):
        text = re.sub(r"^%.*$", "", page.read_text(encoding="utf-8"), flags=re.M)
        for table in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Dict)):
            for words, name in zip(table.keys, table.values, strict=True):
                if isinstance(words, ast.Constant) and isinstance(name, ast.Constant) and name.value in plotting.COLOURS:
                    yield page.stem, str(words.value), name.value


def test_a_mechanism_has_one_colour_in_the_whole_book():
    known = {name: {plotting.LABELS.get(name)} | WORDS_FOR.get(name, set()) for name in plotting.COLOURS if name not in ROLES}
    found = list(written_beside_colours())
    assert len(found) > 80
    assert [(page, words, name) for page, words, name in found if name not in ROLES and words not in known[name]] == []
    taken = set().union(*known.values())
    assert [(page, words, name) for page, words, name in found if name in ROLES and words in taken] == []
    unused = {(name, words) for name, several in WORDS_FOR.items() for words in several} - {(name, words) for _, words, name in found}
    assert unused == set()


@given(heights=st.lists(st.floats(0, 500), max_size=8), gap=st.floats(1, 40))
def test_spread_keeps_order_and_distance(heights, gap):
    heights = np.array(heights)
    placed = curves._spread(heights, gap)
    order = np.argsort(heights, kind="stable")
    assert np.all(np.diff(placed[order]) >= gap - 1e-6)
    if len(heights) and np.all(np.diff(np.sort(heights)) >= gap):
        assert np.allclose(placed, heights)


@given(heights=st.lists(st.floats(0, 100), min_size=1, max_size=8), gap=st.floats(1, 14))
def test_spread_stays_between_bounds_and_is_nearest_there(heights, gap):
    heights, lowest, highest = np.array(heights), 0.0, 100.0
    placed = curves._spread(heights, gap, lowest, highest)
    assert np.all(np.diff(np.sort(placed)) >= gap - 1e-6)
    assert lowest - 1e-9 <= placed.min() and placed.max() <= highest + 1e-9
    free = curves._spread(heights, gap)
    if lowest <= free.min() and free.max() <= highest:
        assert np.allclose(placed, free)


def test_spread_without_room_ignores_the_bounds():
    heights = np.array([3.0, 1.0, 2.0])
    assert np.allclose(curves._spread(heights, 60.0, 0.0, 100.0), curves._spread(heights, 60.0))


def test_no_label_lies_on_the_axis():
    ax = Figure(figsize=plotting.PANEL).subplots()
    lines = {name: ax.plot([0, 1], [1, 0])[0] for name in ("one", "two", "three")}
    ax.set_ylim(0, 1)
    plotting.label_ends(ax, lines)
    heights = [ax.transData.transform(text.xy)[1] * 72 / ax.figure.dpi + text.xyann[1] for text in ax.texts]
    assert min(heights) - ax.bbox.y0 * 72 / ax.figure.dpi >= 5


def test_labels_stand_at_the_ends_of_lines_whose_limits_nobody_has_set():
    ax = Figure(figsize=plotting.PANEL).subplots()
    line = ax.plot([0, 1], [400.0, 100.0])[0]
    plotting.label_ends(ax, {"one": line})
    assert ax.get_ylim()[0] > 50  # set now, if not before
    assert abs(ax.texts[0].xyann[1]) <= 4  # points from the end; only what keeps names off the axis


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
    assert f"fill: color-mix(in srgb, {plotting.COLOURS['simplex']} 50%, currentColor)" in pages[0]
    assert re.findall(r"<date|rdf|id=\"figure", pages[0]) == []


def test_names_within_a_page_are_given_once_and_none_is_missing():
    page = plotting.as_html(drawing(), drawing(), **WORDS) + plotting.as_html(drawing(colour="iid"), **WORDS)
    names = re.findall(r' id="([^"]*)"', page)
    assert len(set(names)) == len(names) > 0
    assert set(re.findall(r"(?:url\(|href=\")#([^)\"]+)", page)) == set(names)


def test_words_are_escaped_and_maths_between_dollars_is_left_to_the_page():
    page = plotting.as_html(drawing(), caption='Re-run: Figure 7. <b> & $a < b$.', alt='"<x>"')
    assert "<figcaption>Re-run: Figure 7. &lt;b&gt; &amp; <span" in page
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
        ({"caption": "Figure 7."}, "Re-run:"), ({"caption": "Oursine."}, "Re-run:"),
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


RNG = np.random.default_rng(0)
X = np.array([2, 4, 8, 16])
SAMPLES = RNG.lognormal(0, 0.3, (20, 3, 2, 4)) * X**-0.5
PANELS = {"lines": ("iid", "sobol"), "panels": ("a", "b", "c"), "x_label": "walkers", "y_label": "error"}


def test_panels_show_means_with_bands_on_common_limits_and_name_their_lines():
    drawn = plotting.panels(X, SAMPLES, guide=(-0.5, -1), predicted=np.full((3, 2, 4), 0.1), levels={"paper": [1, 2, 3]}, **PANELS)
    assert len({fig.axes[0].get_ylim() for fig in drawn}) == 1
    for p, (fig, title) in enumerate(zip(drawn, "abc", strict=True)):
        (ax,) = fig.axes
        solid = [line for line in ax.lines if line.get_marker() == "o"]
        assert np.allclose([line.get_ydata() for line in solid], SAMPLES[:, p].mean(axis=0))
        assert (ax.get_title(loc="left") or ax.get_title()) == title
        assert [text.get_text() for text in ax.texts] == ["IID", "Sobol'", "paper", "slope −1/2", "slope −1"]
        assert ax.get_xlabel() == "walkers"  # bands can be seen
        assert [label.get_text() for label in ax.get_xticklabels()] == ["2", "4", "8", "16"]
        labels = [label.get_text() for label in ax.get_yticklabels()]
        assert len(labels) >= 3 and all(float(label) > 0 for label in labels)
        guide = ax.lines[-2].get_ydata()
        assert np.allclose(guide[1:] / guide[:-1], 2**-0.5)
        assert np.all(guide < SAMPLES[:, p].mean(axis=0))
        assert ax.lines[-3].get_ydata().tolist() == [p + 1, p + 1]
        assert sum(bool(np.all(line.get_ydata() == 0.1)) for line in ax.lines) == 2


@pytest.mark.parametrize(("log", "said"), [("xy", "0.5 %"), ("x", "0.001")])
def test_where_no_band_can_be_seen_the_errors_are_said(log, said):
    samples = np.array([0.7, 0.6, 0.5, 0.2]) + 0.00095 * np.array([-1, 1])[:, None, None]  # standard error 0.00095
    (fig,) = plotting.panels(X, samples, log=log, x_label="walkers", y_label="error", lines=["iid"])
    assert fig.axes[0].get_xlabel() == f"walkers\n(standard errors below {said})"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"samples": SAMPLES[:1]}, "two repeats"), ({"samples": SAMPLES[:, 0]}, "samples has shape"),
        ({"samples": SAMPLES[:, :2]}, "for 3 panels and 2 lines"), ({"samples": np.full_like(SAMPLES, np.nan)}, "NaN"),
        ({"samples": -SAMPLES}, "leave 'y' out of log"), ({"x": X[::-1]}, "that rise"), ({"x": X[:3]}, "give 4 of them"),
        ({"lines": ("iid", "nobody")}, "colour of a line = 'nobody'"), ({"lines": ("iid", "iid")}, "each once"),
        ({"lines": {"one": "iid", "two": 3}}, "colour of a line = 3"), ({"lines": ()}, "at least one name"),
        ({"log": "yx"}, "log = 'yx'"), ({"guide": "steep"}, "guide"), ({"predicted": np.ones((2, 4))}, "predicted has shape"),
        ({"levels": {"paper": [1, 2]}}, r"levels\['paper'\] has shape"),
    ],
)  # fmt: skip
def test_panels_of_what_does_not_fit_are_refused(changed, said):
    with pytest.raises(ValueError, match=said):
        plotting.panels(**{"x": X, "samples": SAMPLES} | PANELS | changed)


def test_bars_stand_in_rows_with_their_errors_and_what_is_printed():
    values, errors = np.array([[0.1, 0.2], [0.3, np.nan], [0.5, 0.6]]), np.full((3, 2), 0.02)
    words = {"rows": "abc", "columns": {"ours": "iid", "other": "sobol"}, "x_label": "error"}
    (ax,) = plotting.bars(values, errors, printed=[0.1, 0.3, np.nan], **words).axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]
    assert ax.yaxis_inverted()
    dots = [container.lines[0].get_xdata() for container in ax.containers]
    assert np.array_equal(dots, values.T, equal_nan=True)
    ends = [container.lines[2][0].get_segments() for container in ax.containers]
    assert np.allclose(ends[0][0][:, 0], [0.08, 0.12])
    assert np.array_equal(ax.lines[-1].get_xdata(), [0.1, 0.3, np.nan], equal_nan=True)
    each = plotting.bars(values, printed=values, **words).axes[0].lines[-1]
    assert np.array_equal(each.get_xdata(), values.ravel(), equal_nan=True) and len(set(each.get_ydata())) == 6
    for changed in ({"values": values.T}, {"errors": errors[:2]}, {"printed": [1, 2]}, {"log": "y"}, {"columns": ["nobody"]}):
        with pytest.raises(ValueError, match="|".join(changed) if "columns" not in changed else "colour of a line"):
            plotting.bars(**{"values": values, "errors": errors} | words | changed)


@pytest.mark.parametrize(
    ("value", "error", "written"),
    [
        (0.123456, 0.0031, "0.1235 ± 0.0031"), (0.5, 0.0996, "0.50 ± 0.10"), (1234.5, 32.0, "1,234 ± 32"), (-2.0, 0.9951, "-2.0 ± 1.0"),
        (123456.0, 3210.0, "123,500 ± 3,200"), (9.88e-7, 1.2e-8, "(9.88 ± 0.12) × 10^-7"), (0.0, 0.01, "0.000 ± 0.010"),
        (0.12345, 0.0, "0.123"), (0.12345, 1e-17, "0.123"), (1234.4, np.nan, "1,234"), (9.88e-7, 0.0, "9.88 × 10^-7"), (0.0, 0.0, "0"),
        (0.1, 0.0, "0.1"), (0.09999, 0.0, "0.100"), (-0.2499, 0.0, "-0.250"), (5.8001, 0.0, "5.80"), (20.01, 0.0, "20.0"),
        (100.2, 0.0, "100"), (999.6, 0.0, "1,000"), (7, 0.0, "7"), (0.1 + 0.2, 0.0, "0.3"),
        (np.nan, 0.1, ""),
    ],
)  # fmt: skip
def test_a_number_is_written_with_its_error_to_two_digits(value, error, written):
    assert tables._number(value, error) == written


def test_a_table_scrolls_in_its_box_and_shows_what_is_printed_beside_ours(monkeypatch):
    pages = []
    monkeypatch.setattr(tables, "deliver", lambda page, words: pages.append(page))
    words = {"rows": ["<a>", "b"], "columns": ["$x$"], "caption": "Re-run: Table 2. Errors."}
    plotting.table([[0.5], [2e-7]], [[0.1], [0]], printed=[[".52"], [None]], unit="seconds", corner="graph", **words)
    (page,) = pages
    assert '<div style="overflow-x: auto' in page and "Re-run: Table 2. Errors. In seconds." in page
    assert "<td>0.50 ± 0.10<br><small>paper .52</small></td>" in page and "<td>2.00 × 10<sup>-7</sup></td>" in page
    assert '<th scope="row">&lt;a&gt;</th>' in page and r"\(x\)</span></th>" in page
    for changed in ({"values": [0.5, 1]}, {"errors": [[1.0]]}, {"printed": [["1"]]}, {"caption": "Table 2."}, {"caption": None}):
        with pytest.raises(ValueError, match=next(iter(changed))):
            plotting.table(**{"values": [[0.5], [1]]} | words | changed)


@pytest.mark.parametrize(("low", "high"), [(0.99, 1.01), (0.18, 0.31), (0.03, 0.3), (1e-3, 0.5), (1e-9, 3), (2e4, 3e8)])
def test_a_logarithmic_axis_has_a_few_plain_numbers(low, high):
    samples = np.geomspace(high, low, 4) * np.array([0.999, 1.001])[:, None, None]
    (fig,) = plotting.panels(X, samples, lines=["iid"], x_label="x", y_label="y")
    labels = [label.get_text() for label in fig.axes[0].get_yticklabels()]
    assert 3 <= len(labels) <= 12 and len(set(labels)) == len(labels)
    written = [float(re.sub(r"\$(?:([\d.]+) \\cdot )?10\^\{(-?\d+)\}\$", lambda m: f"{m[1] or 1}e{m[2]}", label)) for label in labels]
    assert np.allclose(written, fig.axes[0].get_yticks(), rtol=1e-9, atol=0)


@pytest.mark.parametrize("x", [2 ** np.arange(8), 1000 * 2 ** np.arange(12, 19), np.arange(1, 151, 25), np.linspace(-1, 1, 11)])
@pytest.mark.parametrize("log", ["xy", "y"])
def test_numbers_of_x_stand_apart_and_the_largest_is_there(x, log):
    x, samples = x + (x.min() <= 0) * (1 - x.min()), np.geomspace(1, 1e-14, len(x)) * np.array([0.9, 1.1])[:, None, None]
    lines = {"a coupling of a long name": "iid"}
    (fig,) = plotting.panels(x, samples, lines=lines, x_label="x", y_label="y", log=log, size=plotting.PANEL)
    (ax,) = fig.axes
    shown = [label for label in ax.get_xticklabels() if label.get_visible() and label.get_text()]
    fig.draw_without_rendering()
    boxes = [label.get_window_extent() for label in shown]
    assert all(left.x1 + 1 < right.x0 for left, right in itertools.pairwise(boxes))
    assert not any("e+" in label.get_text() for label in shown)
    assert len(x) > 8 or shown[-1].get_position()[0] == x[-1]
    assert 3 <= len(ax.get_yticks()) <= 8


def test_tiles_say_who_is_best_and_how_good():
    best, numbers = np.array([[0, 1, -1], [2, 1, 1]]), np.array([[51.6, 9, np.nan], [7, 8, 3]])
    made = {"names": ("iid", "sobol", "simplex"), "rows": (2, 4), "columns": (8, 16, 32)}
    made |= {"x_label": "m", "y_label": "d"}
    fig = plotting.tiles(best, numbers, **made)
    assert [text.get_text() for text in fig.axes[0].texts] == ["52", "9", "7", "8", "3"]
    faces = [patch.get_facecolor()[:3] for patch in fig.axes[0].patches]
    assert faces == [to_rgb(plotting.COLOURS[made["names"][n]]) for n in best[best >= 0]]
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["IID", "Sobol'", "simplex"]
    for wrong in ({"best": best[:1]}, {"best": best + 1}, {"numbers": numbers * np.nan}, {"best": np.full((2, 3), -1)}):
        with pytest.raises(ValueError, match="; give "):
            plotting.tiles(**{"best": best, "numbers": numbers, **made, **wrong})
