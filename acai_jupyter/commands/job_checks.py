"""What a job cannot be asked for, each in a sentence that names it as it was given: on a line, or in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acai_jupyter.commands.job_options import is_variable
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.foreign import one_line

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Mapping

LONGEST = {"name": 200, "description": 10_000, "image": 500, "output": None, "output_folder": 200, "output_root": None}
"""Texts, and how many characters they have at most where that is for a request to say."""
MOST = {"inputs": 100, "tags": 100}
LONGEST_PARAMETER = 100
LONGEST_COMMAND = 100_000
MOST_WORDS = 10_000
FLAGS = ("cached", "keep_partial", "retry_failed")
_SHOWN = 60
_ON_LINE = {"inputs": "input", "environment": "env-var", "secrets": "secret", "tags": "tag"}


def called(arguments: Namespace, field: str) -> str:
    """Return what people call something that they gave."""
    in_python = getattr(arguments, "in_python", False)
    if field == "parameters":
        return field if in_python else "-p"
    name = _ON_LINE.get(field, field)
    return name.replace("-", "_") if in_python else f"--{name.replace('_', '-')}"


def once(arguments: Namespace, field: str, pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return values by their names; one that stands twice is refused, as only one of them could count."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise BadRequest(
                f"{called(arguments, field)} {name} is given twice: {_shown(found[name])}, {_shown(value)}."
            )
        found[name] = value
    return found


def check(arguments: Namespace, fields: Mapping[str, Any]) -> None:
    """Refuse what would not be taken."""
    for field, longest in LONGEST.items():
        _check_text(called(arguments, field), fields[field], longest)
    if not fields["output_folder"]:
        raise BadRequest(f"{called(arguments, 'output_folder')} is empty; it is the name of a folder.")
    for field, most in MOST.items():
        if len(fields[field]) > most:
            raise BadRequest(f"{called(arguments, field)} is given {len(fields[field])} times; {most} is the most.")
    for field in FLAGS:
        if not isinstance(fields[field], bool):
            raise BadRequest(f"{called(arguments, field)} is True or False, not {_shown(fields[field])}.")
    for field in ("parameters", "environment", "secrets"):
        for name, value in fields[field].items():
            check_value(called(arguments, field), field, name, value)


def check_command(command: str | list[str]) -> None:
    """Refuse a command that names no program, or is too long to be one."""
    first = command if isinstance(command, str) else command[0]
    if not first.strip():
        raise BadRequest("The command is empty: its first word says what is to run.")
    if isinstance(command, str) and len(command) > LONGEST_COMMAND:
        raise BadRequest(f"The command has {len(command):,} characters; {LONGEST_COMMAND:,} is the most. Use a script.")
    if isinstance(command, list) and len(command) > MOST_WORDS:
        raise BadRequest(f"The command has {len(command):,} words; {MOST_WORDS:,} is the most. Put them into a file.")


def _check_text(option: str, value: Any, longest: int | None) -> None:
    if value is not None and not isinstance(value, str):
        raise BadRequest(f"{option} is a text, not {_shown(value)}.")
    if value is not None and longest is not None and len(value) > longest:
        raise BadRequest(f"{option} has {len(value):,} characters; {longest:,} is the most.")


def check_value(option: str, field: str, name: Any, value: Any) -> None:
    """Refuse the name or the value of a parameter, a variable or a secret."""
    if not isinstance(name, str) or not is_variable(name):
        why = "a name has letters, digits and _, and begins with no digit"
        raise BadRequest(f"{option} cannot have the name {_shown(name)}: {why}.")
    if field == "parameters":
        if len(name) > LONGEST_PARAMETER:
            raise BadRequest(f"{option} has a name of {len(name)} characters; {LONGEST_PARAMETER} is the most.")
        if not isinstance(value, str | int | float):
            raise BadRequest(f"{option} {name} is a number, a text, True or False, not {_shown(value)}.")
    elif not isinstance(value, str):
        raise BadRequest(f"{option} {name} is a text, not {_shown(value)}: write {_shown(str(value))}.")


def _shown(value: Any) -> str:
    text = one_line(repr(value))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
