"""What is public: the names that modules export, or define without a leading underscore."""

import ast
import inspect
from types import ModuleType


def public_names(*modules):
    """Callables of modules and of the modules that these name, each once, by where a user finds them first."""
    found, seen = {}, set()

    def visit(prefix, module):
        lines = ast.parse(inspect.getsource(module)).body if hasattr(module, "__path__") else []
        names = getattr(module, "__all__", []) or [alias.name for line in lines if isinstance(line, ast.ImportFrom) for alias in line.names] or [
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
        ]
        for name in sorted(names, key=lambda name: (isinstance(getattr(module, name), ModuleType), name)):
            value, dotted = getattr(module, name), f"{prefix}.{name}"
            if isinstance(value, ModuleType):
                visit(dotted, value)
            elif callable(value) and id(value) not in seen:
                seen.add(id(value))
                found[dotted] = value
                if inspect.isclass(value):
                    for method, body in vars(value).items():
                        if not method.startswith("_") and (inspect.isfunction(body) or isinstance(body, classmethod)):
                            found[f"{dotted}.{method}"] = getattr(value, method)

    for module in modules:
        visit(module.__name__.removeprefix("rfcore.").removeprefix("companion."), module)
    return found
