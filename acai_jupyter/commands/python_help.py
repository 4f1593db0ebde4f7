"""What the Python calls share with their verbs: names, arguments and help.

`tests/unit/test_python_face.py` holds each verb to it.
"""

from __future__ import annotations

import keyword
from typing import TYPE_CHECKING, Any

from acai_jupyter.commands import verbs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

CALLS = {
    "fileset create": "create_file_set",
    "fileset list": "filesets",
    "profile run": "profile",
    "profile list": "profiles",
    "profile show": "profile_of",
    "fileset show": "fileset",
    "fileset alias": "alias",
    "fileset note": "note",
    "fileset rm": "remove_file_set",
    "fileset retention": "retention",
    "rm-job": "remove_job",
    "project create": "create_project",
    "project list": "projects",
    "user create": "create_user",
    "user list": "users",
    "user role": "set_role",
    "user quota": "set_quota",
    "project budget": "budget",
    "user budget": "set_budget",
    "user rm": "remove_user",
    "token create": "create_token",
    "token list": "tokens",
    "token rotate": "rotate_token",
    "token revoke": "revoke_token",
    "access list": "restrictions",
    "access limit": "restrict",
    "access open": "end_restriction",
    "access lift": "lift",
    "access lifts": "lifts",
    "group list": "groups",
    "group set": "set_group",
    "group rm": "remove_group",
    "tag": "annotate",  # inside a job `tag` speaks for the job
}
"""Calls that are not named as their verbs: in Python a name is one word, and `rm` is that of files."""
OF_SCREEN = {
    "put": {"no_progress"},
    "get": {"no_progress"},
    "ls": {"long"},
    "cat": {"raw"},
    "logs": {"raw"},
    "attach": {"raw"},
    "fileset show": {"files"},
    "diff": {"all"},
    "submit": {"detach"},
    "costs": {"csv"},
    "wait": {"exit_code"},
    "project create": {"file"},
    "user create": {"file"},
    "token create": {"file"},
    "token rotate": {"file"},
    "audit": {"file"},
}
"""What only says how a screen or a shell is told: calls print nothing, give everything, and never block unasked."""
OTHERWISE = {
    "trust": {"list", "revoke"},
    "tag": {"words", "history"},
    "submit": {"sweep"},
    "profile run": {"command_template"},
}
"""What Python has a form of its own for: `values`, `add`, `remove` and `delete`; `acai.changes`; `acai.sweep`;
`acai.trusted_files` and `acai.revoke_trust`."""
IN_PYTHON = {
    "submit": {"command", "args"},
    "jobs": {"limit"},
    "find": {"conditions"},
    "tag": {"values", "add", "remove", "delete"},
}
"""What a line has in another form: the words behind `--`, and a shell's own tools."""
_LONG = {"p": "parameters"}


def call_of(verb: str) -> str:
    """Return the name of a verb's call."""
    return CALLS.get(verb, verb.replace("-", "_").replace(" ", "_"))


def arguments_of(verb: str) -> list[argparse.Action]:
    """Return what a verb takes and its call takes too."""
    parser = verbs.Parser(prog=verb, add_help=False)
    verbs.VERBS[verb].arguments(parser)
    left_out = OF_SCREEN.get(verb, set()) | OTHERWISE.get(verb, set())
    return [one for one in parser._actions if one.dest not in left_out]  # noqa: SLF001 (it has no other way to tell)


def name_of(argument: argparse.Action) -> str:
    """Return what an argument is called in Python: as its option, with `_` for `-`, and behind a word of Python's."""
    long = next((option for option in argument.option_strings if option.startswith("--")), "")
    name = long.removeprefix("--").replace("-", "_") or _LONG.get(argument.dest, argument.dest)
    return f"{name}_" if keyword.iskeyword(name) else name


def documented(calls: dict[str, Any]) -> None:
    """Put the help of each verb's arguments below what its call says of itself."""
    for verb in verbs.VERBS:
        call: Callable[..., Any] | None = calls.get(call_of(verb))
        lines = [f"    {name_of(one)}: {one.help}" for one in arguments_of(verb)]
        if call is not None and lines:
            call.__doc__ = "\n".join(
                [f"{(call.__doc__ or '').rstrip()}\n\nArguments, as of `acai {verb}`:", *lines, ""]
            )
