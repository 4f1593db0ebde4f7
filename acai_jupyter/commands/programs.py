"""What a job is to run: a script, a notebook, a command or a cell, and the snapshot of the code that belongs to it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acai_jupyter.client import locks, packed, surroundings
from acai_jupyter.client.code import Code, Source, free_name, in_project, keep, look
from acai_jupyter.client.modules import imported
from acai_jupyter.commands import notebooks
from acai_jupyter.commands.job_checks import check_command
from acai_jupyter.commands.missing import no_path
from acai_jupyter.contract.errors import BadRequest, NotFound
from acai_jupyter.contract.foreign import one_line

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.client.http import Client
    from acai_jupyter.client.variables import Sent
    from acai_jupyter.contract.environments import Lock
    from acai_jupyter.contract.plans import PlannedVariable

OF_THIS_MACHINE = ("process", "memory")
"""Runners whose jobs find what is installed here."""
OF_CODE = "ACAI_CODE"
"""The variable with the folder that goes along where `--code` names none."""
_ELSEWHERE = "python3"
_OF_ENVIRONMENT = "python"
_INTERPRETERS = {
    ".bash": "bash",
    ".jl": "julia",
    ".js": "node",
    ".pl": "perl",
    ".r": "Rscript",
    ".rb": "ruby",
    ".sh": "sh",
}
"""What runs scripts that are not Python's."""


@dataclass(frozen=True)
class Program:
    """What is run, over which code."""

    command: str | list[str]
    code: Code | None = None
    as_cell: bool = False
    template: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    variables: Sent | None = None
    sent: list[PlannedVariable] = field(default_factory=list)
    """What the variables are."""
    lock: Lock | None = None
    keep_partial: bool = False
    captured: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Here:
    """Where jobs run, as far as it matters for how a program is started."""

    is_local: bool
    lock: Lock | None = None
    environment: Path | None = None
    """The packages of the lock, where they have to go along."""

    @classmethod
    def of(cls, client: Client, arguments: Namespace) -> Here:
        """Jobs on this machine find the same programs as whoever submits them, unless they have an environment."""
        is_local = arguments.image is None and client.status.backends.runner in OF_THIS_MACHINE
        found = _lock(arguments, is_local=is_local)
        goes_along = found is not None and not is_local and not arguments.plan
        return cls(is_local, found, packed.archive(found, sys.executable) if found and goes_along else None)

    @property
    def python(self) -> str:
        """The interpreter of the kernel or of the command line itself; elsewhere the one that is found there."""
        if self.lock is not None:
            return _OF_ENVIRONMENT
        return sys.executable if self.is_local else _ELSEWHERE

    @property
    def path(self) -> dict[str, str]:
        """Where a command looks for programs: where it would have found them here."""
        known = os.environ.get("PATH", os.defpath).split(os.pathsep)
        own = os.path.dirname(sys.executable)  # noqa: PTH120 (a text among texts)
        if "ipykernel" in sys.modules and own not in known[:1]:
            known.insert(0, own)  # a kernel's own environment need not be activated
        return {"PATH": os.pathsep.join(known)} if self.is_local else {}

    def captured(self, code: Code | None) -> dict[str, Any]:
        """What is said of where a job was submitted from."""
        if self.lock is not None:
            found = surroundings.of_elsewhere() | {"python": self.lock.python, "packages": self.lock.packages}
        else:
            found = surroundings.of_here() if self.is_local else surroundings.of_elsewhere()
        return found if code is None else {**found, "code": code.captured}


def of_line(client: Client, arguments: Namespace) -> Program:
    """Return what a line of `submit` means."""
    here = Here.of(client, arguments)
    place = _place(arguments)
    if arguments.script is None:
        return _command(client, arguments, place, here)
    script = Path(arguments.script)
    if script.suffix == notebooks.SUFFIX:
        return _notebook(client, arguments, place, here)
    code, name = _script(client, arguments, place, script, here.environment)
    command = [*_starts(here, name), *arguments.args]
    return Program(command, code, lock=here.lock, captured=here.captured(code))


