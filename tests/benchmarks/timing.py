"""Times to be compared, on a machine that may have other work."""

import os
import time

import jax
import numpy as np


def conditions():
    """Where and how times were taken, in one line."""
    return (
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start, jax {jax.__version__}, "
        f"numpy {np.__version__}; wall time, compilation excluded, cases interleaved"
    )


def judged(missed):
    """Print the goals missed, or that all are met; the script's exit status."""
    print(*([f"GOAL MISSED: {goal}" for goal in missed] or ["all goals met"]), sep="\n")
    return bool(missed)


def interleaved(cases, rounds, clock=time.perf_counter):
    """Seconds of each case in each round, one case after the other within a round, after one warm-up.

    Interleaved, so that what slows the machine for a while does not fall on one case alone. Compare least times: other
    work on the machine only ever adds, and adds more to what uses several cores. ``time.process_time`` as the clock leaves
    out the time that others have the cores.
    """
    for run in cases.values():
        jax.block_until_ready(run())
    seconds = {name: [] for name in cases}
    for _ in range(rounds):
        for name, run in cases.items():
            start = clock()
            result = jax.block_until_ready(run())
            seconds[name].append(clock() - start)
            del result  # freed outside of the time, or the next case would pay for it
    return {name: np.array(times) for name, times in seconds.items()}
