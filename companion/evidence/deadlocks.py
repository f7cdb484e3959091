"""A cure for pages that wait for themselves: LAPACK calls that hold every thread of XLA's pool.

A batch of such calls (QR, SVD, ...) holds a thread while it waits for another. Both of two were seen held:
with XLA's schedule for concurrency inside one compiled function, and without it in 3 of 8 runs of one page;
with eight threads in none of 20. Where there is one, nothing waits for another: so the runner has it.

``companion.evidence`` sets the variables when it is imported, which every page does before its first array,
in Jupyter and in VS Code. XLA reads them when the first array is made, not when JAX is imported. For those
who import rfcore alone, XLA stays as it is.
"""

import os

SCHEDULER = "xla_cpu_enable_concurrency_optimized_scheduler"
THREADS = 8


def prevent(environment=os.environ):
    """Set ``XLA_FLAGS`` and ``PJRT_NPROC`` of a process without an array yet; what they say prevails."""
    flags = environment.get("XLA_FLAGS", "")
    if SCHEDULER not in flags:
        environment["XLA_FLAGS"] = f"--{SCHEDULER}=false {flags}".rstrip()
    environment.setdefault("PJRT_NPROC", str(max(THREADS, os.cpu_count() or 1)))
