"""What of a cell a new process needs: its imports, functions, classes and plain values, without what it does.

A process that is started afresh (multiprocessing's `spawn`) imports the main program to find the functions that it is
to call. A cell has no `if __name__ == "__main__"`, so this leaves out what would run the work again.
"""

import ast
import builtins
from importlib.machinery import PathFinder
from typing import Iterator, List, Set, Union

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_Does = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


def definitions(text: str, tree: ast.Module) -> str:
    """Return a program with only the definitions, each in its own line of the cell."""
    lines = text.encode().split(b"\n")
    kept: List[bytes] = [b""] * len(lines)
    known: Set[str] = set(dir(builtins)) | {"__name__"}
    for node in tree.body:
        if _is_needed(node, known):
            known.update(_names(node))
            _copy(node, lines, kept)
    return b"\n".join(kept).decode()


def _is_needed(node: ast.stmt, known: Set[str]) -> bool:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return _is_there(node)
    if isinstance(node, (*_Function, ast.ClassDef)):
        return _loaded(node) <= known
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return not any(isinstance(part, _Does) for part in ast.walk(node)) and _loaded(node) <= known
    return False


def _is_there(node: Union[ast.Import, ast.ImportFrom]) -> bool:
    """Whether a new process can import it too: an IPython that is only stood in for is not there."""
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    of_ipython = any(name.partition(".")[0] == "IPython" for name in names)
    return not of_ipython or PathFinder.find_spec("IPython") is not None


def _loaded(node: ast.AST) -> Set[str]:
    """The names that are looked up when a statement is executed: not those inside of functions."""
    return {part.id for part in _executed(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)} - {
        name for part in _executed(node) if part is not node for name in _names(part)
    }


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for field, value in ast.iter_fields(node):
        if field == "body" and isinstance(node, (*_Function, ast.Lambda)):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield from _executed(part)


def _names(node: ast.AST) -> Set[str]:
    """The names that a statement defines."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    if isinstance(node, (*_Function, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return set()


def _copy(node: ast.stmt, lines: List[bytes], kept: List[bytes]) -> None:
    """Copy a statement to its lines; several may share one."""
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1
    last = (node.end_lineno or node.lineno) - 1
    start = 0 if decorators else node.col_offset
    piece = lines[first : last + 1]
    piece[-1] = piece[-1][: node.end_col_offset]
    piece[0] = piece[0][start:]
    kept[first] = kept[first] + b"; " + piece[0] if kept[first] else piece[0]
    kept[first + 1 : last + 1] = piece[1:]
