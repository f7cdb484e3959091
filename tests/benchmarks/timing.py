"""Times to be compared, on a machine that may have other work."""

import time

import jax
import numpy as np


def interleaved(cases, rounds):
    """Seconds of each case in each round, one case after the other within a round, after one warm-up.

    Interleaved, so that what slows the machine for a while does not fall on one case alone. Compare least times: other
    work on the machine only ever adds, and adds more to what uses several cores.
    """
    for run in cases.values():
        jax.block_until_ready(run())
    seconds = {name: [] for name in cases}
    for _ in range(rounds):
        for name, run in cases.items():
            start = time.perf_counter()
            result = jax.block_until_ready(run())
            seconds[name].append(time.perf_counter() - start)
            del result  # freed outside of the time, or the next case would pay for it
    return {name: np.array(times) for name, times in seconds.items()}
