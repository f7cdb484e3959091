"""Images with labels, as arrays of bytes."""

import gzip
import math
from typing import NamedTuple

import numpy as np

from rfcore.datasets import registry, stand_ins, storage
from rfcore.datasets.fallback import real_or_stand_in
from rfcore.datasets.registry import Entry
from rfcore.datasets.unpack import CIFAR10_RECORD


class Images(NamedTuple):
    """Images and their labels."""

    images: np.ndarray
    """Shape (n, channels, height, width), uint8."""
    labels: np.ndarray
    """Shape (n,), uint8."""
    name: str
    source: str


def images(name: str, *, fallback: bool = False) -> Images:
    """Load ``"mnist"`` (10 000 test digits, 28 x 28) or ``"cifar10"`` (5506 images, 3 x 32 x 32).

    CIFAR-10 is here the first 932 images of each of the five training batches and the first 846 of the test
    batch.

    Source: LeCun, Bottou, Bengio and Haffner, 1998; Krizhevsky, 2009.
    """
    entry = registry.find(name, "images")
    read = _mnist if entry.name == "mnist" else _cifar10
    (pixels, labels), source = real_or_stand_in(entry, lambda: read(entry), stand_ins.images, fallback)
    return Images(pixels, labels, entry.name, source)


def _mnist(entry: Entry) -> tuple[np.ndarray, np.ndarray]:
    pixels, labels = (idx(gzip.decompress(storage.read(file))) for file in entry.files)
    return pixels[:, None], labels


def _cifar10(entry: Entry) -> tuple[np.ndarray, np.ndarray]:
    records = np.frombuffer(storage.read(entry.files[0]), np.uint8).reshape(-1, CIFAR10_RECORD)
    return records[:, 1:].reshape(-1, 3, 32, 32), records[:, 0]


def idx(content: bytes) -> np.ndarray:
    """Read an array of unsigned bytes in the IDX format; a header of anything else is a ValueError."""
    zeros, kind, axes = content[:2], content[2], content[3]
    shape = tuple(np.frombuffer(content, ">u4", count=axes, offset=4).tolist())
    body = np.frombuffer(content, np.uint8, offset=4 + 4 * axes)
    if zeros != b"\0\0" or kind != 8 or body.size != math.prod(shape):
        raise ValueError(f"not IDX of unsigned bytes: header {content[:4]!r} {shape}, {body.size} bytes")
    return body.reshape(shape)
