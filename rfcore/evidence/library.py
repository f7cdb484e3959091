"""Which code of the library a notebook rests on, and whether it changed since the page was made."""

import ast
import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # of the library that runs, which need not be the checkout's
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def library_sha256(source, root=ROOT):
    """Hash of the ``rfcore`` modules that a notebook imports, directly or through each other.

    Comments, docstrings and layout do not enter, nor does the version of Python that computes it: a page whose
    recorded hash is not today's is due for a rerun.

    Parameters
    ----------
    source : Path
        The notebook's ``.py``.
    root : Path
        The folder that holds ``rfcore``.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    SyntaxError
        If the notebook or a module is no Python.
    """
    digest = hashlib.sha256()
    for module, path in sorted(modules(source, root).items()):
        digest.update(f"{module}\0{_skeleton_of(path, path.stat().st_mtime_ns)}\0".encode())
    return digest.hexdigest()


def modules(source, root=ROOT):
    """Names and files of the ``rfcore`` modules that a notebook imports, directly or through each other."""
    found, waiting = {}, list(_imports(Path(source), ""))
    while waiting:
        module = waiting.pop()
        path = _file(module, root)
        if module in found or path is None:
            continue
        found[module] = path
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        waiting += _imports(path, package)
    return found


def _file(module, root):
    place = root.joinpath(*module.split("."))
    return next((p for p in (place / "__init__.py", place.with_suffix(".py")) if p.is_file()), None)


def _imports(path, package):
    """Every name under ``rfcore`` that an import in the file could mean, with the packages above it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        elif package != "rfcore" and isinstance(node, ast.Call) and ast.unparse(node.func) == "faces.attach":
            # What the face of a package loads later; that of rfcore loads only packages, and those are imported by name.
            exports = ast.literal_eval(node.args[1])
            names = [f"{package}.{module}" for module in {*exports, *exports.get(".", ())} - {"."}]
        for name in names:
            parts = name.split(".")
            if parts[0] == "rfcore":
                yield from (".".join(parts[:k]) for k in range(1, len(parts) + 1))


@cache
def _skeleton_of(path, _modified):
    return repr(_skeleton(ast.parse(path.read_text(encoding="utf-8"))))


def _skeleton(node):
    """What a syntax tree does: without docstrings, positions, and fields that are empty (versions add such)."""
    if isinstance(node, list):
        return [_skeleton(child) for child in node]
    if isinstance(node, ast.JoinedStr):
        return ["JoinedStr", *_pieces(node.values)]
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = {name: value for name, value in ast.iter_fields(node) if value is not None and value != []}
    if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
        fields["body"] = node.body[1:]
    return [type(node).__name__, *((n, _skeleton(v)) for n, v in fields.items() if n not in ("ctx", "kind"))]


def _pieces(values):
    """Pieces of an f-string, neighbouring texts joined: versions of Python cut them at other places."""
    pieces = []
    for value in values:
        text = value.value if isinstance(value, ast.Constant) else None
        if text is None:
            pieces.append(_skeleton(value))
        elif pieces and isinstance(pieces[-1], str):
            pieces[-1] += text
        elif text:
            pieces.append(text)
    return pieces
