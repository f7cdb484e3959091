"""What a piece of code does and which names it uses that it does not bind itself, by its syntax tree."""

import ast
from typing import NamedTuple

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_NAMED = (*_FUNCTIONS[:2], ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
_SILENT = (ast.Constant, ast.Load, ast.Store, ast.Del)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Imported(NamedTuple):
    """What an import binds a name to: a module, or an attribute of one."""

    module: str
    attribute: str | None = None


class Use(NamedTuple):
    """A name with the attributes asked of it, as in ``couplings.norms.chi``.

    ``origin`` is what it was imported as where the code itself does so. ``by`` tells of dynamic access: the
    syntax tree of the name in ``getattr(couplings, name)``, ``import_module(name)`` or ``sys.modules[name]``.
    """

    name: str
    attributes: tuple[str, ...] = ()
    origin: Imported | None = None
    by: ast.expr | None = None


def imported(node, package):
    """Names that an import binds, each with what it means: ``[(name, Imported)]``; ``"*"`` is a name here.

    Relative imports start from ``package``.
    """
    if isinstance(node, ast.Import):
        whole = [(alias.asname or alias.name.split(".")[0], alias) for alias in node.names]
        return [(name, Imported(alias.name if alias.asname else name)) for name, alias in whole]
    above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
    module = ".".join([*above, *filter(None, [node.module])])
    return [(alias.asname or alias.name, Imported(module, alias.name)) for alias in node.names]


def bound(body, package):
    """Names that statements bind: each with a list of :class:`Imported`, empty if no import binds it."""
    found, elsewhere = {}, set()

    def visit(node):
        names = ()
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name, origin in imported(node, package):
                found.setdefault(name, []).append(origin)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            elsewhere.update(node.names)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names = (node.id,)
        elif isinstance(node, _NAMED):
            names = (node.name,)
        elif isinstance(node, ast.MatchMapping):
            names = (node.rest,)
        for name in filter(None, names):
            found.setdefault(name, [])
        if isinstance(node, _COMPREHENSIONS):  # their targets are their own, but not what := binds in them
            for inner in ast.walk(node):
                if isinstance(inner, ast.NamedExpr):
                    found.setdefault(inner.target.id, [])
        elif not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            for child in ast.iter_child_nodes(node):
                visit(child)

    for statement in body:
        visit(statement)
    return {name: origins for name, origins in found.items() if name not in elsewhere}


def uses(nodes, package):
    """Every :class:`Use` of a name that the code of ``nodes`` does not bind itself, built-in or not.

    Annotations of functions do not count. What ``nodes`` themselves bind does: they are a module's, and so
    are its names. Relative imports start from ``package``.
    """
    reader = _Reader(package)
    for node in nodes:
        reader.visit(node)
    return reader.found


class _Reader:
    """Walks a syntax tree with the names that functions, comprehensions and classes around a place bind."""

    def __init__(self, package):
        self.package, self.scopes, self.found = package, [], []

    def visit(self, node):
        if method := getattr(self, f"visit_{type(node).__name__}", None):
            return method(node)
        return self.below(node)

    def below(self, node):
        for child in ast.iter_child_nodes(node):
            if type(child) not in _SILENT:
                self.visit(child)

    def within(self, names, nodes, of_class=False):
        outer = self.scopes
        # What a class binds is seen in its body and not in its methods.
        self.scopes = [*(scope for scope in outer if not scope[1]), (names, of_class)]
        for node in nodes:
            self.visit(node)
        self.scopes = outer

    def refer(self, name, attributes=(), by=None):
        for names, _ in reversed(self.scopes):
            if name in names:
                self.found += [Use(name, attributes, origin, by) for origin in names[name]]
                return
        self.found.append(Use(name, attributes, None, by))

    def refer_to(self, expression, by=None):
        """The name with its attributes that an expression is; False if it is something else."""
        attributes = []
        while isinstance(expression, ast.Attribute):
            attributes.append(expression.attr)
            expression = expression.value
        if isinstance(expression, ast.Name):
            self.refer(expression.id, tuple(reversed(attributes)), by)
        elif isinstance(expression, ast.Subscript) and ast.unparse(expression.value) == "sys.modules":
            self.found.append(Use("import_module", tuple(reversed(attributes)), None, expression.slice))
        else:
            return False
        return True

    def visit_Name(self, node):
        self.refer(node.id)

    def visit_Attribute(self, node):
        if not self.refer_to(node):
            self.below(node)

    visit_Subscript = visit_Attribute

    def visit_Call(self, node):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        known = {"getattr": 1, "hasattr": 1, "import_module": 0, "__import__": 0}.get(name)
        if known is None or len(node.args) <= known:
            return self.below(node)
        if known == 1 and self.refer_to(node.args[0], by=node.args[1]):
            rest = [*node.args[1:], *node.keywords]
        else:
            rest = [node.func, *node.args, *node.keywords]
        if known == 0:
            self.found.append(Use("import_module", by=node.args[0]))
        for child in rest:
            self.visit(child)

    def visit_FunctionDef(self, node):
        for child in [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(child)
        self._function(node, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        for child in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(child)
        self._function(node, [node.body])

    def _function(self, node, body):
        a = node.args
        given = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, [a.vararg, a.kwarg])]
        self.within(bound(body, self.package) | {argument.arg: [] for argument in given}, body)

    def visit_ClassDef(self, node):
        for child in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(child)
        self.within(bound(node.body, self.package), node.body, of_class=True)

    def _comprehension(self, node):
        first = node.generators[0]
        self.visit(first.iter)
        targets = bound([generator.target for generator in node.generators], self.package)
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self.within(targets, [*first.ifs, *node.generators[1:], *results])

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


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
