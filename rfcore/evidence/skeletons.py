"""What a syntax tree does: without comments, docstrings, layout, and where in the code an import stands."""

import ast

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def skeleton(node):
    """A text that is the same under every version of Python, for a syntax tree or a list of them.

    Positions do not enter, nor fields that are empty (versions add such). Imports do not either: what a name
    means is for who reads the names, and is the same whether it is imported in a function or above it.
    """
    pieces = []
    _write(node, pieces.append)
    return "".join(pieces)


def _write(node, write):
    if isinstance(node, list):
        write("[")
        for child in node:
            if not isinstance(child, ast.Import | ast.ImportFrom):
                _write(child, write)
        write("]")
    elif isinstance(node, ast.JoinedStr):
        write("JoinedStr(")
        _write(_joined(node.values), write)
        write(")")
    elif isinstance(node, ast.AST):
        write(type(node).__name__ + "(")
        for field in node._fields:
            value = getattr(node, field, None)
            if field in ("ctx", "kind") or value is None or value == []:
                continue
            if (
                field == "body"
                and isinstance(node, _DOCUMENTED)
                and ast.get_docstring(node, clean=False) is not None
            ):
                value = value[1:]
            write(f"{field}=")
            _write(value, write)
        write(")")
    else:
        write(f"{node!r},")


def _joined(values):
    """Pieces of an f-string, neighbouring texts joined: versions of Python cut them at other places."""
    pieces = []
    for value in values:
        text = value.value if isinstance(value, ast.Constant) else None
        if text is None:
            pieces.append(value)
        elif pieces and isinstance(pieces[-1], str):
            pieces[-1] += text
        elif text:
            pieces.append(text)
    return pieces
