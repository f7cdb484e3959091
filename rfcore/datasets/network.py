"""Giving up on a network that does not answer: soon, once, and for the processes that follow too.

A host is asked once whether it answers. If it does not, that is remembered in this process, and for an hour
in a stamp in the cache, so that thirty notebooks on a plane do not each wait.
"""

import contextlib
import os
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pooch
import requests

PATIENCE = 6.0  # seconds one process may lose to silent hosts, all files together
FIRST_ANSWER = 4.0  # seconds a host has for an answer, or for its next bytes
REMEMBERED = 3600.0  # seconds for which other processes believe a stamp

_answering: set[str] = set()
_silent: dict[str, str] = {}  # host -> what happened
_lost = 0.0


class Failed(Exception):
    """A URL does not yield its file; the text says why."""


def ask(url: str, stamps: Path) -> None:
    """Return if the host of ``url`` answers, else raise Failed; silent hosts are remembered in ``stamps``."""
    if os.environ.get("RFCORE_OFFLINE", "0") not in ("", "0"):
        raise Failed("forbidden by RFCORE_OFFLINE")
    host = urlsplit(url).netloc
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
        _give_up(url, reason, time.monotonic() - started, stamps)
    _answering.add(host)


def download(url: str, target: Path, stamps: Path) -> None:
    """Write what ``url`` serves to ``target``; raise Failed where it serves no such file, or breaks off."""
    limit = min(FIRST_ANSWER, max(PATIENCE - _lost, 0.1))
    try:
        pooch.HTTPDownloader(timeout=limit, chunk_size=1 << 16)(url, str(target), None)
    except (requests.ConnectionError, requests.Timeout) as error:
        _give_up(url, f"{urlsplit(url).netloc} fell silent: {error}", limit, stamps)
    except requests.RequestException as error:
        raise Failed(f"{url}: {error}") from error


def try_again(stamps: Path) -> None:
    """Forget which hosts were silent, here and for other processes."""
    global _lost
    _lost = 0.0
    _silent.clear()
    _answering.clear()
    for stamp in stamps.glob(".silent-*"):
        stamp.unlink(missing_ok=True)


def _give_up(url: str, reason: str, lost: float, stamps: Path) -> None:
    global _lost
    host = urlsplit(url).netloc
    _lost += lost
    _answering.discard(host)
    _silent[host] = reason
    with contextlib.suppress(OSError):  # where the cache cannot be written, each process waits for itself
        stamps.mkdir(parents=True, exist_ok=True)
        _stamp(host, stamps).write_text(reason, encoding="utf-8")
    raise Failed(reason)


def _stamp(host: str, stamps: Path) -> Path:
    return stamps / f".silent-{host.replace(':', '_')}"
