"""What is used in place of data that cannot be had, and the banner that says so.

Stand-ins are bundled with a package, or generated from a seed: each function takes the registry's entry and
returns data of its shape and a description of them.
"""

import html
import math
import sys
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
from scipy import ndimage, spatial

from companion.datasets.registry import Entry
from companion.datasets.storage import Unavailable


def _seed(entry: Entry) -> int:
    return zlib.crc32(entry.name.encode())


def graph(entry: Entry) -> tuple[nx.Graph, str]:
    """networkx's karate club, without its weights, or connected planted classes of the same size."""
    if entry.name == "karate":
        bundled = nx.karate_club_graph()
        clubs = ("Mr. Hi", "Officer")
        of_node = [clubs.index(club) for _, club in bundled.nodes(data="club")]
        return _plain(bundled, of_node, clubs), "networkx's karate club, unweighted"
    n, edges, k = entry.shape["nodes"], entry.shape["edges"], max(entry.shape["classes"], 1)
    of_node = np.arange(n) * k // n
    ends = _planted(np.random.default_rng(_seed(entry)), of_node, edges)
    g = nx.Graph(ends.tolist())
    names = tuple(map(str, range(entry.shape["classes"])))
    return _plain(g, of_node.tolist(), names), f"a random graph with planted classes, {n} nodes, {edges} edges"


