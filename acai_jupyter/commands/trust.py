"""`trust`: let servers read all settings of a working folder's `acai.toml`, after its user has seen them."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from acai_jupyter.client import folder_trust
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import columns
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.folder_trust import FILE
from acai_jupyter.contract.foreign import one_line

if TYPE_CHECKING:
    import argparse
    from argparse import Namespace

    from acai_jupyter.client.folder_trust import Candidate
    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.folder_trust import TrustedFile

_PASSWORD = re.compile(r"(://[^/@:]*:)[^/@]*@")


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what `trust` takes."""
    parser.add_argument("file", metavar="FILE", nargs="?", default=FILE, help=f"the file (default ./{FILE})")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--yes", action="store_true", help="do not ask; refused in a notebook")
    how.add_argument("--list", action="store_true", help="list the trusted files, and which have changed")
    how.add_argument("--revoke", action="store_true", help="trust the file no longer")


def trust(client: Client | None, arguments: Namespace) -> Result:
    """Trust a file, stop trusting one, or list those that are trusted."""
    del client
    if arguments.list:
        known = folder_trust.trusted()
        return Result(_table(known) or "No settings file is trusted.", known, "trusted-files")
    if arguments.revoke:
        entry = folder_trust.revoke(arguments.file)
        return Result(f"{one_line(entry.path)} is not trusted any more.", entry, "trusted-file")
    found = folder_trust.look_at(arguments.file)
    if not confirmed(found, yes=arguments.yes):
        return Result("Nothing was trusted.", None, "trusted-file", failed=True)
    shown = [described(found)] if arguments.yes else []
    said = f"{one_line(found.entry.path)} is trusted as it is now (SHA-256 {found.entry.sha256[:12]}…)."
    step = "Start the Jupyter server again to use its settings."
    return Result("\n".join([*shown, f"{said} {step}"]), found.entry, "trusted-file")


def confirmed(found: Candidate, *, yes: bool) -> bool:
    """Show the user what a file would set, and trust it if they agree; returns whether it is trusted now.

    A cell of a notebook that came with the folder cannot agree in the user's place: there the question is always asked.
    """
    in_notebook = "ipykernel" in sys.modules
    if yes and in_notebook:
        raise BadRequest("A notebook cannot say --yes for you; leave it out, or run acai trust in a terminal.")
    if not (yes or _agrees(described(found), in_notebook=in_notebook)):
        return False
    folder_trust.trust(found.entry)
    return True


def described(found: Candidate) -> str:
    """Say what a file would set, without tokens and passwords, and what else the trust covers."""
    path, values, covered = one_line(found.entry.path), found.values, found.entry.files
    lines = [f"{path} sets:" if values else f"{path} sets nothing."]
    lines += [f"  {one_line(name)} = {_value(name, value)}" for name, value in values.items()]
    if covered:
        lines += ["The trust also ends when one of these files changes:", *(f"  {one_line(name)}" for name in covered)]
    return "\n".join(lines)


def _value(name: str, value: Any) -> str:
    """Show a value, but no token and no password."""
    shown = "(hidden)" if "token" in name.lower() else _PASSWORD.sub(r"\1…@", repr(value))
    return one_line(shown)


def _agrees(shown: str, *, in_notebook: bool) -> bool:
    question = "Trust this file? [y/N] "
    no_answer = BadRequest(
        "There is no terminal to ask at; run acai trust in one, or with --yes after reading the file."
    )
    if not in_notebook:
        if not (sys.stdin and sys.stdin.isatty()):
            raise no_answer
        sys.stderr.write(f"{shown}\n{question}")
        sys.stderr.flush()
    try:
        answer = input(f"{shown}\n{question}" if in_notebook else "")
    except (EOFError, NotImplementedError) as error:  # a kernel whose front end has no input raises the second
        raise no_answer from error
    return answer.strip().lower() in ("y", "yes")


def _table(known: list[TrustedFile]) -> str:
    rows = [
        [one_line(one.path), "unchanged" if folder_trust.is_unchanged(one) else "changed or gone", one.trusted_at]
        for one in known
    ]
    return columns(rows, "<<<") if rows else ""
