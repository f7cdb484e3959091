"""The notebook's side: decide every claim, then close the book with its provenance."""

import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from rfcore import checks
from rfcore.evidence.claims import PROFILES, RULES, claims_of, entries, results_folder
from rfcore.evidence.verdicts import Decision, not_run, plain, unprinted


class Ledger:
    """The decisions of one notebook.

    Parameters
    ----------
    notebook : str
        Its place, ``"<folder>/<NN_slug>"``.
    profile : {"quick", "paper"}
        The profile at which it runs.

    Raises
    ------
    ValueError
        If no claim names this notebook.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> from rfcore import evidence
    >>> ledger = evidence.Ledger("simplex/02_gram_matrices", "quick")
    >>> claim = next(claim for claim in ledger.claims.values() if claim.kind == "bound")
    >>> ledger.decide(claim.id, evidence.not_run("It is an example.")).word
    'not run'
    """

    def __init__(self, notebook, profile):
        self.claims = claims_of(notebook)
        if not self.claims:
            known = sorted({entry.notebook for entry in entries() if entry.notebook})
            raise ValueError(f"notebook = {notebook!r} is named by no entry in data/claims; give one of {', '.join(known)}")
        checks.choice(profile, "profile", PROFILES)
        self.notebook, self.profile, self.decided = notebook, profile, {}
        self._opened = time.monotonic()

    def decide(self, claim, decision, requires=(), fallbacks=()):
        """Enter the decision on the claim of that id, and return it with its claim, to be shown.

        A failure that hangs on a setting which the paper does not print (``unprinted`` in the claim) is entered
        as "inconclusive". If one of the data sets in `requires` is in `fallbacks` (``datasets.fallbacks()``: sets for which
        other data stood in), the claim is entered as "not run".

        Raises
        ------
        ValueError
            If the claim is not this notebook's, was decided before, or is of another kind than the rule.
        """
        checks.choice(claim, "claim", sorted(self.claims))
        checks.instance(decision, Decision, "decision", "what a rule returned, such as evidence.bound(...)")
        requires, fallbacks = _names(requires, "requires"), _names(fallbacks, "fallbacks")
        if claim in self.decided:
            raise ValueError(f"claim = {claim!r} was decided already; give each claim one decision")
        kind = self.claims[claim].kind
        if decision.rule not in (*RULES[kind], "not run"):
            raise ValueError(f"claim = {claim!r} is of kind {kind}; give a decision by {RULES[kind]}, not by {decision.rule!r}")
        if missing := sorted(set(requires) & set(fallbacks)):
            decision = not_run(f"The real {', '.join(missing)} could not be had; other data stood in.")
        if setting := self.claims[claim].unprinted:
            decision = unprinted(decision, setting)
        self.decided[claim] = replace(decision, claim=self.claims[claim])
        return self.decided[claim]

    def close(self, seeds, data, fallbacks=()):
        """Write the ledger's JSON; show the table of claims and a line of provenance.

        Parameters
        ----------
        seeds : dict
            Every seed, by name.
        data : dict
            The hash of every data file (``datasets.provenance()``).
        fallbacks : iterable of str
            Data sets for which other data stood in (``datasets.fallbacks()``).

        Raises
        ------
        ValueError
            If a claim of this notebook is undecided, or an argument is of another kind.
        """
        checks.instance(seeds, dict, "seeds", "every seed by name")
        checks.instance(data, dict, "data", "datasets.provenance()")
        fallbacks = _names(fallbacks, "fallbacks")
        if missing := sorted(set(self.claims) - set(self.decided)):
            raise ValueError(f"{self.notebook} closes with undecided claims: {missing}")
        provenance = environment() | {
            "seconds": float(f"{time.monotonic() - self._opened:.3g}"),
            "source_sha256": _own_source(self.notebook),
            "seeds": seeds,
            "data": data,
            "fallbacks": sorted(fallbacks),
        }
        record = {
            "notebook": self.notebook,
            "profile": self.profile,
            "claims": {name: decision.as_dict() for name, decision in self.decided.items()},
            "provenance": provenance,
        }
        path = results_folder(self.profile) / f"{self.notebook}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.part")  # a reader never sees half a ledger
        part.write_text(json.dumps(record, indent=1, sort_keys=True, allow_nan=False) + "\n")
        part.replace(path)
        try:
            from IPython.display import Markdown, display
        except ModuleNotFoundError:  # a plain script
            Markdown, display = str, print
        found = [self.decided[name] for name in self.claims]
        lines = ["| claim | what was found | verdict |", "|---|---|---|"]
        lines += [f"| {plain(d.claim.statement)} | {plain(d.finding)} | **{d.word}** |" for d in found]
        display(Markdown("\n".join(lines)))
        display(Markdown(_line(self.profile, provenance)))


def _names(names, name):
    """Names of data sets, as a tuple; one text alone would be read letter by letter."""
    example = "names of data sets, such as datasets.fallbacks()"
    checks.instance(None if isinstance(names, str) else names, Iterable, name, example)
    return tuple(checks.text(one, name, "cora") for one in names)


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


def code_sha256(notebook):
    """Hash of the sources of a notebook's code cells (an nbformat node), without papermill's injected one."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    sources = [c.source.strip() for c in cells if "injected-parameters" not in c.metadata.get("tags", [])]
    return hashlib.sha256("\n# %%\n".join(sources).encode()).hexdigest()


def _own_source(notebook):
    if given := os.environ.get("RFCORE_SOURCE_SHA256"):  # the runner has read it; reading takes the kernel 3 s
        return given
    path = Path(f"{notebook.split('/')[-1]}.py")  # the runner and JupyterLab start in the notebook's folder
    if not path.exists():
        return None
    import jupytext

    return code_sha256(jupytext.read(path))


def _line(profile, provenance):
    device, changes = provenance["device"], " with changes" if provenance["dirty"] else ""
    commit = (provenance["commit"] or "unknown")[:10] + changes
    versions = ", ".join(f"{name} {number}" for name, number in provenance["versions"].items())
    return (
        f"*Profile {profile}, {provenance['date'][:10]}, {provenance['seconds']:g} s on {device['cores']} "
        f"cores ({device['cpu']}), commit {commit}, {versions}.*"
    )


def _git(*arguments):
    command = ["git", "-C", str(Path(__file__).parent), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _cpu():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")
