"""Which modules of the library some code reaches, by its imports, through syntax trees; nothing is run.

A name that a package re-exports leads to the module that defines it, so that a page which uses
``couplings.simplex`` is due when ``couplings/compose.py`` changes, or what that imports, and not when
``couplings/fast.py`` does. Where a package is used as a value (``getattr(couplings, name)``) all that its
``__init__.py`` imports is reached.
"""

import ast
import hashlib
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # of the library that runs
PACKAGES = ("rfcore", "companion")
# No number comes from these: files of data are compared with their hashes whenever they are read, the others keep records.
NO_NUMBERS = ("companion.datasets.registry", "companion.datasets.storage", "companion.evidence.pages", "companion.evidence.reach")


def reach_sha256(source, root=ROOT):
    """Hash of what a notebook reaches of ``rfcore``; where another is recorded, its page is due for a rerun.

    It is 64 hexadecimal digits, the same under every version of Python.

    Args:
        source: the notebook's ``.py``, a Path.
        root: the folder that holds ``rfcore`` and ``companion``.
    """
    found = reached(source, root)
    return hashlib.sha256("".join(f"{name}\0{found[name]}\0" for name in sorted(found)).encode()).hexdigest()


def reached(source, root=ROOT):
    """Modules that a script reaches, such as ``"rfcore.couplings.norms"``, each with the hash of its code."""
    root, found, waiting = Path(root), {}, [Path(source)]
    while waiting:
        for name in sorted(_uses(waiting.pop(), root)):
            if name not in found and name not in NO_NUMBERS:
                path = _path(name, root)
                found[name] = _sha256(path, path.stat().st_mtime_ns)
                waiting.append(path)
    return found


@lru_cache(maxsize=1000)
def _sha256(path, _changed):
    return hashlib.sha256(code(ast.parse(path.read_text(encoding="utf-8"))).encode()).hexdigest()


def code(node):
    """What a syntax tree does, as text: without positions, docstrings, version and imports.

    It is the same under every version of Python: newer ones add fields, empty as a rule, and cut f-strings
    at other places.
    """
    if isinstance(node, list):
        return f"[{''.join(code(child) for child in node if not isinstance(child, ast.Import | ast.ImportFrom) and not _is_version(child))}]"
    if not isinstance(node, ast.AST):
        return f"{node!r},"
    fields = {field: value for field, value in ast.iter_fields(node) if field not in ("ctx", "kind") and value not in (None, [])}
    if isinstance(node, ast.JoinedStr):
        fields["values"] = _joined(node.values)
    body = fields.get("body")
    if isinstance(body, list) and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        fields["body"] = body[1:]
    texts = {field: code(value) for field, value in fields.items()}
    return f"{type(node).__name__}({''.join(f'{field}={text}' for field, text in texts.items() if text != '[]')})"


def _is_version(node):
    return isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__version__"


def _joined(values):
    """Pieces of an f-string, neighbouring texts as one."""
    merged = []
    for value in values:
        if isinstance(value, ast.Constant) and merged and isinstance(merged[-1], ast.Constant):
            merged[-1] = ast.Constant(merged[-1].value + value.value)
        elif not isinstance(value, ast.Constant) or value.value:
            merged.append(value)
    return merged


def _uses(path, root):
    return _uses_of(path, root, path.stat().st_mtime_ns)


@lru_cache(maxsize=1000)
def _uses_of(path, root, _changed):
    """Modules that a file uses at once; of an ``__init__.py`` none, which says where its names are."""
    if path.name == "__init__.py":
        return frozenset()
    tree, found, packages = ast.parse(path.read_text(encoding="utf-8")), set(), {}
    # Code for other processes stands in strings: what it uses counts as the script's own.
    strings = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    trees = [tree, *filter(None, (_parsed(s) for s in strings if any(f"import {p}" in s or f"from {p}" in s for p in PACKAGES)))]
    nodes = [node for t in trees for node in ast.walk(t)]
    for name, asked, bound in (use for node in nodes for use in _imports(node)):
        found |= _meaning(name, asked, root)
        if (package := f"{name}.{asked}" if asked else name) and _is_package(package, root):
            packages[bound] = package
    attributes, whole = set(), set()
    for node in nodes:
        if isinstance(node, ast.Attribute):
            attributes.add((ast.unparse(node.value), node.attr))
    of_attributes = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in packages and id(node) not in of_attributes:
            whole.add(packages[node.id])
    for spelled, attribute in sorted(attributes):
        if spelled in packages:
            found |= _meaning(packages[spelled], attribute, root)
    for package in whole:
        found |= set().union(*(_meaning(package, name, root) for name in _exports(package, root)))
    return frozenset(found)


def _parsed(text):
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def _imports(node):
    """``(module, name, what it is bound to)`` of every name that a statement imports from the library."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.split(".")[0] in PACKAGES:
                yield alias.name, None, alias.asname or alias.name
    elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
        for alias in node.names:
            yield node.module, alias.name, alias.asname or alias.name


def _meaning(module, name, root):
    """Modules that ``module.name`` leads to, and the packages on the way; the module itself for no name."""
    parts = module.split(".")
    packages = {p for k in range(1, len(parts) + 1) if _is_package(p := ".".join(parts[:k]), root)}
    if not _is_package(module, root):
        return packages | {module} if _path(module, root) else packages
    exported = _exports(module, root).get(name)
    if exported and exported != (module, name):
        return packages | _meaning(*exported, root)
    return packages | (_meaning(f"{module}.{name}", None, root) if name and _path(f"{module}.{name}", root) else set())


def _exports(package, root):
    """What an ``__init__.py`` imports of the library: its name to where it is from."""
    tree = ast.parse(_path(package, root).read_text(encoding="utf-8"))
    return {bound: (module, name) for node in tree.body for module, name, bound in _imports(node) if name}


def _path(name, root):
    place = root.joinpath(*name.split("."))
    return next((p for p in (place / "__init__.py", place.with_suffix(".py")) if p.is_file()), None)


def _is_package(name, root):
    path = _path(name, root)
    return path is not None and path.name == "__init__.py"
