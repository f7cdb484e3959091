"""Which definitions of the library some code reaches, by name through syntax trees; nothing is imported.

A *definition* is a function, a class or a constant of a module, with every statement of the module that
changes it afterwards: ``RULES["shape"] = ...``, ``@log.defjvp``. It reaches what its names mean, through
imports and the faces of packages. Whatever else a module does when it is imported, such as
``jax.config.update(...)``, loops and blocks, belongs to all of its definitions.

Where access is dynamic (``getattr(module, name)``, a module passed as a value, ``import *``) all of the
module is reached; of ``getattr(couplings, name)`` those alone that are spelled, as strings, in the file or in
a constant that is reached, if any are: a name that a page puts together from pieces is not seen.
"""

import ast
import hashlib
from collections import defaultdict
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from companion.evidence.names import Imported, bound, skeleton, uses

ROOT = Path(__file__).resolve().parents[2]  # of the library that runs
PACKAGES = ("rfcore", "companion")
# Files are compared with their hashes whenever they are read: where they are found and fetched changes no number.
BY_CONTENT = ("companion.datasets.registry", "companion.datasets.storage")
_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CHANGES = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign)
_CONTENTS = ("__all__", "__dict__", "__path__")  # of a module: to ask for them is to ask for all of it
_OF_MODULES = ("__name__", "__doc__", "__file__", "__spec__", "__package__", "__version__")


class Target(NamedTuple):
    """What a name leads to: a definition; without a name what a module does besides; ``"*"``: all of it."""

    module: str
    name: str


class Dynamic(NamedTuple):
    """Access to some name of a module, whose file is ``within``."""

    module: str
    within: str


class Definition(NamedTuple):
    """Its statements, what their names mean, what they lead to, and the strings, if it is a constant."""

    statements: list
    origins: list
    targets: set
    strings: frozenset


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
    """Definitions that a script reaches, such as ``"rfcore.couplings.norms.chi"``, each with its hash.

    What finds and fetches files of data is left out: their content has hashes of its own.
    """
    library = library_at(root)
    found = library.closure([Target(library.add(Path(source)), "*")])
    found = (t for t in found if t.module.split(".")[0] in PACKAGES and t.module not in BY_CONTENT)
    return {library.name(t): library.sha256(t) for t in found}


def library_at(root=ROOT):
    """The :class:`Library` below a folder as it stands now; read once, as long as no file changes."""
    files = sorted(path for package in PACKAGES for path in Path(root, package).rglob("*.py"))
    return _library(Path(root), tuple((path, path.stat().st_mtime_ns) for path in files))


@lru_cache(maxsize=2)
def _library(root, _files):
    return Library(root)


