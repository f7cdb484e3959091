"""The notebook's side: decide every claim, then close the book with what the run rests on."""

import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import jax
import numpy as np

from companion import plotting, repository
from companion.evidence import arrays, pages
from companion.evidence.claims import PROFILES, RULES, claims_of, entries
from companion.evidence.verdicts import not_run, unprinted
from rfcore import checks


def open_page(notebook, profile):
    """Open a page of the book: double precision, the book's style, and its ledger.

    It goes before the first array, since an array made earlier stays in single precision.

    Args:
        notebook, profile: of the page's :class:`Ledger`, which is returned.
    """
    ledger = Ledger(notebook, profile)
    jax.config.update("jax_enable_x64", True)
    plotting.use_style()
    return ledger


class Ledger:
    """The decisions of one notebook.

    Args:
        notebook: its place, ``"<folder>/<NN_slug>"``, which some claim names.
        profile: "quick" or "paper".

    >>> from companion import evidence
    >>> ledger = evidence.Ledger("simplex/06_gram_matrices", "quick")
    >>> claim = next(claim for claim in ledger.claims.values() if claim.kind == "bound")
    >>> ledger.decide({claim.id: evidence.not_run("It is an example.")})[claim.id].word
    'not run'
    """

    def __init__(self, notebook, profile):
        self.claims = claims_of(notebook)
        if not self.claims:
            known = sorted({entry.notebook for entry in entries() if entry.notebook})
            raise ValueError(f"notebook = {notebook!r} is named by no entry in data/claims; give one of {', '.join(known)}")
        checks.choice(profile, "profile", PROFILES)
        self.notebook, self.profile, self.decided, self.seeds, self.kept = notebook, profile, {}, {}, {}
        self._results = os.environ.get("RFCORE_RESULTS")  # else a reader plays: cells run again, claims stay open, data are their own
        self._opened = time.monotonic()

    def key(self, name, *indices):
        """A JAX key for the draws called ``name``, which the provenance records.

        ::

            seed = the first four bytes of sha256(name)
            key = fold_in(... fold_in(key(seed), indices[0]) ..., indices[-1])

        It depends on nothing else: neither on the page, so that a page can be split and keep its numbers, nor
        on the order of the calls. The same name and indices give the same key again, for common random
        numbers; draws that must be independent need names, or indices, of their own.

        Args:
            name: what is drawn: ``"walks"``.
            *indices: counters, such as of a repeat, at least 0 and below 2^32.
        """
        key = jax.random.key(self._seed(name))
        for index in _counters(indices):
            key = jax.random.fold_in(key, index)
        return key

    def rng(self, name, *indices):
        """A NumPy generator for the draws called ``name``, under the same rules as :meth:`key`.

        It is ``numpy.random.default_rng([seed, *indices])``.
        """
        return np.random.default_rng([self._seed(name), *_counters(indices)])

    def _seed(self, name):
        seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
        self.seeds[name] = seed
        return seed

    def decide(self, table):
        """Enter decisions on claims, and return them with their claims, to be shown.

        A failure that depends on a setting which the paper does not print (``unprinted`` in the claim) is
        entered as "inconclusive". A claim one of whose data sets (``data``) was not to be had, so that other
        data stood in, is entered as "not run". Raises ValueError if a claim is not this notebook's, is of
        another kind than the rule, or, under the runner, was decided before; nothing is entered then.

        Args:
            table: dict of claim id to :class:`~companion.evidence.verdicts.Decision`.

        Returns:
            :class:`Decisions`, in the order of the table.
        """
        entered = Decisions({claim: self._checked(claim, found) for claim, found in table.items()})
        self.decided |= entered
        return entered

    def _checked(self, name, decision):
        checks.choice(name, "table", sorted(self.claims))
        if name in self.decided and self._results:
            raise ValueError(f"table = {name!r} was decided already; give each claim one decision")
        claim = self.claims[name]
        if decision.rule not in (*RULES[claim.kind], "not run"):
            allowed = RULES[claim.kind]
            raise ValueError(f"decision = {decision.rule!r} on {name!r}, which is of kind {claim.kind}; give one by {allowed}")
        if missing := sorted(set(claim.data).intersection(stood_in())):
            decision = not_run(f"The real {', '.join(missing)} could not be had; other data stood in.")
        if claim.unprinted:
            decision = unprinted(decision)
        return replace(decision, claim=claim)

    def keep(self, name, array, axes):
        """Keep a curve or a map beside the decisions, for others (:func:`companion.evidence.arrays.kept`).

        Numbers are rounded to four digits. What is uncertain is kept with its error or interval, as entries
        along an axis. Raises ValueError beyond ``arrays.BYTES`` in all: what is kept is committed.

        Args:
            name: what it is, ``"error over independent"``; each once.
            array: numbers, NaN where nothing was measured.
            axes: dict of the name of each axis, in order, to its labels or numbers, one for each entry.

        >>> from companion import evidence
        >>> ledger = evidence.Ledger("simplex/06_gram_matrices", "quick")
        >>> ledger.keep("error", [[0.5, 0.25]], {"coupling": ["simplex"], "m": [8, 16]})
        """
        others = self.kept if self._results else {other: kept for other, kept in self.kept.items() if other != name}
        self.kept = arrays.added(others, name, array, axes)

    def close(self):
        """Write the ledger's JSON; show a line of provenance.

        It goes below ``RFCORE_RESULTS``, where the runner wants it, or else, in a run by hand, below
        ``_build/results``: only the runner writes what is committed. Under the runner it raises ValueError if
        a claim of this notebook is undecided, or a data set was read that none of its claims names.
        """
        if (missing := sorted(set(self.claims) - set(self.decided))) and self._results:
            raise ValueError(f"{self.notebook} closes with undecided claims: {missing}")
        named = {name for claim in self.claims.values() for name in claim.data}
        if (unnamed := sorted({*sets_read(), *stood_in()} - named)) and self._results:
            told = f"no claim of {self.notebook} names {unnamed}, which it read"
            raise ValueError(f"{told}; give data = [...] in data/claims to those that rest on it")
        source = Path(f"{self.notebook.split('/')[-1]}.py")  # the runner and JupyterLab start in the notebook's folder
        provenance = environment() | {
            "seconds": float(f"{time.monotonic() - self._opened:.3g}"),
            "source_sha256": pages.source_sha256(source) if source.exists() else None,
            "seeds": self.seeds,
            "data": files_read(),
            "fallbacks": sorted(stood_in()),
        }
        record = {
            "notebook": self.notebook,
            "profile": self.profile,
            "claims": {name: decision.as_dict() for name, decision in self.decided.items()},
            "provenance": provenance,
        }
        if self.kept:
            record["kept"] = self.kept
        folder = self._results or repository.root() / "_build" / "results"
        path = Path(folder, self.profile, f"{self.notebook}.json")
        pages.write(path, json.dumps(record, indent=1, sort_keys=True, allow_nan=False) + "\n")
        try:
            from IPython.display import Markdown, display
        except ModuleNotFoundError:  # a plain script
            Markdown, display = str, print
        display(Markdown(line(self.profile, provenance)))


