"""What a run rests on: the commit, versions and device, the notebook's code, the data that were read."""

import hashlib
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from rfcore import repository


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


def own_source(notebook):
    """Hash of the code of the notebook that runs; None where its source is not found."""
    if given := os.environ.get("RFCORE_SOURCE_SHA256"):  # the runner has read it; reading takes the kernel 3 s
        return given
    path = Path(f"{notebook.split('/')[-1]}.py")  # the runner and JupyterLab start in the notebook's folder
    if not path.exists():
        return None
    import jupytext

    return code_sha256(jupytext.read(path))


def _uses_data():
    """Whether anything of rfcore.datasets was used: a page without data does not wait for it."""
    return "rfcore.datasets" in sys.modules


def stood_in():
    """Data sets for which other data stood in."""
    return sys.modules["rfcore.datasets"].fallbacks() if _uses_data() else ()


def files_read():
    """Hash of every data file that was read, by its path."""
    return sys.modules["rfcore.datasets"].provenance() if _uses_data() else {}


def sets_read():
    """Names of the data sets of which a file was read."""
    files = files_read()
    if not files:
        return []
    entries = sys.modules["rfcore.datasets"].entries()
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
