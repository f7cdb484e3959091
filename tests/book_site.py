"""The book as it is built, for the tests that read it and for those that open it in a browser.

The build is made once and shared by the workers of pytest-xdist.
"""

import fcntl
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PHONE, DESKTOP, WIDE = ({"width": width, "height": 900} for width in (390, 1280, 1440))
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]  # fmt: skip
CUT_OFF = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
DRAWING = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]

AT_ONCE = "*, *::before, *::after { transition: none !important; animation: none !important; }"  # as a window is resized


def in_a_browser(what):
    """Mark a test that needs Chromium: without it, what was not looked at is said."""
    return pytest.mark.skipif(CHROMIUM is None and not os.environ.get("CI"), reason=f"no Chromium on this machine: {what}")


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """What the Makefile's command printed, and the folder of the pages it made."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    log = shared / "book.log"
    with (shared / "book.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not log.exists():
            makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
            (command,) = re.findall(r"\$\(BIN\)/(jupyter-book build .*?) >", makefile)
            program, *arguments = shlex.split(command)
            done = subprocess.run(
                [Path(sys.executable).parent / program, *arguments, "--path-output", shared],
                cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            )  # fmt: skip
            log.write_text(f"{done.stdout}\nexit status {done.returncode}\n", encoding="utf-8")
    return log.read_text(encoding="utf-8"), shared / "_build" / "html"


@pytest.fixture(scope="session")
def pages(built):
    pages = sorted(built[1].rglob("*.html"))
    found = {str(path.relative_to(built[1])): path.read_text(encoding="utf-8") for path in pages}
    assert len(found) > 20
    return {name: page for name, page in found.items() if not name.startswith("_static/")}  # the theme's templates


class Loads(HTMLParser):
    """Addresses that a browser fetches by itself, and the images of the text, drawings within the page among them."""

    def __init__(self, page):
        super().__init__()
        self.addresses, self.images, self._in_text = [], [], False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "article":
            self._in_text = True
        if tag == "link" and attributes.get("rel") not in ("prev", "next", "search", "index", "author"):
            self.addresses.append(attributes["href"])
        for name in ("src", "srcset", "data", "poster"):
            if attributes.get(name):
                self.addresses.append(attributes[name])
        if tag == "img" and self._in_text and "toggler" not in attributes.get("class", ""):
            self.images.append(attributes)
        if attributes.get("role") == "img" and self._in_text:
            self.images.append({"alt": attributes.get("aria-label")})
        elif tag == "svg" and self._in_text and attributes.get("aria-hidden") != "true":
            self.images.append({})

    def handle_endtag(self, tag):
        self._in_text = self._in_text and tag != "article"


@pytest.fixture(scope="session")
def loads(pages):
    """What each page loads, by its name: to parse them all takes seconds, and several tests ask."""
    return {name: Loads(page) for name, page in pages.items()}


@pytest.fixture(scope="session")
def site(built):
    handler = partial(QuietHandler, directory=built[1])
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves the pages and says nothing; the browser keeps what it was given, and one connection for all of it."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/favicon.ico":  # which browsers ask for where a page that only leads on names no icon
            self.send_response(204)
            return self.end_headers()
        return super().do_GET()

    def end_headers(self):
        self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()

    def log_message(self, *arguments):
        pass
