"""Functions in processes of their own: what they return, what they know, and how their failure is told."""

import os

import pytest

from companion.evidence import processes


def doubled(x):
    return 2 * x


def told(x):
    return [os.getpid(), doubled(x), jax.config.jax_enable_x64, os.environ["OPENBLAS_NUM_THREADS"]]  # noqa: F821


def failing():
    raise ZeroDivisionError("too few nodes")


def test_a_function_runs_elsewhere_with_its_helpers_and_as_wide_floats():
    found = processes.in_a_process(told, 4, helpers=[doubled], imports="import os\nimport jax")
    assert found[0] != os.getpid() and found[1:] == [8, True, "1"]


def test_a_function_within_another_is_taken_out_of_it():
    def inner(x):
        return [x, "text"]

    assert processes.in_a_process(inner, 3) == [3, "text"]


def test_a_failure_says_what_the_process_said():
    with pytest.raises(RuntimeError, match=r"(?s)failing failed.*too few nodes"):
        processes.in_a_process(failing)
    with pytest.raises(ValueError, match=r"arguments = .*give numbers"):
        processes.in_a_process(doubled, {1, 2})
