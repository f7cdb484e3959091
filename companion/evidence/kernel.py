"""The process that executes a notebook: what it runs under, how it is stopped, what it cost."""

import contextlib
import os
import resource
import signal
import tempfile
import threading
import time
from pathlib import Path

from jupyter_client import AsyncKernelManager
from nbclient.exceptions import DeadKernelError
from traitlets import Float
from traitlets.config import Config

from companion import repository
from companion.plotting import style

IDLE_SECONDS = 300  # without work, after which a kernel is ended: so long a page waits for itself alone
# Most pages at quick compile what then runs for a moment, and take less processor time than with -O1 (a quarter on three of
# them); those that compute for long take more, so that their quick sizes have to be small.
COMPILE_FAST = (
    "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
)
VECTORS = "--InlineBackend.figure_formats={'svg'}"  # of figures that a page leaves to Jupyter
_BACKGROUND = 0.003  # of the time: the threads of an idle kernel, which look about, take a tenth of that


class Manager(AsyncKernelManager):
    """A kernel manager that stops an idle kernel by asking it to, and keeps in a file what the kernel says.

    Jupyter's interrupts a kernel before it asks. One that still tidies up after its last cell then prints
    "KeyboardInterrupt caught in kernel". A kernel that is busy (a cell ran out of time) does not answer, and
    is terminated some seconds later. What its cells write to stderr is theirs; what the process writes
    beside, such as an "Uncaught exception in ZMQStream callback" when it is told to stop while it still
    sends, matters only if it dies. One that does nothing for ``idle_seconds`` is ended, and this is said in
    the same file.
    """

    idle_seconds = Float(IDLE_SECONDS).tag(config=True)

    async def start_kernel(self, **options):
        """Start it, its stderr going to a file beside its sockets."""
        said = f"{self.ip}.stderr"
        with open(said, "ab") as file:
            await super().start_kernel(stderr=file, **options)
        watch = (self.provisioner.process, self.idle_seconds, said)
        threading.Thread(target=_end_when_idle, args=watch, daemon=True).start()

    async def _async_interrupt_kernel(self):
        """A step of every shutdown, and nothing else: ``interrupt_kernel`` is the base class's."""


def _end_when_idle(process, seconds, said):
    """End a kernel (Popen) once it and its children used no processor time for so long, if that is known."""
    mark, since = None, time.monotonic()
    while process.poll() is None and (used := _processor_seconds(process.pid)) is not None:
        if mark is None or abs(used - mark) > _BACKGROUND * seconds:  # less: a child has ended
            mark, since = used, time.monotonic()
        elif time.monotonic() - since > seconds:
            told = f"It did nothing for {seconds:g} seconds, neither it nor its children, and was ended"
            with open(said, "a", encoding="utf-8") as file:
                file.write(f"\n{told}: a deadlock, most likely.")
            os.killpg(process.pid, signal.SIGKILL)
            return
        time.sleep(seconds / 50)


def _processor_seconds(kernel):
    """Processor time of a process, its session and their children; None where the system does not tell."""
    processes = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            parent, _, session, *_ = fields = path.read_bytes().rpartition(b")")[2].split()[1:]
            processes[int(path.parent.name)] = int(parent), int(session), sum(map(int, fields[10:14]))

    def belongs(process):
        parent, session, _ = processes.get(process, (0, 0, 0))
        return session == kernel or (parent > 0 and belongs(parent))

    if kernel not in processes:
        return None
    ticks = sum(ticks for process, (*_, ticks) in processes.items() if belongs(process))
    return ticks / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def configured(profile, source_sha256, results, idle=IDLE_SECONDS):
    """A configuration of papermill's client; kernels that start within the block run under :func:`variables`.

    The kernel talks over sockets in a private folder: no open port.
    """
    before = dict(os.environ)
    os.environ.update(variables(profile, source_sha256, results))
    try:
        with tempfile.TemporaryDirectory(dir="/tmp") as sockets:  # not $TMPDIR: paths of sockets are cut at 100 letters
            os.environ["MATPLOTLIBRC"] = style.write(Path(sockets, "matplotlibrc"))
            try:
                yield Config(
                    ConnectionFileMixin={"transport": "ipc", "ip": f"{sockets}/kernel"},
                    NotebookClient={"kernel_manager_class": Manager, "extra_arguments": [VECTORS]},
                    Manager={"idle_seconds": idle},
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


def variables(profile, source_sha256, results):
    """Variables of the environment that a notebook's kernel runs under; its ledger goes below `results`."""
    found = {
        # As many notebooks run as there are cores, with a thread each. BLAS threads that wait for a turn spin, at seven times
        # the processor time; XLA cuts a training step in pieces for all its threads, and eight take a third longer than one.
        # The runner's own environment says eight, by :mod:`companion.evidence.deadlocks`.
        "OPENBLAS_NUM_THREADS": os.environ.get("OPENBLAS_NUM_THREADS", "1"),
        "PJRT_NPROC": "1",
        "PYTHONWARNINGS": "ignore:IProgress not found",  # of tqdm.auto, which GPJax imports; it would name a path of this machine
        "TQDM_DISABLE": "1",  # progress bars are for people; on a page each refresh would be a line
        "RFCORE_SOURCE_SHA256": source_sha256,
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
