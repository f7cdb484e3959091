"""The API reference is complete: a public name of rfcore without an entry is a warning and fails the build.

Public is what a module of rfcore lists in ``__all__``, modules among it followed; of a module without one,
every function and class that it defines and whose name does not start with an underscore.
"""

import inspect
import pkgutil
from importlib import import_module

from sphinx.util import logging

import companion
import rfcore

logger = logging.getLogger(__name__)

INTERNAL = {"rfcore.checks", "rfcore.faces", "rfcore.precision"}  # serve the other modules


def public():
    """Pairs of names: as users import it, and where it is defined (an entry under either will do)."""
    modules = [f"{package.__name__}.{found.name}" for package in (rfcore, companion) for found in pkgutil.iter_modules(package.__path__)]
    return [pair for module in modules if module not in INTERNAL for pair in exports(import_module(module))]


def exports(module):
    for name in getattr(module, "__all__", None) or defined(module):
        thing = getattr(module, name)
        if inspect.ismodule(thing):
            yield from exports(thing)
        else:
            yield f"{module.__name__}.{name}", f"{getattr(thing, '__module__', None)}.{name}"


def defined(module):
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(thing) or inspect.isclass(thing))
        and thing.__module__ == module.__name__
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
