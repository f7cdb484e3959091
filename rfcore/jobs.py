"""Independent jobs on any executor, their results in the order of the jobs."""

import warnings
from collections import deque
from concurrent.futures import BrokenExecutor, Future


def in_order(function, jobs, executor):
    """Yield ``function(*job)`` for each job, in order, while an executor works ahead.

    A job whose worker is lost (killed, out of memory, disconnected) is run again in this process, with a
    warning: jobs are pure functions, so that the result is the same. A fault of the job itself, or of its way
    to the worker (a function that cannot be pickled), is raised as itself.

    Args:
        function: for process pools and clusters a module-level function.
        jobs: list of tuples, the arguments of each call.
        executor: threads, processes, ``distributed.Client.get_executor()``, ``mpi4py.futures`` and the like.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from rfcore import jobs
    >>> with ThreadPoolExecutor(2) as pool:
    ...     list(jobs.in_order(pow, [(2, 3), (3, 2)], pool))
    [8, 9]
    """
    checked(executor)
    return _in_order(function, jobs, executor)


def checked(executor):
    """``executor``, if jobs can be submitted to it."""
    if isinstance(executor, type) or not callable(getattr(executor, "submit", None)):
        raise ValueError(f"executor = {executor!r}; give one, such as concurrent.futures.ThreadPoolExecutor(4)")
    return executor


def _in_order(function, jobs, executor):
    futures = deque(_submitted(executor, function, job) for job in jobs)
    try:
        for job in jobs:
            yield _result(futures.popleft(), function, job)  # a future kept would keep its result
    finally:
        for future in futures:
            future.cancel()


def _submitted(executor, function, job):
    try:
        return executor.submit(function, *job)
    except BrokenExecutor as broken:
        future = Future()
        future.set_exception(broken)
        return future


def _result(future, function, job):
    try:
        return future.result()
    except Exception as error:
        if not _says_that_a_worker_was_lost(error):
            raise
        message = f"a worker was lost ({error!r}); its job is run again in this process"
        warnings.warn(message, RuntimeWarning, stacklevel=4)
    return function(*job)


def _says_that_a_worker_was_lost(error):
    kind = type(error)
    if kind.__module__.partition(".")[0] == "distributed":  # which need not be installed
        return kind.__name__ in ("KilledWorker", "CommClosedError", "FutureCancelledError")
    return isinstance(error, BrokenExecutor)
