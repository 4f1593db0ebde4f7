"""`acai.run`: a Python function with its arguments as a job.

Its source becomes the program, with the functions of the same place that it calls and the modules that it names; other
values that it names travel with its arguments. A function without such a source, as a lambda or one that closes over
something, travels itself.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from acai_jupyter.commands import names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

RETURNED = "_returned"
"""The variable of the job with what the function returned."""
_HERE = "__main__"
_POSITIONAL, _KEYWORD, _FUNCTION = "_arguments", "_keywords", "_function"


@dataclass(frozen=True)
class Call:
    """The text of a program that calls a function, and the variables that it has to be sent."""

    name: str
    text: str
    values: Mapping[str, Any]


@dataclass
class _Source:
    """What of a function's surroundings its program needs."""

    imports: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)


def call(function: Callable[..., Any], positional: Sequence[Any], keywords: Mapping[str, Any]) -> Call:
    """Return the program of a call."""
    inspect.signature(function).bind(*positional, **keywords)  # a wrong call is an error here, not in the job
    given = {_POSITIONAL: tuple(positional), _KEYWORD: dict(keywords)}
    sent: dict[str, Any] = {name: value for name, value in given.items() if value}
    source = _Source()
    if not _take(function, source):
        source, sent[_FUNCTION] = _Source(), function
    called = _FUNCTION if _FUNCTION in sent else function.__name__
    arguments = [star + name for star, name in (("*", _POSITIONAL), ("**", _KEYWORD)) if name in sent]
    waits = "await " if inspect.iscoroutinefunction(function) else ""
    last = f"{RETURNED} = {waits}{called}({', '.join(arguments)})"
    lines = [*sorted(source.imports.values()), *source.texts.values(), last]
    name = getattr(function, "__name__", type(function).__name__)
    return Call(name, "\n".join(lines) + "\n", {**source.values, **sent})


def _take(function: object, source: _Source) -> bool:
    """Take the source of a function with what it names; says whether that is all there."""
    if not isinstance(function, FunctionType):
        return False
    text = _text(function)
    if text is None or names.look(text).is_sure is False:
        return False
    source.taken.add(function.__name__)
    is_whole = all(_take_name(one.name, function, source) for one in names.look(text).missing)
    source.texts[function.__name__] = text  # behind what it calls: a default value is needed where it is defined
    source.imports |= _submodules(text, function)
    return is_whole


def _take_name(name: str, function: FunctionType, source: _Source) -> bool:
    if name in source.imports or name in source.taken or name in source.values:
        return True
    if name not in function.__globals__:
        return True  # it is missed there as it would be here
    value = function.__globals__[name]
    if isinstance(value, ModuleType):
        source.imports[name] = _import(value.__name__, name)
    elif isinstance(value, FunctionType) and value.__module__ == function.__module__:
        return value.__name__ == name and _take(value, source)
    elif isinstance(value, (FunctionType, type)) and value.__module__ not in (_HERE, function.__module__):
        source.imports[name] = f"from {value.__module__} {_import(value.__qualname__, name)}"
        return "." not in value.__qualname__
    else:
        source.values[name] = value
    return True


def _submodules(text: str, function: FunctionType) -> dict[str, str]:
    """Import what the source reaches through a package that does not import it by itself, as `concurrent.futures`."""
    found = {}
    for node in ast.walk(ast.parse(text)):
        path = []
        while isinstance(node, ast.Attribute):
            path.append(node.attr)
            node = node.value  # noqa: PLW2901 (down to the name in front)
        module = function.__globals__.get(node.id) if isinstance(node, ast.Name) else None
        while path and isinstance(module, ModuleType):
            name = f"{module.__name__}.{path.pop()}"
            module = sys.modules.get(name)
            if module is not None:
                found[name] = f"import {name}"
    return found


def _import(what: str, name: str) -> str:
    return f"import {what}" if what == name else f"import {what} as {name}"


def _text(function: object) -> str | None:
    """Return the source of a function that can stand alone: nothing is wrapped around it."""
    if not isinstance(function, FunctionType) or function.__closure__ or hasattr(function, "__wrapped__"):
        return None
    try:
        text = textwrap.dedent(inspect.getsource(function))
        node = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    is_own = (
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.name == function.__name__
        and not node.decorator_list
    )
    return text.rstrip() + "\n" if is_own else None
