"""The process that executes a notebook: what it runs under, how it is stopped, what it cost."""

import contextlib
import os
import resource
import tempfile
from pathlib import Path

from jupyter_client import AsyncKernelManager
from nbclient.exceptions import DeadKernelError
from traitlets.config import Config

from rfcore.evidence.claims import ROOT


class Manager(AsyncKernelManager):
    """A kernel manager that stops an idle kernel by asking it to, and keeps what the kernel itself says to a file.

    Jupyter's interrupts a kernel before it asks. One that still tidies up after its last cell then prints
    "KeyboardInterrupt caught in kernel". A kernel that is busy (a cell ran out of time) does not answer, and is
    terminated some seconds later. What its cells write to stderr is theirs; what the process writes beside, such as an
    "Uncaught exception in ZMQStream callback" when it is told to stop while it still sends, matters only if it dies.
    """

    async def start_kernel(self, **options):
        """Start it, its stderr going to a file beside its sockets."""
        with open(f"{self.ip}.stderr", "ab") as file:
            await super().start_kernel(stderr=file, **options)

    async def _async_interrupt_kernel(self):
        """A step of every shutdown, and nothing else: ``interrupt_kernel`` is the base class's."""


@contextlib.contextmanager
def configured(profile, source_sha256):
    """A configuration of papermill's client; kernels that start within the block run under :func:`variables`.

    The kernel talks over sockets in a private folder: no open port.
    """
    before = dict(os.environ)
    os.environ.update(variables(profile, source_sha256))
    try:
        with tempfile.TemporaryDirectory(dir="/tmp") as sockets:  # not $TMPDIR: paths of sockets are cut at 100 letters
            try:
                yield Config(
                    ConnectionFileMixin={"transport": "ipc", "ip": f"{sockets}/kernel"},
                    NotebookClient={"kernel_manager_class": Manager},
                )
            except DeadKernelError as error:
                raise DeadKernelError(f"{error}\n{_last_words(sockets)}".rstrip()) from None
    finally:
        os.environ.clear()
        os.environ.update(before)


def _last_words(folder):
    """The end of what a kernel itself wrote to stderr."""
    said = Path(folder, "kernel.stderr")
    return said.read_text(errors="replace")[-2000:] if said.exists() else ""


def variables(profile, source_sha256):
    """Variables of the environment that a notebook's kernel runs under."""
    # Concurrent scheduling can deadlock XLA's CPU thread pool on LAPACK calls (seen on two cores).
    flags = ["--xla_cpu_enable_concurrency_optimized_scheduler=false"]
    if profile == "quick":  # most of its time is compiling what then runs for a moment: LLVM's -O1 takes 40 % of that of -O3
        flags.append("--xla_backend_optimization_level=1")
    found = {
        "XLA_FLAGS": " ".join([*flags, os.environ.get("XLA_FLAGS", "")]),  # given flags prevail
        # Two notebooks share two cores: BLAS threads that wait for a turn spin, at seven times the processor time.
        "OPENBLAS_NUM_THREADS": os.environ.get("OPENBLAS_NUM_THREADS", "1"),
        "TQDM_DISABLE": "1",  # progress bars are for people; on a page each refresh would be a line
        "RFCORE_SOURCE_SHA256": source_sha256,
    }
    if profile == "quick":  # notebooks share what XLA compiled; at paper, where timings decide, each compiles its own
        found |= {
            # A batch of LAPACK calls holds a thread of XLA's pool while it waits for another. Of the two that two cores
            # give, it can hold both: in 3 of 8 runs of one page with the flags of tests/conftest.py, with eight in none of 20.
            "PJRT_NPROC": os.environ.get("PJRT_NPROC", str(max(8, os.cpu_count() or 1))),
            "JAX_COMPILATION_CACHE_DIR": str(ROOT / "_build" / "compiled"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
    return found


def processor_seconds_of_children():
    """Seconds of processor time of the processes that this one waited for, kernels among them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
