"""Work in float64, draw hypothesis examples from a fixed seed, and never open a window."""

import ctypes
import gc
import inspect
import os
import re
from importlib.metadata import version
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")
# Two workers on two cores: a BLAS of two threads in each waits for itself. Forked kernels have the one of the server that forks.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# One thread, since the suite runs two workers. Compiled fast rather than well: half of what the units
# cost is compiling some thousand small functions that run once; in one piece each, since to split one for threads that
# are not there takes a third longer. Flags that are given come last, and so prevail: at night tests/portable.py
# runs units and pages compiled as users compile, too.
os.environ["XLA_FLAGS"] = (
    "--xla_cpu_multi_thread_eigen=false --xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false "
    "--xla_cpu_parallel_codegen_split_count=1 "
) * version("jaxlib").startswith("0.10.") + os.environ.get("XLA_FLAGS", "")  # a process dies of a flag that its jaxlib does not know
os.environ.setdefault("JAX_USE_SHARDY_PARTITIONER", "false")  # a tenth of what compiling takes; nothing here is shared out

if os.environ.get("RFCORE_CHECK_TYPES") == "1":  # `make types`: every call within rfcore is held against its annotations
    from jaxtyping import install_import_hook

    install_import_hook("rfcore", "typechecker.check")

import hypothesis
import jax
import pytest
from book_site import built, loads, pages, site  # noqa: F401

from companion.evidence import deadlocks

deadlocks.prevent()
jax.config.update("jax_enable_x64", os.environ.get("JAX_ENABLE_X64") != "0")  # `make single` runs some files in float32, as users do
jax.config.update("jax_enable_compilation_cache", False)  # names of some thousand files, for a folder that is not there
hypothesis.settings.register_profile("rfcore", derandomize=True, deadline=None, max_examples=25)
hypothesis.settings.load_profile("rfcore")
# Python's collector looks at all that lives whenever a thousand objects are new, and modules and compiled functions, which
# live on, are most of it: a fifth of what it takes to collect the tests. It looks less often, and never at what was imported.
gc.set_threshold(100_000, 20, 100)


MEMORY = 3 * 2**29  # bytes of a worker, above which it forgets what it has compiled: the suite has two, on laptops of 8 GiB
TAKEN = Path("/proc/self/statm")


@pytest.fixture(scope="module", autouse=True)
def compiled_functions():
    """Dropped after a file if they fill the memory; the few that other files call are compiled again."""
    yield
    if TAKEN.exists() and int(TAKEN.read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE") > MEMORY:
        jax.clear_caches()
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # else glibc keeps what is freed


LONGEST_FIRST = ("test_book.py", "test_book_browser.py", "test_notebooks.py")


def pytest_configure(config):
    if not jax.config.jax_enable_x64:
        config.addinivalue_line("filterwarnings", "ignore:.* is float64, and JAX computes it in float32:UserWarning")


def pytest_collection_modifyitems(items):
    """What takes a minute does not come last, when one worker is left to wait for the other."""
    items.sort(key=lambda item: item.path.name not in LONGEST_FIRST)
    if os.environ.get("RFCORE_CHECK_TYPES") == "1":  # what is given bad input on purpose is refused by beartype first
        items[:] = [item for item in items if not {"raises", "pytest.raises"} & set(re.split(r"[^\w.]", inspect.getsource(item.function)))]


def pytest_collection_finish():
    gc.collect()
    gc.freeze()
