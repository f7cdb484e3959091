"""Records that a module makes, such as ``couplings.orthogonal``, have the docstring that stands below their assignment."""

from equinox import Module
from sphinx.pycode import ModuleAnalyzer


def own_docstring(app, what, name, obj, options, lines):
    if what == "data" and isinstance(obj, Module):
        known = ModuleAnalyzer.for_module(type(obj).__module__).find_attr_docs()
        lines[:] = known.get(("", name.rpartition(".")[2]), lines)


def setup(app):
    app.connect("autodoc-process-docstring", own_docstring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
