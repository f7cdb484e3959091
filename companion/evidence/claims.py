"""What the papers claim, read from ``data/claims/*.toml``, and what they print.

All of it stands in the repository: where rfcore is installed without one (:mod:`companion.repository`), the
functions raise FileNotFoundError.
"""

import csv
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from companion import repository
from rfcore import checks

PROFILES = ("quick", "paper")
# The rules that can decide each kind of claim.
RULES = {kind: (kind,) for kind in ("identity", "unbiased", "bound", "order", "value")}
RULES["shape"] = ("slope", "order")
EXPECTED = (None, "not reproduced", "misprint, the result stands", "needs another condition", "the statement is false")
_ID = re.compile(r"[a-z]+/(fig|table|thm|cor|lemma|eq|alg|text|extra)-[A-Za-z0-9.-]+")


@dataclass(frozen=True)
class Claim:
    """One sentence that a notebook decides.

    A claim that fails stops the runner, unless that is ``expected``. A misprint is mended from the paper
    itself, and nothing that follows from it changes. In the file ``data`` stands on the entry, for all of its
    claims, or on the claim, in the entry's place.

    Attributes:
        id, statement, kind, rule: ``rule`` says in words what decides; ``kind`` is one of the keys of
            ``RULES``.
        expected, why: ``"not reproduced"``, ``"misprint, the result stands"``, ``"needs another condition"``
            or ``"the statement is false"``, where that outcome is known and accepted, and the reason.
        printed: what the paper says, quoted, with its number and place. Nothing of a paper is called "not
            reproduced" without it.
        unprinted: the setting, chosen by us, that the paper does not print and on which the outcome hangs, as
            the end of "the paper does not print ...": a failure then becomes "inconclusive".
        changed: when the claim was changed after a first run, why, and what it said before.
        known: whether sentence or rule was written when the numbers that decide it were known.
        finding: the sentence that tells what was found, with places for numbers of the decision, as in ``"KL
            {better} against {worse} for independent walks"`` (``companion.evidence.standing`` has the
            places).
        undecided: where the claim stays inconclusive, why no repeat could decide it, or what was tried.
        data: names of the data sets that decide it (``datasets.entries()``). Where other data stood in for
            one, the claim is "not run".
    """

    id: str
    statement: str
    kind: str
    rule: str
    expected: str | None = None
    why: str | None = None
    printed: str | None = None
    unprinted: str | None = None
    changed: str | None = None
    known: bool = False
    finding: str | None = None
    undecided: str | None = None
    data: tuple[str, ...] = ()

    @property
    def extra(self):
        """Whether this is a finding of ours that no paper states."""
        return self.id.split("/")[1].startswith("extra-")


@dataclass(frozen=True)
class Entry:
    """A figure, table, theorem, ... of a paper and its claims.

    ``text-...`` in the id is a sentence without a number, ``extra-...`` a finding of ours. Without a notebook
    nothing is decided yet, and ``plan`` may say what stands in for an experiment out of reach, or what the
    paper leaves open. ``schematic`` says why there is nothing to reproduce.
    """

    id: str
    place: str
    title: str
    statement: str
    claims: tuple[Claim, ...] = ()
    notebook: str | None = None
    anchor: str | None = None
    schematic: str | None = None
    plan: str | None = None

    @property
    def paper(self):
        """The paper's short name: ``"simplex"``, ..."""
        return self.id.split("/")[0]

    @property
    def extra(self):
        """Whether this is a finding of ours that no paper states."""
        return self.id.split("/")[1].startswith("extra-")


class Paper(NamedTuple):
    """A paper that the book re-runs: the name that ids begin with, title, key in the bibliography."""

    name: str
    title: str
    citation: str


@cache
def papers():
    """The :class:`Paper` of every paper, in the order of the book (``data/papers.toml``)."""
    text = (repository.folder("data") / "papers.toml").read_text(encoding="utf-8")
    return tuple(Paper(**paper) for paper in tomllib.loads(text)["paper"])


def entries(folder=None):
    """All entries of all papers, in the order of the papers and of their places.

    Raises ValueError if a file is malformed; the message names the file and the entry.

    Args:
        folder: the folder of the files, by default the repository's ``data/claims``.
    """
    if folder is None:
        folder = repository.folder("data/claims")
    if not (isinstance(folder, str | Path) and Path(folder).is_dir()):
        raise ValueError(f"folder = {folder!r} is none; give a folder of claims, such as data/claims")
    return _read(Path(folder))


