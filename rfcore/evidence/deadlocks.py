"""A cure for pages that wait for themselves: what XLA's thread pool needs so that LAPACK calls cannot block it.

On processors XLA hands the matrices of a batch (QR, SVD, ...) to threads of its pool, and the thread that called waits
for them. Where such calls hold every thread, nobody is left to do the work. Seen on two cores: within one computation,
if its operations are scheduled to run side by side; between computations in 3 of 8 runs of one page with a pool of two
threads, and in none of 20 with eight.

``rfcore.evidence`` sees to it when it is imported, which every page does before its first array: in Jupyter, VS Code and
the runner alike. XLA reads these variables when the first array is made, not when JAX is imported. Who imports another part
of rfcore keeps XLA as it is.
"""

import os

SCHEDULER = "xla_cpu_enable_concurrency_optimized_scheduler"
THREADS = 8


def prevent(environment=os.environ):
    """Set ``XLA_FLAGS`` and ``PJRT_NPROC`` for a process that has no array yet; what they say already prevails."""
    flags = environment.get("XLA_FLAGS", "")
    if SCHEDULER not in flags:
        environment["XLA_FLAGS"] = f"--{SCHEDULER}=false {flags}".rstrip()
    environment.setdefault("PJRT_NPROC", str(max(THREADS, os.cpu_count() or 1)))
