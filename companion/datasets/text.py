"""Sentences with labels."""

import csv
import io
from typing import NamedTuple

import numpy as np

from companion.datasets import registry, stand_ins, storage
from companion.datasets.stand_ins import real_or_stand_in
from rfcore import checks


class Sentences(NamedTuple):
    """Sentences and their labels."""

    texts: tuple[str, ...]
    labels: np.ndarray
    """Shape (n,), int64: 1 for praise, 0 for blame."""
    part: str
    source: str


def sentences(part: str = "train", *, fallback: bool = False) -> Sentences:
    """Load a part of SST-2: ``"train"`` (60 614), ``"dev"`` (6735) or ``"test"`` (872 sentences).

    The first two together are the training set of GLUE, the third, with labels, is the set that GLUE calls
    dev.

    Source: Socher et al., 2013.
    """
    entry = registry.find("sst2")
    files = {file.path.rpartition("/")[2].removesuffix(".tsv"): file for file in entry.files}
    checks.choice(part, "part", files)

    def read():
        lines = storage.read(files[part]).decode().split("\n")[1:]
        rows = [line.split("\t") for line in lines if line]
        return tuple(text.strip() for text, _ in rows), np.array([int(label) for _, label in rows])

    (texts, labels), source = real_or_stand_in(
        entry, read, lambda entry: stand_ins.sentences(entry, part), fallback
    )
    return Sentences(texts, labels, part, source)


def reviews(*, fallback: bool = False) -> Sentences:
    """Load 25 000 reviews of films, of some 230 words each: IMDb's training half, half of it praise.

    Source: Maas et al., 2011.
    """
    entry = registry.find("reviews")

    def read():
        rows = csv.DictReader(io.StringIO(storage.read(entry.files[0]).decode()))
        rows = [row for row in rows if row["source"] == "imdb"]
        texts = (" ".join(row["text"].replace("<br />", " ").split()) for row in rows)
        return tuple(texts), np.array([int(row["label"]) for row in rows])

    (texts, labels), source = real_or_stand_in(entry, read, stand_ins.reviews, fallback)
    return Sentences(texts, labels, "train", source)
