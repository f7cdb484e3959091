"""Where the repository is: claims, results, the papers' tables and the data registry stand there, not in an installed rfcore.

Those who lift rfcore into work of their own want its mathematics and its rules; the record of what was found is the book's.
``RFCORE_REPOSITORY`` names a checkout for an rfcore that is installed elsewhere.
"""

import os
from pathlib import Path

ROOT = Path(os.environ.get("RFCORE_REPOSITORY") or Path(__file__).resolve().parents[1])


def folder(path):
    """Folder of the repository at ``path``, such as ``data/claims``.

    Raises
    ------
    FileNotFoundError
        If it is not there, as in an installed rfcore.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> from rfcore import repository
    >>> repository.folder("no/such")
    Traceback (most recent call last):
    FileNotFoundError: no/such belongs to the repository of rfcore, which ... is not; set RFCORE_REPOSITORY to a checkout
    """
    found = ROOT / path
    if not found.is_dir():
        raise FileNotFoundError(f"{path} belongs to the repository of rfcore, which {ROOT} is not; set RFCORE_REPOSITORY to a checkout")
    return found
