"""Cache, mirror and network: what is read, refused, kept and given up, with a server on this machine."""

import errno
import gzip
import hashlib
import io
import os
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pooch
import pytest

from companion import datasets
from companion.datasets import registry, stand_ins, storage
from companion.datasets.__main__ import main

CONTENT = b'graph [ node [ id 0 label "a" ] node [ id 1 label "b" ] edge [ source 0 target 1 ] ]\n'


@pytest.fixture(autouse=True)
def new_process(monkeypatch, tmp_path):
    """An empty cache, no mirror, a network, and nothing remembered."""
    for module, name, value in [
        (storage, "_provenance", {}),
        (stand_ins, "_fallen", {}),
        (storage, "_answering", set()),
        (storage, "_silent", {}),
        (storage, "_lost", 0.0),
        (storage, "FIRST_ANSWER", 60.0),  # the server on this machine answers, however busy the machine is
        (storage, "PATIENCE", 60.0),
    ]:
        monkeypatch.setattr(module, name, value)
    monkeypatch.setenv("RFCORE_DATA_CACHE", str(tmp_path / "cache"))
    for name in ("RFCORE_DATA_MIRROR", "RFCORE_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


class Server(ThreadingHTTPServer):
    """Serves `pages`; a page may be bytes, a status code, or a function of the request handler."""

    daemon_threads = True

    def __init__(self):
        self.pages, self.asked = {}, []
        self.begun, self.finish = threading.Event(), threading.Event()  # of a page that falls silent midway
        super().__init__(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.server.asked.append(("HEAD", self.path))
        self.send_response(200)
        self.end_headers()

    def do_GET(self):
        self.server.asked.append(("GET", self.path))
        page = self.server.pages.get(self.path, 404)
        if isinstance(page, int):
            self.send_error(page)
        elif callable(page):
            page(self)
        else:
            self.send_response(200)
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.finish.set()
        running.shutdown()
        thread.join()


def half(handler):
    """Announce the whole, send a half, hang up."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(CONTENT)))
    handler.end_headers()
    handler.wfile.write(CONTENT[: len(CONTENT) // 2])


def half_then_silence(handler):
    half(handler)
    handler.wfile.flush()
    handler.server.begun.set()
    handler.server.finish.wait()


def registered(server, path="/whole", content=CONTENT, **more):
    return datasets.File(
        path=f"graphs{path}.gml",
        url=f"http://{server.host}{path}",
        sha256=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        **more,
    )


def kept():
    """Everything below the cache that is not a folder."""
    return sorted(str(p.relative_to(storage.cache())) for p in storage.cache().rglob("*") if p.is_file())


# --- the order: cache, mirror, network


def test_download_is_kept_and_read_from_the_cache_after(server, monkeypatch):
    server.pages["/whole"] = CONTENT
    file = registered(server)
    assert storage.status(file) == "missing"
    assert storage.read(file) == CONTENT
    assert kept() == ["graphs/whole.gml"] and storage.status(file) == "cached"
    assert datasets.provenance() == {"graphs/whole.gml": file.sha256}
    monkeypatch.setenv("RFCORE_OFFLINE", "1")
    assert storage.read(file) == CONTENT
    assert server.asked == [("HEAD", "/whole"), ("GET", "/whole")]


def test_a_host_is_probed_once(server):
    server.pages |= {"/whole": CONTENT, "/other": CONTENT}
    storage.read(registered(server, "/whole"))
    storage.read(registered(server, "/other"))
    assert [verb for verb, _ in server.asked] == ["HEAD", "GET", "GET"]


def test_mirror_is_read_in_place_before_the_network(server, monkeypatch, tmp_path):
    monkeypatch.setenv("RFCORE_DATA_MIRROR", str(tmp_path / "mirror"))
    (tmp_path / "mirror" / "graphs").mkdir(parents=True)
    (tmp_path / "mirror" / "graphs" / "whole.gml").write_bytes(CONTENT)
    file = registered(server)
    assert storage.status(file) == "mirrored"
    assert storage.read(file) == CONTENT
    assert kept() == [] and server.asked == []


def test_cache_goes_before_the_mirror(server, monkeypatch, tmp_path):
    server.pages["/whole"] = CONTENT
    file = registered(server)
    storage.read(file)
    monkeypatch.setenv("RFCORE_DATA_MIRROR", str(tmp_path / "mirror"))
    (tmp_path / "mirror" / "graphs").mkdir(parents=True)
    (tmp_path / "mirror" / "graphs" / "whole.gml").write_bytes(b"never looked at")
    assert storage.read(file) == CONTENT and storage.status(file) == "cached"


@pytest.mark.parametrize("packed", [True, False])
def test_mirror_may_hold_a_text_packed_or_plain(packed, server, monkeypatch, tmp_path):
    monkeypatch.setenv("RFCORE_DATA_MIRROR", str(tmp_path))
    (tmp_path / "graphs").mkdir()
    name, content = ("whole.gml.gz", gzip.compress(CONTENT)) if packed else ("whole.gml", CONTENT)
    (tmp_path / "graphs" / name).write_bytes(content)
    assert storage.read(registered(server, mirror="graphs/whole.gml.gz")) == CONTENT


def test_a_file_that_changes_after_it_was_read_is_refused(server):
    server.pages["/whole"] = CONTENT
    file = registered(server)
    storage.read(file)
    assert storage.read(file) == CONTENT
    (storage.cache() / file.path).write_bytes(CONTENT[::-1])
    assert storage.status(file) == "damaged"
    with pytest.raises(datasets.Damaged, match="not the registered"):
        storage.read(file)


# --- bad files


@pytest.mark.parametrize("content", [b"", CONTENT[:-1], CONTENT.replace(b"a", b"b"), CONTENT + b"\n"])
def test_wrong_download_is_an_error_and_nothing_is_kept(server, content):
    server.pages["/whole"] = content
    with pytest.raises(datasets.Damaged, match=r"download of http://.*/whole is wrong, nothing was kept"):
        storage.read(registered(server))
    assert kept() == [] and datasets.provenance() == {}
    server.pages["/whole"] = CONTENT
    assert storage.read(registered(server)) == CONTENT


def test_bad_file_in_the_cache_is_an_error_is_removed_and_then_fetched_anew(server):
    server.pages["/whole"] = CONTENT
    file = registered(server)
    bad = storage.cache() / file.path
    bad.parent.mkdir(parents=True)
    bad.write_bytes(b"bad")
    assert storage.status(file) == "damaged"
    with pytest.raises(datasets.Damaged, match=r"not the registered .* 3 bytes .* It was removed"):
        storage.read(file)
    assert not bad.exists()
    assert storage.read(file) == CONTENT


@pytest.mark.parametrize(
    "content",
    [b"bad", gzip.compress(CONTENT)[:-9], gzip.compress(b"other")],
    ids=["not packed", "cut short", "other content"],  # gzip's header holds the second of the clock, an id may not
)
def test_bad_file_in_the_mirror_is_an_error_even_for_fallback(server, monkeypatch, tmp_path, content):
    monkeypatch.setenv("RFCORE_DATA_MIRROR", str(tmp_path / "mirror"))
    copy = tmp_path / "mirror" / "graphs" / "whole.gml.gz"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(content)
    file = registered(server, mirror="graphs/whole.gml.gz")
    assert storage.status(file) == "damaged"
    entry = datasets.find("karate")
    with pytest.raises(datasets.Damaged, match=r"whole\.gml\.gz (cannot be unpacked|is not the registered)"):
        stand_ins.real_or_stand_in(entry, lambda: storage.read(file), lambda _: pytest.fail("stand-in"), True)
    assert copy.read_bytes() == content and server.asked == []


# --- interrupted downloads


def test_broken_transfer_leaves_nothing_and_does_not_condemn_the_host(server):
    server.pages |= {"/half": half, "/whole": CONTENT}
    with pytest.raises(datasets.Unavailable, match=r"graphs/half\.gml is not to be had"):
        storage.read(registered(server, "/half"))
    assert kept() == []
    assert storage.read(registered(server)) == CONTENT


def test_interrupt_leaves_nothing(server, monkeypatch):
    def interrupted(self, url, output_file, pooch):
        with open(output_file, "wb") as out:
            out.write(CONTENT[:10])
        raise KeyboardInterrupt

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        storage.read(registered(server))
    assert kept() == [] and list(storage.cache().iterdir()) == [storage.cache() / "graphs"]


def test_killed_download_never_appears_under_its_name_and_is_swept_later(server, tmp_path):
    server.pages |= {"/half": half_then_silence, "/whole": CONTENT}
    file = registered(server, "/half")
    code = f"from companion.datasets import storage, registry; storage.read(registry.File(**{file._asdict()!r}))"
    with subprocess.Popen([sys.executable, "-c", code], env=os.environ) as process:
        server.begun.wait()
        process.kill()
    left = kept()
    assert len(left) == 1 and left[0].startswith(".partial-") and left[0].endswith("half.gml")
    assert storage.status(file) == "missing"
    storage.read(registered(server))
    assert len(kept()) == 2  # it might be another process that is still at work
    partial = storage.cache() / left[0].split("/")[0]
    os.utime(partial, (0, 0))
    (storage.cache() / "graphs" / "whole.gml").unlink()
    storage.read(registered(server))
    assert kept() == ["graphs/whole.gml"]


# --- no network


def test_missing_page_is_unavailable_but_the_host_is_not_condemned(server):
    server.pages["/whole"] = CONTENT
    with pytest.raises(datasets.Unavailable, match="404"):
        storage.read(registered(server, "/gone"))
    assert storage.read(registered(server)) == CONTENT


def test_offline_says_what_was_tried_and_what_helps(server, monkeypatch, tmp_path):
    monkeypatch.setenv("RFCORE_OFFLINE", "1")
    with pytest.raises(datasets.Unavailable) as caught:
        storage.read(registered(server))
    text = str(caught.value)
    for part in (
        "graphs/whole.gml",
        str(tmp_path / "cache"),
        "RFCORE_DATA_MIRROR is not set",
        "RFCORE_OFFLINE",
        "Set RFCORE_DATA_MIRROR",
        "python -m companion.datasets fetch",
    ):
        assert part in text
    assert isinstance(caught.value, OSError) and server.asked == [] and not storage.cache().exists()
    monkeypatch.setenv("RFCORE_DATA_MIRROR", str(tmp_path / "elsewhere"))
    with pytest.raises(datasets.Unavailable, match=r"elsewhere.graphs.whole\.gml \(no file that can be read\)"):
        storage.read(registered(server))


@pytest.fixture
def black_hole(monkeypatch):
    """A network in which every look-up of a name hangs, and a clock that moves only while one is waited for."""
    asked, done = threading.Semaphore(0), threading.Event()
    hole = SimpleNamespace(names=[], lost=0.0)

    def hang(host, *_, **__):
        hole.names.append(host)
        asked.release()
        done.wait()
        raise OSError("nothing")

    class Thread(threading.Thread):
        def join(self, seconds):
            asked.acquire()  # it hangs by now
            hole.lost += seconds

    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setattr(storage, "FIRST_ANSWER", 4.0)
    monkeypatch.setattr(storage, "PATIENCE", 6.0)
    monkeypatch.setattr(storage, "threading", SimpleNamespace(Thread=Thread))
    monkeypatch.setattr(storage, "time", SimpleNamespace(monotonic=lambda: hole.lost, time=time.time))
    monkeypatch.setattr(socket, "getaddrinfo", hang)
    yield hole
    done.set()


def test_silent_network_costs_six_seconds_for_all_files_together_and_the_next_process_none(black_hole, monkeypatch):
    files = [file for entry in datasets.entries() for file in entry.files if not file.package]
    for file in files:
        with pytest.raises(datasets.Unavailable):
            storage.read(file)
    assert len(files) == 64 and black_hole.lost == 6
    assert sorted(black_hole.names) == ["raw.githubusercontent.com", "www.cs.toronto.edu"]
    monkeypatch.setattr(storage, "_silent", {})
    monkeypatch.setattr(storage, "_lost", 0.0)
    for file in files:
        with pytest.raises(datasets.Unavailable, match="as remembered in"):
            storage.read(file)
    assert black_hole.lost == 6 and len(black_hole.names) == 2


def test_patience_is_shared_between_hosts(black_hole, server):
    for host in ("a.invalid", "b.invalid", "c.invalid", "d.invalid"):
        server.host = host
        with pytest.raises(datasets.Unavailable):
            storage.read(registered(server))
    assert black_hole.lost == 4 + 2 and black_hole.names == ["a.invalid", "b.invalid"]


@pytest.fixture
def index(monkeypatch):
    """What pip fetches: wheels by ``name==version``; and what it was asked."""
    found = SimpleNamespace(wheels={}, asked=[])

    def run(command, **_):
        found.asked.append(command)
        wheel = found.wheels.get(command[-1])
        if wheel is not None:
            (Path(command[command.index("--dest") + 1]) / "one-1.0-py3-none-any.whl").write_bytes(wheel)
        return subprocess.CompletedProcess(command, int(wheel is None), "", "" if wheel else "ERROR: No matching distribution found")

    monkeypatch.setattr(storage.subprocess, "run", run)
    return found


def in_package(server, path="/inside", content=CONTENT, url=""):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as wheel:
        wheel.writestr("one/data/whole.gml", content)
    sha256 = hashlib.sha256(packed.getvalue()).hexdigest()
    package = registry.Package("one", "1.0", sha256, "one/data/whole.gml")
    return registered(server, path, content, package=package)._replace(url=url), packed.getvalue()


@pytest.mark.parametrize("address", ["", "http://{host}/missing"])
def test_a_file_is_cut_out_of_a_package_where_no_address_yields_it(server, index, address):
    file, index.wheels["one==1.0"] = in_package(server, url=address.format(host=server.host))
    assert storage.read(file) == CONTENT and kept() == [file.path]
    (command,) = index.asked
    assert command[:4] == [sys.executable, "-m", "pip", "download"] and "--no-deps" in command
    assert storage.read(file) == CONTENT and len(index.asked) == 1  # from the cache


def test_an_address_that_yields_the_file_spares_the_package(server, index):
    server.pages["/inside"] = CONTENT
    file, _ = in_package(server, url=f"http://{server.host}/inside")
    assert storage.read(file) == CONTENT and index.asked == []


def test_another_wheel_than_the_registered_one_is_refused(server, index):
    file, _ = in_package(server)
    _, index.wheels["one==1.0"] = in_package(server, content=CONTENT + b"more")
    with pytest.raises(datasets.Damaged, match=r"of package one 1\.0 is wrong, nothing was kept: the wheel's sha256"):
        storage.read(file)
    assert kept() == []


def test_an_index_without_the_package_is_asked_once_an_hour(server, index, monkeypatch):
    file, _ = in_package(server)
    for words in ("pip does not yield one 1.0: ERROR: No matching", "pip does not yield", "as remembered in"):
        with pytest.raises(datasets.Unavailable, match=words.replace(".", r"\.")):
            storage.read(file)
        if words == "pip does not yield":
            monkeypatch.setattr(storage, "_silent", {})  # another process
    assert len(index.asked) == 1


def test_host_that_falls_silent_midway_is_given_up_once(server, monkeypatch):
    monkeypatch.setattr(storage, "_answering", {server.host})
    monkeypatch.setattr(storage, "FIRST_ANSWER", 0.1)
    server.pages |= {"/half": half_then_silence, "/whole": CONTENT}
    with pytest.raises(datasets.Unavailable, match="fell silent"):
        storage.read(registered(server, "/half"))
    with pytest.raises(datasets.Unavailable, match="fell silent"):
        storage.read(registered(server))
    assert ("GET", "/whole") not in server.asked
    assert kept() == [f".silent-{server.host.replace(':', '_')}"]
    storage.try_again(storage.cache())
    monkeypatch.setattr(storage, "FIRST_ANSWER", 60.0)
    assert storage.read(registered(server)) == CONTENT


def test_stamps_age(server, monkeypatch):
    server.pages["/whole"] = CONTENT
    stamp = storage.cache() / f".silent-{server.host.replace(':', '_')}"
    stamp.parent.mkdir()
    stamp.write_text("it was silent", encoding="utf-8")
    with pytest.raises(datasets.Unavailable, match="it was silent"):
        storage.read(registered(server))
    os.utime(stamp, (0, 0))
    monkeypatch.setattr(storage, "_silent", {})
    assert storage.read(registered(server)) == CONTENT


def test_cache_that_cannot_be_made_is_unavailable_not_a_crash(server, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("RFCORE_DATA_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(datasets.Unavailable, match=rf"RFCORE_DATA_CACHE = '{tmp_path}/file/cache', where .* \(Not a directory\); give"):
        storage.read(registered(server))


def fails(number):
    """In place of a function of files, which root would be allowed and a disk has room for."""

    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES], ids=errno.errorcode.get)
@pytest.mark.parametrize(
    ("module", "step"),
    [(Path, "mkdir"), (tempfile, "TemporaryDirectory"), (pooch.HTTPDownloader, "__call__"), (Path, "write_bytes"), (os, "replace")],
)
def test_a_cache_that_is_full_or_read_only_is_named_with_file_and_remedy(server, monkeypatch, module, step, number):
    server.pages["/whole"] = CONTENT
    with monkeypatch.context() as patched:
        patched.setattr(module, step, fails(number))
        with pytest.raises(datasets.Unavailable) as caught:
            storage.read(registered(server))
    place = f"RFCORE_DATA_CACHE = {str(storage.cache())!r}, where {storage.cache() / 'graphs' / 'whole.gml'} cannot be kept"
    assert f"{place} ({os.strerror(number)}); give a folder that can be written, with {len(CONTENT)} bytes free" in str(caught.value)
    assert (kept() if storage.cache().exists() else []) == [] and datasets.provenance() == {}
    assert storage.read(registered(server)) == CONTENT


def test_a_mirror_is_read_where_the_cache_can_be_neither_written_nor_read(server, monkeypatch, tmp_path):
    monkeypatch.setenv("RFCORE_DATA_MIRROR", str(tmp_path / "mirror"))
    file, copy, cached = registered(server), tmp_path / "mirror" / "graphs" / "whole.gml", storage.cache() / "graphs" / "whole.gml"
    for path in (copy, cached):
        path.parent.mkdir(parents=True)
        path.write_bytes(CONTENT)
    may_read = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: storage.cache() not in Path(path).parents and may_read(path, mode))
    for module, step in [(Path, "mkdir"), (Path, "write_bytes"), (Path, "unlink"), (os, "replace"), (tempfile, "TemporaryDirectory")]:
        monkeypatch.setattr(module, step, fails(errno.EROFS))
    assert storage.read(file) == CONTENT and storage.status(file) == "mirrored" and server.asked == []


def test_a_folder_that_may_not_be_looked_into_holds_no_file(server, monkeypatch):
    monkeypatch.setattr(Path, "stat", fails(errno.EACCES))
    assert storage.status(registered(server)) == "missing"


def test_a_bad_file_and_a_stamp_that_cannot_be_removed_say_so_and_stay(server, monkeypatch):
    bad, stamp = storage.cache() / "graphs" / "whole.gml", storage.cache() / ".silent-host"
    bad.parent.mkdir(parents=True)
    for path in (bad, stamp):
        path.write_bytes(b"bad")
    monkeypatch.setattr(Path, "unlink", fails(errno.EROFS))
    storage.try_again(storage.cache())
    with pytest.raises(datasets.Damaged, match=r"cannot be removed \(Read-only file system\); give RFCORE_DATA_CACHE another folder"):
        storage.read(registered(server))
    assert bad.exists() and stamp.exists()


# --- CIFAR-10 without pickles


@pytest.fixture
def cifar(monkeypatch, tmp_path):
    """Five training batches and a test batch of four records; the head is two of each, three of the test."""
    heads = dict.fromkeys(storage.CIFAR10_HEAD, 2) | {"test_batch": 3}
    monkeypatch.setattr(storage, "CIFAR10_HEAD", heads)
    rng = np.random.default_rng(0)
    batches = {name: rng.integers(256, size=(4, 3073), dtype=np.uint8) for name in heads}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        # The order of the archive is not the order of the head, and it holds other things.
        for name in sorted(heads, reverse=True):
            header = tarfile.TarInfo(f"cifar-10-batches-bin/{name}.bin")
            header.size = batches[name].size
            archive.addfile(header, io.BytesIO(batches[name].tobytes()))
        archive.addfile(tarfile.TarInfo("cifar-10-batches-bin/batches.meta.txt"))
    return packed.getvalue(), np.concatenate([batches[name][: heads[name]] for name in heads])


def cifar_file(server, archive, records):
    return datasets.File(
        path="images/cifar10_head.bin",
        mirror="images/cifar10_head.npz",
        url=f"http://{server.host}/cifar.tar.gz",
        sha256=hashlib.sha256(records.tobytes()).hexdigest(),
        bytes=records.size,
        archive_sha256=hashlib.sha256(archive).hexdigest(),
    )


def test_cifar_archive_and_npz_give_the_same_records(server, cifar, monkeypatch, tmp_path):
    archive, records = cifar
    server.pages["/cifar.tar.gz"] = archive
    file = cifar_file(server, archive, records)
    assert storage.read(file) == records.tobytes()
    assert kept() == ["images/cifar10_head.bin"]
    monkeypatch.setenv("RFCORE_DATA_CACHE", str(tmp_path / "empty"))
    monkeypatch.setenv("RFCORE_DATA_MIRROR", str(tmp_path))
    (tmp_path / "images").mkdir()
    images, labels = records[:, 1:].reshape(-1, 3, 32, 32), records[:, 0]
    np.savez_compressed(tmp_path / "images" / "cifar10_head.npz", images=images, labels=labels)
    assert storage.status(file) == "mirrored"
    assert storage.read(file) == records.tobytes()


def test_cifar_loader_returns_the_arrays(server, cifar, monkeypatch):
    archive, records = cifar
    server.pages["/cifar.tar.gz"] = archive
    entry = datasets.find("cifar10")._replace(files=(cifar_file(server, archive, records),))
    monkeypatch.setattr(registry, "find", lambda *_: entry)
    loaded = datasets.images("cifar10")
    assert loaded.labels.tolist() == records[:, 0].tolist() and loaded.images.shape == (13, 3, 32, 32)
    assert loaded.images[4, 2, 31, 30] == records[4, 1 + 2 * 1024 + 31 * 32 + 30]


def test_other_archive_is_refused_before_it_is_opened(server, cifar, monkeypatch):
    archive, records = cifar
    server.pages["/cifar.tar.gz"] = archive + b"\0"
    monkeypatch.setattr(storage.tarfile, "open", lambda *_: pytest.fail("opened"))
    with pytest.raises(datasets.Damaged, match="the archive's sha256 is not the registered"):
        storage.read(cifar_file(server, archive, records))
    assert kept() == []


def test_npz_with_pickles_is_refused(server, cifar, monkeypatch, tmp_path):
    monkeypatch.setenv("RFCORE_DATA_MIRROR", str(tmp_path))
    (tmp_path / "images").mkdir()
    objects = np.array([{}, []], dtype=object)
    np.savez(tmp_path / "images" / "cifar10_head.npz", images=objects, labels=np.arange(2))
    with pytest.raises(datasets.Damaged, match="allow_pickle"):
        storage.read(cifar_file(server, *cifar))


# --- the command line


@pytest.fixture
def two_sets(server, monkeypatch, tmp_path):
    """A registry of two sets, of which the server has the first."""
    server.pages["/whole"] = CONTENT
    files = [registered(server), registered(server, "/gone")]
    table = "".join(
        f'[{name}]\ntitle = "Set {name}"\ncitation = "Someone, {year}"\nlicence = "CC0"\npapers = ["ugrf"]\n'
        f'preprocessing = "none at all"\nshape = {{nodes = 2, edges = 1, classes = 0}}\n[[{name}.files]]\n'
        f'path = "{file.path}"\nurl = "{file.url}"\nsha256 = "{file.sha256}"\nbytes = {file.bytes}\n'
        for name, year, file in zip(("one", "two"), (1999, 2000), files, strict=True)
    )
    (tmp_path / "data" / "registry").mkdir(parents=True)
    (tmp_path / "data" / "registry" / "graphs.toml").write_text(table, encoding="utf-8")
    monkeypatch.setenv("RFCORE_REPOSITORY", str(tmp_path))
    return files


def test_command_fetch_shows_a_bar_sums_up_and_fails_if_something_is_missing(two_sets, capsys):
    assert main(["fetch"]) == 1
    out, err = capsys.readouterr()
    assert out == "2 files: 1 cached, 1 missing\n"
    assert "2/2" in err and "graphs/gone.gml is not to be had" in err and "404" in err
    assert kept() == ["graphs/whole.gml"]
    assert main(["fetch", "one"]) == 0
    assert capsys.readouterr().out == "1 files: 1 cached\n"


def test_command_fetch_asks_again_although_the_host_was_silent(two_sets, server, capsys):
    stamp = storage.cache() / f".silent-{server.host.replace(':', '_')}"
    stamp.parent.mkdir()
    stamp.write_text("it was silent", encoding="utf-8")
    assert main(["fetch", "one"]) == 0 and not stamp.exists()


def test_command_lists_every_set_with_its_status(two_sets, capsys):
    storage.read(two_sets[0])
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["name", "family", "status", "size", "papers", "licence"]
    assert lines[1].split() == ["one", "graphs", "cached", "0", "kB", "ugrf", "CC0"]
    assert lines[2].split() == ["two", "graphs", "missing", "0", "kB", "ugrf", "CC0"]
    assert "2 sets" in lines[-1] and "1 cached, 1 missing" in lines[-1]
    (storage.cache() / two_sets[1].path).write_bytes(b"bad")
    main(["list"])
    assert "1 damaged" in capsys.readouterr().out


def test_command_show_tells_origin_citation_and_preprocessing(two_sets, capsys):
    assert main(["show", "one"]) == 0
    out = capsys.readouterr().out
    for part in ("Set one", two_sets[0].url, two_sets[0].sha256, "Someone, 1999", "CC0", "none at all"):
        assert part in out
    assert main(["show", "onne"]) == 1
    assert "give perhaps one" in capsys.readouterr().err


def test_module_runs():
    command = [sys.executable, "-m", "companion.datasets", "show", "karate"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Zachary" in done.stdout and "raw.githubusercontent.com" in done.stdout and done.stderr == ""


def test_an_ascii_terminal_shows_names_of_authors():
    command = [sys.executable, "-m", "companion.datasets", "show", "traffic"]
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for told in ({}, {"PYTHONIOENCODING": "ascii"}):
        done = subprocess.run(command, capture_output=True, env=environment | told, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert rb"Mat\xe9rn Gaussian processes" in done.stdout