class Library:
    """Modules below ``root``, the folder that holds ``rfcore``, read when they are first asked for."""

    def __init__(self, root):
        self.root, self._files, self._definitions, self._following, self._hashes = root, {}, {}, {}, {}

    def add(self, path, name=None):
        """Make a script a module of the library, under a name of its own if none is given; that name."""
        name = name or f"{path.as_posix()} {len(self._files)}"
        self._files[name] = Module(name, path)
        return name

    def module(self, name):
        """The :class:`Module` of this dotted name; None where it is not the library's."""
        if name not in self._files:
            place = self.root.joinpath(*name.split("."))
            paths = (place / "__init__.py", place.with_suffix(".py")) if name.split(".")[0] in PACKAGES else ()
            path = next((path for path in paths if path.is_file()), None)
            self._files[name] = path and Module(name, path)
        return self._files[name]

    def closure(self, start):
        """Every definition that targets lead to, and what modules do besides: a set of :class:`Target`."""
        seen, waiting, dynamic, strings = set(), list(start), set(), set()
        while waiting:
            target = waiting.pop()
            if isinstance(target, Dynamic):
                dynamic.add(target)
            elif target not in seen:
                seen.add(target)
                if target not in self._following:
                    self._following[target] = self._next(target)
                waiting += self._following[target]
                if target.name != "*":
                    strings |= self.definition(target).strings
            if not waiting:  # the strings are complete, until a dynamic access leads to more
                waiting = [t for d in dynamic for t in self._spelled(d, strings) if t not in seen]
        return {target for target in seen if target.name != "*" and self.definition(target).statements}

    def name(self, target):
        """The dotted name of a target: that of the module alone for what it does besides its definitions."""
        return ".".join(filter(None, target))

    def definition(self, target):
        """The :class:`Definition` that a target with a name is, or what a module does besides (no name)."""
        if target not in self._definitions:
            module, statements = self.module(target.module), self._statements(target)
            origins, targets = set(), set()
            for use in uses(statements, module.package):
                for origin, found in self._meanings(module, use):
                    origins.add((use.name, *use.attributes, origin))
                    targets |= found
            constant = not any(isinstance(s, _DEFINED) for s in statements)
            strings = _strings(statements) if constant else frozenset()
            self._definitions[target] = Definition(statements, sorted(origins), targets, strings)
        return self._definitions[target]

    def sha256(self, target):
        """Hash of a definition: of what it does, and of what its names mean."""
        if target not in self._hashes:
            found = self.definition(target)
            text = f"{skeleton(found.statements)}{found.origins}"
            self._hashes[target] = hashlib.sha256(text.encode()).hexdigest()
        return self._hashes[target]

    def _statements(self, target):
        module = self.module(target.module)
        return module.definitions.get(target.name, []) if target.name else module.effects

    def _next(self, target):
        """What follows at once from a target: what a definition names, or all that a module defines."""
        module = self.module(target.module)
        if target.name != "*":
            parts = target.module.split(".")
            above = (".".join(parts[:k]) for k in range(1, len(parts) + 1))
            return [
                *self.definition(target).targets,
                *(Target(name, "") for name in above if self.module(name)),
            ]
        found = [Target(target.module, name) for name in ["", *module.definitions]]
        if module.is_package or module.name.split(".")[0] not in PACKAGES:
            names = module.exports or (module.imports if module.is_package else [])  # a lazy face imports faces alone
            found += [
                t for name in names for _, targets in self._lookup(module.name, name, ()) for t in targets
            ]
        return found + [t for star in module.stars if self.module(star) for t in [Target(star, "*")]]

    def _spelled(self, dynamic, strings):
        """What of a module the file that asks, or a reached constant, spells; all of it if nothing is."""
        module = self.module(dynamic.module)
        names = {*module.definitions, *module.imports, *module.exports}
        spelled = names & (strings | self.module(dynamic.within).strings)
        if not spelled:
            return [Target(dynamic.module, "*")]
        return [
            t for name in sorted(spelled) for _, found in self._lookup(module.name, name, ()) for t in found
        ]

    def _meanings(self, module, use):
        """What a use can mean: pairs of a dotted name and targets."""
        if use.name == "import_module":
            return self._import_module(use, module.name)
        if use.origin is not None:
            return self._imported(use.origin, use.attributes, (), module.name, use.by)
        if use.name in ("globals", "eval", "exec", "vars", "locals") and use.name not in module.bound:
            return [("dynamic", {Target(module.name, "*")} if use.name != "vars" else set())]
        if use.name not in module.bound and not module.stars:
            return []  # a built-in name
        return self._lookup(module.name, use.name, use.attributes, module.name, use.by)

    def _import_module(self, use, within):
        literal = use.by.value if isinstance(use.by, ast.Constant) else None
        if literal is None:
            return [("dynamic", set().union(*map(self._everything, PACKAGES)))]
        return self._of_module(literal, use.attributes, within, None, ()) if self.module(literal) else []

    def _everything(self, package):
        folder = self.root.joinpath(*package.split("."))
        paths = [p.relative_to(self.root).with_suffix("") for p in folder.rglob("*.py")]
        return {Target(".".join(p.parent.parts if p.name == "__init__" else p.parts), "*") for p in paths}

    def _lookup(self, module, name, attributes, within=None, by=None, path=()):
        """Meanings of ``module.name.attributes``, for a module of the library."""
        here = self.module(module)
        submodule = f"{module}.{name}" if self.module(f"{module}.{name}") else None
        if (module, name) in path:  # a face that imports its own submodule
            return self._of_module(submodule, attributes, within, by, path) if submodule else []
        path, found = (*path, (module, name)), []
        if name in here.definitions:
            found.append((f"{module}.{name}", {Target(module, name)}))
        for origin in [*here.imports.get(name, []), *here.exports.get(name, [])]:
            found += self._imported(origin, attributes, path, within, by)
        if not found and submodule:
            found = self._of_module(submodule, attributes, within, by, path)
        if not found and name in _CONTENTS:
            found = [(module, self._everything(module) if name == "__path__" else {Target(module, "*")})]
        if not found and name not in _OF_MODULES and not here.bound.get(name):
            # A name that the module computes, or an error, whose cure may stand anywhere in it.
            found = [(f"{module}.{name}", {Target(module, "*")})]
            for star in here.stars:
                if self.module(star):
                    found += self._lookup(star, name, attributes, within, by, path)
        return found

    def _imported(self, origin, attributes, path, within, by):
        """Meanings of what an import binds, with attributes asked of it."""
        if not self.module(origin.module):
            return [(".".join(filter(None, origin)), set())]  # another library's
        if origin.attribute is None:
            return self._of_module(origin.module, attributes, within, by, path)
        return self._lookup(origin.module, origin.attribute, attributes, within, by, path)

    def _of_module(self, module, attributes, within, by, path):
        """Meanings of a module with attributes: without any, it is a value, of which all may be asked."""
        if attributes:
            return self._lookup(module, attributes[0], attributes[1:], within, by, path)
        if isinstance(by, ast.Constant) and isinstance(by.value, str):
            return self._lookup(module, by.value, (), within, None, path)
        if isinstance(by, ast.Name | ast.Attribute | ast.Subscript):
            return [(module, {Dynamic(module, within)})]
        return [(module, {Target(module, "*")})]


