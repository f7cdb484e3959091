"""A notebook's page: where it goes, what is recorded of how it was made, and what may not stand on it."""

import hashlib
import re

from rfcore.evidence import files

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
    return files.read(page).get("metadata", {}).get("rfcore", {})


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
