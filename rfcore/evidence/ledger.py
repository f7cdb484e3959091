"""The notebook's side: decide every claim, then close the book with its provenance."""

import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .claims import ROOT, claims_of, results_folder
from .verdicts import not_run, with_error

PACKAGES = ("jax", "numpy", "scipy")


class Ledger:
    """The decisions of one notebook.

    Parameters
    ----------
    notebook : str
        Its place, ``"<folder>/<NN_slug>"``.
    profile : str
        ``"quick"`` or ``"paper"``.

    Raises
    ------
    ValueError
        If no claim names this notebook.

    Examples
    --------
    ::

        ledger = evidence.Ledger("ugrf/01_fixed_kernels", profile)
        ledger.decide("ugrf/fig-2/rate", evidence.slope(walkers, errors, -0.5, 0.1))
        ledger.close(seeds={"walks": 0}, data=datasets.provenance())
    """

    def __init__(self, notebook, profile):
        self.claims = claims_of(notebook)
        if not self.claims:
            raise ValueError(f"notebook={notebook!r} is named by no claim in data/claims")
        if profile not in ("quick", "paper"):
            raise ValueError(f"profile={profile!r} must be 'quick' or 'paper'")
        self.notebook, self.profile, self.decided = notebook, profile, {}
        self._opened = time.monotonic()

    def decide(self, claim, decision, requires=(), fallbacks=()):
        """Enter the decision on a claim and return it.

        Parameters
        ----------
        claim : str
            The claim's id.
        decision : Decision
            What a rule returned.
        requires : iterable of str
            Data sets the claim is about. If one of them is in `fallbacks` (``datasets.fallbacks()``: sets
            for which other data stood in), the claim is entered as "not run".
        fallbacks : iterable of str
            See `requires`.

        Raises
        ------
        ValueError
            If the claim is not this notebook's, or was decided before.
        """
        if claim not in self.claims:
            raise ValueError(f"claim={claim!r} is not one of {self.notebook}: {sorted(self.claims)}")
        if claim in self.decided:
            raise ValueError(f"claim={claim!r} was decided already: one claim, one decision")
        if missing := sorted(set(requires) & set(fallbacks)):
            decision = not_run(f"The real {', '.join(missing)} could not be had; other data stood in.")
        self.decided[claim] = decision
        return decision

    def close(self, seeds, data, fallbacks=()):
        """Write the ledger's JSON and show the table of claims with a line of provenance.

        Parameters
        ----------
        seeds : dict
            Name and number of every seed.
        data : dict
            Name and hash of every data set (``datasets.provenance()``).
        fallbacks : iterable of str
            Data sets for which other data stood in.

        Raises
        ------
        ValueError
            If a claim of this notebook is undecided.
        """
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
        from IPython.display import Markdown, display

        display(Markdown(self._table()), Markdown(_line(self.profile, provenance)))

    def _table(self):
        lines = ["| claim | paper | ours | verdict |", "|---|---|---|---|"]
        for name, claim in self.claims.items():
            d = self.decided[name]
            paper, ours = with_error(d.paper, d.paper_se), with_error(d.ours, d.se)
            lines.append(f"| {claim.statement} | {paper} | {ours} | **{d.verdict.value}** |")
        return "\n".join(lines)


def environment():
    """Commit, date, versions and device of this run; no path of the machine."""
    jax = sys.modules.get("jax")
    return {
        "commit": _git("rev-parse", "HEAD"),
        "dirty": bool(_git("status", "--porcelain", "--", "rfcore", "data/claims", "notebooks/**/*.py")),
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "versions": {"python": platform.python_version()} | {p: _version(p) for p in PACKAGES},
        "device": {"cpu": _cpu(), "cores": os.cpu_count(), "platform": platform.system()},
        "x64": bool(jax.config.jax_enable_x64) if jax else None,
    }


def code_sha256(notebook):
    """Hash of the sources of a notebook's code cells (an nbformat node), without papermill's injected one."""
    sources = [
        cell.source.strip()
        for cell in notebook.cells
        if cell.cell_type == "code" and "injected-parameters" not in cell.metadata.get("tags", [])
    ]
    return hashlib.sha256("\n# %%\n".join(sources).encode()).hexdigest()


def _own_source(notebook):
    path = Path.cwd() / f"{notebook.split('/')[-1]}.py"  # both the runner and JupyterLab start in the folder
    if not path.exists():
        return None
    import jupytext

    return code_sha256(jupytext.read(path))


def _line(profile, provenance):
    device, versions = provenance["device"], provenance["versions"]
    commit = (provenance["commit"] or "no commit")[:10] + (" with changes" if provenance["dirty"] else "")
    names = ", ".join(f"{name} {number}" for name, number in versions.items() if number)
    return (
        f"*Profile {profile}, {provenance['date'][:10]}, {provenance['seconds']:g} s on {device['cores']} "
        f"cores of {device['cpu']}, commit {commit}, {names}.*"
    )


def _git(*arguments):
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _version(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cpu():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
