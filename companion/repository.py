"""Where the repository is: claims, results, the papers' tables and the data registry stand there.

``pip install .`` brings none of them. A notebook finds its checkout from the folder it runs in, whichever
rfcore is installed; ``RFCORE_REPOSITORY`` names another.
"""

import os
from pathlib import Path


def root():
    """``RFCORE_REPOSITORY``; else a checkout at or above the current folder; else the package's parent."""
    if given := os.environ.get("RFCORE_REPOSITORY"):
        return Path(given).absolute()
    here = Path.cwd()
    for place in (here, *here.parents):
        if (place / "_toc.yml").is_file() and (place / "data" / "claims").is_dir():
            return place
    return Path(__file__).resolve().parents[1]


def folder(path):
    """Folder of the repository at ``path``, such as ``data/claims``.

    Raises FileNotFoundError if it is not there, as in an installed rfcore far from a checkout.
    """
    found = root() / path
    if not found.is_dir():
        told = f"{path} belongs to the repository of rfcore, which {root()} is not"
        raise FileNotFoundError(f"{told}; set RFCORE_REPOSITORY to a checkout")
    return found
