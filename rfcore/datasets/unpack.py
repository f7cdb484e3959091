"""From a file as a mirror or a server holds it to the content that the registry hashes.

Three packings occur: gzip around a text, the arrays of CIFAR-10 in an npz, and the binary CIFAR-10 archive.
Nothing is unpickled.
"""

import gzip
import tarfile
from pathlib import Path

import numpy as np

# How many records of each batch make up the registered head of CIFAR-10, in this order.
CIFAR10_HEAD = {f"data_batch_{i}": 932 for i in range(1, 6)} | {"test_batch": 846}
CIFAR10_RECORD = 1 + 3 * 32 * 32


def unpack(packed: Path, path: str) -> bytes:
    """The content that the registry knows as ``path``, from the file ``packed``.

    What has to be done follows from the two names: nothing where they end alike.
    """
    if path.endswith(".bin") and packed.suffix == ".npz":
        return cifar10_from_npz(packed)
    if path.endswith(".bin") and packed.name.endswith(".tar.gz"):
        return cifar10_from_archive(packed)
    if packed.suffix == ".gz" and not path.endswith(".gz"):
        return gzip.decompress(packed.read_bytes())
    return packed.read_bytes()


def cifar10_from_npz(packed: Path) -> bytes:
    """The records (label, then the image) of the arrays ``images`` and ``labels``."""
    with np.load(packed, allow_pickle=False) as arrays:
        images, labels = arrays["images"], arrays["labels"]
    return np.column_stack([labels, images.reshape(len(labels), -1)]).astype(np.uint8).tobytes()


def cifar10_from_archive(packed: Path) -> bytes:
    """The first records of each batch in the binary version of the official archive."""
    heads = {}
    with tarfile.open(packed, "r:gz") as archive:
        for member in archive:
            batch = Path(member.name).stem
            if batch in CIFAR10_HEAD and member.isfile():
                heads[batch] = archive.extractfile(member).read(CIFAR10_HEAD[batch] * CIFAR10_RECORD)
    return b"".join(heads[batch] for batch in CIFAR10_HEAD)