def of_cell(client: Client, arguments: Namespace, cell: str) -> Program:
    """Return the text of a cell as a program."""
    here = Here.of(client, arguments)
    return _as_cell(client, arguments, here, ("cell.py", cell), notebook_name(), _template(arguments))


def of_shell(client: Client, arguments: Namespace, cell: str) -> Program:
    """Return the text of a cell as a script for sh."""
    here, place = Here.of(client, arguments), _place(arguments)
    name = free_name(place, "cell.sh")
    source = Source(place, {name: cell}, notebook_name(), arguments.output_folder, environment=here.environment)
    code = _kept(client, arguments, source)
    template = _template(arguments)
    command = ["sh", name]
    return Program(
        command, code, template=template, environment=here.path, lock=here.lock, captured=here.captured(code)
    )


def notebook_name() -> str:
    """Return what the notebook is called that this runs in."""
    return Path(os.environ.get("JPY_SESSION_NAME", "")).stem or "cell"


def _command(client: Client, arguments: Namespace, place: Path | None, here: Here) -> Program:
    """Return a command; one word is a text for a shell."""
    command = arguments.command if arguments.command is not None else arguments.args
    if not command:
        raise BadRequest(
            "Name a script, or a command behind --: acai submit train.py -- --epochs 3, or acai submit --code . -- make"
        )
    if isinstance(command, list) and len(command) == 1 and arguments.command is None:
        command = command[0]
    check_command(command)
    source = Source(place, name="environment", output_folder=arguments.output_folder, environment=here.environment)
    code = None if place is None and here.environment is None else _kept(client, arguments, source)
    return Program(command, code, environment=here.path, lock=here.lock, captured=here.captured(code))


def _script(
    client: Client, arguments: Namespace, place: Path | None, script: Path, environment: Path | None
) -> tuple[Code, str]:
    """Keep a script or notebook with what belongs to it; returns also its place in the working folder."""
    if place is None:
        _check_script(script)
        source = Source(name=script.stem, script=script, modules=_modules_of(script), environment=environment)
        return _kept(client, arguments, source), in_project(script.name)
    name = in_project(_inside(place, script))
    source = Source(place, output_folder=arguments.output_folder, needed=name, environment=environment)
    return _kept(client, arguments, source), name


def _notebook(client: Client, arguments: Namespace, place: Path | None, here: Here) -> Program:
    """Return a notebook as it is: papermill runs it. What it has left is kept also when it fails."""
    if arguments.args:
        raise BadRequest("A notebook takes no arguments; give parameters with -p NAME=VALUE.")
    path = Path(arguments.script)
    if place is None or not place.is_dir():
        _check_script(path)
    notebooks.program(path if path.is_file() or place is None else place / _inside(place, path))
    notebooks.check_environment(here.lock, is_local=here.is_local)
    code, name = _script(client, arguments, place, path, here.environment)
    template = f"{path.name} ({', '.join(_names(arguments))})"[:300]
    command, captured = [here.python, "-u", name], here.captured(code)
    return Program(command, code, as_cell=True, template=template, lock=here.lock, keep_partial=True, captured=captured)


def _as_cell(
    client: Client, arguments: Namespace, here: Here, program: tuple[str, str], owner: str, template: str
) -> Program:
    place = _place(arguments)
    name, text = program
    modules = {} if place is not None else found_modules(text, Path.cwd())
    name = free_name(place, name)
    while name in modules:
        name = f"_{name}"
    source = Source(place, {name: text}, owner, arguments.output_folder, modules=modules, environment=here.environment)
    code = _kept(client, arguments, source)
    command, captured = [here.python, "-u", name], here.captured(code)
    return Program(command, code, as_cell=True, template=template[:300], lock=here.lock, captured=captured)


def _kept(client: Client, arguments: Namespace, source: Source) -> Code:
    """Keep the code, or for a plan only look at it."""
    source = replace(source, include=tuple(arguments.include))
    return look(source) if arguments.plan else keep(client, source)


