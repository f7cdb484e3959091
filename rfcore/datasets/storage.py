"""Where the bytes of a registered file come from: the cache, then the mirror, then the network.

``RFCORE_DATA_CACHE`` names the cache (else the system's cache folder for rfcore), ``RFCORE_DATA_MIRROR`` a
read-only folder that holds the files under the registry's paths, and ``RFCORE_OFFLINE=1`` forbids the
network. Whatever is read is compared with the registry's sha256, each time: a tenth of the time of reading.
"""

import contextlib
import gzip
import hashlib
import os
import shutil
import tarfile
import tempfile
import time
import zipfile
import zlib
from pathlib import Path

import pooch

from rfcore.datasets import network
from rfcore.datasets.registry import File
from rfcore.datasets.unpack import unpack

# What gzip, zip and tar raise on bytes that are not theirs. Not OSError: an unreadable file is not a bad one.
_BAD = (gzip.BadGzipFile, zlib.error, zipfile.BadZipFile, tarfile.TarError, EOFError, KeyError, ValueError)

_provenance: dict[str, str] = {}


class Unavailable(OSError):
    """A registered file is neither in the cache nor in a mirror, and the network does not yield it."""


class Damaged(OSError):
    """A file does not have the content that the registry says it has."""


def cache() -> Path:
    """The folder in which downloads are kept."""
    return Path(os.environ.get("RFCORE_DATA_CACHE") or pooch.os_cache("rfcore"))


def mirrored(file: File) -> Path | None:
    """Where the mirror holds the file, plain or packed; None where no mirror is named."""
    mirror = os.environ.get("RFCORE_DATA_MIRROR")
    if not mirror:
        return None
    plain = Path(mirror) / file.path
    return plain if plain.is_file() or not file.mirror else Path(mirror) / file.mirror


def provenance() -> dict[str, str]:
    """The sha256 of every registered file that this process has read, by its path in the registry."""
    return dict(_provenance)


def read(file: File) -> bytes:
    """The content of a registered file.

    Raises Unavailable if it is to be had nowhere, with what was tried and what helps; Damaged if a copy was
    found or downloaded whose content is not the registered one. A bad copy in the cache is removed and a bad
    download is never kept; the mirror is left as it is.
    """
    kept, copy = cache() / file.path, mirrored(file)
    if kept.is_file():
        try:
            content = _checked(kept, file)
        except Damaged as error:
            kept.unlink(missing_ok=True)
            raise Damaged(f"{error} It was removed: the next attempt fetches it anew.") from error
    elif copy is not None and copy.is_file():
        content = _checked(copy, file)
    else:
        try:
            content = _download(file, kept)
        except network.Failed as error:
            where = f"{copy} (no such file)" if copy else "RFCORE_DATA_MIRROR is not set"
            raise Unavailable(
                f"{file.path} is not to be had. Tried the cache: {kept} (no such file); the mirror: {where}; "
                f"the network: {error}. Set RFCORE_DATA_MIRROR to a folder that holds it, or run "
                "`python -m rfcore.datasets fetch` where there is a network."
            ) from error
    _provenance[file.path] = file.sha256
    return content


def status(file: File) -> str:
    """One of "cached", "mirrored", "missing" and "damaged", judged by content; asks no network."""
    for path, word in ((cache() / file.path, "cached"), (mirrored(file), "mirrored")):
        if path is not None and path.is_file():
            try:
                _checked(path, file)
            except Damaged:
                return "damaged"
            return word
    return "missing"


def _checked(path: Path, file: File) -> bytes:
    try:
        content = unpack(path, file.path)
    except _BAD as error:
        raise Damaged(f"{path} cannot be unpacked to {file.path}: {error}.") from error
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise Damaged(
            f"{path} is not the registered {file.path}: it has {len(content)} bytes with sha256 {found}, "
            f"the registry says {file.bytes} bytes with {file.sha256}."
        )
    return content


def _download(file: File, kept: Path) -> bytes:
    network.ask(file.url, stamps=cache())
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(prefix=".partial-", dir=cache())
    except OSError as error:
        raise network.Failed(f"no place to keep a download, RFCORE_DATA_CACHE moves it ({error})") from error
    _sweep()
    with folder as partial:
        packed = Path(partial) / ("packed.tar.gz" if file.archive_sha256 else kept.name)
        network.download(file.url, packed, stamps=cache())
        try:
            if file.archive_sha256 and pooch.file_hash(str(packed)) != file.archive_sha256:
                raise Damaged(f"the archive's sha256 is not the registered {file.archive_sha256}.")
            content = _checked(packed, file)
        except Damaged as error:
            raise Damaged(f"The download of {file.url} is wrong, nothing was kept: {error}") from error
        whole = Path(partial) / "whole"
        whole.write_bytes(content)
        os.replace(whole, kept)  # the file appears under its name only now, whole and checked
    return content


def _sweep() -> None:
    """Remove what downloads that were killed more than an hour ago left behind."""
    for partial in cache().glob(".partial-*"):
        with contextlib.suppress(OSError):
            if time.time() - partial.stat().st_mtime > 3600:
                shutil.rmtree(partial)
