"""Images with labels, as arrays of bytes; and of another size or without colour, in float64."""

import gzip
import math
from typing import NamedTuple

import numpy as np

from companion.datasets import registry, stand_ins, storage
from companion.datasets.registry import Entry
from companion.datasets.stand_ins import real_or_stand_in
from companion.datasets.storage import CIFAR10_RECORD
from rfcore import checks


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


WAYS = ("area", "bilinear", "antialiased")
LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601


def resize(pixels, size, way="area"):
    """Square images of another size, by a linear map of rows times the same of columns.

    ::

        out = W pixels W',   the rows of W sum to 1

        area          W_ij proportional to the length that pixel j shares with pixel i: box means
        bilinear      the two pixels whose centres are nearest, by distance (TensorFlow, OpenCV)
        antialiased   a triangle as wide as two pixels of the result (Pillow's "bilinear", JAX)

    Args:
        pixels: shape (..., side, side).
        size: side of the result, not above that of the images.
        way: "area", "bilinear" or "antialiased".
    """
    pixels = np.asarray(checks.finite(checks.numbers(pixels, "pixels"), "pixels"), dtype=float)
    if pixels.ndim < 2 or pixels.shape[-1] != pixels.shape[-2]:
        raise ValueError(f"pixels has shape {pixels.shape}; give square images, shape (..., side, side)")
    size, side = checks.count(size, "size"), pixels.shape[-1]
    if size > side:
        raise ValueError(f"size = {size} for images of {side}; give at most that")
    weights = _weights(side, size, checks.choice(way, "way", WAYS))
    return weights @ pixels @ weights.T


def grey(pixels, way="mean"):
    """Images without colour: the mean of their channels, or the luma of televisions.

    ::

        mean   (R + G + B) / 3
        luma   0.299 R + 0.587 G + 0.114 B

    Args:
        pixels: shape (n, channels, height, width); one channel is grey already.
        way: "mean" or "luma", whose weights are those of ITU-R BT.601 and Pillow.

    Returns:
        Array, (n, height, width).
    """
    pixels = np.asarray(checks.finite(checks.numbers(pixels, "pixels"), "pixels"), dtype=float)
    if pixels.ndim != 4 or pixels.shape[1] not in (1, 3):
        raise ValueError(f"pixels has shape {pixels.shape}; give (n, 1, height, width) or (n, 3, height, width)")
    checks.choice(way, "way", ("mean", "luma"))
    if pixels.shape[1] == 1 or way == "mean":
        return pixels.mean(axis=1)
    return np.tensordot(LUMA, pixels, axes=(0, 1))


def _weights(side, size, way):
    """Shape (size, side), in units of pixels of the images: pixel j reaches from j to j + 1."""
    scale = side / size
    pixels = np.arange(side)
    if way == "area":
        low, high = scale * np.arange(size)[:, None], scale * np.arange(1, size + 1)[:, None]
        weights = np.clip(np.minimum(high, pixels + 1) - np.maximum(low, pixels), 0, None)
    else:
        centres, reach = scale * (np.arange(size)[:, None] + 0.5), 1.0 if way == "bilinear" else scale
        weights = np.clip(1 - np.abs(centres - pixels - 0.5) / reach, 0, None)
    return weights / weights.sum(axis=1, keepdims=True)
