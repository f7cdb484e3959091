"""What moves: one figure of several is shown without a script, walkers visit the nodes that they are given."""

import html
import json
import re

import numpy as np
import pytest
from matplotlib.figure import Figure

from companion import plotting
from companion.plotting import COLOURS, motion

WORDS = {"caption": "Ours. A test.", "alt": "Lines."}
PLACE, EDGES = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [[0, 1], [1, 2]]
PATHS = {"one": [[0, 1, 2], [2, 1, 0]]}


def drawn(k):
    fig = Figure(figsize=plotting.PANEL)
    fig.subplots().plot([0, 1], [0, k])
    return fig


@pytest.fixture
def page(monkeypatch):
    found = []
    monkeypatch.setattr(motion, "deliver", lambda page, words: found.append(page))
    return found


def test_a_slider_has_all_figures_and_shows_one_of_them(page):
    motion.frames([drawn(k) for k in range(3)], ["a", "b & c", "d"], slider="which", **WORDS)
    svgs = re.findall(r"<svg [^>]*>", page[0])
    assert ["visibility: hidden" in svg for svg in svgs] == [False, True, True]
    told = json.loads(html.unescape(re.search(r'data-frames="([^"]*)"', page[0])[1]))
    assert told == {"slider": "which", "labels": ["a", "b & c", "d"]}
    assert page[0].endswith("</script>\n</figure>")  # within the figure that it moves


@pytest.mark.parametrize(("figures", "labels"), [(2, ["a"]), (1, ["a"])])
def test_figures_need_a_label_each(figures, labels):
    with pytest.raises(ValueError, match="; give "):
        motion.frames([drawn(k) for k in range(figures)], labels, slider="which", **WORDS)


def test_walkers_rest_at_their_nodes_in_order(page):
    motion.walkers(PLACE, EDGES, PATHS, colours=["systematic"], **WORDS)
    rings = np.array(re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="11"/>', page[0]), dtype=float)
    assert rings.shape == (3, 2) and rings[0, 1] > rings[2, 1]  # the second coordinate points up
    rules = re.findall(r"@keyframes (walkers-0-\d)\{(.*?)\}\}", page[0])
    assert [name for name, _ in rules] == ["walkers-0-0", "walkers-0-1"]
    for (_, rule), nodes in zip(rules, PATHS["one"], strict=True):
        places = np.array(re.findall(r"translate\(([-\d.]+)px,([-\d.]+)px\)", rule), dtype=float)
        assert np.abs(places - rings[nodes]).max() < 22  # beside the middle of the node
    assert page[0].count('class="walker"') == 2 and COLOURS["systematic"] in page[0]


def test_walkers_can_be_stopped_and_stand_where_less_motion_is_asked_for(page):
    motion.walkers(PLACE, EDGES, PATHS, colours=["systematic"], **WORDS)
    assert re.search(r"prefers-reduced-motion: reduce\)[^{]*\{\.rfcore-walkers \.walker \{animation: none", page[0])
    assert re.search(r":has\(input:checked\) \.walker \{animation-play-state: paused", page[0])
    assert '<label><input type="checkbox"> Stop' in page[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"edges": [[0, 3]]}, "edges has values"),
        ({"edges": [0, 1]}, "give pairs of nodes"),
        ({"paths": {"one": [[0, 3]]}}, r"paths\['one'\] has values"),
        ({"colours": ["no such"]}, "colours = 'no such'"),
        ({"colours": ["iid", "simplex"]}, "a colour per title"),
        ({"caption": "Mine."}, "caption = 'Mine.'"),
    ],
)
def test_what_does_not_fit_is_a_value_error_that_helps(change, said):
    with pytest.raises(ValueError, match=said):
        motion.walkers(**({"place": PLACE, "edges": EDGES, "paths": PATHS, "colours": ["iid"]} | WORDS | change))
