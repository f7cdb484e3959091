"""A notebook's page: where it goes, how it was made, what may not stand on it, whether it is due for a rerun.

Pages and ledgers are whole or not there: written aside and renamed, read as missing where cut. A page is due
when its code, or a definition that it reaches, has changed; ``python -m companion.evidence.runner --due``
lists those. The standard library alone does it, so as to be quick.
"""

import hashlib
import json
import os
import re
from pathlib import Path

from companion.evidence.reach import reach_sha256
from companion.repository import root

_EMBEDDED = re.compile(r"base64,[A-Za-z0-9+/=\s]*")  # an image within HTML: letters and strokes at random
_MACHINE_PATH = re.compile(r"(?<![\w.:/-])/(?:work|root|home|tmp|Users)/[^\s\"'<>]*")


def name_of(source):
    """The notebook's name, ``<folder>/<slug>``."""
    return f"{source.parent.name}/{source.stem}"


def page_of(source, profile):
    """Where the executed notebook goes: beside its source at "paper", else below ``_build``."""
    if profile == "paper":
        return source.with_suffix(".ipynb")
    return source.resolve().parents[2] / "_build" / profile / f"{name_of(source)}.ipynb"


def made(page):
    """What is recorded of how a page was made; empty where there is none, or none that can be read."""
    return read(page).get("metadata", {}).get("rfcore", {})


def strip(notebook):
    """Remove what changes from run to run without meaning: papermill's marks, ids, progress bars."""
    notebook.metadata.pop("papermill", None)
    notebook.metadata.get("jupytext", {}).pop("text_representation", None)  # of the .py, so that it matches a sync
    seen = {}
    for cell in notebook.cells:
        for noise in ("papermill", "execution"):
            cell.metadata.pop(noise, None)
        if not cell.metadata.get("tags", True):
            del cell.metadata["tags"]
        digest = hashlib.sha256(cell.source.encode()).hexdigest()[:8]  # ids are drawn at random otherwise
        seen[digest] = seen.get(digest, 0) + 1
        cell.id = f"{digest}-{seen[digest]}"
        for output in cell.get("outputs", []):
            if claims_shown(output):  # their words come from data/claims when the book is built
                output.data.pop("text/markdown", None)
            if output.output_type == "stream":  # what a terminal would show in the end
                output.text = "\n".join(line.rsplit("\r", 1)[-1] for line in output.text.split("\n"))
        if "outputs" in cell:
            # What libraries write to stderr is no result; a failed cell has ended the run before.
            cell.outputs = [
                o for o in cell.outputs if o.output_type != "stream" or (o.name != "stderr" and o.text.strip())
            ]


def claims_shown(output):
    """Ids of the claims whose decisions an output of a cell shows; empty where it shows none."""
    return output.get("metadata", {}).get("rfcore", {}).get("claims", [])


def machine_paths(notebook):
    """Paths of this machine in the text of outputs (images are not searched)."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            shown = [v for k, v in output.get("data", {}).items() if not k.startswith("image/")]
            for text in [output.get("text", ""), *shown]:
                found += _MACHINE_PATH.findall(_EMBEDDED.sub("", str(text)))
    return found


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


def notebooks(project=None):
    """Sources of all notebooks, the template of new ones among them."""
    return sorted((Path(project or root()) / "notebooks").glob("*/[0-9][0-9]_*.py"))


def due(project=None):
    """Sources of the pages that are due: never run at paper, or not with the present code."""
    return [
        source
        for source in notebooks(project)
        if source.parent.name != "template" and _is_due(source, project or root())
    ]


def _is_due(source, project):
    before = made(page_of(source, "paper"))
    if (before.get("profile"), before.get("source_sha256")) != ("paper", source_sha256(source)):
        return True
    return before.get("reach_sha256") != reach_sha256(source, project)


def source_sha256(source):
    """Hash of the code of a notebook's ``.py``, whatever its prose and its tags say."""
    return hashlib.sha256("\n# %%\n".join(code_cells(source)).encode()).hexdigest()


def code_cells(source):
    """The code cells that jupytext reads from a ``.py``, which takes seconds to import."""
    cells = re.split(r"^# %%", source.read_text(encoding="utf-8"), flags=re.M)[1:]
    return [cell.partition("\n")[2].strip() for cell in cells if not re.match(r" .*\[(markdown|raw)\]", cell)]


def main(project=None):
    """Print the pages that are due, one a line."""
    for source in due(project):
        print(name_of(source))
