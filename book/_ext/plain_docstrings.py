"""Docstrings are written for a terminal; three of their habits mean something else to Sphinx.

``|x + y|`` is a length, not a substitution. A sentence with a colon on a property is a sentence, not a type
with its description. And a neighbour is named by its bare name, wherever in the library its entry stands.
"""

import re


def lengths(app, what, name, obj, options, lines):
    """Escape bars outside literal blocks, doctests and ``code``."""
    literal = doctest = None
    for i, line in enumerate(lines):
        if not line.strip():
            doctest = None
            continue
        indent = len(line) - len(line.lstrip())
        if literal is not None and indent > literal:
            continue
        literal = indent if line.endswith("::") else None
        doctest = doctest or line.lstrip().startswith(">>>")
        if not doctest:
            parts = re.split(r"(`+[^`]*`+)", line)
            parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
            lines[i] = "".join(parts)


def properties(app, what, name, obj, options, lines):
    """Open with an empty comment, in which napoleon looks for a type in vain."""
    if what in ("attribute", "data", "property") and lines:
        lines[:0] = ["..", ""]


def bare_names(app, env, node, contnode):
    """Look a name up in the whole library, as ``:class:`.Verdict``` would."""
    if node.get("refdomain") != "py" or node.get("refspecific"):
        return None
    node["refspecific"] = True
    domain = env.get_domain("py")
    target = node["reftarget"]
    return domain.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], target, node, contnode)


def setup(app):
    app.connect("missing-reference", bare_names)
    for listener in (lengths, properties):
        app.connect("autodoc-process-docstring", listener, priority=400)  # napoleon's is 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}
