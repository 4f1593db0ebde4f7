"""Modules of a project that a program imports, found without running anything: they have to go along with it.

Only files below the project's folder count, as Python would find them from there; installed packages and the standard
library stay where they are.
"""

from __future__ import annotations

import ast
import os
import sys
import warnings
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_MODULES = 2000
_INIT = "__init__.py"
_INSTALLED = ("site-packages", "dist-packages")


def imported(text: str, folder: Path, at: str = "") -> list[PurePosixPath]:
    """Return the modules below a folder that a program needs, in order.

    `at` is where the program itself stands in it, as `a/b.py`. What is no Python names nothing.
    """
    found: set[PurePosixPath] = set()
    waiting = [(text, PurePosixPath(at or "program.py"))]
    while waiting and len(found) < MAX_MODULES:
        program, place = waiting.pop()
        for name in _names(program, place):
            for module in _files(name, folder):
                if module not in found and str(module) != at:
                    found.add(module)
                    waiting.append((_read(folder / module), module))
    return sorted(found)


def _names(program: str, place: PurePosixPath) -> Iterator[str]:
    """Yield the dotted names that may be modules: `from a import b` can mean `a` and `a.b`."""
    for node in _nodes(program):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, place)
            if base is not None:
                yield from ([base] if base else [])
                yield from (f"{base}.{alias.name}".lstrip(".") for alias in node.names if alias.name != "*")
        elif isinstance(node, ast.Call) and _is_import_module(node):
            yield from (
                one.value for one in node.args[:1] if isinstance(one, ast.Constant) and isinstance(one.value, str)
            )


def _nodes(program: str) -> Iterator[ast.AST]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(program)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
    yield from ast.walk(tree)


def _is_import_module(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in ("import_module", "__import__")


def _base(node: ast.ImportFrom, place: PurePosixPath) -> str | None:
    """Return the module that is imported from; None when that lies above the folder."""
    if not node.level:
        return node.module or ""
    package = place.parent.parts
    if node.level - 1 > len(package):
        return None
    parts = package[: len(package) - (node.level - 1)]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _files(name: str, folder: Path) -> Iterator[PurePosixPath]:
    """Yield the files that importing a name runs: the packages above it, and itself."""
    parts = name.split(".")
    if parts[0] in sys.builtin_module_names or not all(part.isidentifier() for part in parts):
        return
    for count in range(1, len(parts) + 1):
        place = PurePosixPath(*parts[:count])
        if _is_file(folder / place / _INIT, folder):
            yield place / _INIT
        elif _is_file(folder / f"{place}.py", folder):
            yield PurePosixPath(f"{place}.py")
        elif not (folder / place).is_dir():
            return


def _is_file(path: Path, folder: Path) -> bool:
    """Whether it is a file that is really in the folder: links may lead out of it."""
    if not path.is_file() or any(part in _INSTALLED for part in path.parts[len(folder.parts) :]):
        return False
    return os.path.realpath(path).startswith(f"{os.path.realpath(folder)}{os.sep}")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return ""
