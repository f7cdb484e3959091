"""What `make release` runs where the wheel alone is installed: every module, every example, README's first lines, every kind."""

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import jax
import jax.numpy as jnp

import rfcore
from rfcore import couplings, features, graphs, kernels

ROOT = Path(__file__).parents[1]
assert ROOT not in Path(rfcore.__file__).parents, "the checkout is on the path"


def examples():
    """Failed and tried examples of every module; those of an extra where that is installed."""
    failed = tried = 0
    absent = {"rfcore.estimators": "sklearn", "rfcore.gp": "gpjax"}
    absent = tuple(module for module, needs in absent.items() if find_spec(needs) is None)
    for module in pkgutil.walk_packages(rfcore.__path__, "rfcore."):
        if not module.name.startswith(absent):
            found = doctest.testmod(importlib.import_module(module.name), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
            failed, tried = failed + found.failed, tried + found.attempted
    return failed, tried


def errors_of_readme():
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)[1]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(block, {})
    return [float(line) for line in printed.getvalue().split()]


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


failed, tried = examples()
errors = [*errors_of_readme(), *errors_of_kinds()]
print(f"rfcore {rfcore.__version__}, Python {sys.version.split()[0]}, jax {jax.__version__}: {tried} examples, {failed} failed; errors up to {max(errors):.2f}")
sys.exit(failed > 0 or tried < 200 or max(errors) > 0.15)
