"""Pages and ledgers are whole or not there: written aside and renamed, read as missing where cut."""

import json
import os


def write(path, text):
    """Write a file that a reader sees whole or not at all; its folder is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)  # a full disk leaves none


def read(path):
    """The JSON object in a file; an empty one if the file is missing, unreadable or cut."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
