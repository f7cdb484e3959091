"""The API reference is complete: a public name without an entry is a warning and fails the build.

Public is what the ``__init__.py`` of a package imports, modules that it imports of itself among it; and of a
module, what it lists in ``__all__``, or else every function and class that it defines, without an underscore.
"""

import ast
import inspect
import pkgutil
from importlib import import_module

from equinox import Module
from sphinx.util import logging

import companion
import rfcore

logger = logging.getLogger(__name__)

INTERNAL = {"rfcore.checks", "rfcore.precision", "rfcore.sharding", "companion.evidence.deadlocks"}  # serve the other modules


def public():
    """Pairs of names: as users import it, and where it is defined (an entry under either will do)."""
    modules = [f"{package.__name__}.{found.name}" for package in (rfcore, companion) for found in pkgutil.iter_modules(package.__path__)]
    return [pair for module in modules if module not in INTERNAL for pair in exports(import_module(module))]


def exports(module):
    for name, thing in imported(module) if hasattr(module, "__path__") else defined(module):
        if inspect.ismodule(thing):
            yield from exports(thing) if thing.__name__ not in INTERNAL else ()
        elif isinstance(thing, Module):  # a record is described by its class
            yield f"{type(thing).__module__}.{type(thing).__name__}", f"{type(thing).__module__}.{type(thing).__name__}"
        elif isinstance(thing, type) or callable(thing):
            yield f"{module.__name__}.{name}", f"{thing.__module__}.{name}"


def imported(package):
    """What an ``__init__.py`` imports; of one that imports nothing, its modules."""
    lines = ast.parse(inspect.getsource(package)).body
    names = [alias.name for line in lines if isinstance(line, ast.ImportFrom) for alias in line.names]
    if not names:
        return [(found.name, import_module(f"{package.__name__}.{found.name}")) for found in pkgutil.iter_modules(package.__path__)]
    return [(name, getattr(package, name)) for name in names]


def defined(module):
    if hasattr(module, "__all__"):
        return [(name, getattr(module, name)) for name in module.__all__]
    return [
        (name, thing)
        for name, thing in vars(module).items()
        if not name.startswith("_") and (inspect.isfunction(thing) or inspect.isclass(thing)) and thing.__module__ == module.__name__
    ]


def check(app, env):
    documented, names = set(env.get_domain("py").objects), {}
    for name, definition in public():  # what two modules export stands under one of its names
        names.setdefault(definition, {definition}).add(name)
    for name, definition in sorted(public()):
        if documented.isdisjoint(names[definition]):
            logger.warning("%s is public but stands on no page of book/api", name, type="api", subtype="missing")


def setup(app):
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
