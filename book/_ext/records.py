"""Records that a module makes, such as ``couplings.orthogonal``, have the docstring that stands below their assignment."""

import inspect

from equinox import Module

from companion import citations


def own_docstring(app, what, name, obj, options, lines):
    if what == "data" and isinstance(obj, Module):
        lines[:] = [*inspect.cleandoc(citations.docstring(obj)).splitlines(), ""]


def setup(app):
    app.connect("autodoc-process-docstring", own_docstring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
