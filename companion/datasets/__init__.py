"""The data of the five papers: a registry, three places to look for a file, and loaders.

A loader returns plain things (networkx graphs, trimesh meshes, NumPy arrays in named tuples) and knows
nothing of random features. It looks for its files in the cache, then in the mirror that
``RFCORE_DATA_MIRROR`` names, then on the network, and compares what it finds with the sha256 in
``data/registry``.

Where a file is nowhere to be had, a loader raises ``Unavailable``; with ``fallback=True`` it returns a
stand-in of about the same size instead and shows a banner, ``source`` of the result begins with "fallback: "
in place of "registry", and ``fallbacks`` names the set from then on. ``provenance`` says which files were
read.

``python -m companion.datasets`` lists the sets, ``fetch`` downloads them, ``show NAME`` tells all about one.
"""

from companion.datasets.graphs import graph, mesh
from companion.datasets.images import Images, grey, images, resize
from companion.datasets.registry import Entry, File, entries, find
from companion.datasets.stand_ins import FallbackWarning, fallbacks
from companion.datasets.storage import Damaged, Unavailable, provenance
from companion.datasets.tables import (
    Classification,
    Regression,
    Split,
    classification,
    regression,
    small_split,
    split,
)
from companion.datasets.text import Sentences, reviews, sentences
from companion.datasets.traffic import Traffic, traffic