class Module:
    """A file taken apart: its definitions, what else it does, its imports, what a lazy face exports."""

    def __init__(self, name, path):
        self.name, self.path, self.is_package = name, path, path.name == "__init__.py"
        self.package = name if self.is_package else name.rpartition(".")[0]
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.definitions, self.effects, self.stars = defaultdict(list), [], []
        self.exports = {}  # of a lazy face: name to a list of what it means
        self.imports = {}
        self.bound = bound(self.tree.body, self.package)
        for statement in [s for s in self.tree.body if not self._is_plain(s)]:
            self._place(statement)
        if name.split(".")[0] not in PACKAGES:
            self._read_strings()
        for found, origins in self.bound.items():
            if found == "*":
                self.stars = [origin.module for origin in origins]
            elif origins:
                self.imports[found] = origins
        self.definitions = dict(self.definitions)

    @cached_property
    def strings(self):
        """Every string that the file spells."""
        return _strings(self.tree.body)

    def _read_strings(self):
        """Code for other processes stands in strings: what it imports and does counts as the script's own."""
        for text in self.strings:
            if any(f"{word} {package}" in text for word in ("import", "from") for package in PACKAGES):
                try:
                    body = ast.parse(text).body
                except SyntaxError:
                    continue
                for name, origins in bound(body, self.package).items():
                    self.bound[name] = [*self.bound.get(name, []), *origins]
                self.effects += [node for node in body if not isinstance(node, ast.Import | ast.ImportFrom)]

    def _is_plain(self, statement):
        """Sort an import, a definition, a constant or a lazy face; False for what changes more than that."""
        if isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass) or _is_main(statement):
            return True
        if isinstance(statement, _DEFINED):
            self.definitions[statement.name].append(statement)
            return not statement.decorator_list
        if isinstance(statement, ast.Expr):
            return isinstance(statement.value, ast.Constant)
        if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
            return False
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = [
            n.id for target in targets for n in getattr(target, "elts", [target]) if isinstance(n, ast.Name)
        ]
        if "__getattr__" in names and (exported := _lazily_exported(statement.value)):
            for module, names in exported.items():
                own = self.package if module == "." else f"{self.package}.{module}"
                origin = module if "." in module.strip(".") else own  # in full: of another package
                for name in names:
                    self.exports.setdefault(name, []).append(Imported(origin, name))
            return True
        if names == ["__all__"]:
            return True
        for name in names:
            self.definitions[name].append(statement)
        return len(names) == sum(len(getattr(target, "elts", [target])) for target in targets)

    def _place(self, statement):
        """Give a change to the definition that it changes or, where it is none of the module, to all."""
        if isinstance(statement, _DEFINED):
            for decorator in statement.decorator_list:
                call = decorator.func if isinstance(decorator, ast.Call) else decorator
                root = _root(call)
                if root in self.definitions and isinstance(call, ast.Attribute):  # @log.defjvp
                    self.definitions[root].append(statement)
                elif self._may_register(root) and statement not in self.effects:
                    self.effects.append(statement)
            return
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            changed = [statement.value.func] if isinstance(statement.value.func, ast.Attribute) else [None]
        elif isinstance(statement, ast.Assign):
            changed = [n for target in statement.targets for n in getattr(target, "elts", [target])]
        else:
            changed = [getattr(statement, "target", None)]
        roots = {_root(node) for node in changed if not isinstance(node, ast.Name)}
        if not isinstance(statement, _CHANGES) or not roots <= set(self.definitions):
            self.effects.append(statement)
            for name in bound([statement], self.package):
                if not self.bound.get(name):
                    self.definitions[name].append(statement)
        for root in roots & set(self.definitions):
            self.definitions[root].append(statement)

    def _may_register(self, root):
        """Whether a decorator of this name is a function of the library, which may keep what it decorates."""
        if any(isinstance(s, ast.FunctionDef | ast.ClassDef) for s in self.definitions.get(root, ())):
            return True
        return any(origin.module.split(".")[0] in PACKAGES for origin in self.bound.get(root, ()))


def _is_main(statement):
    """Whether this is ``if __name__ == "__main__"`` or ``if TYPE_CHECKING``, which no import runs."""
    return isinstance(statement, ast.If) and any(
        getattr(node, "id", getattr(node, "attr", "")) in ("__name__", "TYPE_CHECKING")
        for node in ast.walk(statement.test)
    )


def _lazily_exported(value):
    """The dictionary in ``faces.attach(__name__, {".": ("copulas",), "directions": ("iid",)})``."""
    tables = (
        [a for a in getattr(value, "args", ()) if isinstance(a, ast.Dict)]
        if isinstance(value, ast.Call)
        else []
    )
    try:
        return ast.literal_eval(tables[0]) if tables else None
    except ValueError:
        return None


def _root(node):
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call | ast.Starred):
        node = node.func if isinstance(node, ast.Call) else node.value
    return getattr(node, "id", None)


def _strings(nodes):
    inner = (node for outer in nodes for node in ast.walk(outer))
    return frozenset(n.value for n in inner if isinstance(n, ast.Constant) and isinstance(n.value, str))
