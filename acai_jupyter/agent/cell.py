"""Runs the text of a cell as plain Python, from top to bottom, and keeps what it shows.

`await` may stand at the top; the value of the last expression is shown unless a semicolon follows it. Tracebacks name
the lines of the cell and nothing of ours.
"""

import ast
import inspect
import json
import linecache
import os
import sys
import traceback
from contextlib import suppress
from types import CodeType, ModuleType, TracebackType
from typing import Any, Dict, Optional, Union

from acai_jupyter.agent.definitions import definitions
from acai_jupyter.agent.displays import Displays
from acai_jupyter.agent.hooks import install, is_open, show_figures

NAME = "cell"
"""The file that a traceback names."""


COULD_NOT_BEGIN = 1


def run(path: str, displays_path: str, parameters: str, sent: str = "", received: str = "", names: str = "") -> int:
    """Run a cell's file; the exit status is 1 when it raised something, what it asked for when it left."""
    with open(path, encoding="utf-8-sig") as file:
        text = file.read()
    travelling = _Travelling(sent, received, names) if sent or names else None
    main = _main_module(path)
    given = json.loads(parameters)
    main.__dict__.update((name, given[name]) for name in given if not name.startswith("__"))
    _step_back(path)
    displays = Displays(displays_path)
    kept = os.path.abspath(displays_path + ".main.py")
    install(displays, kept)
    linecache.cache[NAME] = (len(text), None, text.splitlines(keepends=True), NAME)
    if travelling is not None and not travelling.begin(main):
        return COULD_NOT_BEGIN
    try:
        try:
            _Cell(text, main, displays).run(kept)
        finally:
            with suppress(Exception):
                show_figures(displays)
    except SystemExit as error:
        if travelling is not None and error.code in (None, 0):
            travelling.end(main)
        raise
    except BaseException as error:  # noqa: BLE001 (told as Python tells it)
        sys.stdout.flush()
        _tell(error.with_traceback(_own_part(error)))
        return 1
    if travelling is not None:
        travelling.end(main)
    return 0


class _Travelling:
    """The variables that a cell is sent, and those to be received from it."""

    def __init__(self, sent: str, received: str, names: str) -> None:
        from acai_jupyter.agent import variables  # while `acai_jupyter` is the agent's own

        self._variables = variables
        self._sent = sent
        self._received = received
        self._names = names.split(",") if names else []

    def begin(self, main: ModuleType) -> bool:
        """Give the cell what it was sent; says whether that could be done."""
        problem = self._variables.bring_in(self._sent, main.__dict__) if self._sent else None
        if problem:
            sys.stderr.write("acai: %s.\n" % problem)
        return not problem

    def end(self, main: ModuleType) -> None:
        """Leave what is to be received."""
        sys.stdout.flush()
        problems = self._variables.leave(self._names, main.__dict__, self._received) if self._names else []
        for problem in problems:
            sys.stderr.write("acai: %s.\n" % problem)


class _Cell:
    """One cell's text in its module."""

    def __init__(self, text: str, main: ModuleType, displays: Displays) -> None:
        self._text = text
        self._main = main
        self._displays = displays
        self._loop: Any = None

    def run(self, definitions_path: str) -> None:
        """Run it from top to bottom, after what processes that are started afresh need of it was written."""
        tree = self._parsed()
        last = tree.body[-1] if tree.body else None
        with open(definitions_path, "w", encoding="utf-8") as file:
            file.write(definitions(self._text, tree))
        try:
            if isinstance(last, ast.Expr):
                tree.body.pop()
                self._execute(_compiled(tree, "exec"))
                value = self._execute(_compiled(ast.Expression(last.value), "eval"))
                if value is not None and not is_open(value) and not self._is_silenced(last):
                    self._displays.show(value)
            else:
                self._execute(_compiled(tree, "exec"))
        finally:
            if self._loop is not None:
                self._loop.close()

    def _parsed(self) -> ast.Module:
        tree: Any = compile(self._text, NAME, "exec", _FLAGS | ast.PyCF_ONLY_AST, dont_inherit=True)
        return tree  # type: ignore[no-any-return]

    def _execute(self, code: CodeType) -> Any:
        value = eval(code, self._main.__dict__)  # noqa: S307 (what this is for)
        if not code.co_flags & inspect.CO_COROUTINE:
            return value
        if self._loop is None:
            import asyncio

            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        return self._loop.run_until_complete(value)

    def _is_silenced(self, last: ast.Expr) -> bool:
        """Whether a semicolon follows the last expression."""
        lines = self._text.encode().split(b"\n")[(last.end_lineno or 1) - 1 :]
        rest = b"\n".join([lines[0][last.end_col_offset :], *lines[1:]])
        return rest.lstrip().startswith(b";")


_FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def _compiled(tree: Union[ast.Module, ast.Expression], mode: str) -> CodeType:
    code: CodeType = compile(tree, NAME, mode, _FLAGS, dont_inherit=True)
    return code


def _main_module(path: str) -> ModuleType:
    """Make a main module for the cell, whose file stands beside the inputs."""
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    main.__file__ = os.path.abspath(path)
    _kept["main"] = sys.modules["__main__"]
    sys.modules["__main__"] = main
    return main


_kept: Dict[str, ModuleType] = {}
"""The agent's own main module, which is not to be taken apart while it runs."""


def _step_back(path: str) -> None:
    """Leave nothing of the agent where the program looks: its `acai_jupyter` is the real one, if there is one."""
    sys.argv = [path]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    for name in [name for name in sys.modules if name.partition(".")[0] == "acai_jupyter"]:
        _kept[name] = sys.modules.pop(name)


def _tell(error: BaseException) -> None:
    """Print a traceback: with the cell's lines, which Python's own hook looks for in a file."""
    if sys.excepthook is sys.__excepthook__:
        traceback.print_exception(type(error), error, error.__traceback__)
    else:
        sys.excepthook(type(error), error, error.__traceback__)


def _own_part(error: BaseException) -> Optional[TracebackType]:
    """The part of a traceback that begins in the cell."""
    part = error.__traceback__
    while part is not None and part.tb_frame.f_code.co_filename != NAME:
        part = part.tb_next
    return part
