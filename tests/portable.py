"""Run units and pages as if on other processors, and under other Pythons: ``make portable``, ``make nightly``.

Environment variables hold OpenBLAS, NumPy, XLA and the C library to the instructions of an older processor, so that
one machine stands for many. Every processor and every Python gets a run, not every pair.
"""

import argparse
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

# tests/conftest.py compiles fast rather than well; at night this processor compiles as users do.
AS_USERS = {
    "XLA_FLAGS": "--xla_backend_optimization_level=3 --xla_cpu_use_fusion_emitters=true",
    "JAX_USE_SHARDY_PARTITIONER": "true",
}

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
            "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
        },
    ),
    "SkylakeX": (
        "avx512f avx512bw avx512cd avx512dq avx512vl",
        {"OPENBLAS_CORETYPE": "SkylakeX"},
    ),
}


def processors():
    """Names of those that this machine can stand for; says which it cannot."""
    if platform.machine().lower() not in ("x86_64", "amd64") or not Path("/proc/cpuinfo").exists():
        print(f"{platform.system()} on {platform.machine()}: no other processor can be stood for, this one it is")
        return []
    flags = re.search(r"^flags\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.M)[1].split()
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


def newest_pages(n):
    """The ``n`` pages whose outputs were committed last."""
    log = ["git", "log", "--format=", "--name-only", "-200", "--", "notebooks/*/*.ipynb"]
    paths = subprocess.run(log, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [f"{Path(path).parent.name}/{Path(path).stem}" for path in dict.fromkeys(paths) if (ROOT / path).exists()][:n]


def run(version, python, processor, *targets, also=()):
    """Run targets of the Makefile; the lines that sum them up, and whether all passed."""
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "PYTHON")}
    for name, value in [*(PROCESSORS[processor][1] if processor else {}).items(), *dict(also).items()]:
        environment[name] = f"{environment.get(name, '')} {value}".strip() if name == "XLA_FLAGS" else value
    passed = True
    for target in targets:
        command = ["make", *target, *([f"PYTHON={python}"] if python else [])]
        started = time.monotonic()
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        words = done.stdout.rstrip().rsplit("\n", 1)[-1].split(" in ")[0].strip("= ")
        seconds = time.monotonic() - started
        print(f"{processor or 'this processor':15} Python {version:5} {target[0]:5} {seconds:5.0f} s  {words}", flush=True)
        if done.returncode:
            print(done.stdout, done.stderr, sep="\n", flush=True)
        passed &= done.returncode == 0
    return passed


def main(arguments):
    """Units and some pages under one pair of processor and Python, which the commit chooses; or all of them under all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pythons", nargs="*", help="interpreters in place of those that are found")
    parser.add_argument("--all", action="store_true", help="every processor and every Python, and every page")
    options = parser.parse_args(arguments)
    under = {version_of(python): python for python in options.pythons} or pythons()
    on = processors() or [None]
    if options.all:
        on, versions, pages = [*on, None], list(under), []
    else:
        commit = int(subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True)[:8], 16)
        versions = [version for version, python in under.items() if python] or list(under)  # .venv has its tests already
        every = sorted(f"{path.parent.name}/{path.stem}" for path in ROOT.glob("notebooks/*/[0-9][0-9]_*.ipynb"))
        versions = [versions[commit // len(on) % len(versions)]]
        on = [on[commit % len(on)]]
        pages = sorted({*newest_pages(4), *every[commit % 8 :: 8]})
    chosen = [f"PAGES={' or '.join(pages)}"] if pages else []
    pairs = [(versions[k % len(versions)], on[k % len(on)]) for k in range(max(len(versions), len(on)))]
    # All but pages and book where there is time: examples of the wheel may print otherwise under another Python.
    units = ["unit", *(["SLOW=notebooks book book_browser"] if options.all else [])]
    as_users = AS_USERS if options.all else ()
    passed = [run(v, under[v], cpu, units, ["pages", *chosen], also=() if cpu else as_users) for v, cpu in pairs]
    print(f"{sum(passed)} of {len(passed)} passed")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
