"""Units and pages as on other processors and under other Pythons: ``make portable`` for one pair, ``make nightly`` for all.

Environment variables hold OpenBLAS, NumPy, XLA and the C library to the instructions of an older processor, so that one
machine of x86 stands for many.
"""

import os
import shlex
import subprocess
import sys
from itertools import cycle
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROCESSORS = {
    "Prescott": "OPENBLAS_CORETYPE=Prescott XLA_FLAGS=--xla_cpu_max_isa=SSE4_2 GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4 "
    "NPY_DISABLE_CPU_FEATURES='X86_V3 X86_V4 AVX512_ICL AVX512_SPR'",
    "Zen": "OPENBLAS_CORETYPE=Zen XLA_FLAGS=--xla_cpu_max_isa=AVX2 NPY_DISABLE_CPU_FEATURES='X86_V3 X86_V4 AVX512_ICL AVX512_SPR'",
    "Haswell": "OPENBLAS_CORETYPE=Haswell XLA_FLAGS=--xla_cpu_max_isa=AVX2 GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F "
    "NPY_DISABLE_CPU_FEATURES='X86_V4 AVX512_ICL AVX512_SPR'",
    # This one, compiled as users compile; tests/conftest.py compiles fast rather than well.
    "this processor": "XLA_FLAGS='--xla_backend_optimization_level=3 --xla_cpu_use_fusion_emitters=true' JAX_USE_SHARDY_PARTITIONER=true",
}


def passed(processor, python, *arguments):
    print(f"{processor}, {python}", flush=True)
    held = dict(word.split("=", 1) for word in shlex.split(PROCESSORS[processor]))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PYTHON"))} | held
    return subprocess.run(["make", "unit", "pages", f"PYTHON={python}", *arguments], cwd=ROOT, env=environment, check=False).returncode == 0


*choice, pythons = sys.argv[1:]
pythons = pythons.split()[::-1]
if choice:
    done = [passed(*pair, "SLOW=notebooks book book_browser") for pair in zip(PROCESSORS, cycle(pythons), strict=False)]
else:
    commit = int(subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT)[:8], 16)
    pages = sorted(f"{page.parent.name}/{page.stem}" for page in ROOT.glob("notebooks/*/[0-9]*.py"))[commit % 8 :: 8]
    others = pythons[:-1] or pythons  # the oldest has had `make test`
    done = [passed(list(PROCESSORS)[commit % 3], others[commit % len(others)], f"PAGES={' or '.join(pages)}")]
sys.exit(not all(done))
