"""Signatures with their annotations as the source has them: at run time jaxtyping's are long unions, one array type after another."""

import ast
import inspect
import textwrap


def annotated(app, what, name, obj, options, signature, returned):
    """The signature that autodoc found, with the source's annotations of its parameters and of what comes back."""
    if not signature or not (given := of_source(obj)):
        return None
    call = ast.parse(f"def f{signature}: pass").body[0]
    for argument in parameters(call):
        argument.annotation = shown(given.get(argument.arg))
    call.returns = shown(given.get("return"))
    head = ast.unparse(call).partition("\n")[0][len("def f") : -1]
    arguments, _, result = head.rpartition(" -> ") if call.returns else (head, "", None)
    return arguments, result


def of_source(obj):
    """Annotations by the names of parameters, ``return`` among them; of a class those of its constructor, or of its fields."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(obj)))).body[0]
    except (OSError, TypeError, SyntaxError):  # not written in Python
        return {}
    if isinstance(tree, ast.ClassDef):
        makers = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
        if not makers:
            return {node.target.id: node.annotation for node in tree.body if isinstance(node, ast.AnnAssign)}
        tree = makers[0]
    if not isinstance(tree, ast.FunctionDef):
        return {}
    found = {argument.arg: argument.annotation for argument in parameters(tree) if argument.annotation}
    return found | ({"return": tree.returns} if tree.returns and tree.name != "__init__" else {})


def parameters(function):
    given = function.args
    return [*given.posonlyargs, *given.args, *filter(None, [given.vararg]), *given.kwonlyargs, *filter(None, [given.kwarg])]


def shown(annotation):
    """Without the space that keeps linters from taking one axis for a name."""
    for node in ast.walk(annotation) if annotation else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = node.value.strip()
    return annotation


def setup(app):
    app.connect("autodoc-process-signature", annotated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
