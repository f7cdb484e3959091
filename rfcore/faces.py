"""Faces of packages: what a package promises, loaded when it is first asked for (PEP 562).

An ``__init__.py`` says which of its modules defines which name, as a literal that tools read from the syntax
tree::

    __getattr__, __dir__, __all__ = faces.attach(__name__, {
        ".": ("directions", "norms"),      # from . import directions, norms
        "compose": ("compose", "iid"),     # from .compose import compose, iid
    })

Modules of the package under ``"."`` are promised themselves. The other keys can be reached as attributes,
too, as after an import of all of them; but where a function is promised under the name of a module
(``compose``), the name is the function's. A module that is named in full is of another package, which imports
this one: what it serves is looked for here.
"""

import sys
from importlib import import_module
from types import ModuleType


def attach(package, exports):
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package that exports ``{module: names}``."""
    origin = {name: module for module, names in exports.items() for name in names}
    face = sys.modules[package]

    def __getattr__(name):
        if name not in origin and name not in exports:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=face)
        module = origin.get(name, ".")
        if module == ".":
            return import_module(f"{package}.{name}")  # which binds it here
        value = getattr(import_module(module if "." in module else f"{package}.{module}"), name)
        setattr(face, name, value)
        return value

    class Face(ModuleType):
        def __setattr__(self, name, value):
            # The import of a module binds its name in the package, whoever imports it and when: not over a function.
            if origin.get(name, ".") == "." or not isinstance(value, ModuleType):
                super().__setattr__(name, value)

    face.__class__, face.__module__ = Face, package  # which would be that of the class: Sphinx reads its source
    return __getattr__, lambda: sorted(origin), sorted(origin)
