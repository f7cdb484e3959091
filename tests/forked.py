"""Kernels forked from one process that has imported what every page imports: three of a page's twelve seconds.

A forked kernel starts with the modules of others alone; those of ``rfcore`` it imports itself, under its own environment.
The imports start no thread, which ``test_notebooks.py`` asserts, so that a fork of them is safe. ``make quick``, the
runner's own tests and the template start their kernels as Jupyter does.
"""

import gc
import multiprocessing
import os
import subprocess
import sys
import time

IMPORTED = [
    *("jax.numpy", "jax.scipy.special", "optax", "lineax", "equinox", "networkx", "trimesh.creation", "pooch", "tqdm.auto"),
    *(f"scipy.{name}" for name in ["stats", "optimize", "sparse.linalg", "spatial", "integrate", "ndimage", "interpolate"]),
    *("matplotlib.pyplot", "matplotlib.backends.backend_svg", "matplotlib_inline.backend_inline"),
    *("IPython", "ipykernel.kernelapp", "ipykernel.ipkernel", "forked"),
]


class Kernel:
    """What ``jupyter_client`` needs of a ``subprocess.Popen``, of a kernel that was forked in its place."""

    stdin = stdout = stderr = None

    def __init__(self, command, stderr, env, cwd=None, **_):
        forking = multiprocessing.get_context("forkserver")
        forking.set_forkserver_preload(IMPORTED)
        arguments = (command[3:], dict(env), cwd, stderr.name)  # after python -m ipykernel_launcher
        self._process = forking.Process(target=_serve, args=arguments)
        self._process.start()
        self.pid = self._process.pid
        # jupyter_client now asks for the group that it is to signal: not that of the tests, and of all that runs them.
        while self.poll() is None and os.getpgid(self.pid) != self.pid:
            time.sleep(0.001)

    def poll(self):
        return self._process.exitcode

    def wait(self, timeout=None):
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("kernel", timeout)
        return self._process.exitcode

    @property
    def returncode(self):
        return self._process.exitcode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self):
        self._process.terminate()

    def kill(self):
        self._process.kill()


def _serve(arguments, environment, folder, said):
    os.setsid()
    with open(os.devnull, "wb") as nowhere, open(said, "ab") as words:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(words.fileno(), 2)
    os.chdir(folder or ".")
    from ipykernel import kernelapp

    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["ipykernel_launcher", *arguments]
    gc.set_threshold(100_000, 20, 100)  # as in conftest.py
    gc.freeze()
    kernelapp.launch_new_instance()
