"""Functions of a page in processes of their own, so that what memory they take is theirs.

Imported by its own name, ``companion.evidence.processes``.
"""

import inspect
import json
import os
import subprocess
import sys
import textwrap

import jax


def in_a_process(function, *arguments, helpers=(), imports=""):
    """Result of a function in a Python process of its own.

    The process knows nothing of this one but the source of the functions, and the arguments, as JSON. It has
    as wide floats as this one, and LAPACK there has one thread: its threads spin while they wait, which would
    count as work. Raises RuntimeError if the process fails, with the end of what it said.

    Args:
        function: written with ``def``; returns what JSON can hold.
        *arguments: what to call it with: numbers, texts and lists of them.
        helpers: functions that it calls and that the imports do not bring.
        imports: lines of Python that come first.

    Returns:
        The result as JSON gives it back: tuples are lists.
    """
    if not isinstance(imports, str):
        raise ValueError(f"imports = {imports!r}; give lines of Python, such as 'import numpy as np'")
    call = f"print(json.dumps({_name(function, 'function')}(*json.loads(sys.argv[1]))))"
    sources = [_source(one, "helpers") for one in helpers] + [_source(function, "function")]
    try:
        given = json.dumps(arguments)
    except TypeError as error:
        raise ValueError(f"arguments = {arguments!r}: {error}; give numbers, texts and lists of them") from None
    command = [sys.executable, "-c", "\n\n".join(["import json, sys", imports, *sources, call]), given]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "JAX_ENABLE_X64": str(int(jax.config.jax_enable_x64))}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"{function.__name__} failed in a process of its own:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def _name(function, name):
    known = getattr(function, "__name__", "")
    if not known.isidentifier():
        raise ValueError(f"{name} = {function!r}; give a function written with def, whose name can be called")
    return known


def _source(function, name):
    _name(function, name)
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise ValueError(f"{name} = {function!r} has no source; give a function written with def") from None
