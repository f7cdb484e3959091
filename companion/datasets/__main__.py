"""``python -m companion.datasets``: which sets there are and where they are, fetch them, show one."""

import argparse
import sys

from tqdm import tqdm

from companion.datasets import registry, storage


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit status: 1 if something is missing, damaged or unknown."""
    parser = argparse.ArgumentParser("python -m companion.datasets", description="The data of the five papers.")
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("list", help="every set with its status (the default)")
    fetch = commands.add_parser("fetch", help="download what is neither cached nor mirrored")
    fetch.add_argument("names", nargs="*", help="sets; all if none is named")
    show = commands.add_parser("show", help="origin, licence, citation and preprocessing of a set")
    show.add_argument("name")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.command == "fetch":
            return _fetch([registry.find(name) for name in chosen.names] or registry.entries())
        if chosen.command == "show":
            return _show(registry.find(chosen.name))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return _list()


def _status(entry: registry.Entry) -> str:
    words = {storage.status(file) for file in entry.files}
    return next(word for word in ("damaged", "missing", "mirrored", "cached") if word in words)


def _size(number: int) -> str:
    return f"{number / 1e6:.1f} MB" if number >= 1e6 else f"{number / 1e3:.0f} kB"


def _list() -> int:
    head = ("name", "family", "status", "size", "papers", "licence")
    rows = [
        (e.name, e.family, _status(e), _size(e.bytes), " ".join(e.papers) or "-", e.licence)
        for e in registry.entries()
    ]
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    for row in (head, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print(f"\n{len(rows)} sets; cache: {storage.cache()}; {_counts(row[2] for row in rows)}")
    return 0


def _counts(words) -> str:
    words = list(words)
    found = ((word, words.count(word)) for word in ("cached", "mirrored", "missing", "damaged"))
    return ", ".join(f"{count} {word}" for word, count in found if count)


def _fetch(entries) -> int:
    storage.try_again(storage.cache())
    files = [file for entry in entries for file in entry.files]
    troubles = []
    with tqdm(files, unit="file") as bar:
        for file in bar:
            bar.set_postfix_str(file.path)
            try:
                storage.read(file)
            except OSError as error:
                troubles.append(str(error))
    print(f"{len(files)} files: {_counts(map(storage.status, files))}")
    for trouble in troubles:
        print(f"- {trouble}", file=sys.stderr)
    return 1 if troubles else 0


def _show(entry: registry.Entry) -> int:
    print(f"{entry.name}: {entry.title}")
    facts = {
        "aliases": ", ".join(entry.aliases),
        "family": entry.family,
        "papers": ", ".join(entry.papers) or "none of the five",
        "citation": entry.citation,
        "licence": entry.licence,
        "shape": ", ".join(f"{count} {what}" for what, count in entry.shape.items()),
        "preprocessing": entry.preprocessing,
    }
    for key, value in facts.items():
        if value:
            print(f"  {key + ':':<15}{value}")
    for file in entry.files:
        print(f"  {file.path}: {storage.status(file)}, {file.bytes} bytes")
        print(f"    {file.origin}\n    sha256 {file.sha256}")
    return 0


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may lack the letters of authors' names
    sys.exit(main())
