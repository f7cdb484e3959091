"""Which pages are due for a rerun: their code changed since they were made, or a definition that they reach.

``python -m rfcore.evidence.runner --due`` lists them. It takes the standard library alone, so as to be quick.
"""

import hashlib
import re
from pathlib import Path

from rfcore.evidence.pages import made, name_of, page_of
from rfcore.evidence.reach import reach_sha256
from rfcore.repository import root


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
    """``provenance.code_sha256`` of what jupytext reads from a notebook; to import that takes seconds."""
    text = re.sub(r"\A(# ---\n(#.*\n)*?# ---\n)", "", source.read_text(encoding="utf-8"))
    cells = [""]
    for line in text.splitlines(keepends=True):
        if line.startswith("# %%"):
            cells.append("")
        cells[-1] += line
    code = [
        cells[0],
        *(cell.partition("\n")[2] for cell in cells[1:] if not re.match(r"# %% .*\[(markdown|raw)\]", cell)),
    ]
    code = code if cells[0].removeprefix("\n") else code[1:]  # jupytext makes a cell of a second blank line
    return hashlib.sha256("\n# %%\n".join(cell.strip() for cell in code).encode()).hexdigest()


def main(project=None):
    """Print the pages that are due, one a line."""
    for source in due(project):
        print(name_of(source))