def found_modules(text: str, folder: Path, at: str = "") -> dict[str, Path]:
    """Return the files of a folder that a program imports, by their paths beside it."""
    return {str(module): folder / module for module in imported(text, folder, at)}


def _modules_of(script: Path) -> dict[str, Path]:
    if script.suffix == notebooks.SUFFIX:
        return found_modules(notebooks.program(script), script.parent)
    if script.suffix != ".py":
        return {}
    try:
        text = script.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return {}
    return found_modules(text, script.parent, script.name)


def _place(arguments: Namespace) -> Path | None:
    """Return the folder or zip that is to be taken as code: the one that is named, else that of `ACAI_CODE`."""
    code = arguments.code or os.environ.get(OF_CODE) or None
    if code is None:
        if arguments.include:
            raise BadRequest("--include goes with --code: without a folder only the program and its modules go along.")
        return None
    place = Path(code)
    if not place.exists():
        raise NotFound(no_path("folder or zip", code))
    if not place.is_dir() and place.suffix != ".zip":
        raise BadRequest(f"{one_line(code)} is neither a folder nor a zip; a script is named without --code.")
    return place


def _lock(arguments: Namespace, *, is_local: bool) -> Lock | None:
    """Return what a file of requirements means for the Python that submits, or for containers with such a Python."""
    if arguments.env is None:
        return None
    file = Path(arguments.env)
    if not file.is_file():
        raise NotFound(no_path("file", arguments.env))
    if is_local:
        return locks.lock(file.absolute())
    return locks.lock(file.absolute(), python="{}.{}".format(*sys.version_info[:2]), platform=locks.PLATFORM)


def _check_script(script: Path) -> None:
    if script.is_dir():
        raise BadRequest(f"{one_line(str(script))} is a folder. Give it with --code, and name a script or a command.")
    if script.is_file():
        return
    raise NotFound(no_path("script", str(script)) + _advice(str(script)))


def _advice(script: str) -> str:
    return " A command stands behind --: acai submit -- COMMAND" if " " in script else ""


def _inside(place: Path, script: Path) -> str:
    """Return the place of a script in the code: as seen from here, else as seen from there."""
    if place.is_dir():
        if script.is_file() and script.resolve().is_relative_to(place.resolve()):
            return script.resolve().relative_to(place.resolve()).as_posix()
        if not (place / script).is_file():
            raise NotFound(no_path("script", str(place / script)) + _advice(str(script)))
    return os.path.normpath(script)


def _starts(here: Here, name: str) -> list[str]:
    interpreter = _INTERPRETERS.get(Path(name).suffix.lower())
    place = f"./{name}" if name.startswith("-") else name  # else it would be an option of the interpreter
    return [interpreter, place] if interpreter else [here.python, "-u", place]


def _template(arguments: Namespace) -> str:
    """What makes runs of one cell comparable: the notebook and the cell; without these the server decides."""
    cell, notebook = _cell_id(), Path(os.environ.get("JPY_SESSION_NAME", "")).name or "cell"
    parameters = ", ".join(_names(arguments))
    return f"{notebook}#{cell} ({parameters})"[:300] if cell else ""


def _names(arguments: Namespace) -> list[str]:
    """The names of all parameters, those that a sweep varies too."""
    return sorted({name for name, _ in (*arguments.p, *arguments.sweep)})


def _cell_id() -> str:
    """Return which cell of its notebook is being run, where the front end says so."""
    of_ipython: Any = sys.modules.get("IPython")
    shell = of_ipython.get_ipython() if of_ipython is not None else None
    parent = getattr(shell, "parent_header", None) or getattr(shell, "get_parent", dict)()
    metadata = parent.get("metadata") if isinstance(parent, dict) else None
    found = metadata.get("cellId") if isinstance(metadata, dict) else None
    return found if isinstance(found, str) and found.isprintable() else ""
