"""Independent jobs on any executor, their results in the order of the jobs."""

import warnings
from collections import deque
from concurrent.futures import BrokenExecutor, Future


def in_order(function, jobs, executor):
    """Yield ``function(*job)`` for each job, in order, while an executor works ahead.

    A job whose worker is lost (killed, out of memory, disconnected) is run again in this process, with a
    warning: jobs are pure functions, so that the result is the same. A fault of the job itself shows then, as
    itself.

    Parameters
    ----------
    function : callable
        For process pools and clusters: a module-level function.
    jobs : list of tuples
        Arguments of each call.
    executor : concurrent.futures.Executor
        Threads, processes, ``distributed.Client.get_executor()``, ``mpi4py.futures`` and the like.
    """
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
    except Exception as lost:
        message = f"a worker was lost ({lost!r}); its job is run again in this process"
        warnings.warn(message, RuntimeWarning, stacklevel=4)
    return function(*job)
