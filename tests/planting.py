"""A function of the library with a piece of its source replaced: a mistake, planted."""

import inspect
import sys
import textwrap


def with_another_line(owner, name, right, wrong):
    """The function ``name`` of a module or class of the library, with a piece of its source replaced."""
    getattr(owner, name)  # a lazy face holds what it was asked for
    kept = vars(owner)[name]
    function = inspect.unwrap(getattr(kept, "func", getattr(kept, "__func__", kept)))
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(right) == 1, f"{right!r} stands {source.count(right)} times in {name}: plant the fault anew"
    namespace = dict(vars(sys.modules[function.__module__]))
    exec(source.replace(right, wrong), namespace)
    planted = namespace[name]
    if hasattr(planted, "__set_name__"):  # a cached property
        planted.__set_name__(owner, name)
    return planted
