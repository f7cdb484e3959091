"""The data of the five papers: a registry, three places to look for a file, and loaders.

A loader returns plain things (networkx graphs, trimesh meshes, NumPy arrays in named tuples) and knows
nothing of random features. It looks for its files in the cache, then in the mirror that
``RFCORE_DATA_MIRROR`` names, then on the network, and compares what it finds with the sha256 in
``data/registry``.

Where a file is nowhere to be had, a loader raises `Unavailable`; with ``fallback=True`` it returns a stand-in
instead, shows a banner, and `fallbacks` names the set from then on. `provenance` says which files were read.

``python -m rfcore.datasets`` lists the sets, ``fetch`` downloads them, ``show NAME`` tells all about one.
"""

from rfcore.datasets.fallback import FallbackWarning, fallbacks
from rfcore.datasets.graphs import graph
from rfcore.datasets.images import Images, images
from rfcore.datasets.meshes import mesh
from rfcore.datasets.registry import Entry, File, entries, find
from rfcore.datasets.resizing import grey, resize
from rfcore.datasets.storage import Damaged, Unavailable, provenance
from rfcore.datasets.tables import (
    Classification,
    Regression,
    Split,
    classification,
    regression,
    small_split,
    split,
)
from rfcore.datasets.text import Sentences, sentences
from rfcore.datasets.traffic import Traffic, traffic

__all__ = [
    "Classification",
    "Damaged",
    "Entry",
    "FallbackWarning",
    "File",
    "Images",
    "Regression",
    "Sentences",
    "Split",
    "Traffic",
    "Unavailable",
    "classification",
    "entries",
    "fallbacks",
    "find",
    "graph",
    "grey",
    "images",
    "mesh",
    "provenance",
    "regression",
    "resize",
    "sentences",
    "small_split",
    "split",
    "traffic",
]
