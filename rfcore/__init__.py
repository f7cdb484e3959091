"""Random features: a coupling of frequencies times a feature map estimates a kernel.

==================  ==========================================================================================
``rfcore.``
==================  ==========================================================================================
``attention``       softmax attention, exact and by features; a layer for equinox
``copulas``         joint distributions of uniforms, which couple norms, lengths of walks and hops
``couplings``       joint distributions of frequencies, ``(key, m, d) -> omega``
``choosing``        which coupling to take, ``rfcore.choose``; how many frequencies, ``rfcore.n_frequencies``
``estimators``      a scikit-learn transformer (extra ``sklearn``)
``features``        maps of points and frequencies, or of nodes and walks, to features
``gp``              kernels for GPJax, and posteriors on large graphs (extra ``gp``)
``graphs``          graphs as arrays
``kernels``         the exact kernels
``solvers``         optimal transport, optimal sampling, fits of modulations and exponential features
``theory``          closed-form errors
``walks``           walks on graphs, and their features
==================  ==========================================================================================

Each is loaded when it is first asked for: by ``from rfcore import couplings``, or as ``rfcore.couplings``.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

__version__ = "1.0.0"

# Attributes of the package (PEP 562), so that importing it stays free. The names are those of its own modules, and none of
# these imports the package itself, so that every arrow between two modules is still an import statement
# (tests/test_packaging.py).
_MODULES: dict[str, str | None] = {
    **dict.fromkeys(["attention", "choosing", "copulas", "couplings", "features", "graphs", "kernels", "solvers", "theory", "walks"]),
    "estimators": "sklearn",
    "gp": "gpjax",
}


if TYPE_CHECKING:
    from rfcore import (
        attention,
        choosing,
        copulas,
        couplings,
        estimators,
        features,
        gp,
        graphs,
        kernels,
        solvers,
        theory,
        walks,
    )
    from rfcore.choosing import choose, n_frequencies


def __getattr__(name: str) -> Any:
    if name in ("choose", "n_frequencies"):
        return getattr(import_module("rfcore.choosing"), name)
    if name in _MODULES:
        return import_module(f"rfcore.{name}")
    raise AttributeError(f"module 'rfcore' has no attribute {name!r}")


def __dir__() -> list[str]:
    # Without modules whose extra is not installed: help() and inspect ask for every name that is listed.
    return ["__version__", "choose", "n_frequencies", *sorted(name for name, needs in _MODULES.items() if not needs or find_spec(needs))]
