"""The Jupyter kernel that executes a notebook: what it runs under, how it is stopped, what it cost."""

import contextlib
import os
import resource
import tempfile
from pathlib import Path

from jupyter_client import AsyncKernelManager
from nbclient.exceptions import DeadKernelError
from traitlets.config import Config

from companion import repository
from companion.plotting import style

# Most pages at quick compile what then runs for a moment, and take less processor time than with -O1 (a quarter on three of
# them); those that compute for long take more, so that their quick sizes have to be small.
COMPILE_FAST = (
    "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
)
VECTORS = "--InlineBackend.figure_formats={'svg'}"  # of figures that a page leaves to Jupyter


class Manager(AsyncKernelManager):
    """A kernel manager that stops a kernel without interrupting it, and keeps in a file what the kernel says.

    Jupyter's interrupts a kernel before it stops it, and one that still tidies up after its last cell then
    prints "KeyboardInterrupt caught in kernel". What the process writes to stderr beside its cells, such as
    an "Uncaught exception in ZMQStream callback" when it stops while it still sends, matters only if it dies.
    """

    async def start_kernel(self, **options):
        """Start it, its stderr going to a file beside its sockets."""
        with open(f"{self.ip}.stderr", "ab") as file:
            await super().start_kernel(stderr=file, **options)

    async def _async_interrupt_kernel(self):
        """A step of every shutdown, and nothing else: ``interrupt_kernel`` is the base class's."""


@contextlib.contextmanager
def configured(profile, results):
    """A configuration of papermill's client; kernels that start within the block run under :func:`variables`.

    The kernel talks over sockets in a private folder: no open port.
    """
    before = dict(os.environ)
    os.environ.update(variables(profile, results))
    try:
        with tempfile.TemporaryDirectory(dir="/tmp") as sockets:  # not $TMPDIR: paths of sockets are cut at 100 letters
            os.environ["MATPLOTLIBRC"] = style.write(Path(sockets, "matplotlibrc"))
            try:
                yield Config(
                    ConnectionFileMixin={"transport": "ipc", "ip": f"{sockets}/kernel"},
                    NotebookClient={"kernel_manager_class": Manager, "extra_arguments": [VECTORS]},
                )
            except DeadKernelError as error:
                raise DeadKernelError(f"{error}\n{_last_words(sockets)}".rstrip()) from None
    finally:
        os.environ.clear()
        os.environ.update(before)


def _last_words(folder):
    """The end of what a kernel itself wrote to stderr."""
    said = Path(folder, "kernel.stderr")
    return said.read_text(encoding="utf-8", errors="replace")[-2000:] if said.exists() else ""


def variables(profile, results):
    """Variables of the environment that a notebook's kernel runs under; its ledger goes below `results`."""
    found = {
        # As many notebooks run as there are cores, with a thread each. BLAS threads that wait for a turn spin, at seven times
        # the processor time; XLA cuts a training step in pieces for all its threads, and eight take a third longer than one.
        # The runner's own environment says eight, by :mod:`companion.evidence.deadlocks`.
        "OPENBLAS_NUM_THREADS": os.environ.get("OPENBLAS_NUM_THREADS", "1"),
        "PJRT_NPROC": "1",
        "PYTHONWARNINGS": "ignore:IProgress not found",  # of tqdm.auto, which GPJax imports; it would name a path of this machine
        "TQDM_DISABLE": "1",  # progress bars are for people; on a page each refresh would be a line
        "RFCORE_RESULTS": str(results),
    }
    if os.environ.get("RFCORE_REPOSITORY"):  # it may be relative, and the kernel starts in another folder
        found["RFCORE_REPOSITORY"] = str(repository.root())
    library = Path(__file__).resolve().parents[2]
    if (library / "pyproject.toml").exists():  # else the kernel might import another checkout's
        found["PYTHONPATH"] = os.pathsep.join([str(library), *filter(None, [os.environ.get("PYTHONPATH")])])
    if profile == "quick":  # notebooks share what XLA compiled; at paper, where timings decide, each compiles its own
        found |= {
            "XLA_FLAGS": f"{COMPILE_FAST} {os.environ.get('XLA_FLAGS', '')}",  # those that are given come last, and so prevail
            "JAX_USE_SHARDY_PARTITIONER": os.environ.get("JAX_USE_SHARDY_PARTITIONER", "false"),  # a tenth of compiling
            "JAX_COMPILATION_CACHE_DIR": str(repository.root() / "_build" / "compiled"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
    return found


def processor_seconds_of_children():
    """Seconds of processor time of the processes that this one waited for, kernels among them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
