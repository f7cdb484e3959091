"""What a call costs: seconds, processor seconds and memory."""

import time
from pathlib import Path

from rfcore import checks

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def cost(work, *arguments, **options):
    """Call a function, and measure it.

    Parameters
    ----------
    work : function
    *arguments, **options
        What to call it with.

    Returns
    -------
    result
        What the call returned; JAX may still be computing it, unless the call waits (``jax.block_until_ready``).
    spent : dict of float
        ``wall``, seconds; ``processor``, seconds of all threads of this process; ``bytes``, how far its memory rose at
        the peak, and ``peak``, where that was. Memory is 0 where the system keeps no record of it (not Linux).

    Raises
    ------
    ValueError
        If there is nothing to call.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> from rfcore import evidence
    >>> result, spent = evidence.cost(sum, [1, 2, 3])
    >>> result, sorted(spent)
    (6, ['bytes', 'peak', 'processor', 'wall'])
    """
    checks.function(work, "work", "features.walk_features")
    if RESET.exists():
        RESET.write_text("5", encoding="utf-8")  # the peak is recorded from here on
    before, wall, processor = _memory("VmRSS"), time.perf_counter(), time.process_time()
    result = work(*arguments, **options)
    wall, processor, peak = time.perf_counter() - wall, time.process_time() - processor, _memory("VmHWM")
    return result, {"wall": wall, "processor": processor, "bytes": peak - before, "peak": peak}


def _memory(record):
    """Memory that Linux has given to this process now ("VmRSS") or at most ("VmHWM"), in bytes; elsewhere 0."""
    lines = STATUS.read_text(encoding="utf-8").splitlines() if STATUS.exists() else [f"{record}: 0"]
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(record))
