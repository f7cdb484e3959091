"""What a call costs: seconds, processor seconds and memory."""

import time
from pathlib import Path

from rfcore import checks

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def cost(work, *arguments, **options):
    """Result of a call, and what the call cost.

    Args:
        work: the function.
        *arguments, **options: what to call it with.

    Returns:
        The result, and a dict of floats. JAX may still be computing the result, unless the call waits
        (``jax.block_until_ready``). ``wall``, seconds; ``processor``, seconds of all threads of this process;
        ``bytes``, how far its memory rose at the peak, and ``peak``, where that was, both 0 where the system
        is not Linux.
    """
    checks.function(work, "work", "features.walk_features")
    if RESET.exists():
        RESET.write_text("5", encoding="utf-8")  # the peak is recorded from here on
    before, wall, processor = _memory("VmRSS"), time.perf_counter(), time.process_time()
    result = work(*arguments, **options)
    wall, processor, peak = time.perf_counter() - wall, time.process_time() - processor, _memory("VmHWM")
    return result, {"wall": wall, "processor": processor, "bytes": peak - before, "peak": peak}


def _memory(record):
    """Bytes that Linux has given to this process now ("VmRSS") or at most ("VmHWM"); elsewhere 0."""
    lines = STATUS.read_text(encoding="utf-8").splitlines() if STATUS.exists() else [f"{record}: 0"]
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(record))
