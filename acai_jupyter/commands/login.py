"""`login`: keep a token, by prompt, from a file or for a sign-in elsewhere; it is never on a command line."""

from __future__ import annotations

import sys
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING

from acai_jupyter.client import logins, sign_ins
from acai_jupyter.client.connection import Connection, find_connection
from acai_jupyter.client.http import Client
from acai_jupyter.commands import terminal
from acai_jupyter.commands.results import Result
from acai_jupyter.contract.errors import BadRequest, NotFound

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.contract.projects import Status


def login(client: Client | None, arguments: Namespace) -> Result:
    """Try a token and keep it."""
    del client
    how = {"browser": arguments.browser, "hub": arguments.hub}
    url, status = sign_in(arguments.url, arguments.file, arguments.project, **how)
    said = [f"signed in at {url}", f"project {status.project}", f"user {status.user.name} ({status.user.role.value})"]
    return Result(" · ".join([*said, f"kept in {logins.config_file()}"]), status, "status")


def sign_in(
    url: str | None, file: str | None, project: str | None, *, browser: bool = False, hub: bool = False
) -> tuple[str, Status]:
    """Ask the server whom a token stands for; if it knows, use both from now on."""
    address = (url or find_connection().url).rstrip("/")
    if not address.startswith(("http://", "https://")):
        raise BadRequest(f"'{address}' is not the address of a server, like https://acai.example.org.")
    if browser:
        secret = sign_ins.by_browser(address, project, _show).secret
    elif hub:
        secret = sign_ins.by_hub(address, project).secret
    else:
        secret = _read(file) if file is not None else _asked(address)
    status = Client(Connection(address, secret, project)).status
    logins.keep(address, status.project, secret)
    return address, status


def _show(sentence: str) -> None:
    """Say where to go before waiting for it; what is asked for as JSON is on the other stream."""
    terminal.write(f"{sentence}\n", sys.stderr)


def _read(file: str) -> str:
    try:
        return (sys.stdin.read() if file == "-" else Path(file).expanduser().read_text()).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise NotFound(f"No token can be read from {file}.") from error


def _asked(address: str) -> str:
    nobody = BadRequest("There is nobody to ask for the token here; say --file FILE.")
    if "ipykernel" not in sys.modules and not (sys.stdin and sys.stdin.isatty()):
        raise nobody
    try:
        return getpass(f"Token for {address}: ").strip()
    except EOFError as error:
        raise nobody from error
