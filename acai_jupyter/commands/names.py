"""A look at a cell before it becomes a job: which names it uses and will not have there.

Said only where it is so: what is defined anywhere in the cell, built in, or could come from somewhere that cannot be
seen (`from x import *`, `exec`, `globals()`) is left alone.
"""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from difflib import get_close_matches
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_GIVEN = frozenset((*dir(builtins), "__file__", "__name__", "__doc__", "__builtins__", "__annotations__", "display"))
"""What every cell in a job has."""
_ANY_NAME = frozenset(("exec", "eval", "globals", "locals", "vars", "setattr", "NameError", "__import__"))
"""Who uses one of these may have names that cannot be seen."""
_OF_IPYTHON = frozenset(
    ("In", "Out", "get_ipython", "exit", "quit", *("_" * n for n in (1, 2, 3)), "_ih", "_oh", "_dh")
)
_OF_HISTORY = re.compile(r"_i{0,3}\d*\Z")
_ENDS = (ast.Raise, ast.Return, ast.Break, ast.Continue)
_LEAVING = ("exit", "_exit", "quit", "abort")
_Simple = (ast.Expr, ast.Assign, ast.AugAssign, ast.Assert)


class Missing(NamedTuple):
    """A name that the cell uses and will not have; `line` where that is sure to happen, else 0."""

    name: str
    line: int = 0


class Look(NamedTuple):
    """What can be seen of the names of a cell."""

    missing: list[Missing]
    bound: frozenset[str]
    """What it defines at its top."""
    is_sure: bool
    """False where it may have names that cannot be seen."""


def look(cell: str, sent: Collection[str] = ()) -> Look:
    """Return what can be seen. The cell is Python already."""
    try:
        table = symtable.symtable(cell, "cell", "exec")
        tree = compile(cell, "cell", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):  # not all that may be awaited at the top is seen by older ones
        return Look([], frozenset(), is_sure=False)
    used, bound = _of(table)
    if used & _ANY_NAME or _imports_all(tree):
        return Look([], frozenset(bound), is_sure=False)
    unknown = used - bound - _GIVEN - set(sent)
    sure = {name: line for name, line in _certain(tree.body) if name in unknown}
    found = [Missing(name, sure.get(name, 0)) for name in sorted(unknown)]
    return Look(found, frozenset(bound), is_sure=True)


def remedy(name: str, known: Mapping[str, Any]) -> str:
    """Say what to do about a name that a notebook has; empty for any other."""
    if name in _OF_IPYTHON or _OF_HISTORY.match(name):
        return ""
    if isinstance(known.get(name), ModuleType):
        module = known[name].__name__
        return f"import it there: import {module}" + (f" as {name}" if module != name else "")
    return f"send it with --send {name}" if name in known else ""


def refusal(missing: Missing, remedy: str, bound: Collection[str]) -> str:
    """Say that the cell would fail for want of a name."""
    said = f"Line {missing.line} uses {missing.name}, which"
    if remedy:
        return f"{said} the job will not have; {remedy}."
    near = get_close_matches(missing.name, [*bound, *dir(builtins)], 1)
    return f"{said} nothing defines." + (f" Did you mean {near[0]}?" if near else "")


def _of(table: symtable.SymbolTable) -> tuple[set[str], set[str]]:
    """The names that are looked up in the module, and those that are defined there."""
    used, bound = set(), set()
    is_top = table.get_type() == "module"
    for symbol in table.get_symbols():
        name = symbol.get_name()
        binds = symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
        if (is_top or symbol.is_declared_global()) and binds:
            bound.add(name)
        if symbol.is_referenced() and (symbol.is_global() or is_top):
            used.add(name)
    for below in table.get_children():
        more_used, more_bound = _of(below)
        used |= more_used
        bound |= more_bound
    return used, bound


def _imports_all(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.alias) and node.name == "*" for node in ast.walk(tree))


def _certain(body: list[ast.stmt]) -> Iterator[tuple[str, int]]:
    """Names that are looked up whatever happens, the last of each first, as far as nothing may end the cell before."""
    found: list[tuple[str, int]] = []
    for node in body:
        for part in _heads(node):
            found += _loads(part)
        if _leaves(node):
            break
        if not isinstance(node, _Simple) and any(isinstance(part, (*_ENDS, ast.Call)) for part in _inside(node)):
            break
    yield from reversed(found)


def _leaves(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", "")) in _LEAVING


def _heads(node: ast.stmt) -> list[ast.expr]:
    """What of a statement is evaluated in any case."""
    if isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign)):
        return [node.value]
    if isinstance(node, (ast.If, ast.While, ast.Assert)):
        return [node.test]
    return [node.iter] if isinstance(node, ast.For) else []


def _inside(node: ast.stmt) -> Iterator[ast.AST]:
    """What of a compound statement may run, and end the cell; definitions only define."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
        yield from ast.walk(node)


def _loads(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Names that an expression looks up in any case: not those behind `and`, in a lambda or a comprehension."""
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load):
            yield node.id, node.lineno
        return
    if isinstance(node, (ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)):
        return
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.BoolOp):
        children = [node.values[0]]
    if isinstance(node, ast.IfExp):
        children = [node.test]
    if isinstance(node, ast.Compare):
        children = [node.left, node.comparators[0]]
    for child in children:
        yield from _loads(child)
