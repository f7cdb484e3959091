"""The examples of the README say what the code does, in float32, which is what users have.

Those of the docstrings run in ``test_wheel.py``, where only the wheel is installed.
"""

import re
from pathlib import Path

import jax
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def as_users_have_it():
    with jax.enable_x64(False):
        yield


def test_readme_examples_estimate_their_kernels(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    errors = [float(line) for line in capsys.readouterr().out.split()]
    assert len(errors) == 2
    assert all(0 < error < 0.5 for error in errors)  # of kernels whose entries are at most one