class Decisions(dict):
    """Decisions by claim id, shown one under the other.

    What is shown says in its metadata whose claims it holds: the runner keeps the numbers, and the book takes
    the words from ``data/claims`` when it is built, so that a page need not be run for another wording.
    """

    def __repr__(self):
        return "\n".join(f"{name}: {decision.word}. {decision.finding}" for name, decision in self.items())

    def _repr_mimebundle_(self, include=None, exclude=None):
        shown = {"text/plain": repr(self), "text/markdown": self.markdown()}
        return shown, {"rfcore": {"claims": list(self)}}

    def markdown(self):
        """What readers meet: the words of the claims, their verdicts and numbers, the statistics in folds."""
        return "\n\n".join(decision._repr_markdown_() for decision in self.values())


def _counters(indices):
    for index in indices:
        if checks.count(index, "indices", least=0) >= 2**32:
            raise ValueError(f"indices = {index}; give whole numbers below 2^32")
    return [int(index) for index in indices]


def environment():
    """Commit, date, versions and device of this run; no path of the machine.

    ``dirty``: whether sources differ from the commit; None where git cannot tell.
    """
    jax, packages = sys.modules.get("jax"), ("jax", "numpy", "scipy")
    changes = _git("status", "--porcelain", "--", ":/rfcore", ":/data/claims", ":/notebooks/*.py")
    return {
        "commit": _git("rev-parse", "HEAD"),
        "dirty": None if changes is None else bool(changes),
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "versions": {"python": platform.python_version()} | {p: version(p) for p in packages},
        "device": {"cpu": _cpu(), "cores": os.cpu_count(), "platform": platform.system()},
        "x64": bool(jax.config.jax_enable_x64) if jax else None,
    }


def _uses_data():
    """Whether anything of companion.datasets was used: a page without data does not wait for it."""
    return "companion.datasets" in sys.modules


def stood_in():
    """Data sets for which other data stood in."""
    return sys.modules["companion.datasets"].fallbacks() if _uses_data() else ()


def files_read():
    """Hash of every data file that was read, by its path."""
    return sys.modules["companion.datasets"].provenance() if _uses_data() else {}


def sets_read():
    """Names of the data sets of which a file was read."""
    files = files_read()
    if not files:
        return []
    entries = sys.modules["companion.datasets"].entries()
    return [entry.name for entry in entries if any(f.path in files for f in entry.files)]


def line(profile, provenance):
    """One line of Markdown: when, where and from what a page was made."""
    device, changes = provenance["device"], " with changes" if provenance["dirty"] else ""
    commit = (provenance["commit"] or "unknown")[:10] + changes
    versions = ", ".join(f"{name} {number}" for name, number in provenance["versions"].items())
    return (
        f"*Profile {profile}, {provenance['date'][:10]}, {provenance['seconds']:g} s on {device['cores']} "
        f"cores ({device['cpu']}), commit {commit}, {versions}.*"
    )


def _git(*arguments):
    command = ["git", "-C", str(repository.root()), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _cpu():
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")
