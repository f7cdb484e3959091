"""Run the units as if on other processors, and under other Pythons: ``make portable``.

Environment variables hold OpenBLAS, NumPy, XLA and the C library to the instructions of an older processor, so that
one machine stands for many. Every processor and every Python gets a run, not every pair.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
OLDEST, NEWEST = 11, 13  # the minor versions of Python 3 that README promises

# tests/conftest.py compiles fast rather than well; some of the runs compile as users do.
AS_USERS = "--xla_backend_optimization_level=3 --xla_cpu_use_fusion_emitters=true"

# name: what it needs of this machine, and what holds the libraries to it
PROCESSORS = {
    "Prescott": (
        "sse4_2",
        {
            "OPENBLAS_CORETYPE": "Prescott",
            "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
            "XLA_FLAGS": "--xla_cpu_max_isa=SSE4_2",
            "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4",
        },
    ),
    "Haswell": (
        "avx2 fma",
        {
            "OPENBLAS_CORETYPE": "Haswell",
            "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
            "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
            "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F",
        },
    ),
    "Zen": (
        "avx2 fma",
        {
            "OPENBLAS_CORETYPE": "Zen",
            "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
            "XLA_FLAGS": f"--xla_cpu_max_isa=AVX2 {AS_USERS}",
        },
    ),
    "SkylakeX": (
        "avx512f avx512bw avx512cd avx512dq avx512vl",
        {"OPENBLAS_CORETYPE": "SkylakeX", "XLA_FLAGS": AS_USERS},
    ),
}


def processors():
    """Names of those that this machine can stand for; says which it cannot."""
    if platform.machine().lower() not in ("x86_64", "amd64") or not Path("/proc/cpuinfo").exists():
        print(f"{platform.system()} on {platform.machine()}: no other processor can be stood for, this one it is")
        return []
    flags = re.search(r"^flags\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)[1].split()
    able = [name for name, (needs, _) in PROCESSORS.items() if set(needs.split()) <= set(flags)]
    for name in set(PROCESSORS) - set(able):
        print(f"{name}: skipped, this machine lacks one of {PROCESSORS[name][0]}")
    return able


def version_of(python):
    """``3.x`` of an interpreter that runs and can make environments, else None."""
    code = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def pythons():
    """Interpreters on PATH and pyenv's, one of each promised version: version -> path; None is that of .venv."""
    own = f"{sys.version_info[0]}.{sys.version_info[1]}"
    found = {own: None}
    for minor in range(OLDEST, NEWEST + 1):
        name = f"python3.{minor}"
        on_path = [shutil.which(name, path=folder) for folder in os.get_exec_path()]
        versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
        of_pyenv = sorted(map(str, versions.glob(f"3.{minor}.*/bin/{name}")))
        for python in filter(None, [*on_path, *of_pyenv]):
            if version_of(python) == f"3.{minor}":
                found.setdefault(f"3.{minor}", python)
        if f"3.{minor}" not in found:
            print(f"Python 3.{minor}: skipped, not found")
    return dict(sorted(found.items()))


def run(version, python, processor):
    """Run the units once; the line that sums them up and whether all passed."""
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "PYTHON")}
    environment |= PROCESSORS[processor][1] if processor else {"XLA_FLAGS": AS_USERS}
    # The wheel too, whose examples may print otherwise under another Python.
    command = ["make", "unit", "SLOW=notebooks book", *([f"PYTHON={python}"] if python else [])]
    started = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    words = done.stdout.rstrip().rsplit("\n", 1)[-1].split(" in ")[0].strip("= ")
    seconds = time.monotonic() - started
    print(f"{processor or 'this processor':15} Python {version:5} {seconds:5.0f} s  {words}", flush=True)
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n", flush=True)
    return done.returncode == 0


def main(arguments):
    """Run the units under the Pythons given, or under all found."""
    under = {version_of(python): python for python in arguments} or pythons()
    on = processors() or [None]
    pairs = [(list(under)[k % len(under)], on[k % len(on)]) for k in range(max(len(under), len(on)))]
    passed = [run(version, under[version], processor) for version, processor in pairs]
    print(f"{sum(passed)} of {len(passed)} runs of the units passed")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
