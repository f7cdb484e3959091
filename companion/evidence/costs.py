"""What calls cost: seconds, processor seconds, memory; and which timings are evidence.

Timings are, where nothing else kept the machine busy.
"""

import os
import time
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
from tqdm import tqdm

from companion.evidence.claims import PROFILES
from companion.evidence.verdicts import Verdict, not_run
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


BUSY = 0.1  # share of the machine that others may use beside a timing that accuses


class Clock:
    """How busy the rest of the machine was while a block ran.

    Use it as ``with evidence.Clock() as clock:`` around the timings.

    Attributes:
        others: share, 0 to 1, of the machine's processor time that processes other than this one (and the
            children it waited for) used meanwhile; None where the system does not tell (not Linux).
    """

    others = None

    def __enter__(self):
        self._before = _busy(), _own(), time.monotonic()
        return self

    def __exit__(self, *_):
        (busy, own, began), now = self._before, _busy()
        if now is not None:
            # The counters tick a hundred times a second: over less than a tick nothing can be seen.
            available = max(time.monotonic() - began, 0.01) * os.cpu_count()
            self.others = min(max(now - busy - (_own() - own), 0.0) / available, 1.0)


def timed(decision, profile, clock):
    """A decision that rests on the clock: taken at "paper" only, and a failure only on a quiet machine.

    At "quick" it is "not run". At "paper", "not reproduced" becomes "inconclusive" where other processes used
    more than a tenth of the machine meanwhile, or where that is not known.

    Args:
        decision: from repeats, never from one reading.
        profile: "quick" or "paper".
        clock: the :class:`Clock` around the timings.
    """
    checks.choice(profile, "profile", PROFILES)
    if profile == "quick":
        return not_run("The clock decides at the paper profile only.")
    quiet = clock.others is not None and clock.others <= BUSY
    if decision.verdict is not Verdict.NOT_REPRODUCED or quiet:
        return decision
    load = "an unknown share" if clock.others is None else f"{clock.others:.0%}"
    why = f"The timing fails, but other work used {load} of the machine meanwhile."
    return replace(decision, verdict=Verdict.INCONCLUSIVE, why=why)


def _busy():
    """Seconds that all processors have worked since the start, or None."""
    try:
        ticks = [int(n) for n in Path("/proc/stat").read_text(encoding="utf-8").split("\n")[0].split()[1:9]]
    except (OSError, ValueError):
        return None
    idle = ticks[3] + ticks[4]
    return (sum(ticks) - idle) / os.sysconf("SC_CLK_TCK") if sum(ticks) else None


def _own():
    return sum(os.times()[:4])  # user and system, of this process and of the children it waited for


LEAST = 3e-3  # seconds; what is over sooner is repeated, since the clock ticks
SHORT = 0.1  # seconds; a first call that is over sooner may owe most of them to the case before it


def seconds_per_call(cases, n_rounds, description):
    """Processor seconds of a call of each of several functions, all of them in turn within a round.

    Each is called once beforehand, and waited for. A first call of a turn that is over within 0.1 s does not
    count: after a case that filled the caches and gave memory back it may take ten times as long as the next
    one. What other work does to the machine meets all cases of a round alike, so that ratios within rounds
    are worth more than times. The seconds are of all threads of this process together: the work of one thread
    only where XLA has no more (``XLA_FLAGS`` with ``--xla_cpu_multi_thread_eigen=false`` before JAX starts).

    Args:
        cases: functions without arguments; what they return is waited for (``jax.block_until_ready``).
        n_rounds: at least 1.
        description: what the progress bar says.

    Returns:
        float64 array, (n_rounds, len(cases)).
    """
    n_rounds = checks.count(n_rounds, "n_rounds")
    if not isinstance(cases, list | tuple) or not cases or not all(map(callable, cases)):
        raise ValueError(f"cases = {cases!r}; give a list of functions without arguments")
    for case in cases:
        jax.block_until_ready(case())
    seconds = np.empty((n_rounds, len(cases)))
    for i, j in tqdm(np.ndindex(seconds.shape), total=seconds.size, desc=description, leave=False):
        seconds[i, j] = _repeated(cases[j], 0.0)
        if seconds[i, j] < SHORT:
            seconds[i, j] = _repeated(cases[j], LEAST)
    return seconds


def _repeated(case, least):
    """Seconds of a call, the mean of as many as take ``least`` seconds together."""
    n_calls, began, spent = 0, time.process_time(), 0.0
    while not n_calls or spent < least:
        jax.block_until_ready(case())
        n_calls, spent = n_calls + 1, time.process_time() - began
    return spent / n_calls


def exponents(sizes, seconds):
    """Least-squares slope of log seconds over log size, one per round.

    ::

        sum_j (log n_j - mean log n) log s_j / sum_j (log n_j - mean log n)^2

    Rounds are fitted each by itself, so that they give the exponent an error.

    Args:
        sizes: shape (k,), at least two, above 0 and not all the same.
        seconds: shape (..., k), above 0.

    Returns:
        float64 array, (...).
    """
    sizes = np.asarray(checks.vector(sizes, "sizes"))
    if sizes.min() <= 0 or sizes.min() == sizes.max():
        raise ValueError(f"sizes = {sizes.tolist()}; give at least two above 0 that differ")
    seconds = np.asarray(checks.finite(checks.numbers(seconds, "seconds"), "seconds"))
    if seconds.ndim == 0 or seconds.shape[-1] != len(sizes) or seconds.min(initial=1) <= 0:
        got = f"seconds has shape {seconds.shape} and the least value {seconds.min(initial=1):g}"
        raise ValueError(f"{got}; give times above 0, shape (..., {len(sizes)}), one per size")
    x = np.log(sizes) - np.log(sizes).mean()
    return np.log(seconds) @ x / (x @ x)