def _planted(rng: np.random.Generator, of_node: np.ndarray, edges: int) -> np.ndarray:
    """Pairs (edges, 2) that connect all nodes; four in five lie within a class, as far as it has room.

    Drawn here and not by networkx, whose generators give other graphs from the same seed in other versions.
    """
    n = len(of_node)
    child = np.arange(1, n)
    # A tree: every node is joined to an earlier one of its class, the first of a class to any earlier one.
    first = np.searchsorted(of_node, of_node[child])
    parent = rng.integers(np.where(first == child, 0, first), child)
    i, j = np.triu_indices(n, 1)
    rank = rng.random(len(i))
    rank[parent * n - parent * (parent + 1) // 2 + child - parent - 1] = -1  # where triu_indices has the pair
    same = of_node[i] == of_node[j]
    n_same = min(4 * edges // 5, 9 * same.sum() // 10) if not same.all() else edges
    chosen = [
        pairs[np.argpartition(rank[pairs], count - 1)[:count]]
        for pairs, count in ((np.flatnonzero(same), n_same), (np.flatnonzero(~same), edges - n_same))
        if count
    ]
    chosen = np.sort(np.concatenate(chosen))
    return np.stack([i[chosen], j[chosen]], axis=1)


def _plain(g: nx.Graph, of_node: list[int], classes: tuple[str, ...]) -> nx.Graph:
    plain = nx.Graph(classes=classes, self_loops_dropped=0)
    for i, label in enumerate(of_node):
        plain.add_node(i, label=str(i), **({"class": label} if classes else {}))
    plain.add_edges_from(g.edges())
    return plain


def mesh(entry: Entry):
    """One of trimesh's primitives: the torus and the cylinder for their namesakes, else a sphere."""
    from trimesh import creation

    faces = entry.shape["faces"]
    if entry.name == "torus":
        return creation.torus(1.0, 0.4, major_sections=75, minor_sections=faces // 150), "trimesh's torus"
    if entry.name == "cylinder":
        return creation.cylinder(radius=1.0, height=2.0, sections=faces // 4), "trimesh's cylinder"
    sphere = creation.icosphere(subdivisions=round(math.log(faces / 20, 4)))
    return sphere, f"trimesh's sphere of {len(sphere.faces)} faces"


def classification(entry: Entry):
    """Points around one Gaussian centre per class."""
    rng = np.random.default_rng(_seed(entry))
    n, d, k = entry.shape["rows"], entry.shape["columns"], entry.shape["classes"]
    y = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    X = rng.standard_normal((k, d))[y] + rng.standard_normal((n, d))
    return (X, y, tuple(map(str, range(k)))), f"{k} Gaussian clouds, {n} points in {d} dimensions"


def regression(entry: Entry):
    """A smooth function of Gaussian inputs, with noise."""
    rng = np.random.default_rng(_seed(entry))
    n, d = entry.shape["rows"], entry.shape["columns"]
    X = rng.standard_normal((n, d))
    y = np.sin(X @ rng.standard_normal(d) / np.sqrt(d)) + X[:, 0] + 0.3 * rng.standard_normal(n)
    return (X, y), f"a noisy sine of {n} Gaussian points in {d} dimensions"


def traffic(entry: Entry):
    """A random road network with sensors, and speeds that vary smoothly over the plane."""
    rng = np.random.default_rng(_seed(entry))
    n, roads, k, times = (entry.shape[key] for key in ("vertices", "roads", "sensors", "times"))
    vertices = rng.random((n, 2)) * 0.2 + np.array([-122.05, 37.25])
    metres = spatial.distance.cdist(vertices, vertices) * 1e5
    earlier = np.where(np.tri(n, k=-1, dtype=bool), metres, np.inf).argsort(axis=1)[:, :2]
    # Every place is joined to the nearest of those before it, which makes a tree, some also to the next.
    tree = [(i, earlier[i, 0]) for i in range(1, n)]
    ends = np.array(tree + [(i, earlier[i, 1]) for i in range(2, 2 + roads - len(tree))])
    lengths = metres[tuple(ends.T)]
    road = rng.integers(roads, size=k)
    offset = (0.05 + 0.9 * rng.random(k)) * lengths[road]
    share = (offset / lengths[road])[:, None]
    places = vertices[ends[road, 0]] * (1 - share) + vertices[ends[road, 1]] * share
    speeds = 45 + 15 * np.sin(places @ [40.0, 30.0]) + 5 * rng.standard_normal((times, k))
    ids, dates = tuple(f"sensor {i}" for i in range(k)), tuple(f"week {t}" for t in range(times))
    return (vertices, ends, lengths, road, offset, places, ids, dates, speeds), "a random road network"


def images(entry: Entry):
    """Blurred noise, one pattern per class with variations."""
    rng = np.random.default_rng(_seed(entry))
    n = entry.shape["images"]
    size = (entry.shape["channels"], entry.shape["height"], entry.shape["width"])
    labels = rng.integers(10, size=n).astype(np.uint8)
    patterns = ndimage.gaussian_filter(rng.standard_normal((10, *size)), (0, 0, 3, 3))
    patterns *= 60 / patterns.std()
    noise = 30 * rng.standard_normal((n, *size), dtype=np.float32)
    pixels = np.clip(128 + patterns.astype(np.float32)[labels] + noise, 0, 255).astype(np.uint8)
    return (pixels, labels), f"{n} images of ten blurred patterns with noise"


def sentences(entry: Entry, part: str):
    """Sentences of fifteen words, four of which say the label."""
    rng = np.random.default_rng(_seed(entry))
    labels = rng.integers(2, size=entry.shape[part])
    words = (("dull", "clumsy", "tedious", "hollow"), ("warm", "witty", "moving", "sharp"))
    nouns = ("film", "story", "plot", "comedy", "drama", "cast")
    picks = rng.integers(24, size=(len(labels), 4))
    texts = tuple(
        " and ".join(f"a {words[y][i % 4]} {nouns[i // 4]}" for i in row) for y, row in zip(labels, picks, strict=True)
    )
    return (texts, labels), f"{len(texts)} sentences of the form 'a witty film and a sharp plot'"


def reviews(entry: Entry):
    """Eighty sentences of four words one after the other, mostly of one opinion."""
    rng = np.random.default_rng(_seed(entry))
    n = entry.shape["reviews"]
    labels = rng.integers(2, size=n)
    (texts, of_text), _ = sentences(entry._replace(shape={"all": 200}), "all")
    by_label = np.array([[text for text, y in zip(texts, of_text, strict=True) if y == label][:80] for label in (0, 1)], object)
    opinions = np.where(rng.random((n, 80)) < 0.8, labels[:, None], 1 - labels[:, None])
    whole = map(". ".join, by_label[opinions, rng.integers(80, size=(n, 80))])
    return (tuple(whole), labels), f"{n} reviews of 80 sentences of the form 'a witty film'"


def encoder(entry: Entry):
    """Random weights of BERT's names and shapes, for 1000 words that a hash numbers."""
    rng = np.random.default_rng(_seed(entry))
    width, n_words = entry.shape["columns"], 1000
    weights = {}

    def linear(name, rows, columns, spread=0.0):
        weights[f"{name}.weight"] = (spread or columns**-0.5) * rng.standard_normal((rows, columns), np.float32)
        weights[f"{name}.bias"] = np.zeros(rows, np.float32)

    def norm(name):
        weights[f"{name}.weight"], weights[f"{name}.bias"] = np.ones(width, np.float32), np.zeros(width, np.float32)

    for name, rows in (("word", n_words), ("position", 512), ("token_type", 2)):
        linear(f"embeddings.{name}_embeddings", rows, width, 1.0)
    norm("embeddings.LayerNorm")
    for name in (f"encoder.layer.{i}" for i in range(entry.shape["layers"])):
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            linear(f"{name}.attention.{part}", width, width)
        linear(f"{name}.intermediate.dense", 4 * width, width)
        linear(f"{name}.output.dense", width, 4 * width)
        norm(f"{name}.attention.output.LayerNorm")
        norm(f"{name}.output.LayerNorm")

    def pieces(text, max_length):
        return [*(2 + zlib.crc32(word.encode()) % (n_words - 2) for word in text.split()[: max_length - 1]), 1]

    return (weights, pieces), f"an untrained encoder of {entry.shape['layers']} layers, with {n_words} words"


_fallen: dict[str, str] = {}


class FallbackWarning(UserWarning):
    """A stand-in is used in place of a data set."""


def fallbacks() -> tuple[str, ...]:
    """Names of the sets for which this process uses a stand-in, in the order of their first use.

    A claim about a set named here has not been put to the test.
    """
    return tuple(_fallen)


def real_or_stand_in(
    entry: Entry, read: Callable[[], Any], stand_in: Callable[[Entry], tuple[Any, str]], fallback: bool
) -> tuple[Any, str]:
    """Data and where they come from: ``read()`` or, where ``fallback`` allows it, a stand-in.

    The second is "registry" or "fallback: ...". ``stand_in`` returns the data and what they are. Damaged
    files are an error in either case.
    """
    try:
        return read(), "registry"
    except Unavailable as error:
        if not fallback:
            raise
        reason = error
    data, what = stand_in(entry)
    _announce(entry, what, reason)
    return data, f"fallback: {what}"


def _announce(entry: Entry, what: str, reason: Unavailable) -> None:
    if entry.name in _fallen:
        return
    _fallen[entry.name] = what
    text = (
        f"STAND-IN DATA for {entry.name} ({entry.title}): {what}. Nothing below speaks of the real data; "
        f"claims about them are not run. {reason}"
    )
    if not _shown_in_notebook(text):
        warnings.warn(text, FallbackWarning, stacklevel=4)


def _shown_in_notebook(text: str) -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or not hasattr(shell, "kernel"):
        return False
    from IPython.display import HTML, display

    style = "border:2px solid #b45309;background:#fef3c7;color:#451a03;padding:.6em 1em;font-weight:600"
    display(HTML(f'<div class="rfcore-stand-in" style="{style}">{html.escape(text)}</div>'))
    return True
