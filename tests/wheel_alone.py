"""What `make release` runs where the wheel alone is installed: README's lines; every module, every example, every kind.

``python tests/wheel_alone.py readme "--extra gp"`` runs the blocks of README that say that they need just these extras, where nothing
else is installed; ``python tests/wheel_alone.py examples`` the rest, where networkx and trimesh are, too.
"""

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
import sys
from pathlib import Path

import jax
import jax.numpy as jnp

import rfcore
from rfcore import couplings, features, graphs, kernels

ROOT = Path(__file__).parents[1]


def blocks_of_readme():
    """Extras of the install that the text before a block names, and the block."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for before, block in re.findall(r"(.*?)```python\n(.*?)```", text, re.S):
        (*_, named) = re.findall(r'`pip install (?:\.|"\.\[([\w,]+)\]")`', before)
        yield set(filter(None, named.split(","))), block


def readme(options):
    """Whether all that README gives to an install with these options prints small errors."""
    extras = set(re.findall(r"--extra (\w+)", options))
    blocks = [block for named, block in blocks_of_readme() if named == extras]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for block in blocks:
            exec(block, {})
    errors = [float(line) for line in printed.getvalue().split()]
    print(f"README, {options}: {len(blocks)} blocks; errors {errors}")
    return len(errors) >= len(blocks) and max(errors, default=0) < 0.15


def examples():
    """Whether no example fails of the modules whose extras are here, and each kind has small errors."""
    failed = tried = 0
    for module in pkgutil.walk_packages(rfcore.__path__, "rfcore."):
        room = module.name.split(".")[1]
        if room in dir(rfcore) or room in ("checks", "precision"):
            found = doctest.testmod(importlib.import_module(module.name), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
            failed, tried = failed + found.failed, tried + found.attempted
    largest = max(errors_of_kinds())
    print(f"rfcore {rfcore.__version__}, Python {sys.version.split()[0]}, jax {jax.__version__}: {tried} examples, {failed} failed; errors up to {largest:.2f}")
    return not failed and tried >= 200 and largest < 0.15


def errors_of_kinds():
    """Largest errors of a kernel under one coupling of each kind, directions, norms, points and fast ones, with both maps."""
    x = 0.1 * jax.random.normal(jax.random.key(0), (8, 16))
    for draw in (couplings.simplex, couplings.orthogonal_pnc, couplings.sobol, couplings.orthogonal_fast):
        omega = draw(jax.random.key(1), 4096, 16)
        for feature in (features.fourier, features.positive):
            phi = jax.jit(feature)(x, omega)
            yield float(jnp.abs(phi @ phi.T - kernels.gaussian(x, x)).max())
    g = graphs.Graph.from_edges([range(12), [*range(1, 12), 0]])
    for coupling in ("iid", "systematic"):
        one, two = (features.walk_features(jax.random.key(k), g.normalised(), features.modulation.diffusion(1.0), 256, 0.1, coupling) for k in (2, 3))
        yield float(jnp.abs(one @ two.T - kernels.diffusion(g, 1.0)).max())


if __name__ == "__main__":
    assert ROOT not in Path(rfcore.__file__).parents, "the checkout is on the path"
    what, *options = sys.argv[1:]
    sys.exit(not {"readme": readme, "examples": examples}[what](*options))