@cache
def _read(folder):
    found = [entry for paper in papers() for entry in _entries_of(folder / f"{paper.name}.toml")]
    ids = [entry.id for entry in found] + [claim.id for entry in found for claim in entry.claims]
    if twice := [name for name, count in Counter(ids).items() if count > 1]:
        raise ValueError(f"ids used twice in {folder.name}: {twice}")
    return tuple(found)


def _entries_of(path):
    found = []
    for raw in tomllib.loads(path.read_text(encoding="utf-8")).get("entry", []) if path.exists() else ():
        try:
            entry = _entry(dict(raw))
            if entry.paper != path.stem:
                raise ValueError(f"id of another paper than {path.stem}")
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path.name}, entry {raw.get('id', raw)}: {error}") from None
        found.append(entry)
    return found


def _entry(raw):
    of_all = {"data": raw.pop("data")} if "data" in raw else {}
    claims = tuple(_claim(of_all | claim) for claim in raw.pop("claim", []))
    entry = Entry(claims=claims, **raw)
    if of_all and not claims:
        raise ValueError("data decide claims, and there are none")
    for item in (entry, *claims):
        for name, text in vars(item).items():
            if name not in ("claims", "data", "known") and text is not None and not (isinstance(text, str) and text.strip()):
                raise ValueError(f"{name}={text!r} must be a non-empty string")
    if not _ID.fullmatch(entry.id):
        raise ValueError("id must read <paper>/<fig|table|thm|cor|lemma|eq|alg|text|extra>-<number>")
    if bool(claims) != bool(entry.notebook) or bool(entry.notebook) != bool(entry.anchor):
        raise ValueError("claims, notebook and anchor come together: all three, or none (state 'not yet')")
    if entry.schematic and claims:
        raise ValueError("a schematic has nothing to reproduce, so no claims")
    if entry.plan and claims:
        raise ValueError("a plan is for what is to come: its claims say now how they are decided")
    for claim in claims:
        if not claim.id.startswith(entry.id + "/"):
            raise ValueError(f"claim id {claim.id!r} must start with {entry.id}/")
        if claim.kind not in RULES:
            raise ValueError(f"claim {claim.id}: kind={claim.kind!r} must be one of {', '.join(RULES)}")
        if claim.expected not in EXPECTED or bool(claim.expected) != bool(claim.why):
            wanted = f"expected may only be one of {', '.join(map(repr, EXPECTED[1:]))}, and needs a why"
            raise ValueError(f"claim {claim.id}: {wanted}")
        if claim.extra and claim.unprinted:
            raise ValueError(f"claim {claim.id}: a finding of ours depends on nothing that a paper leaves out")
        if claim.expected and claim.unprinted:
            raise ValueError(f"claim {claim.id}: what depends on an unprinted setting is never a failure of the paper")
    return entry


def _claim(raw):
    data = raw.get("data", [])
    if not isinstance(data, list) or not all(isinstance(name, str) and name.strip() for name in data):
        raise ValueError(f"claim {raw.get('id')}: data={data!r} must be a list of names of data sets")
    return Claim(**raw | {"data": tuple(data)})


def printed(table):
    """A table of a paper as it was printed: the rows of ``data/paper/<table>.csv``, dictionaries of texts.

    >>> from companion import evidence
    >>> sorted(evidence.printed("simplex_table2")[0])
    ['accuracy', 'dataset', 'mean_v', 'mechanism', 'std_error']
    """
    folder = repository.folder("data/paper")
    checks.choice(table, "table", sorted(path.stem for path in folder.glob("*.csv")))
    with (folder / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def claims_of(notebook, folder=None):
    """The claims that a notebook, ``"<folder>/<NN_slug>"``, must decide, by id; none where no entry names it.

    They stand in the files of the papers or, for a notebook of another folder, such as ``template``, in that
    folder's.
    """
    own, found = notebook.partition("/")[0], entries(folder)
    if own not in [paper.name for paper in papers()]:
        found += tuple(_entries_of(Path(folder or repository.folder("data/claims")) / f"{own}.toml"))
    return {c.id: c for entry in found if entry.notebook == notebook for c in entry.claims}
