"""Which modules of the library some code reaches, by its imports, through syntax trees; nothing is run.

A name that a package re-exports leads to the module that defines it, so that a page which uses
``couplings.simplex`` is due when ``couplings/compose.py`` changes, or what that imports, and not when
``couplings/fast.py`` does. Where a package is used as a value (``getattr(couplings, name)``) all that its
``__init__.py`` imports is reached.
"""

import ast
import hashlib
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # of the library that runs
PACKAGES = ("rfcore", "companion")
# No number comes from these: files of data are compared with their hashes whenever they are read, the others keep records.
NO_NUMBERS = ("companion.datasets.registry", "companion.datasets.storage", "companion.evidence.pages", "companion.evidence.reach")


def reach_sha256(source, root=ROOT):
    """Hash of what a notebook reaches of the library; where another is recorded, its page is due for a rerun.

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
        path = waiting.pop()
        for name in _uses(path, root, path.stat().st_mtime_ns) - found.keys() - {*NO_NUMBERS}:
            path = _path(name, root)
            found[name] = _sha256(path, path.stat().st_mtime_ns)
            waiting.append(path)
    return found


def _tree(path):
    """The syntax tree of a file; an error names file and line."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        line = f"{path}, line {error.lineno} = {(error.text or '').strip()!r}"
        raise SyntaxError(f"{line}; give Python ({error.msg}), in which magics stand as comments: # %time") from None


@lru_cache(maxsize=1000)
def _sha256(path, _changed):
    return hashlib.sha256(code(_tree(path)).encode()).hexdigest()


def code(node):
    """What a syntax tree does, as text: without positions, docstrings, annotations, version and imports.

    It is the same under every version of Python: newer ones add fields, empty as a rule, and cut f-strings
    at other places.
    """
    if isinstance(node, list):
        return f"[{''.join(code(child) for child in node if not _does_nothing(child))}]"
    if not isinstance(node, ast.AST):
        return f"{node!r},"
    unseen = ("ctx", "kind", "annotation", "returns")
    fields = {field: value for field, value in ast.iter_fields(node) if field not in unseen and value not in (None, [])}
    if isinstance(node, ast.JoinedStr):
        fields["values"] = _joined(node.values)
    texts = {field: code(value) for field, value in fields.items()}
    return f"{type(node).__name__}({''.join(f'{field}={text}' for field, text in texts.items() if text != '[]')})"


def _does_nothing(node):
    """Whether a line is an import, whose names are followed, the version, or a docstring of anything."""
    if isinstance(node, ast.Assign):
        return getattr(node.targets[0], "id", "") == "__version__"
    return isinstance(node, (ast.Import, ast.ImportFrom)) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _joined(values):
    """Pieces of an f-string, neighbouring texts as one."""
    merged = []
    for value in values:
        if isinstance(value, ast.Constant) and merged and isinstance(merged[-1], ast.Constant):
            merged[-1] = ast.Constant(merged[-1].value + value.value)
        elif not isinstance(value, ast.Constant) or value.value:
            merged.append(value)
    return merged


@lru_cache(maxsize=1000)
def _uses(path, root, _changed):
    """Modules that a file uses at once; of an ``__init__.py`` none, which says where its names are."""
    if path.name == "__init__.py":
        return frozenset()
    nodes = list(ast.walk(_tree(path)))
    for text in [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]:
        if any(f"import {p}" in text or f"from {p}" in text for p in PACKAGES):
            with suppress(SyntaxError):  # code for other processes stands in strings
                nodes += ast.walk(ast.parse(text))
    imports = [use for node in nodes for use in _imports(node)]
    packages = _packages(imports, root)
    attributes = [(ast.unparse(node.value), node.attr) for node in nodes if isinstance(node, ast.Attribute)]
    names = [(module, name) for module, name, _ in imports]
    names += [(packages[spelled], attribute) for spelled, attribute in attributes if spelled in packages]
    names += [(package, name) for package in _values(nodes, packages) for name in _exports(package, root)]
    return frozenset().union(*(_meaning(module, name, root) for module, name in names))


def packages_as_values(path, root=ROOT):
    """Packages that a file uses as values, and so may list their names."""
    nodes = list(ast.walk(_tree(path)))
    return _values(nodes, _packages([use for node in nodes for use in _imports(node)], root))


def _packages(imports, root):
    """Packages among what is imported, by what each is bound to."""
    bindings = {bound: f"{module}.{name}" if name else module for module, name, bound in imports}
    return {bound: module for bound, module in bindings.items() if _is_package(module, root)}


def _values(nodes, packages):
    within = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    return {packages[n.id] for n in nodes if isinstance(n, ast.Name) and n.id in packages and id(n) not in within}


def _imports(node):
    """``(module, name, what it is bound to)`` of every name that a statement imports from the library."""
    if isinstance(node, ast.Import):
        found = [(alias.name, None, alias.asname or alias.name) for alias in node.names]
    else:
        found = [(node.module or "", alias.name, alias.asname or alias.name) for alias in node.names] if isinstance(node, ast.ImportFrom) else []
    return [use for use in found if use[0].split(".")[0] in PACKAGES]


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
    return {bound: (module, name) for node in _tree(_path(package, root)).body for module, name, bound in _imports(node) if name}


def _path(name, root):
    place = root.joinpath(*name.split("."))
    return next((p for p in (place / "__init__.py", place.with_suffix(".py")) if p.is_file()), None)


def _is_package(name, root):
    path = _path(name, root)
    return path is not None and path.name == "__init__.py"
